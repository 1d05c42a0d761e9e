// A check that takes longer than a call: what was found in order is remembered, and the next call goes on behind it. The memory is that of
// a process; another one begins again, and comes as far by itself.
import { inTurn } from '../../objects/requests/in-turn.ts';
import type { RegistryFailed } from '../registry.ts';

/** What has been found in order, by name, and the time that is left. */
export interface Progress {
  has(what: string): boolean;
  add(what: string): void;
  /** Whether the time of the call is over. */
  readonly isOver: () => boolean;
}

export interface Memory {
  /** `check`: what is checked; of each package transaction the latest check is remembered. */
  recall(uid: string, check: string): Omit<Progress, 'isOver'>;
  forget(uid: string): void;
}

/** Package transactions that hold the Lock follow one another: few are checked. */
const mostRemembered = 16;

export function createMemory(most = mostRemembered): Memory {
  const checks = new Map<string, { readonly check: string; readonly found: Set<string> }>();
  return {
    recall(uid, check) {
      const known = checks.get(uid);
      const found = known?.check === check ? known.found : new Set<string>();
      checks.delete(uid);
      checks.set(uid, { check, found });
      for (const [oldest] of checks) if (checks.size > most) checks.delete(oldest);
      return { has: (what) => found.has(what), add: (what) => void found.add(what) };
    },
    forget: (uid) => void checks.delete(uid),
  };
}

const atOnce = 8;

/** Checks all items that are not remembered. What is wrong with them; `unfinished` if nothing is, but the time is over before the last. */
export async function checkAll<Item, Fault>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  check: (item: Item) => Promise<readonly Fault[]>,
  progress: Progress,
): Promise<readonly Fault[] | 'unfinished'> {
  const left = items.filter((item) => !progress.has(nameOf(item)));
  const faults: Fault[] = [];
  for (let start = 0; start < left.length; start += atOnce) {
    if (start > 0 && progress.isOver()) return soFar(faults);
    const some = left.slice(start, start + atOnce);
    faults.push(...(await inTurn(some, (item) => remembered(check(item), nameOf(item), progress), atOnce)).flat());
  }
  return faults;
}

async function remembered<Fault>(check: Promise<readonly Fault[]>, name: string, progress: Progress): Promise<readonly Fault[]> {
  const faults = await check;
  if (faults.length === 0) progress.add(name);
  return faults;
}

/** What was found before the time of the call was over. */
export function soFar<Fault>(faults: readonly Fault[]): readonly Fault[] | 'unfinished' {
  return faults.length > 0 ? faults : 'unfinished';
}

/** A registry that does not answer before the time of the call is over is asked again in the next call. */
export function unlessOver(isOver: () => boolean, failed: RegistryFailed): RegistryFailed | { readonly kind: 'unfinished' } {
  return isOver() ? { kind: 'unfinished' } : failed;
}
