// A rollback, before its checks: what it undoes is refused, planned, or stored as its changes.
import { fault } from '../checks/fault.ts';
import { restoresOf } from '../model/rollback.ts';
import { emptyStatus, type Status } from '../model/status.ts';
import type { Request } from '../model/undo.ts';
import type { Observation, ObservedTo, RollbackView } from '../observe/observation.ts';
import { refuse, troubled } from './pending.ts';
import type { Step } from './step.ts';
import { begun, handled } from './transitions.ts';
import { patience, setStatus } from './waiting.ts';
import { answerOf, decideWhole, type UndoDecision } from './whole-undo.ts';
import { count } from './wording.ts';

export function decideCompose(observation: Observation, { composition, request }: ObservedTo<'compose'>): Step {
  const status = begun(observation.status, observation.now);
  if (composition === undefined) return setStatus(status, 'the rollback is not composed yet', 'now');
  const { trouble, waiting, faults, found } = composition;
  if (trouble !== undefined) return troubled(observation, status, 'reading what it undoes', trouble);
  if (waiting !== undefined) return setStatus({ ...status, message: waiting }, waiting, patience);
  if (found === undefined) return refuse(observation, faults);
  if (found.set.objects.length === 0) return refuse(observation, [nothing]);
  const composed = { ...status, rollback: found.set, items: emptyStatus(found.set.objects.length).items };
  if (request !== undefined) return planned(observation, handled(composed, request), found, request);
  return faults.length > 0 ? refuse(observation, faults) : stored(observation, composed, found);
}

type Found = NonNullable<RollbackView['found']>;

function planned(observation: Observation, status: Status, found: Found, request: Request): Step {
  const undo = answerOf(decisionOf(observation, found), request, 'Planned');
  return setStatus({ ...status, undo, message: undo.message }, undo.message);
}

function stored(observation: Observation, status: Status, found: Found): Step {
  const { undone, objects } = found.set;
  const digest = observation.transaction.rollback?.digest;
  if (digest !== undefined && digest !== decisionOf(observation, found).digest) return refuse(observation, [planChanged]);
  const message = `${count(objects.length, 'object')} to restore, ${count(undone.length, 'Transaction')} to undo`;
  return setStatus({ ...status, message }, message, 'now');
}

const planChanged = fault(
  'Conflict',
  'spec.rollback.digest: the plan is another one now: make a new plan, and create the rollback again',
);
const nothing = fault(
  'Invalid',
  'spec.rollback: nothing is to restore: all that is newer is undone, or none of its objects exists',
);

function decisionOf({ status, transaction }: Observation, { set, findings, choices }: Found): UndoDecision {
  const changes = restoresOf(set);
  const items = emptyStatus(changes.length).items;
  return decideWhole({
    status: { ...status, items },
    transaction: { ...transaction, changes },
    findings,
    choices,
    neededBy: { kept: new Map(), blocked: new Map() },
  });
}
