// A look that takes longer than a call: what was found in order is remembered, and the next call goes on behind it. The memory is that of
// a process; another one begins again, and comes as far by itself.
import { eachOf } from './reading.ts';

/** What has been found in order, by name, and the time that is left. */
export interface Progress {
  has(what: string): boolean;
  add(what: string): void;
  /** Whether the time of the call is over. */
  readonly isOver: () => boolean;
}

export interface Memory {
  /** `look`: what is looked at; of each package transaction the latest look is remembered. */
  recall(uid: string, look: string): Omit<Progress, 'isOver'>;
  forget(uid: string): void;
}

/** Package transactions that hold the Lock follow one another: few are looked at. */
const mostRemembered = 16;

export function createMemory(most = mostRemembered): Memory {
  const looks = new Map<string, { readonly look: string; readonly found: Set<string> }>();
  return {
    recall(uid, look) {
      const known = looks.get(uid);
      const found = known?.look === look ? known.found : new Set<string>();
      looks.delete(uid);
      looks.set(uid, { look, found });
      for (const [oldest] of looks) if (looks.size > most) looks.delete(oldest);
      return { has: (what) => found.has(what), add: (what) => void found.add(what) };
    },
    forget: (uid) => void looks.delete(uid),
  };
}

const atOnce = 8;

/** Looks at all items that are not remembered. What is wrong with them; `unfinished` if nothing is, but the time is over before the last. */
export async function lookAtAll<Item, Fault>(
  items: readonly Item[],
  nameOf: (item: Item) => string,
  look: (item: Item) => Promise<readonly Fault[]>,
  progress: Progress,
): Promise<readonly Fault[] | 'unfinished'> {
  const left = items.filter((item) => !progress.has(nameOf(item)));
  const faults: Fault[] = [];
  for (let start = 0; start < left.length; start += atOnce) {
    if (start > 0 && progress.isOver()) return faults.length > 0 ? faults : 'unfinished';
    const some = left.slice(start, start + atOnce);
    faults.push(...(await eachOf(some, (item) => remembered(look(item), nameOf(item), progress), atOnce)).flat());
  }
  return faults;
}

async function remembered<Fault>(look: Promise<readonly Fault[]>, name: string, progress: Progress): Promise<readonly Fault[]> {
  const faults = await look;
  if (faults.length === 0) progress.add(name);
  return faults;
}
