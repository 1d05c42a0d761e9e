// Numbers of a status, and how they are said: without the numbers where the object is sealed.
import { at } from '../../objects/json.ts';
import type { Seen } from './verdict.ts';

/** The number there; another one, by default 0, where there is none. */
export function numberAt({ live }: Seen, path: string, otherwise = 0): number {
  const found = at(live, ...path.split('.'));
  return typeof found === 'number' ? found : otherwise;
}

export function hasNumber({ live }: Seen, path: string): boolean {
  return typeof at(live, ...path.split('.')) === 'number';
}

/** What is counted, and what is said of those that count: `replicas are available`. */
type Counted = `${'replicas' | 'Pods'} ${string}`;

/** `2 of 3 replicas are available`. */
export function share(seen: Seen, found: number, wanted: number, what: Counted): string {
  if (!seen.sealed) return `${found} of ${wanted} ${what}`;
  return `${found < wanted ? 'not all' : 'all'} ${what}`;
}

/** The share, where it is not the whole. */
export function fewer(seen: Seen, found: number, wanted: number, what: Counted): string | undefined {
  return found < wanted ? share(seen, found, wanted, what) : undefined;
}

/** What there is too much of: replicas of before a change go last. */
export function surplus({ sealed }: Seen, found: number, wanted: number): string | undefined {
  if (found <= wanted) return undefined;
  return sealed
    ? 'there are more replicas than wanted'
    : `there are ${found} replicas, ${wanted} wanted: old ones are still to go`;
}
