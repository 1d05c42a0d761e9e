// The program: look, decide, plan, perform, report. One call takes one step of the saga; the same for a Transaction that is
// being deleted, since the live deletionTimestamp decides.
//
// Within a call it is looked again when a step only prepared the ground (a lock taken, a Lease renewed) or when the world moved
// between the look and the write. A target is written at most once: what succeeded ends the call.
import { agendaOf } from './agenda/agenda.ts';
import type { Call, EngineParts, Hook, Reply, Timing } from './call.ts';
import { decide } from './decide/decide.ts';
import { lockTime } from './decide/lock-time.ts';
import { testimonyOf } from './decide/testimony.ts';
import { begun } from './decide/transitions.ts';
import { createMemory, createTurns, type Found, type Memory } from './memory.ts';
import { isTerminal } from './model/phase.ts';
import { encodeStatus, type Status } from './model/status.ts';
import type { Transaction } from './model/transaction.ts';
import { type Carry, emptyCarry } from './observe/carry.ts';
import { type Expected, type Foretold, foretell } from './observe/foretold.ts';
import { type LiveTransaction, type NotLive, readTransaction } from './observe/live.ts';
import type { Observation } from './observe/observation.ts';
import { observe } from './observe/observe.ts';
import { type SnapshotSource, verified } from './observe/snapshot.ts';
import { type Session, startSession } from './perform/deadline.ts';
import { perform } from './perform/perform.ts';
import type { Outcome } from './plan/mutation.ts';
import { plan } from './plan/plan.ts';
import type { Result } from './report/answer.ts';
import { openDrift } from './report/facts.ts';
import { elsewhere, touchedBy } from './report/one-target.ts';
import { type Answered, reportOf } from './report/report.ts';
import { resultOf } from './report/result.ts';
import { completed } from './report/status.ts';
import { releaseWrite } from './writes/lease.ts';

/** Looks within one call. Each follows from something that moved; more than these is a hot object, and the next call goes on. */
const mostLooks = 8;

/** Seconds until the next try when the Transaction itself cannot be read. */
const unreadableRetry = 5;

export function createSync(parts: EngineParts): Hook {
  const { cluster, clock, timing } = parts;
  const memory = createMemory(clock, Math.random, { lateWindow: lateWindowOf(timing), sighting: timing.sighting ?? 0 });
  const inTurn = createTurns();
  const server = crypto.randomUUID();
  return (call) =>
    inTurn(call.uid, () => serve({ parts, server, memory, session: startSession(cluster, clock, timing.stepDeadline) }, call));
}

/** A request may be sent until the deadline, and the API server works on it for its timeout. */
function lateWindowOf({ stepDeadline, writeTimeout }: Timing): number {
  return stepDeadline + writeTimeout;
}

interface Serving {
  readonly parts: EngineParts;
  /** Names this process in the Leases of the targets that it changes. */
  readonly server: string;
  readonly memory: Memory;
  readonly session: Session;
}

/** What a call has come to so far. */
interface Progress {
  readonly carry: Carry;
  readonly looks: number;
  /** The writes of the looks before this one. */
  readonly earlier: Outcome;
}

async function serve(serving: Serving, call: Call, { carry, looks, earlier } = beginning): Promise<Reply> {
  const { cluster } = serving.session;
  const lookedAt = serving.parts.clock.monotonic();
  const [live, foretold] = await Promise.all([
    readTransaction(cluster, call),
    looks === 1 ? foretell(cluster, expected(serving, call)) : undefined,
  ]);
  if (live.kind !== 'live') return withoutTransaction(serving, call, live, carry);
  const last = await takeStep(serving, { ...live, foretold, lookedAt }, carry);
  const taken = { ...last, outcome: [...earlier, ...last.outcome] };
  const { result } = taken;
  if (result.kind === 'answer') return reply(serving, call, taken, result);
  const next = { ...result.carry, ...touchedBy(last.observation, last.outcome, carry) };
  if (looks < mostLooks) return serve(serving, call, { carry: next, looks: looks + 1, earlier: taken.outcome });
  // Begun in any case: what never gets further than this ends by its timeout.
  return reply(serving, call, taken, { ...retried, status: begun(live.status, live.now) });
}

const retried = { kind: 'answer', resyncAfterSeconds: 1, finalized: false } as const;

const beginning: Progress = { carry: emptyCarry, looks: 1, earlier: [] };

function expected({ memory, parts }: Serving, { uid, resourceVersion }: Call): Expected {
  return { name: memory.nextLock(uid), resourceVersion, engineNamespace: parts.engineNamespace };
}

async function withoutTransaction(serving: Serving, call: Call, live: NotLive, carry: Carry): Promise<Reply> {
  const { status, children } = call;
  const untouched = { kind: 'status', status, children, resyncAfterSeconds: 0, finalized: false } as const;
  switch (live.kind) {
    case 'unreadable':
      return { kind: 'retry', retryAfterSeconds: unreadableRetry, because: live.because };
    case 'foreign':
      return { ...untouched, status: live.status };
    case 'gone':
      serving.memory.forget(call.uid);
      await giveBack(serving, carry);
      return untouched;
  }
}

// Locks that this call has taken for a Transaction that vanished meanwhile.
async function giveBack({ session, parts }: Serving, { locks, acquired }: Carry): Promise<void> {
  const held = [...locks].flatMap(([name, state]) => (state.kind === 'present' && acquired.has(name) ? [state.object] : []));
  const writes = held.map((lease) => releaseWrite(lease, parts.engineNamespace)).filter((write) => write !== undefined);
  await Promise.all(writes.map((write) => session.cluster.send(write)));
}

type Answering = Extract<Result, { kind: 'answer' }>;

interface Taken extends Answered {
  readonly status: Status;
  readonly result: Result;
}

interface Looked extends LiveTransaction {
  readonly foretold: Foretold | undefined;
  /** Monotonic ms before it was read. */
  readonly lookedAt: number;
}

async function takeStep({ parts, server, memory, session }: Serving, live: Looked, carry: Carry): Promise<Taken> {
  const { transaction, status, now, foretold, lookedAt } = live;
  const { engineNamespace, sealer, timing } = parts;
  const agenda = agendaOf({ transaction, status, now, lateWindow: lateWindowOf(timing) });
  const source = { reader: session.cluster, packer: sealer, cache: memory.snapshots, sightings: memory.sightings };
  const recollection = memory.recall(transaction.uid, foundAt(status));
  const view = await observe({ source, transaction, status, engineNamespace, carry, recollection, foretold }, agenda);
  const context = { transaction, packer: sealer };
  const observation: Observation = {
    now,
    transaction,
    status,
    agenda,
    engineNamespace,
    server,
    recollection,
    lateWindow: lateWindowOf(timing),
    view,
    openDrift: (drift, entry) => openDrift(drift, entry, context),
  };
  const step = elsewhere(observation, carry) ?? decide(observation);
  const planned = plan(step, observation, sealer);
  const outcome = await perform(planned, session.writerUntil(lookedAt + lockTime(step, observation) - timing.writeTimeout));
  const testimony = testimonyOf(step, observation);
  if (testimony === 'others') memory.doubt(transaction.uid);
  if (testimony === 'alone') memory.trust(transaction.uid);
  const result = resultOf(step, { observation, plan: planned, outcome, carry, context, isSettled: !session.uncertain() });
  if (step.kind === 'store') keepStored(source, transaction, result, outcome);
  return { observation, step, outcome, status, result };
}

// What was just stored need not be read back by the next call. The first ConfigMap was written last.
function keepStored(source: SnapshotSource, transaction: Transaction, result: Result, outcome: Outcome): void {
  const ref = result.kind === 'answer' ? result.status.rollbackRef : undefined;
  const objects = outcome.flatMap(({ answer }) => (answer.kind === 'ok' ? [answer.object] : []));
  if (ref !== undefined) verified(source, transaction, ref, objects.toReversed());
}

/** The Lease of the change that is about to be applied. */
function nextLockOf({ phase, items }: Status): string | undefined {
  const isApplying = phase === 'Prepared' || phase === 'Committing';
  return isApplying ? items.find(({ progress }) => progress.kind === 'announced')?.lockLease : undefined;
}

function foundAt({ version, phase }: Status): Found {
  return { isNew: version === 0, isBeingUndone: phase === 'RollingBack' };
}

function reply({ parts, memory, session }: Serving, call: Call, taken: Taken, answer: Answering): Reply {
  const { transaction, now } = taken.observation;
  const status = completed(taken.status, answer.status, now);
  const isTroubled = answer.resyncAfterSeconds < 0;
  const pause = memory.remember(transaction.uid, { isUncertain: session.uncertain(), isTroubled, nextLock: nextLockOf(status) });
  if (answer.finalized) memory.forget(transaction.uid);
  if (isTerminal(status.phase)) memory.snapshots.delete(transaction.uid);
  parts.record(reportOf(taken, status));
  return {
    kind: 'status',
    status: encodeStatus(status),
    children: call.children,
    resyncAfterSeconds: isTroubled ? pause : answer.resyncAfterSeconds,
    finalized: answer.finalized,
  };
}
