// One open gate: how far it is after a read, and whether it has ended badly. Both follow from stored times and the API server's
// clock.

import type { Failure } from '../../objects/failure.ts';
import { describe } from '../../objects/reference.ts';
import { believedTime, formatDuration, formatTime, roundedUp, storedResolution } from '../../objects/time.ts';
import { describeRefusal } from '../checks/refusal.ts';
import type { FailingPod } from '../gates/new-pods.ts';
import { expectedOf } from '../gates/readiness.ts';
import type { Finding } from '../gates/verdict.ts';
import type { GateState, PodState } from '../model/gate.ts';
import { type Reason, reasonOfFailure } from '../model/reason.ts';
import type { Cause } from '../model/status.ts';
import type { GateView } from '../observe/awaited.ts';
import type { Observation } from '../observe/observation.ts';

/** A gate after a read. */
export interface GateEvaluation {
  readonly view: GateView;
  readonly state: GateState;
  /** It has been ready for long enough. */
  readonly isOver: boolean;
  /** Ms until time alone changes something: its timeout, the end of `stableFor`, or the next list of Pods. */
  readonly left: number;
  readonly end?: Cause;
}

/** The result of a read for one gate. */
export function evaluated(observation: Observation, view: GateView): GateEvaluation {
  const { now, transaction, status } = observation;
  const before = status.items[view.index]?.gate ?? { since: now };
  const timeLeft = believedTime(before.since, transaction.createdAt, now) + view.evidence.gate.timeout - now;
  const base = { view, state: before, isOver: false, left: timeLeft };
  const { finding } = view;
  if (finding.kind === 'trouble') return unread(observation, base, finding.failure);
  const state = stateAfter(before, finding, now);
  if (finding.kind === 'failed') return { ...base, state, end: cause(view, finding.reason ?? 'GateFailed', state) };
  if (finding.kind === 'notYet') return notReady(observation, { ...base, state });
  const stableLeft = stableLeftOf(observation, view, state);
  const ready = { ...base, state, isOver: stableLeft <= 0, left: Math.min(timeLeft, stableLeft) };
  return { ...ready, ...(ready.isOver ? {} : late({ ...ready, left: timeLeft })) };
}

function unread(observation: Observation, base: GateEvaluation, failure: Failure): GateEvaluation {
  const found = failure.said === undefined ? {} : { found: failure.said };
  const gate = { ...base, state: { ...base.state, ...found } };
  return { ...gate, ...(refused(observation, base.view, failure) ?? late(gate)) };
}

function notReady({ transaction, now }: Observation, gate: GateEvaluation): GateEvaluation {
  const { view, left } = gate;
  const pod = podAfter(gate, transaction.createdAt, now);
  const { pod: _before, ...rest } = gate.state;
  const state = pod === undefined ? rest : { ...rest, pod };
  const next = { ...gate, state, left: Math.min(left, view.pods?.left ?? left) };
  return { ...next, ...(podEnd(next, transaction.createdAt, now) ?? late({ ...gate, state })) };
}

/** The Pod that is nearest to the end of the gate, or why Pods are not known. As before, if this poll has not listed them. */
function podAfter({ view, state: { pod: before } }: GateEvaluation, createdAt: number, now: number): PodState | undefined {
  const { failFast } = view.evidence.gate;
  const seen = view.pods?.seen;
  if (view.pods === undefined || failFast === undefined) return undefined;
  if (seen === undefined) return before;
  if (seen.kind === 'unread') return { found: seen.found };
  const pods = seen.failing.map((one) => failingAfter(before, one, now));
  const endOf = ({ failing: { failure, since } }: FailingState): number =>
    believedTime(since, createdAt, now) + failFast[failure];
  return pods.toSorted((left, right) => endOf(left) - endOf(right))[0];
}

type FailingState = PodState & Required<Pick<PodState, 'failing'>>;

// The words stay as they are while the Pod fails: kubelets alternate between reasons, and equal reads must give an equal status.
function failingAfter(before: PodState | undefined, { uid, failure, found }: FailingPod, now: number): FailingState {
  const known = before?.failing;
  return before?.uid === uid && known?.failure === failure
    ? { ...before, failing: known }
    : { found, uid, failing: { failure, since: roundedUp(now) } };
}

// Only a list of Pods of this poll ends a gate: the Pod may have started since the last one.
function podEnd({ view, state }: GateEvaluation, createdAt: number, now: number): { readonly end: Cause } | undefined {
  const { failFast } = view.evidence.gate;
  const failing = state.pod?.failing;
  if (view.pods?.seen?.kind !== 'listed' || failing === undefined || failFast === undefined) return undefined;
  const span = now - believedTime(failing.since, createdAt, now);
  if (span < failFast[failing.failure]) return undefined;
  const found = `${state.found ?? 'nothing yet'}, and a container that has not started for ${formatDuration(span)}`;
  return { end: cause(view, 'GateFailed', { ...state, found }) };
}

function late({ view, state, left }: Pick<GateEvaluation, 'view' | 'state' | 'left'>): { readonly end?: Cause } {
  if (left >= 0) return {};
  return { end: cause(view, 'GateTimeout', state, `within ${formatDuration(view.evidence.gate.timeout)}`) };
}

/** Ms for which it must stay ready. */
function stableLeftOf({ transaction, now }: Observation, { evidence }: GateView, { readySince }: GateState): number {
  const { stableFor } = evidence.gate;
  if (stableFor === 0) return 0;
  // The API server's clock is known by the second: it may have been ready for so much less.
  return believedTime(readySince ?? now, transaction.createdAt, now) + storedResolution + stableFor - now;
}

function stateAfter({ since, passed, readySince, pod }: GateState, { kind, found }: Finding, now: number): GateState {
  const isReady = kind === 'ready';
  return {
    since,
    ...(isReady ? { readySince: readySince ?? roundedUp(now) } : {}),
    ...(passed === undefined ? {} : { passed }),
    ...(found === '' ? {} : { found }),
    ...(isReady || pod === undefined ? {} : { pod }),
  };
}

// What passes is waited out within the timeout of the gate.
function refused({ transaction }: Observation, { entry }: GateView, failure: Failure): { readonly end: Cause } | undefined {
  if (failure.kind === 'transient') return undefined;
  const message = `${describe(entry.target)} cannot be read to see whether it is ready: ${describeRefusal(failure, entry, transaction)}`;
  return { end: { reason: reasonOfFailure(failure), message } };
}

export function cause({ entry, evidence }: GateView, reason: Reason, { found, since }: GateState, within?: string): Cause {
  const name = describe(entry.target);
  const what = within === undefined ? `${name} failed` : `${name} did not become ready ${within}`;
  return {
    reason,
    message: `${what}: expected ${expectedOf(evidence)}; found ${found ?? 'nothing yet'} (waited since ${formatTime(since)})`,
  };
}
