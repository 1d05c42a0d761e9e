// One open gate: how far it is after a read, and whether it has ended badly. Both follow from stored times and the API server's
// clock.

import type { Failure } from '../../objects/failure.ts';
import { describe } from '../../objects/reference.ts';
import { believedTime, formatDuration, formatTime, roundedUp, storedResolution } from '../../objects/time.ts';
import { describeRefusal } from '../checks/refusal.ts';
import { expectedOf } from '../gates/readiness.ts';
import type { Finding } from '../gates/verdict.ts';
import type { GateState } from '../model/gate.ts';
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
  /** Ms until time alone changes something: its timeout, or the end of `stableFor`. */
  readonly left: number;
  readonly end?: Cause;
}

/** The result of a read for one gate. */
export function evaluated(observation: Observation, view: GateView): GateEvaluation {
  const { now, transaction, status } = observation;
  const before = status.items[view.index]?.gate ?? { since: now };
  const timeLeft = believedTime(before.since, transaction.createdAt, now) + view.look.gate.timeout - now;
  const base = { view, state: before, isOver: false, left: timeLeft };
  const { finding } = view;
  if (finding.kind === 'trouble') return unread(observation, base, finding.failure);
  const state = stateAfter(before, finding, now);
  if (finding.kind === 'failed') return { ...base, state, end: cause(view, finding.reason ?? 'GateFailed', state) };
  if (finding.kind === 'notYet') return { ...base, state, ...late({ ...base, state }) };
  const stableLeft = stableLeftOf(observation, view, state);
  const ready = { ...base, state, isOver: stableLeft <= 0, left: Math.min(timeLeft, stableLeft) };
  return { ...ready, ...(ready.isOver ? {} : late({ ...ready, left: timeLeft })) };
}

function unread(observation: Observation, base: GateEvaluation, failure: Failure): GateEvaluation {
  const found = failure.said === undefined ? {} : { found: failure.said };
  const gate = { ...base, state: { ...base.state, ...found } };
  return { ...gate, ...(refused(observation, base.view, failure) ?? late(gate)) };
}

function late({ view, state, left }: GateEvaluation): { readonly end?: Cause } {
  if (left >= 0) return {};
  return { end: cause(view, 'GateTimeout', state, `within ${formatDuration(view.look.gate.timeout)}`) };
}

/** Ms for which it must stay ready. */
function stableLeftOf({ transaction, now }: Observation, { look }: GateView, { readySince }: GateState): number {
  const { stableFor } = look.gate;
  if (stableFor === 0) return 0;
  // The API server's clock is known by the second: it may have been ready for so much less.
  return believedTime(readySince ?? now, transaction.createdAt, now) + storedResolution + stableFor - now;
}

function stateAfter({ since, passed, readySince }: GateState, { kind, found }: Finding, now: number): GateState {
  const isReady = kind === 'ready';
  return {
    since,
    ...(isReady ? { readySince: readySince ?? roundedUp(now) } : {}),
    ...(passed === undefined ? {} : { passed }),
    ...(found === '' ? {} : { found }),
  };
}

// What passes is waited out within the timeout of the gate.
function refused({ transaction }: Observation, { entry }: GateView, failure: Failure): { readonly end: Cause } | undefined {
  if (failure.kind === 'transient') return undefined;
  const message = `${describe(entry.target)} cannot be read to see whether it is ready: ${describeRefusal(failure, entry, transaction)}`;
  return { end: { reason: reasonOfFailure(failure), message } };
}

export function cause({ entry, look }: GateView, reason: Reason, { found, since }: GateState, within?: string): Cause {
  const name = describe(entry.target);
  const what = within === undefined ? `${name} failed` : `${name} did not become ready ${within}`;
  return {
    reason,
    message: `${what}: expected ${expectedOf(look)}; found ${found ?? 'nothing yet'} (waited since ${formatTime(since)})`,
  };
}
