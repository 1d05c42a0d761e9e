// The program: observe, decide, plan, perform, report. One call takes steps of one kind of the saga. It goes on from target to target
// while the stored status announces them and its time allows it (V1 to V4, decide/window.ts). A Transaction that is being deleted
// also takes this way, because the live deletionTimestamp decides.
//
// A call makes another attempt for a target if a step only took a lock or claimed a fence. It also makes another attempt if an
// object changed between the read and the write.

import {
  type Answer,
  type Attempt,
  type Basis,
  type CallContext,
  failedAttempt,
  lateWindowOf,
  type Progress,
  readAgain,
} from './attempt.ts';
import type { Call, EngineParts, Hook, Reply } from './call.ts';
import type { Step } from './decide/step.ts';
import { begun } from './decide/transitions.ts';
import { mayGoOn } from './decide/window.ts';
import { dueOf } from './due.ts';
import { patienceInCall } from './gates/interval.ts';
import { nameWriter, signWrite } from './locks/lease.ts';
import { createMemory, createTurns } from './memory.ts';
import { isDeletingHalf } from './model/halves.ts';
import { type Carry, emptyCarry } from './observe/carry.ts';
import { entryOf } from './observe/encoding.ts';
import type { NotLive } from './observe/live.ts';
import { cachedOf, digestIn } from './observe/snapshot.ts';
import { createSources } from './observe/sources.ts';
import { touchedBy } from './outcome/answer.ts';
import { createPipeline } from './reading/pipeline.ts';
import { recoveredReply, replyOf, withoutTransaction } from './reply.ts';
import { type Made, takeStep } from './side-by-side.ts';

/** Attempts for one target within one call. Each follows from something that moved; more than these is a hot object, and the next call goes on. */
const mostAttempts = 10;

/** The hook for Transactions. Calls for one Transaction run one after the other, others side by side. It never rejects. */
export function createSync(parts: EngineParts): Hook {
  const { cluster, clock, timing } = parts;
  const memory = createMemory(clock, Math.random);
  const pipeline = createPipeline({ cluster, clock, ...timing });
  const inTurn = createTurns();
  const server = crypto.randomUUID();
  let calls = 0;
  return (call) =>
    inTurn(call.uid, () => {
      calls += 1;
      const reads = pipeline.open(call);
      const forget = (): void => {
        for (const known of [memory, pipeline]) known.forget(call.uid);
      };
      const sources = createSources(parts.manifests, parts.clock);
      const context = { parts, server, writer: nameWriter(server, calls), memory, sources, ...reads, forget };
      return reconcile(context, call)
        .catch((thrown) => recoveredReply(context, call, thrown))
        .finally(reads.close);
    });
}

async function reconcile(context: CallContext, call: Call): Promise<Reply> {
  const wait = context.memory.pauseLeft(call.uid);
  if (wait > 0) return { kind: 'retry', retryAfterSeconds: wait / 1000, because: 'the API server sent Retry-After' };
  const began = context.parts.clock.monotonic();
  await claimFence(context, call);
  let next: Progress | Reply = { began, attempts: 1, outcome: [], carry: emptyCarry };
  while ('attempts' in next) next = await proceed(context, call, next);
  return next;
}

// The call claims the fence that is most likely due, and then reads the Transaction. If that claim fails, the call claims the fence
// after a read.
async function claimFence({ parts, memory, session, writer }: CallContext, { uid }: Call): Promise<void> {
  const lease = memory.leaseToFence(uid);
  const write = lease === undefined ? undefined : signWrite(lease, writer, parts.engineNamespace);
  const answer = write === undefined ? undefined : await session.cluster.send(write);
  if (answer?.kind === 'ok') memory.signed(uid, writer, undefined);
}

/** One attempt, and what follows from it: another one, or the reply. */
async function proceed(context: CallContext, call: Call, progress: Progress): Promise<Progress | Reply> {
  const basis = await readAgain(context, call, progress);
  if (basis.kind !== 'live') return withoutRead(context, call, basis, progress);
  const failed = (thrown: unknown): Made => {
    const attempt = failedAttempt(context, basis, thrown);
    return { attempt, each: [attempt] };
  };
  const follow = (made: Made) => followed(context, call, { ...progress, last: basis }, { basis, made });
  const taken = takeStep(context, basis, progress.carry).then((made) => remembered(context, made));
  return follow(await taken.catch(failed)).catch((thrown) => follow(failed(thrown)));
}

interface Followed {
  readonly basis: Basis;
  readonly made: Made;
}

async function followed(
  context: CallContext,
  call: Call,
  progress: Progress,
  { basis, made }: Followed,
): Promise<Progress | Reply> {
  const { attempt, ended: beside } = made;
  const { carry, ended, outcome } = progress;
  const before = basis.pending === undefined ? attempt.before : (ended?.attempt.before ?? attempt.before);
  const whole = { ...attempt, before, outcome: [...outcome, ...attempt.outcome] };
  const { result } = whole;
  const next = {
    ...progress,
    outcome: whole.outcome,
    ...(beside && { ended: { ...beside, attempt: { ...beside.attempt, before } } }),
  };
  if (result.kind === 'again') {
    if (result.pause !== undefined) await context.parts.clock.sleep(result.pause);
    return tryAgain(context, call, { ...next, carry: { ...result.carry, ...touchedBy(attempt, carry) } }, whole);
  }
  return isToGoOn(context, progress, whole, result)
    ? { ...next, carry: carriedOn(whole), attempts: 1, recent: basis, ended: { attempt: whole, answer: result } }
    : replyOf(context, call, whole, result);
}

// The facts about the targets that are known so far are true, even if the engine cannot read the Transaction.
function withoutRead(
  context: CallContext,
  call: Call,
  live: NotLive,
  { ended, outcome, carry }: Progress,
): Promise<Reply> | Reply {
  return live.kind === 'unreadable' && ended !== undefined
    ? replyOf(context, call, { ...ended.attempt, outcome }, ended.answer)
    : withoutTransaction(context, call, live, carry);
}

function tryAgain(context: CallContext, call: Call, progress: Progress, made: Attempt): Progress | Reply {
  const { recent: _over, ...next } = progress;
  if (progress.attempts < mostAttempts) return { ...next, attempts: progress.attempts + 1 };
  // Begun in any case: what never gets further than this ends by its timeout.
  return replyOf(context, call, made, { ...retried, status: begun(made.status, made.now) });
}

const retried = { kind: 'answer', wait: { seconds: 1 }, finalized: false } as const;

/** Whether the call goes on with another target: V1 to V3 (decide/window.ts), while it is young. */
function isToGoOn(
  { parts, memory }: CallContext,
  { began }: Progress,
  { transaction, now, due, stored, step }: Attempt,
  answer: Answer,
): boolean {
  const { clock, timing, isEnding } = parts;
  if (answer.finalized || isEnding?.() === true || clock.monotonic() >= began + (timing.callBudget ?? 0)) return false;
  const lateWindow = lateWindowOf(timing);
  const { waits } = memory.recall(transaction.uid);
  const order = memory.snapshots.get(transaction.uid)?.order;
  const next = dueOf({ transaction, status: answer.status, now, lateWindow, waits, order });
  // The answer requests the next call at once only if the object was deleted.
  const isTerminating = step.kind === 'compensate' && step.verdict.kind === 'delete' && answer.wait === 'now';
  return mayGoOn({ due, running: answer.status, stored, isTerminating }, next);
}

// Locks that this call has acquired are released if the Transaction vanishes. Only the call that made a change polls its gate.
function carriedOn({ locks, due }: Attempt): Carry {
  const patient = due.kind === 'apply' ? { awaitLeft: patienceInCall } : {};
  return locks === undefined ? { ...emptyCarry, ...patient } : { ...emptyCarry, locks: locks.states, acquired: locks.acquired };
}

/** The attempts, once this process has recorded what others cannot know of them. */
async function remembered(context: CallContext, made: Made): Promise<Made> {
  for (const one of made.each) remember(context, one);
  return made;
}

function remember(context: CallContext, made: Attempt): void {
  const { memory, session, writer } = context;
  const { step, outcome, now } = made;
  const { uid } = made.transaction;
  const answer = outcome.at(-1)?.answer;
  if (step.kind === 'sign' && answer?.kind === 'ok') memory.signed(uid, writer, step.isSettled ? undefined : answer.serverTime);
  if (step.kind === 'store') rememberSnapshot(context, made, step);
  if (step.kind !== 'apply') return;
  // The first of two writes (writes/union.ts) has an effect, whatever comes of the second.
  if (outcome.some((tried) => tried.answer.kind === 'ok')) rememberChange(context, uid, step);
  if (session.uncertain()) memory.unsettled(uid, now);
}

function rememberChange({ memory }: CallContext, uid: string, { entry, index }: Extract<Step, { kind: 'apply' }>): void {
  if (isDeletingHalf(entry)) memory.begun(uid, index);
  else memory.sent(uid, index);
}

// The next call need not read back the snapshot that this call has stored. This call wrote the first ConfigMap last.
function rememberSnapshot(
  { memory: { snapshots } }: CallContext,
  { transaction: { uid }, outcome, result }: Attempt,
  { targets }: Extract<Step, { kind: 'store' }>,
): void {
  const digest = result.kind === 'answer' ? result.status.rollbackRef?.digest : undefined;
  const objects = outcome.flatMap(({ answer }) => (answer.kind === 'ok' ? [answer.object] : [])).toReversed();
  if (digest !== undefined && digestIn(objects) === digest)
    snapshots.set(uid, cachedOf(targets.map(entryOf), { digest, objects }));
}
