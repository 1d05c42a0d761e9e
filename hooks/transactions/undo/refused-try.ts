// A dry run of the undo of one change that the API server refuses: the change is blocked, or it is not known, or the same undo takes back
// what refuses it.

import type { Failure } from '../../objects/failure.ts';
import { describe } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { deferredUndoNote, type Earlier, removerOf, undoWriteOf } from '../checks/deferred.ts';
import { describeRefusal, withWords } from '../checks/refusal.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { reasonOfFailure } from '../model/reason.ts';
import { type UndoFinding, undoLimits } from '../model/undo.ts';
import { blocked, type Subject, undecided } from './finding.ts';
import type { SurveyContext } from './surveyed.ts';

/** `found`: the finding if the API server admitted the undo. */
export function refusedTry(context: SurveyContext, subject: Subject, found: UndoFinding, failure: Failure): UndoFinding {
  const { entry } = subject.evidence;
  const { transaction } = context.observation;
  const name = describe(entry.target);
  const remover = removerOf(failure, undoWriteOf(entry), otherUndos(context, entry));
  if (remover !== undefined) return withNote(found, deferredUndoNote(failure, remover));
  if (failure.kind !== 'refused' && failure.kind !== 'absent') {
    const { said } = withWords(failure, entry, transaction);
    const why = `the dry run of the undo of ${name} failed (${failure.reason})${said === undefined ? '' : `: ${said}`}`;
    return undecided(subject, why, reasonOfFailure(failure));
  }
  const detail = describeRefusal(failure, entry, transaction);
  const message = `the API server refuses to undo ${entry.type} of ${name}: ${detail}`;
  return blocked(subject, { reason: reasonOfFailure(failure), message });
}

function withNote(found: UndoFinding, note: string): UndoFinding {
  return { ...found, message: foreign(found.message === undefined ? note : `${found.message}; ${note}`, undoLimits.message) };
}

// What is kept, or taken back already, removes nothing.
function otherUndos({ toUndo, choices }: SurveyContext, { index: own }: SnapshotEntry): readonly Earlier[] {
  return toUndo.filter(({ index }) => index !== own && !choices.keep.has(index)).map(undoWriteOf);
}
