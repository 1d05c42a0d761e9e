// Observation -> Step. Pure: no reads, no clock, no log.
import type { Observation, ObservedTo } from '../observe/observation.ts';
import { barredStep } from './barred.ts';
import { decideApply } from './committing.ts';
import { decideCompose } from './composing.ts';
import { decideAwait, whyNotReady } from './gates.ts';
import { decideBegin, ending } from './pending.ts';
import { decidePrepare } from './preparing.ts';
import { unlessFinal } from './refusals.ts';
import { decidePlanUndo, decideReacquire } from './requested-undo.ts';
import { decideRestore } from './rolling-back.ts';
import { decideCleanUp, decideRelease, decideReleaseFields } from './settled.ts';
import type { Step } from './step.ts';
import { answered, stopped, withItem } from './transitions.ts';
import { concluded, undoing } from './undo-transitions.ts';
import { setStatus } from './waiting.ts';
import { elsewhere } from './window.ts';

export function decide(observation: Observation): Step {
  return elsewhere(observation) ?? barredStep(observation) ?? decideDue(observation);
}

function decideDue(observation: Observation): Step {
  const { due, status } = observation;
  switch (due.kind) {
    case 'begin':
      return decideBegin(observation, due);
    case 'compose':
      return decideCompose(observation, due);
    case 'prepare':
      return decidePrepare(observation, due);
    case 'apply':
      return decideApply(observation, due);
    case 'await':
      return decideAwait(observation, due);
    case 'restore':
      return decideRestore(observation, due);
    case 'fail':
      return decideFail(observation, due);
    case 'rollBack':
      return decideRollBack(observation, due);
    case 'conclude':
      return decideConclude(observation, due.overdue);
    case 'reacquire':
      return decideReacquire(observation, due);
    case 'planUndo':
      return decidePlanUndo(observation, due);
    case 'ignore':
      return setStatus(answered(status, due.request), due.message);
    case 'release':
      return decideRelease(observation, due);
    case 'releaseFields':
      return decideReleaseFields(observation, due);
    case 'cleanUp':
      return decideCleanUp(observation, due);
    case 'expire':
      return { kind: 'expire', because: 'spec.ttlSecondsAfterFinished has elapsed' };
    case 'rest':
      return setStatus(status, 'nothing is due', due.seconds === 0 ? 'none' : { seconds: due.seconds });
  }
}

// The state that the Transaction was waiting for when the time was over gives the reason.
function decideRollBack({ status, now }: Observation, { cause, awaited }: ObservedTo<'rollBack'>): Step {
  const why = awaited === undefined ? undefined : whyNotReady(status, awaited);
  const message = why === undefined ? cause.message : `${cause.message}: ${why.message}`;
  const marked = why === undefined ? status : withItem(status, why.index, (item) => ({ ...item, gate: why.gate }));
  return setStatus(undoing(marked, { ...cause, message }, now, why?.index), message);
}

// From Preparing on the status names the locks, and release follows; before that it cannot.
function decideFail(observation: Observation, { cause, leases, trouble }: ObservedTo<'fail'>): Step {
  const { status, now } = observation;
  if (trouble !== undefined)
    return unlessFinal(observation, { status, what: 'reading the locks', failure: trouble }, (refused) => {
      const message = `${cause.message}; locks that it may hold are in the way of others until they expire, since ${refused.message}`;
      return setStatus(stopped(status, { ...cause, message }, now, new Map()), message);
    });
  return ending(stopped(status, cause, now, new Map()), cause.message, status.phase === 'Pending' ? leases : []);
}

function decideConclude({ status, transaction, now }: Observation, isOverdue: boolean): Step {
  const message = `the rollback did not finish within its own spec.timeout (${transaction.timeout / 1000}s)`;
  return setStatus(
    concluded(status, now, isOverdue ? { reason: 'RollbackTimeout', message } : undefined),
    isOverdue ? message : 'the rollback of every change has ended',
  );
}
