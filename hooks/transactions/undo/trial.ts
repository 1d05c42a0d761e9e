// The dry run of the undo of one change.

import { describe, groupOf, identityOf, type Reference } from '../../objects/reference.ts';
import { turnFor } from '../../objects/requests/loop-turns.ts';
import { goneManagers } from '../attribution/other-transactions.ts';
import type { UndoVerdict } from '../attribution/undo.ts';
import { missingOwners } from '../hazards/messages.ts';
import { isCrd } from '../model/crds.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { UndoFinding } from '../model/undo.ts';
import type { ItemView } from '../observe/observation.ts';
import { mostReads } from '../observe/restored.ts';
import { compensation } from '../plan/compensation.ts';
import { findingOf, type Subject, undecided } from './finding.ts';
import { refusedTry } from './refused-try.ts';
import type { SurveyContext } from './surveyed.ts';

/** `isMoved`: another writer has changed the object between its read and its dry run. */
interface Tried {
  readonly finding: UndoFinding;
  readonly isMoved: boolean;
}

/** The finding, with what the API server says of the write. Deletions are not tried. */
export async function tried(context: SurveyContext, subject: Subject, verdict: UndoVerdict, view: ItemView): Promise<Tried> {
  const { evidence } = subject;
  const { entry } = evidence;
  // Nothing that this undo does ends the wait (U3).
  if (verdict.kind === 'wait' && verdict.missing !== undefined && !isCreatedAgain(context, verdict.missing))
    return { finding: undecided(subject, verdict.message), isMoved: false };
  const found = findingOf(subject, verdict);
  const { transaction } = context.observation;
  await turnFor(evidence.live, entry.prior);
  const lost = { goneOwners: missingOwners(view.hazards), goneManagers: goneManagers(evidence) };
  const write = compensation({ transaction, entry, ...lost }, verdict)?.write;
  if (write === undefined || write.verb === 'delete' || lacksItsPlace(context, entry)) return { finding: found, isMoved: false };
  const answer = await context.observing.source.reader.dryRun(write);
  if (answer.kind === 'ok') return { finding: found, isMoved: false };
  const { failure } = answer;
  const isMoved = failure.kind === 'stale' || failure.kind === 'exists';
  return { finding: isMoved ? busy(subject) : refusedTry(context, subject, found, failure), isMoved };
}

function busy(subject: Subject): UndoFinding {
  const name = describe(subject.evidence.entry.target);
  const message = `${name} changed before each of ${mostReads} dry runs of its undo: request the undo again`;
  return undecided(subject, message, 'Conflict');
}

/** Whether this undo creates the object again. */
function isCreatedAgain({ snapshot: { entries }, choices: { keep, overwrite } }: SurveyContext, missing: Reference): boolean {
  const isBack = ({ type, index }: SnapshotEntry): boolean => (type === 'Delete' ? !keep.has(index) : overwrite.has(index));
  const identity = identityOf(missing);
  return entries.some((entry) => identityOf(entry.target) === identity && isBack(entry));
}

// This undo also brings back the Namespace or the kind of the object: until then, the API server refuses every write.
function lacksItsPlace({ snapshot: { entries } }: SurveyContext, { target }: SnapshotEntry): boolean {
  return entries.some(({ type, target: other, prior }) => {
    if (type !== 'Delete' || prior === undefined) return false;
    const isNamespace = identityOf(other) === identityOf({ apiVersion: 'v1', kind: 'Namespace', name: target.namespace ?? '' });
    return isNamespace || (isCrd({ target: other }) && other.name.endsWith(`.${groupOf(target.apiVersion)}`));
  });
}
