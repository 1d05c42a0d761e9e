// What others lose for good by a change that deletes nothing itself.

import type { Failed } from '../../objects/cluster.ts';
import type { Resolved } from '../checks/targets.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Prepared } from '../observe/observation.ts';
import { droppedFrom, overwritten } from './one-way.ts';
import type { ReadContext } from './read-context.ts';
import { takesEndpoints } from './read-endpoints.ts';
import { prunedBy } from './read-pruned.ts';

interface Context extends ReadContext {
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
