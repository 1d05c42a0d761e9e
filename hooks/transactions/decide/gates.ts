// Committing: the engine reads the objects of open gates until all are ready at once, one has failed, or the time is over.
//
// Meanwhile, the engine writes only renewals of the locks. The state of a gate is in the status: equal reads give an equal status.
//
// I17. Nothing behind a gate is written before a stored status says that it has passed, and that its object was ready was seen.
// I18. Committed says that every gate has passed.

import { textAt } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { formatTime } from '../../objects/time.ts';
import { firstPause, intervalOf, patienceInCall } from '../gates/interval.ts';
import { expectedOf } from '../gates/readiness.ts';
import { leaseState } from '../locks/state.ts';
import type { GateState } from '../model/gate.ts';
import type { Cause, Status } from '../model/status.ts';
import { holderOf } from '../model/transaction.ts';
import type { AwaitView } from '../observe/awaited.ts';
import type { Observation, ObservedTo } from '../observe/observation.ts';
import { cause, evaluated, type GateEvaluation } from './gate-evaluation.ts';
import { lockLost, renew } from './guards.ts';
import { unlessFinal } from './refusals.ts';
import type { SetStatus, Step } from './step.ts';
import { gatesPassed, passed, withItem } from './transitions.ts';
import { undoing } from './undo-transitions.ts';
import { setStatus } from './waiting.ts';
import { windowEnd } from './window.ts';

type Awaiting = ObservedTo<'await'>;

export function decideAwait(observation: Observation, view: Awaiting): Step {
  const blocked = blockedStep(observation, view);
  if (blocked !== undefined) return blocked;
  const gates = view.views.map((gate) => evaluated(observation, gate));
  const bad = gates.find(({ end }) => end !== undefined);
  if (bad?.end !== undefined) return failed(observation, view, bad, bad.end);
  // Only the status that says that the gates have passed announces the changes behind them (I17).
  return gates.every(({ isOver }) => isOver) ? passedAll(observation, view, gates) : waiting(observation, view, gates);
}

// The locks are held while a gate is open, and renewed like those of changes.
function blockedStep(observation: Observation, { trouble, snapshot, leases, gates, views }: Awaiting): Step | undefined {
  const { status, transaction, now } = observation;
  const rollBack = (cause: Cause): SetStatus => setStatus(undoing(status, cause, now), cause.message);
  if (trouble !== undefined) return unlessFinal(observation, { status, what: 'reading the locks', failure: trouble }, rollBack);
  if (snapshot.kind === 'trouble')
    return unlessFinal(observation, { status, what: 'reading the snapshot', failure: snapshot.failure }, rollBack);
  if (snapshot.kind === 'broken') return rollBack({ reason: 'SnapshotBroken', message: snapshot.message });
  const unknown = gates.find(({ index }) => !views.some((view) => view.index === index));
  if (unknown !== undefined) {
    const message = `the snapshot has no entry for spec.changes[${unknown.index}]`;
    return rollBack({ reason: 'SnapshotBroken', message });
  }
  const byName = new Map(leases.map((lease) => [textAt(lease, 'metadata', 'name'), lease]));
  const holder = holderOf(transaction);
  const states = status.items.map(({ lockLease }) => leaseState(byName.get(lockLease), holder, now));
  const lost = states.findIndex((state) => state !== 'ours' && state !== 'fading');
  if (lost >= 0) return lockLost(observation, lost);
  return states.includes('fading') ? renew({ leases }) : undefined;
}

// Why is read once, and goes into the status that begins the rollback.
function failed(observation: Observation, view: Awaiting, { view: { index, entry }, state }: GateEvaluation, end: Cause): Step {
  const { status, now } = observation;
  const isOurs = end.reason === 'GateFailed' || end.reason === 'GateTimeout';
  if (isOurs && view.diagnosis?.index !== index)
    return { kind: 'readMore', diagnose: index, because: `${describe(entry.target)} is not ready: why is read` };
  const message = withDiagnosis(end.message, index, view);
  const marked = withItem(status, index, (item) => ({ ...item, gate: { ...state, ...kept(index, view) } }));
  return setStatus(undoing(marked, { reason: end.reason, message }, now, index), message);
}

function passedAll(
  { status, transaction, pace, now }: Observation,
  { at, gates, views }: Awaiting,
  evaluations: readonly GateEvaluation[],
): Step {
  const noted = withStates(status, evaluations);
  const items = passed(noted.items, gates, now);
  const applied = items.filter(({ progress }) => progress.kind === 'applied').length;
  const next = { gating: transaction, end: windowEnd(transaction, applied, pace, items) };
  const [first] = views;
  const name = first === undefined ? '' : describe(first.entry.target);
  const because = views.length === 1 ? `${name} is ready` : `${name} and ${views.length - 1} more are ready`;
  return setStatus(gatesPassed(noted, { at, gates }, next, now), because);
}

function waiting({ status, transaction, now }: Observation, view: Awaiting, gates: readonly GateEvaluation[]): Step {
  const open = gates.filter(({ isOver }) => !isOver);
  const waited = now - Math.max(...gates.map(({ state }) => state.since));
  const left = Math.min(...open.map((gate) => gate.left));
  const pause = intervalOf({ waited, open: open.length, polled: view.polled, left, lockTimeout: transaction.lockTimeout });
  const message = waitingMessage(open);
  const inCall = view.awaitLeft === patienceInCall ? firstPause : pause;
  if (view.awaitLeft >= inCall) return { kind: 'pollLater', pause: inCall, awaitLeft: view.awaitLeft - inCall, because: message };
  return setStatus({ ...withStates(status, gates), message }, message, { seconds: pause / 1000 });
}

/** The status with the findings of this read. */
function withStates(status: Status, gates: readonly GateEvaluation[]): Status {
  const states = new Map(gates.map(({ view: { index }, state }) => [index, state]));
  const items = status.items.map((item, index) => {
    const gate = states.get(index);
    return gate === undefined ? item : { ...item, gate };
  });
  return { ...status, items };
}

function waitingMessage(open: readonly GateEvaluation[]): string {
  const [first] = open;
  if (first === undefined) return 'waiting for gates';
  const { view, state } = first;
  const until = formatTime(state.since + view.evidence.gate.timeout);
  const { finding } = view;
  const found =
    finding.kind === 'trouble'
      ? `it cannot be read now (${finding.failure.said ?? finding.failure.reason})`
      : [state.found ?? 'nothing yet', ...(state.pod === undefined ? [] : [state.pod.found])].join('; ');
  const more = open.length > 1 ? ` (and for ${open.length - 1} more)` : '';
  return `waiting for ${describe(view.entry.target)}${more} until ${until}: expected ${expectedOf(view.evidence)}; found ${found}`;
}

interface NotReady {
  readonly index: number;
  readonly message: string;
  readonly gate: GateState;
}

/** Of the first gate that was open when spec.timeout was over. */
export function whyNotReady(status: Status, view: AwaitView): NotReady | undefined {
  const open = view.views.find(({ index }) => status.items[index]?.gate?.readySince === undefined);
  if (open === undefined) return undefined;
  const { index } = open;
  const state = status.items[index]?.gate ?? { since: 0 };
  const { message } = cause(open, 'Timeout', state, 'in time');
  return { index, message: withDiagnosis(message, index, view), gate: { ...state, ...kept(index, view) } };
}

/** What the diagnosis leaves in the status, besides its words. */
function kept(index: number, { diagnosis }: Pick<AwaitView, 'diagnosis'>): Partial<GateState> {
  if (diagnosis?.index !== index) return {};
  const { pod, logs } = diagnosis;
  return { ...(pod === undefined ? {} : { pod }), ...(logs === undefined ? {} : { logs }) };
}

function withDiagnosis(message: string, index: number, { diagnosis }: Pick<AwaitView, 'diagnosis'>): string {
  if (diagnosis?.index !== index || diagnosis.words === '') return message;
  const logs = diagnosis.logs === undefined ? '' : ` Its last lines are in status.items[${index}].gate.logs.`;
  return `${message}; ${diagnosis.words}${logs}`;
}
