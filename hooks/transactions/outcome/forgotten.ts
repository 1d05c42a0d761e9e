// For a moment an API server still obeys a mutating policy, a webhook or a LimitRange that this undo has taken back. The API server would
// change what the undo writes. So a dry run of such a write comes first, and the write waits while the answer differs from what was sent.

import type { Answer } from '../../objects/cluster.ts';
import { describe } from '../../objects/reference.ts';
import { type ContentWrite, isContentWrite, rewrittenNote } from '../attribution/rewritten.ts';
import { isFreedBy } from '../checks/changed-writes.ts';
import type { Step } from '../decide/step.ts';
import { mayHearLater, undoLater } from '../decide/waiting.ts';
import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import { wasRestored } from '../model/item.ts';
import type { Observation } from '../observe/observation.ts';
import type { Plan } from '../plan/plan.ts';
import { answerWith, type Result } from './answer.ts';

/** A write to try before it is sent. */
interface Trial {
  readonly write: ContentWrite;
  readonly entry: SnapshotEntry;
  /** The change that this undo has taken back, and whose object may have changed that write. */
  readonly changer: SnapshotEntry;
}

/** Undefined if the step writes now. After half a minute it writes, and its note names what was changed. */
export function trialBefore(step: Step, planned: Plan, observation: Observation): Trial | undefined {
  if (step.kind !== 'compensate' || planned.kind !== 'chain' || !mayHearLater(observation)) return undefined;
  const { write } = planned.mutation;
  const changer = takenBack(observation, step.entry);
  return changer === undefined || !isContentWrite(write) ? undefined : { write, entry: step.entry, changer };
}

/** The undo of that change later; undefined if the API server stores what is sent, or if the write itself is to show why not. */
export function heldByTrial({ write, entry, changer }: Trial, answer: Answer, observation: Observation): Result | undefined {
  if (answer.kind !== 'ok') return undefined;
  const written = { write, stored: answer.object, isSealed: isSealed(entry, observation.transaction) };
  if (rewrittenNote(entry, written) === undefined) return undefined;
  const lag = `the API server may not yet have heard of the undo of spec.changes[${changer.index}] (${describe(changer.target)})`;
  const message = `waiting: the undo of ${describe(entry.target)} would not be exact; ${lag}`;
  return answerWith(undoLater(observation.status, entry.index, message, { seconds: 1, isRefusal: true }));
}

/** A change that this undo has taken back, and whose object may have changed that write. */
function takenBack({ due, status }: Observation, entry: SnapshotEntry): SnapshotEntry | undefined {
  if (due.kind !== 'restore' || due.snapshot.kind !== 'stored') return undefined;
  return due.snapshot.entries.find((other) => {
    const item = status.items[other.index];
    return item !== undefined && wasRestored(item) && isFreedBy(other, entry);
  });
}
