// The result of taking one change back: it is restored, not restored, read again, or waits.

import type { Answer } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import { textAt } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { uidOf } from '../attribution/attribute.ts';
import { goingSentence } from '../attribution/former.ts';
import { mayBeMadeAgain } from '../attribution/made-again.ts';
import { isContentWrite, rewrittenNote } from '../attribution/rewritten.ts';
import type { Ended } from '../attribution/undo.ts';
import { describeRefusal, shownWarnings, withWords } from '../checks/refusal.ts';
import type { Step } from '../decide/step.ts';
import { leaving, notRestored, restored, withFirstWrite } from '../decide/undo-transitions.ts';
import { undoLater, undoOut } from '../decide/waiting.ts';
import { joined } from '../hazards/messages.ts';
import { isSealed } from '../model/entry.ts';
import { isCreatingHalf } from '../model/halves.ts';
import { reasonOfFailure } from '../model/reason.ts';
import type { Transaction } from '../model/transaction.ts';
import type { Wait } from '../model/wait.ts';
import { again, answer, answerWith, type PerformedStep, type Result } from './answer.ts';
import { triedAgain, undoneAfter, undoneLater } from './lagging.ts';
import { placesTaken } from './places.ts';
import { refusedOnce } from './refused.ts';

type Compensation = Extract<Step, { kind: 'compensate' }>;

/** What the writes have done beside restoring is noted at once: the next evaluation, after a 409 or a pause, cannot see it. */
export function afterCompensation(step: Compensation, done: PerformedStep): Result {
  const { status } = done.observation;
  const note = notedBy(step, done);
  if (note === undefined) return afterWrites(step, done);
  const noted = withFirstWrite(status, step.index, note);
  const result = afterWrites(step, { ...done, observation: { ...done.observation, status: noted } });
  return result.kind === 'again' ? answer(noted, 'now') : result;
}

function notedBy(step: Compensation, done: PerformedStep): string | undefined {
  if (!done.outcome.some((one) => one.answer.kind === 'ok')) return undefined;
  return joined('note' in step.verdict ? step.verdict.note : undefined, rewritten(step, done));
}

function afterWrites(step: Compensation, done: PerformedStep): Result {
  const { observation, outcome } = done;
  const last = outcome.at(-1)?.answer;
  if (last?.kind === 'failed') return afterUndoFailure(step, done, last.failure);
  if (step.verdict.kind === 'fence') return afterFence(step, step.verdict.end, done);
  const unfinished = unfinishedAfter(step, last, observation.transaction);
  if (unfinished !== undefined) {
    const { status } = observation;
    const left = step.verdict.kind === 'delete' ? leaving(status, step.index) : status;
    return answerWith(undoLater(left, step.index, ...unfinished));
  }
  // The object that was created is gone: the one that was deleted comes back next.
  return isCreatingHalf(step.entry) ? again(done) : afterLast(step, done, last);
}

// The write of the content; what precedes and follows it restores status and owners.
function rewritten({ entry, verdict }: Compensation, { observation, outcome }: PerformedStep): string | undefined {
  if (!['content', 'recreate'].includes(verdict.kind)) return undefined;
  for (const { write, answer } of outcome)
    if (isContentWrite(write)) {
      const isHidden = isSealed(entry, observation.transaction);
      return answer.kind === 'ok' ? rewrittenNote(entry, { write, stored: answer.object, isSealed: isHidden }) : undefined;
    }
  return undefined;
}

function afterLast(step: Compensation, { observation, outcome }: PerformedStep, last: Answer | undefined): Result {
  const { verdict, entry, index } = step;
  const isNew = entry.type === 'Delete' && (verdict.kind === 'recreate' || verdict.kind === 'complete');
  const uid = isNew && last?.kind === 'ok' ? uidOf(last.object) : undefined;
  const note = verdict.kind === 'content' ? verdict.staying : undefined;
  // The other writes restore owners and status: the API server says the same of them.
  const warned = outcome.map((one) => one.answer).find((one) => one.kind === 'ok' && one.warnings !== undefined);
  const { warnings } = warned?.kind === 'ok' ? shownWarnings(warned, entry, observation.transaction) : {};
  return answer(restored(observation.status, index, observation.now, { note, uid, undone: true, warnings }));
}

/** The state that the undo still waits for, and how long until the next read. */
function unfinishedAfter(
  { verdict, entry }: Compensation,
  last: Answer | undefined,
  transaction: Transaction,
): readonly [message: string, wait?: Wait] | undefined {
  if (verdict.kind === 'bridge') return [verdict.message];
  if (verdict.kind !== 'delete' || last?.kind !== 'ok') return undefined;
  if (isGone(last))
    return mayBeMadeAgain(entry) ? [`${describe(entry.target)} is deleted; ${onceMore}`, { seconds: 1 }] : undefined;
  return [goingSentence(entry.target, last.object, isSealed(entry, transaction)), { seconds: 0.2 }];
}

const onceMore = 'waiting a second to see whether a controller creates it again';

function afterFence({ index }: Compensation, end: Ended, { observation }: PerformedStep): Result {
  const { status, now } = observation;
  return answer(
    end.kind === 'restored' ? restored(status, index, now, { note: end.note }) : notRestored(status, index, now, end),
  );
}

// The answer to a DELETE is a Status when the object is gone, the object itself while something keeps it.
function isGone(last: Answer): boolean {
  return last.kind === 'ok' && textAt(last.object, 'kind') === 'Status' && textAt(last.object, 'apiVersion') === 'v1';
}

// Who may not write the object waits until nothing can land any more.
function afterRefusedFence(step: Compensation, done: PerformedStep, { kind }: Failure): Result | undefined {
  const { verdict, index, entry } = step;
  if (verdict.kind !== 'fence') return undefined;
  if (verdict.givesUpOn.includes(kind)) return afterFence(step, verdict.end, done);
  if (kind !== 'refused') return undefined;
  const message = `waiting: a write to ${describe(entry.target)} may still be in flight`;
  return answerWith(undoLater(done.observation.status, index, message));
}

function afterUndoFailure(step: Compensation, done: PerformedStep, failure: Failure): Result {
  const { observation } = done;
  const { index } = step;
  const fenced = afterRefusedFence(step, done, failure);
  if (fenced !== undefined) return fenced;
  if (failure.kind === 'transient')
    return answerWith(
      undoOut(
        observation.status,
        index,
        `undoing ${step.entry.type} of ${describe(step.entry.target)}`,
        withWords(failure, step.entry, observation.transaction),
      ),
    );
  const mayVanish = failure.kind === 'absent' && step.verdict.kind !== 'recreate';
  if (failure.kind === 'stale' || failure.kind === 'exists' || mayVanish) return again(done, refusedOnce(done, index, failure));
  const later =
    undoneAfter(done, step.entry, failure) ?? triedAgain(done, index, failure) ?? undoneLater(done, step.entry, failure);
  if (later !== undefined) return later;
  const detail = describeRefusal(failure, step.entry, observation.transaction);
  const name = `${step.entry.type} of ${describe(step.entry.target)}`;
  const message = `undoing ${name} was refused: ${detail}${placesTaken(step, failure, observation)}`;
  return answer(notRestored(observation.status, step.index, observation.now, { reason: reasonOfFailure(failure), message }));
}
