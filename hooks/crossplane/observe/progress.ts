// A check that takes longer than a call. The process remembers the items that are in order, and the next call goes on behind them.
// The memory belongs to one process. Another process begins again, and gets as far by itself.
import { inTurn } from '../../objects/requests/in-turn.ts';
import type { RegistryFailed } from '../registry.ts';

/** The items that are in order, by name, and the time that is left. */
export interface Progress {
  has(what: string): boolean;
  add(what: string): void;
  /** What the check has found, in words, that is no fault. */
  readonly notes: Set<string>;
  /** Whether the time of the call is over. */
  readonly isOver: () => boolean;
}

export interface Memory {
  /** `check`: the subject of the check. The process remembers the latest check of each package transaction. */
  recall(uid: string, check: string): Omit<Progress, 'isOver'>;
  forget(uid: string): void;
}

/** Package transactions hold the Lock one after another, so the hook checks few of them. */
const mostRemembered = 16;

export function createMemory(most = mostRemembered): Memory {
  const checks = new Map<string, { readonly check: string; readonly found: Set<string>; readonly notes: Set<string> }>();
  return {
    recall(uid, check) {
      const known = checks.get(uid);
      const { found, notes } = known?.check === check ? known : { found: new Set<string>(), notes: new Set<string>() };
      checks.delete(uid);
      checks.set(uid, { check, found, notes });
      for (const [oldest] of checks) if (checks.size > most) checks.delete(oldest);
      return { has: (what) => found.has(what), add: (what) => void found.add(what), notes };
    },
    forget: (uid) => void checks.delete(uid),
  };
}

const atOnce = 8;

/**
 * Checks all items that the process does not remember. Returns their faults, or `unfinished` if it finds no fault, but the time is
 * over before the last item.
 */
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

/** Under this name a check remembers that there is no such object. */
export function absentMark(kind: string | undefined, name: string): string {
  return `absent ${kind} ${name}`;
}

/** The faults that were found before the time of the call was over. */
export function soFar<Fault>(faults: readonly Fault[]): readonly Fault[] | 'unfinished' {
  return faults.length > 0 ? faults : 'unfinished';
}

/** If a registry does not answer before the time of the call is over, the next call sends the request again. */
export function unlessOver(isOver: () => boolean, failed: RegistryFailed): RegistryFailed | { readonly kind: 'unfinished' } {
  return isOver() ? { kind: 'unfinished' } : failed;
}
