// The dry run of the undo of one change, and what its refusal means for the finding.

import type { Failure } from '../../objects/failure.ts';
import { describe, groupOf, identityOf } from '../../objects/reference.ts';
import { turnFor } from '../../objects/requests/loop-turns.ts';
import { goneManagers } from '../attribution/other-transactions.ts';
import type { UndoVerdict } from '../attribution/undo.ts';
import { removerOf, undoWriteOf } from '../checks/deferred.ts';
import { describeRefusal } from '../checks/refusal.ts';
import { missingOwners } from '../hazards/messages.ts';
import { isCrd } from '../model/crds.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { reasonOfFailure } from '../model/reason.ts';
import type { UndoFinding } from '../model/undo.ts';
import type { ItemView } from '../observe/observation.ts';
import { compensation } from '../plan/compensation.ts';
import { blocked, findingOf, type Subject, undecided } from './finding.ts';
import type { SurveyContext } from './surveyed.ts';

/** Reads of one object, if another writer changes it between each read and its dry run. */
export const mostReads = 20;

/** `isMoved`: another writer has changed the object between its read and its dry run. */
interface Tried {
  readonly finding: UndoFinding;
  readonly isMoved: boolean;
}

/** The finding, with what the API server says of the write. Deletions are not tried. */
export async function tried(context: SurveyContext, subject: Subject, verdict: UndoVerdict, view: ItemView): Promise<Tried> {
  const { evidence } = subject;
  const { entry } = evidence;
  const found = findingOf(subject, verdict);
  const { transaction } = context.observation;
  await turnFor(evidence.live, entry.prior);
  const lost = { goneOwners: missingOwners(view.hazards), goneManagers: goneManagers(evidence) };
  const write = compensation({ transaction, entry, ...lost }, verdict)?.write;
  const isAssumed = context.assumed.objects.has(identityOf(entry.target));
  if (write === undefined || write.verb === 'delete' || isAssumed || lacksItsPlace(context, entry))
    return { finding: found, isMoved: false };
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

function refusedTry(context: SurveyContext, subject: Subject, found: UndoFinding, failure: Failure): UndoFinding {
  const { entry } = subject.evidence;
  const name = describe(entry.target);
  if (failure.kind !== 'refused' && failure.kind !== 'absent')
    return undecided(subject, `the dry run of the undo of ${name} failed (${failure.reason})`, reasonOfFailure(failure));
  const before = context.snapshot.entries.filter(({ index }) => index !== entry.index).map(undoWriteOf);
  if (removerOf(failure, undoWriteOf(entry), before) !== undefined) return found;
  const detail = describeRefusal(failure, entry, context.observation.transaction);
  const message = `the API server refuses to undo ${entry.type} of ${name}: ${detail}`;
  return blocked(subject, { reason: reasonOfFailure(failure), message });
}

// This undo also brings back the Namespace or the kind of the object: until then, the API server refuses every write.
function lacksItsPlace({ snapshot: { entries } }: SurveyContext, { target }: SnapshotEntry): boolean {
  return entries.some(({ type, target: other, prior }) => {
    if (type !== 'Delete' || prior === undefined) return false;
    const isNamespace = identityOf(other) === identityOf({ apiVersion: 'v1', kind: 'Namespace', name: target.namespace ?? '' });
    return isNamespace || (isCrd({ target: other }) && other.name.endsWith(`.${groupOf(target.apiVersion)}`));
  });
}
