// The result of a step and its outcome: the engine reads again within this call, or answers with a status.
import { describeFaults } from '../checks/fault.ts';
import { endOf } from '../decide/barred.ts';
import { unlessFinal } from '../decide/refusals.ts';
import { unsettledAtRelease } from '../decide/settled.ts';
import type { Step } from '../decide/step.ts';
import { prepared, released } from '../decide/transitions.ts';
import { windowEnd } from '../decide/window.ts';
import { shortened } from '../decide/wording.ts';
import type { Status } from '../model/status.ts';
import type { Wait } from '../model/wait.ts';
import type { Carry } from '../observe/carry.ts';
import { refOf } from '../snapshots/store.ts';
import {
  again,
  answer,
  answerWith,
  failuresOf,
  type PerformedStep,
  type Result,
  stoppedBy,
  transientOf,
  waitForOwn,
  waitForRecovery,
} from './answer.ts';
import { afterApply, afterRecordDrift, afterTrial } from './apply.ts';
import { afterCleanUp, afterExpiry, afterReleaseFields } from './ends.ts';
import { takenLocks } from './locks.ts';
import { snapshotRefused } from './places.ts';
import { afterCompensation } from './undo.ts';

export function resultOf(step: Step, done: PerformedStep): Result {
  if (done.plan.kind === 'refused')
    return answer(stoppedBy(done.observation, describeFaults(done.plan.faults), done.plan.faults[0]?.reason));
  switch (step.kind) {
    case 'setStatus':
      return answer(step.status, step.wait);
    case 'releaseAndWait':
      return answer(transientOf(done.outcome) === undefined ? step.status : (step.held ?? step.status), step.wait);
    case 'readMore':
      return again(done, wantedBy(step));
    case 'pollLater':
      return again({ ...done, carry: withoutDiagnosis(done.carry) }, { awaitLeft: step.awaitLeft }, step.pause);
    case 'acquire':
      return takenLocks(step, done);
    case 'renew':
      return againUnlessHeld(done, 'renewing locks');
    case 'sign':
      return againUnlessHeld(done, 'signing a lock');
    case 'store':
      return afterStore(step, done);
    case 'discard':
      return againUnlessHeld(done, 'discarding an incomplete snapshot');
    case 'apply':
      return afterApply(step, done);
    case 'refused':
      return afterTrial(step, done);
    case 'recordDrift':
      return afterRecordDrift(step, done);
    case 'compensate':
      return afterCompensation(step, done);
    case 'release':
      return afterRelease(done);
    case 'releaseFields':
      return afterReleaseFields(step, done);
    case 'expire':
      return afterExpiry(done);
    case 'cleanUp':
      return afterCleanUp(done);
  }
}

// If a Lease has moved, the engine reads it again: it may still be ours. If the engine may not delete a Lease, the operator must
// correct that, and the Lease remains until then.
function afterRelease(done: PerformedStep): Result {
  const kinds = failuresOf(done.outcome).map(({ kind }) => kind);
  if (kinds.includes('transient')) return waitForRecovery(done, 'releasing locks');
  if (kinds.includes('refused')) return answer(done.observation.status, releaseRetry);
  if (kinds.includes('stale')) return again(done);
  return answer(released(done.observation.status, unsettledAtRelease(done.observation)));
}

const releaseRetry: Wait = { seconds: 5 };

// It was of a gate that does not end badly now.
function withoutDiagnosis({ diagnose: _over, ...carry }: Carry): Carry {
  return carry;
}

function wantedBy(step: Extract<Step, { kind: 'readMore' }>): Partial<Carry> {
  if ('others' in step) return { others: step.others };
  if ('survey' in step) return { surveys: true };
  return 'entry' in step ? { reads: step.entry } : { diagnose: step.diagnose };
}

function againUnlessHeld(done: PerformedStep, what: string): Result {
  const { observation, outcome } = done;
  const failure = failuresOf(outcome).find(({ kind }) => kind === 'refused');
  const end = endOf(observation);
  if (failure !== undefined && end !== undefined)
    return answerWith(unlessFinal(observation, { status: observation.status, what, failure }, end));
  return transientOf(done.outcome) === undefined ? again(done) : waitForRecovery(done, what);
}

function afterStore(step: Extract<Step, { kind: 'store' }>, done: PerformedStep): Result {
  const { observation, outcome, plan } = done;
  const [failure] = failuresOf(outcome);
  if (failure === undefined) {
    const writes = plan.kind === 'sequence' ? plan.mutations.map(({ write }) => write) : [];
    const { status, transaction, pace } = observation;
    return answer(noted(prepared(status, refOf(step.name, writes), windowEnd(transaction, 0, pace)), step));
  }
  if (failure.kind === 'transient') return waitForOwn(done, observation.status, 'storing the snapshot', failure);
  if (failure.kind === 'exists') return again(done, { snapshotNameInUse: outcome.at(-1)?.write.location.name ?? step.name });
  const { message, reason } = snapshotRefused(failure, done);
  return answer(stoppedBy(observation, message, reason));
}

function noted(status: Status, { targets }: Extract<Step, { kind: 'store' }>): Status {
  const items = status.items.map((item, index) => {
    const { note, warnings } = targets[index] ?? {};
    return { ...item, ...(note && { note: shortened(note) }), ...(warnings && { warnings }) };
  });
  return { ...status, items };
}
