// Observation -> Step. Pure: no reads, no clock, no log.
import type { Ending } from '../agenda/agenda.ts';
import type { Observation, View } from '../observe/observation.ts';
import { decideApply } from './committing.ts';
import { decideBegin, ending } from './pending.ts';
import { decidePrepare } from './preparing.ts';
import { decideRestore } from './rolling-back.ts';
import { decideDisown, decideRelease, decideRelock, decideSettle } from './settled.ts';
import type { Step } from './step.ts';
import { answered, stopped } from './transitions.ts';
import { concluded, undoing } from './undo-transitions.ts';
import { become, waitOut } from './waiting.ts';

export function decide(observation: Observation): Step {
  const { agenda, status, now } = observation;
  switch (agenda.due) {
    case 'stop':
      return decideStop(observation, agenda.cause);
    case 'undo':
      return become(undoing(status, agenda.cause, now), agenda.cause.message);
    case 'conclude':
      return decideConclude(observation, agenda.overdue);
    case 'ignore':
      return become(answered(status, agenda.request), agenda.message);
    case 'rest':
      return become(status, 'nothing is due', agenda.seconds);
    case 'expire':
      return { kind: 'expire', because: 'spec.ttlSecondsAfterFinished is over' };
    default:
      return decideByView(observation, observation.view);
  }
}

// From Preparing on the status names the locks, and release follows; before that it cannot.
function decideStop({ status, now, view }: Observation, cause: Ending): Step {
  if (view.kind === 'release' && view.trouble !== undefined) return waitOut(status, 'reading the locks', view.trouble);
  const strays = view.kind === 'release' && status.phase === 'Pending' ? view.leases : [];
  return ending(stopped(status, cause, now, new Map()), cause.message, strays);
}

function decideConclude({ status, transaction, now }: Observation, isOverdue: boolean): Step {
  const message = `the undo was not finished within another spec.timeout (${transaction.timeout / 1000}s)`;
  return become(
    concluded(status, now, isOverdue ? { reason: 'RollbackTimeout', message } : undefined),
    isOverdue ? message : 'every change is judged',
  );
}

function decideByView(observation: Observation, view: View): Step {
  const { agenda, status } = observation;
  switch (view.kind) {
    case 'none':
      return become(status, 'nothing is due');
    case 'begin':
      return decideBegin(observation, view);
    case 'prepare':
      return decidePrepare(observation, view);
    case 'relock':
      return agenda.due === 'relock' ? decideRelock(observation, view, agenda.request) : become(status, 'nothing is due');
    case 'item':
      return decideItem(observation, view);
    case 'release':
      return decideRelease(observation, view);
    case 'settle':
      return decideSettle(observation, view);
  }
}

function decideItem(observation: Observation, view: Extract<View, { kind: 'item' }>): Step {
  const { agenda, status } = observation;
  switch (agenda.due) {
    case 'apply':
      return decideApply(observation, view, agenda.index);
    case 'restore':
      return decideRestore(observation, view, agenda.index);
    case 'disown':
      return decideDisown(observation, view, agenda.index);
    default:
      return become(status, 'nothing is due');
  }
}
