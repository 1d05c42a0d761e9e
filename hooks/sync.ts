// The program: look, decide, plan, perform, report. One call takes one step of the saga; the same for a Transaction that is
// being deleted, since the live deletionTimestamp decides.
//
// Within a call it is looked again when a step only prepared the ground (a lock taken, a turn begun) or when the world moved
// between the look and the write. A target is written at most once: what succeeded ends the call.
import { agendaOf } from './agenda/agenda.ts';
import type { Call, EngineParts, Hook, Reply, Timing } from './call.ts';
import { driftRoom } from './checks/room.ts';
import { decide } from './decide/decide.ts';
import { lockTime } from './decide/lock-time.ts';
import type { Step } from './decide/step.ts';
import { begun } from './decide/transitions.ts';
import { type Early, firstLock, foundStatus, lookPatiently, readEarly } from './looking.ts';
import { createMemory, createTurns, type Memory } from './memory.ts';
import type { Transaction } from './model/transaction.ts';
import { type Carry, emptyCarry } from './observe/carry.ts';
import type { Looked } from './observe/look.ts';
import { createLooks, type Looks } from './observe/looks.ts';
import type { Observation, Recollection } from './observe/observation.ts';
import { observe } from './observe/observe.ts';
import { type SnapshotSource, verified } from './observe/snapshot.ts';
import { type Session, startSession } from './perform/deadline.ts';
import { perform } from './perform/perform.ts';
import type { Outcome } from './plan/mutation.ts';
import { plan } from './plan/plan.ts';
import { type Ended, replyOf, withoutTransaction } from './reply.ts';
import type { Result } from './report/answer.ts';
import { openDrift } from './report/facts.ts';
import { elsewhere, touchedBy } from './report/one-target.ts';
import { denied } from './report/refused.ts';
import { resultOf } from './report/result.ts';
import { stranded } from './report/stranded.ts';
import { nameWriter, signWrite } from './writes/lease.ts';

/** Looks within one call. Each follows from something that moved; more than these is a hot object, and the next call goes on. */
const mostLooks = 10;

export function createSync(parts: EngineParts): Hook {
  const { cluster, clock, timing } = parts;
  const memory = createMemory(clock, Math.random, timing.sighting ?? 0);
  const inTurn = createTurns();
  const server = crypto.randomUUID();
  let calls = 0;
  return (call) =>
    inTurn(call.uid, () => {
      calls += 1;
      const session = startSession(cluster, clock, timing.stepDeadline);
      const looks = createLooks(clock.monotonic);
      return answerCall({ parts, server, writer: nameWriter(server, calls), memory, session, looks }, call);
    });
}

/** A request may be sent until the deadline, and the API server works on it for its timeout. */
function lateWindowOf({ stepDeadline, writeTimeout }: Timing): number {
  return stepDeadline + writeTimeout;
}

interface Serving {
  readonly parts: EngineParts;
  /** Names this process in Leases. */
  readonly server: string;
  /** Names this call of it. */
  readonly writer: string;
  readonly memory: Memory;
  readonly session: Session;
  readonly looks: Looks;
}

async function answerCall(serving: Serving, call: Call): Promise<Reply> {
  const wait = serving.memory.pauseLeft(call.uid);
  if (wait > 0) return { kind: 'retry', retryAfterSeconds: wait / 1000, because: 'the API server has said to stay away' };
  await signAhead(serving, call);
  return serve(serving, call);
}

// The turn that is most likely due is taken before the look that must follow it; where it fails, it is taken after a look.
async function signAhead({ parts, memory, session, writer }: Serving, { uid, resourceVersion }: Call): Promise<void> {
  const lease = memory.nextTurn(uid, resourceVersion);
  const write = lease === undefined ? undefined : signWrite(lease, writer, parts.engineNamespace);
  const answer = write === undefined ? undefined : await session.cluster.send(write);
  if (answer?.kind === 'ok') memory.signed(uid, writer, undefined);
}

/** What a call has come to so far. */
interface Progress {
  readonly carry: Carry;
  readonly looks: number;
  /** What the look before this one has found. */
  readonly last?: Pick<Looked, 'transaction' | 'status'>;
  /** The writes of the looks before this one. */
  readonly earlier: Outcome;
}

async function serve(serving: Serving, call: Call, progress = beginning): Promise<Reply> {
  const { carry, looks, earlier } = progress;
  const target = await readEarly(serving.session.cluster, progress);
  const lookedAt = serving.parts.clock.monotonic();
  const live = await lookPatiently(serving, call, progress);
  if (live.kind !== 'live') return withoutTransaction(serving, call, live, carry);
  const last = await takeStep(serving, { ...live, target, lookedAt }, carry).catch((thrown) => aground(serving, live, thrown));
  const { result, ...taken } = { ...last, outcome: [...earlier, ...last.outcome] };
  if (result.kind === 'answer') return replyOf(serving, call, taken, result);
  const next = { ...result.carry, ...touchedBy(last.observation, last.outcome, carry) };
  if (looks < mostLooks) return serve(serving, call, { carry: next, looks: looks + 1, last: live, earlier: taken.outcome });
  // Begun in any case: what never gets further than this ends by its timeout.
  return replyOf(serving, call, taken, { ...retried, status: begun(live.status, live.now) });
}

// A write may have been sent whose answer nobody has taken down.
function aground({ memory, parts, server, writer }: Serving, live: Looked, thrown: unknown): Taken {
  const { uid } = live.transaction;
  memory.unsettled(uid, live.now);
  const of = { engineNamespace: parts.engineNamespace, server, writer, recollection: memory.recall(uid) };
  return stranded(thrown, { ...live, lateWindow: lateWindowOf(parts.timing) }, of);
}

const retried = { kind: 'answer', resyncAfterSeconds: 1, finalized: false } as const;

const beginning: Progress = { carry: emptyCarry, looks: 1, earlier: [] };

interface Taken extends Ended {
  readonly result: Result;
}

interface Seen extends Looked {
  readonly target: Early | undefined;
  /** Monotonic ms before it was read. */
  readonly lookedAt: number;
}

async function takeStep(serving: Serving, live: Seen, carry: Carry): Promise<Taken> {
  const { memory, session, parts, looks } = serving;
  const { transaction } = live;
  const recollection = memory.recall(transaction.uid);
  const first = await firstLock(live);
  const status = foundStatus(live.status, first, recollection);
  const { snapshots: cache, sightings } = memory;
  const source = { reader: session.cluster, packer: parts.sealer, cache, sightings, looks };
  const observation = await observed(serving, { ...live, status, recollection, source }, carry);
  const step = elsewhere(observation, carry) ?? decide(observation);
  const planned = plan(step, observation, parts.sealer);
  const until = live.lookedAt + lockTime(step, observation) - parts.timing.writeTimeout;
  const outcome = denied(planned, step, carry.refused) ?? (await perform(planned, session.writerUntil(until)));
  remember(serving, step, observation, outcome);
  const context = { transaction, packer: parts.sealer, driftRoom: driftRoom(status, transaction.size) };
  const result = resultOf(step, { observation, plan: planned, outcome, carry, context });
  if (step.kind === 'store') keepStored(source, transaction, result, outcome);
  return { observation, step, outcome, found: live.status, first, result };
}

interface Found extends Seen {
  readonly recollection: Recollection;
  readonly source: SnapshotSource;
}

async function observed({ parts, server, writer }: Serving, found: Found, carry: Carry): Promise<Observation> {
  const { transaction, status, now, recollection, source, ownLeases, target } = found;
  const { engineNamespace, namespaces = [], sealer, timing } = parts;
  const lateWindow = lateWindowOf(timing);
  const agenda = agendaOf({ transaction, status, now, lateWindow, waits: recollection.waits });
  const earlier = 'index' in agenda && agenda.index === target?.index ? target.presence : undefined;
  const looking = { source, transaction, status, engineNamespace, namespaces, carry, ownLeases, earlier };
  const view = await observe(looking, agenda);
  const known = { now, transaction, status, agenda, engineNamespace, server, writer, recollection, lateWindow, view };
  return { ...known, openDrift: (drift, entry) => openDrift(drift, entry, { transaction, packer: sealer }) };
}

// What other processes cannot know of this one.
function remember({ memory, session, writer }: Serving, step: Step, { transaction, now }: Observation, outcome: Outcome): void {
  const answer = outcome.at(-1)?.answer;
  if (step.kind === 'sign' && answer?.kind === 'ok')
    memory.signed(transaction.uid, writer, step.isSettled ? undefined : answer.serverTime);
  if (step.kind !== 'apply') return;
  if (answer?.kind === 'ok') memory.sent(transaction.uid, step.index);
  if (session.uncertain()) memory.unsettled(transaction.uid, now);
}

// What was just stored need not be read back by the next call. The first ConfigMap was written last.
function keepStored(source: SnapshotSource, transaction: Transaction, result: Result, outcome: Outcome): void {
  const ref = result.kind === 'answer' ? result.status.rollbackRef : undefined;
  const objects = outcome.flatMap(({ answer }) => (answer.kind === 'ok' ? [answer.object] : []));
  if (ref !== undefined) verified(source, transaction, ref, objects.toReversed());
}
