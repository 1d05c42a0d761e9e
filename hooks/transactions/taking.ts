// One step of an attempt: the reads that it needs, the decision, the writes, and the result. attempt.ts says when it begins.
import type { JsonObject } from '../objects/json.ts';
import type { Outcome } from '../objects/mutation.ts';
import { turnFor } from '../objects/requests/loop-turns.ts';
import { type Attempt, type Basis, type CallContext, lateWindowOf } from './attempt.ts';
import type { Timing } from './call.ts';
import { decide } from './decide/decide.ts';
import { lockTime } from './decide/locks.ts';
import type { Step } from './decide/step.ts';
import { withdrawn } from './decide/undo-transitions.ts';
import { type Due, dueOf, type Stored } from './due.ts';
import { isAccountedFor, mayLandUntil, type OwnWrites } from './in-flight/in-flight.ts';
import type { Pace, Status } from './model/status.ts';
import type { Carry } from './observe/carry.ts';
import { turnToCompare } from './observe/comparing.ts';
import { encodedFor } from './observe/encoding.ts';
import { readTransaction } from './observe/live.ts';
import { itemOf, type Observation, type Observed } from './observe/observation.ts';
import { observe } from './observe/observe.ts';
import { readOrder } from './observe/snapshot.ts';
import type { Result } from './outcome/answer.ts';
import { heldByTrial, trialBefore } from './outcome/forgotten.ts';
import { denied } from './outcome/refused.ts';
import { resultOf } from './outcome/result.ts';
import { performChecked } from './perform/invariants.ts';
import { type Plan, plan } from './plan/plan.ts';
import { writeContextOf } from './plan/write-context.ts';
import { withRollback } from './undo/rollback.ts';
import { withSurvey } from './undo/survey.ts';

/** A step that is decided and planned, before its writes are sent. */
export interface Ready {
  readonly observation: Observation;
  readonly step: Step;
  readonly carry: Carry;
  readonly planned: Plan;
}

/** Such a step, with the answers to its writes. */
export interface StepOutcome extends Ready {
  readonly outcome: Outcome;
}

/** `index`: the change that the step is about, if it is sent beside the one that is due. */
export async function readied(context: CallContext, basis: Basis, carry: Carry, index?: number): Promise<Ready | Attempt> {
  const { session } = context;
  const { sealer } = context.parts;
  const observation = await observeBasis(context, basis, carry, index);
  await turnToCompare(...statesOf(observation));
  const step = decide(observation);
  const ended = (result: Result) => attemptOf(basis, observation, { step, carry, outcome: [], result });
  if (await movedMeanwhile(context, basis, step)) return ended({ kind: 'again', carry });
  await turnFor(...statesOf(observation));
  const planned = plan(step, observation, { packer: sealer, encoded: await encodedFor(step, observation, sealer) });
  const trial = trialBefore(step, planned, observation);
  const held = trial && heldByTrial(trial, await session.cluster.dryRun(trial.write), observation);
  return held === undefined ? { observation, step, carry, planned } : ended(held);
}

/** The writes of the step, sent. */
export async function sent({ session, parts }: CallContext, basis: Basis, ready: Ready): Promise<StepOutcome> {
  const { observation, step, carry, planned } = ready;
  if (planned.kind === 'refused') return { ...ready, outcome: [] };
  // Nothing is sent once the lock of the target is over, and nothing that was refused often enough is sent once more.
  const until = basis.nowAt + lockTime(step, observation) - parts.timing.writeTimeout;
  const outcome =
    denied(planned, step, carry.refused) ??
    (await performChecked(planned, session.writerUntil(until), writeContextOf(step, basis, parts)));
  await turnToCompare(...outcome.map(({ answer }) => (answer.kind === 'ok' ? answer.object : undefined)));
  return { ...ready, outcome };
}

/** The attempt whose writes had this outcome. `status`: with what was made beside it. */
export function taken(
  { parts }: CallContext,
  basis: Basis,
  { observation, step, carry, planned, outcome }: StepOutcome,
  status = observation.status,
): Attempt {
  const seen = { ...observation, status };
  const result = resultOf(step, { observation: seen, plan: planned, outcome, carry, packer: parts.sealer });
  return { ...attemptOf(basis, seen, { step, carry, outcome, result }), before: observation.status };
}

/** The states of the target that the step is about: they may be large. */
function statesOf({ due }: Observation): readonly (JsonObject | undefined)[] {
  const view = itemOf(due);
  if (view === undefined) return [];
  const entry = view.snapshot.kind === 'stored' ? view.snapshot.entries[view.index] : undefined;
  return [view.live.kind === 'present' ? view.live.object : undefined, entry?.prior, entry?.expected];
}

/**
 * Whether the Transaction has changed while the engine observed a change for longer than a read counts. A user may have requested
 * to stop it. To list the dependents of a Delete among 500 kinds takes that long.
 */
async function movedMeanwhile({ parts, session }: CallContext, { transaction, readAt }: Basis, step: Step): Promise<boolean> {
  const { clock, timing } = parts;
  if (step.kind !== 'apply' || clock.monotonic() < readAt + (timing.readAge ?? Number.POSITIVE_INFINITY)) return false;
  const live = await readTransaction(session.cluster, transaction);
  return live.kind !== 'live' || live.transaction.resourceVersion !== transaction.resourceVersion;
}

/** The due step, with all facts that the decision needs. */
async function observeBasis(context: CallContext, basis: Basis, carry: Carry, beside?: number): Promise<Observation> {
  const { memory, session, callReads, sources, server, writer, parts } = context;
  const { engineNamespace, namespaces = [], timing } = parts;
  const { transaction, now, first, ownLeases, target, isOvertaken, after } = basis;
  // The process knows this before the reads. If the reads are refused, this is at least so much later than the first refusal.
  const { waits, refusedFor, ...ownWrites } = memory.recall(transaction.uid);
  const status = foundStatus(basis.pending ?? basis.status, first, ownWrites);
  const [lateWindow, pace] = [lateWindowOf(timing), paceOf(timing)];
  const source = { reader: context.reader(), packer: parts.sealer, cache: memory.snapshots, callReads };
  const { snapshot, order } =
    status.phase === 'RollingBack' ? await readOrder(source, transaction, status.rollbackRef) : unordered;
  const due = dueBeside({ transaction, status, now, lateWindow, waits, order }, beside);
  const earlier = 'index' in due && due.index === target?.index ? target.presence : undefined;
  const until = mayLandUntil({ status, ownWrites, first }, lateWindow);
  // A write in flight may still change a target that was read ahead: such a read is not used.
  const ahead = until !== 'unobserved' && now > until && pace === 'all' ? basis.ahead : undefined;
  const reads = {
    ...{ source, transaction, status, now, engineNamespace, namespaces, carry, ownLeases, earlier, ahead, snapshot },
    ...{ expressions: parts.expressions, sources, clock: parts.clock, aside: parts.cluster },
    ...{ podTurns: memory.podTurns, polled: memory.polled },
  };
  const observing = await withRollback(reads, due);
  const observation = {
    ...{ now, transaction, status, due: await observe(observing, due), isOvertaken },
    ...{ ...(carry.touched === undefined ? {} : { touched: carry.touched }), ...(after === undefined ? {} : { after }) },
    ...{ engineNamespace, server, writer, ownWrites, waits, lateWindow, pace, refusedFor },
  };
  return { ...(await withSurvey(observing, observation)), barred: session.barred() };
}

/** The due step, or that step for another change of its wave. */
function dueBeside(stored: Stored, index: number | undefined): Due {
  const due = dueOf(stored);
  return index !== undefined && 'index' in due ? { ...due, index } : due;
}

/** W3 (in-flight/in-flight.ts): a change that is only announced was never sent, if all writes are accounted for. */
function foundStatus(status: Status, first: JsonObject | undefined, ownWrites: OwnWrites): Status {
  return status.phase === 'RollingBack' && isAccountedFor({ status, first, ownWrites }) ? withdrawn(status) : status;
}

const unordered = { snapshot: undefined, order: undefined };

interface Taken {
  readonly step: Step;
  readonly carry: Carry;
  readonly outcome: Outcome;
  readonly result: Result;
}

function attemptOf(basis: Basis, observation: Observation, { step, carry, outcome, result }: Taken): Attempt {
  const { transaction, due, now, status } = observation;
  const first = basis.first ?? firstAcquired(observation, carry, result);
  const answered = { transaction, now, due, step, outcome: aboutChange(due, outcome), before: status };
  const locks = due.kind === 'begin' ? { locks: due.locks } : {};
  return { ...answered, leases: leasesIn(due), stored: basis.status, first, result, status, ...locks };
}

// The Lease of the first change, as this call acquired it.
function firstAcquired({ due, status }: Observation, carry: Carry, result: Result): JsonObject | undefined {
  const { items } = result.kind === 'answer' ? result.status : status;
  const locks = due.kind === 'begin' ? due.locks.states : carry.locks;
  const lease = locks.get(items[0]?.lockLease ?? '');
  return lease?.kind === 'present' ? lease.object : undefined;
}

function leasesIn(due: Observed): readonly JsonObject[] {
  const leases = due.kind === 'await' ? due.leases : itemOf(due)?.leases;
  if (leases !== undefined) return leases;
  const states = 'locks' in due ? [...due.locks.states.values()] : [];
  return states.flatMap((state) => (state.kind === 'present' ? [state.object] : []));
}

/** The writes, each with its change. */
function aboutChange(due: Observed, outcome: Outcome): Outcome {
  return 'index' in due ? outcome.map((one) => ({ ...one, item: due.index })) : outcome;
}

function paceOf({ callBudget = 0 }: Timing): Pace {
  return callBudget > 0 ? 'all' : 'one';
}
