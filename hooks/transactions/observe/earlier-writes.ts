// The changes before one, as the table of deferred dry runs compares them (checks/deferred.ts).

import { type Earlier, needsStates } from '../checks/deferred.ts';
import type { Resolved } from '../checks/targets.ts';
import type { TargetReads } from './former-version.ts';
import type { Presence } from './observation.ts';

/** The other changes, each with its object as it was read first. */
export type Others = Pick<TargetReads, 'all' | 'firstRead'>;

/** The changes before this one. All targets are read anyway: this adds no request. */
export function earlierWrites(later: Pick<Resolved, 'index'>, { all, firstRead }: Others): Promise<readonly Earlier[]> {
  const before = all.filter(({ index }) => index < later.index);
  return Promise.all(before.map(async (one) => (needsStates(one) ? withStates(one, await firstRead(one)) : writeOf(one))));
}

export function writeOf({ index, change: { type }, target, resource }: Resolved): Earlier {
  return { index, type, target, resource };
}

function withStates(one: Resolved, found: Presence): Earlier {
  if (found.kind === 'trouble') return writeOf(one);
  const before = found.kind === 'present' ? found.object : undefined;
  return { ...writeOf(one), states: { before: before ?? {}, after: one.change.content } };
}
