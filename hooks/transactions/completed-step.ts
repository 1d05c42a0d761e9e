// The result of a step: for the next step of the same call, for its reply, and for the memory of this process.

import type { JsonObject } from '../objects/json.ts';
import type { Outcome } from '../objects/mutation.ts';
import type { Step } from './decide/step.ts';
import type { Stand } from './looking.ts';
import { isDeletingHalf } from './model/halves.ts';
import type { Status } from './model/status.ts';
import type { Carry } from './observe/carry.ts';
import { itemOf, type LockView, type Observation, type Observed } from './observe/observation.ts';
import { verified } from './observe/snapshot.ts';
import type { Result } from './outcome/answer.ts';
import { recovered } from './outcome/recovered.ts';
import type { Ended } from './reply.ts';
import { lateWindowOf, type Serving } from './serving.ts';

export interface CompletedStep extends Ended {
  readonly result: Result;
  /** The running status with which this step began. */
  readonly status: Status;
  /** The locks as this step read them, by the names of their Leases. */
  readonly locks?: LockView;
}

interface Stepped {
  readonly observation: Observation;
  readonly step: Step;
  readonly outcome: Outcome;
  readonly result: Result;
}

/** The step as the rest of the call sees it. This process remembers what others cannot know of it. */
export async function completedStep(serving: Serving, stand: Stand, carry: Carry, stepped: Stepped): Promise<CompletedStep> {
  const { observation, step, outcome, result } = stepped;
  remember(serving, stepped);
  if (step.kind === 'store') await keepStored(serving, stepped);
  const { transaction, due, now, status } = observation;
  const first = stand.first ?? firstAcquired(observation, carry, result);
  const locks = due.kind === 'begin' ? { locks: due.locks } : {};
  const answered = { transaction, now, due, step, outcome: aboutChange(due, outcome), before: status };
  return { ...answered, leases: leasesIn(due), found: stand.status, first, result, status, ...locks };
}

/** The result of a step that threw. A write may have been sent without a recorded answer. */
export function recoveredStep({ memory, parts }: Serving, stand: Stand, thrown: unknown): CompletedStep {
  const { uid } = stand.transaction;
  memory.unsettled(uid, stand.now);
  const { waits } = memory.recall(uid);
  const order = memory.snapshots.get(uid)?.order;
  const found = { ...stand, status: stand.running ?? stand.status, lateWindow: lateWindowOf(parts.timing), waits, order };
  return { ...recovered(thrown, found), status: found.status, leases: [], first: undefined, found: stand.status };
}

function remember(serving: Serving, { observation, step, outcome }: Stepped): void {
  const { memory, session, writer } = serving;
  const { uid } = observation.transaction;
  const answer = outcome.at(-1)?.answer;
  if (step.kind === 'sign' && answer?.kind === 'ok') memory.signed(uid, writer, step.isSettled ? undefined : answer.serverTime);
  if (step.kind !== 'apply') return;
  // The first of two writes (writes/union.ts) has an effect, whatever comes of the second.
  if (outcome.some((tried) => tried.answer.kind === 'ok')) rememberChange(serving, uid, step);
  if (session.uncertain()) memory.unsettled(uid, observation.now);
}

function rememberChange({ memory }: Serving, uid: string, { entry, index }: Extract<Step, { kind: 'apply' }>): void {
  if (isDeletingHalf(entry)) memory.begun(uid, index);
  else memory.sent(uid, index);
}

// The next call need not read back what was just stored. The first ConfigMap was written last.
async function keepStored({ memory, parts }: Serving, { observation, outcome, result }: Stepped): Promise<void> {
  const ref = result.kind === 'answer' ? result.status.rollbackRef : undefined;
  const objects = outcome.flatMap(({ answer }) => (answer.kind === 'ok' ? [answer.object] : []));
  const source = { packer: parts.sealer, cache: memory.snapshots };
  if (ref !== undefined) await verified(source, observation.transaction, ref, objects.toReversed());
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
  return 'index' in due ? outcome.map((attempt) => ({ ...attempt, item: due.index })) : outcome;
}
