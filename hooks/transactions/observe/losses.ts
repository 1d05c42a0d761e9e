// What others lose for good by a change that deletes nothing itself.

import type { Failed } from '../../objects/cluster.ts';
import { droppedFrom, overwritten } from '../checks/one-way.ts';
import type { Resolved } from '../checks/targets.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { LockContext } from './begin.ts';
import { takesEndpoints } from './endpoints.ts';
import type { Prepared } from './observation.ts';
import { prunedBy } from './pruned.ts';

interface Context extends Pick<LockContext, 'reader' | 'looks' | 'transaction'> {
  readonly all: readonly Resolved[];
}

/** The change whose target it is. */
type Own = Pick<SnapshotEntry, 'index' | 'target' | 'resource'>;

type States = Pick<Prepared, 'prior' | 'expected'>;

/** Why the change cannot be undone, as what others lose by it; without `why`, they lose nothing. */
export async function whatOthersLose(
  context: Context,
  own: Own,
  states: States,
): Promise<{ readonly kind: 'known'; readonly why: string | undefined } | Failed> {
  const [takes, pruned] = await Promise.all([takesEndpoints(context, own, states), prunedBy(context, own, states)]);
  if (typeof takes === 'object') return { kind: 'failed', failure: takes };
  if ('message' in pruned) return { kind: 'failed', failure: pruned };
  return { kind: 'known', why: overwritten(takes, own) ?? droppedFrom(pruned) };
}
