// The program: look, decide, plan, perform, report. One call takes steps of one kind of the saga: it goes on from target to target
// while the stored status announces them and its time allows it (V1 to V4, decide/window.ts). The same for a Transaction that is
// being deleted, since the live deletionTimestamp decides.
//
// A look counts for a moment. It is looked again when a step only prepared the ground (a lock taken, a turn begun) or when the world
// moved between the look and the write.
import { agendaOf } from './agenda/agenda.ts';
import type { Call, EngineParts, Hook, Reply } from './call.ts';
import { begun } from './decide/transitions.ts';
import { mayGoOn } from './decide/window.ts';
import { lookPatiently, readEarly } from './looking.ts';
import { createMemory, createTurns } from './memory.ts';
import { createAhead } from './observe/ahead.ts';
import { type Carry, emptyCarry } from './observe/carry.ts';
import type { NotLive } from './observe/live.ts';
import { createLooks } from './observe/looks.ts';
import { startSession } from './perform/deadline.ts';
import type { Outcome } from './plan/mutation.ts';
import { type Answering, replyOf, withoutTransaction } from './reply.ts';
import { touchedBy } from './report/one-target.ts';
import { aground, type Seen, type Serving, type Stand, type Taken, takeStep } from './steps.ts';
import { nameWriter, signWrite } from './writes/lease.ts';

/** Looks for one target within one call. Each follows from something that moved; more than these is a hot object, and the next call goes on. */
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

async function answerCall(serving: Serving, call: Call): Promise<Reply> {
  const wait = serving.memory.pauseLeft(call.uid);
  if (wait > 0) return { kind: 'retry', retryAfterSeconds: wait / 1000, because: 'the API server has said to stay away' };
  const began = serving.parts.clock.monotonic();
  await signAhead(serving, call);
  let next: Progress | Reply = { kind: 'further', began, carry: emptyCarry, looks: 1, earlier: [] };
  while (next.kind === 'further') next = await proceed(serving, call, next);
  return next;
}

// The turn that is most likely due is taken before the look that must follow it; where it fails, it is taken after a look.
async function signAhead({ parts, memory, session, writer }: Serving, { uid }: Call): Promise<void> {
  const lease = memory.nextTurn(uid);
  const write = lease === undefined ? undefined : signWrite(lease, writer, parts.engineNamespace);
  const answer = write === undefined ? undefined : await session.cluster.send(write);
  if (answer?.kind === 'ok') memory.signed(uid, writer, undefined);
}

/** What a call has come to so far. */
interface Progress {
  readonly kind: 'further';
  /** Monotonic ms. */
  readonly began: number;
  readonly carry: Carry;
  /** Looks for this target. */
  readonly looks: number;
  /** The look that still counts. */
  readonly look?: Seen;
  /** What the last look has found. */
  readonly last?: Seen;
  /** The writes so far. */
  readonly earlier: Outcome;
  /** The last target that ended well, and the running status. */
  readonly gone?: { readonly taken: Taken; readonly answer: Answering };
}

async function proceed(serving: Serving, call: Call, progress: Progress): Promise<Progress | Reply> {
  const seen = await see(serving, call, progress);
  if (seen.kind !== 'live') return withoutLook(serving, call, seen, progress);
  const { carry, gone, earlier } = progress;
  const stand = standOn(seen, gone);
  const step = await takeStep(serving, stand, carry).catch((thrown) => aground(serving, stand, thrown));
  const before = stand.running === undefined ? step.before : (gone?.taken.before ?? step.before);
  const taken = { ...step, before, outcome: [...earlier, ...step.outcome] };
  const { result } = taken;
  const next = { ...progress, last: seen, earlier: taken.outcome };
  if (result.kind === 'again') {
    if (result.pause !== undefined) await serving.parts.clock.sleep(result.pause);
    return lookAgain(serving, call, { ...next, carry: { ...result.carry, ...touchedBy(step, carry) } }, taken);
  }
  return isToGoOn(serving, progress, taken, result)
    ? { ...next, carry: carriedOn(taken), looks: 1, look: seen, gone: { taken, answer: result } }
    : replyOf(serving, call, taken, result);
}

/** The look that still counts, with the time that has passed since, or a new one. */
async function see(serving: Serving, call: Call, progress: Progress): Promise<Seen | NotLive> {
  const { clock, timing } = serving.parts;
  const { look } = progress;
  const nowAt = clock.monotonic();
  if (look !== undefined && nowAt < look.lookedAt + (timing.lookAge ?? 0))
    return { ...look, target: undefined, now: look.now + (nowAt - look.nowAt), nowAt };
  const target = await readEarly(serving.session.cluster, progress);
  const lookedAt = clock.monotonic();
  const live = await lookPatiently(serving, call);
  return live.kind === 'live' ? { ...live, target, lookedAt, nowAt: lookedAt, ahead: createAhead() } : live;
}

// What this call has done goes on from the status that is stored, and from no other.
function standOn(seen: Seen, gone: Progress['gone']): Stand {
  const isOvertaken = gone !== undefined && seen.status.version !== gone.taken.found.version;
  return gone === undefined || isOvertaken ? { ...seen, isOvertaken } : { ...seen, isOvertaken, running: gone.answer.status };
}

// What is known of the targets so far is true, whether the Transaction can be read or not.
function withoutLook(serving: Serving, call: Call, live: NotLive, { gone, earlier, carry }: Progress): Promise<Reply> | Reply {
  return live.kind === 'unreadable' && gone !== undefined
    ? replyOf(serving, call, { ...gone.taken, outcome: earlier }, gone.answer)
    : withoutTransaction(serving, call, live, carry);
}

function lookAgain(serving: Serving, call: Call, progress: Progress, taken: Taken): Progress | Reply {
  const { look: _over, ...next } = progress;
  if (progress.looks < mostLooks) return { ...next, looks: progress.looks + 1 };
  const { status, now } = taken.observation;
  // Begun in any case: what never gets further than this ends by its timeout.
  return replyOf(serving, call, taken, { ...retried, status: begun(status, now) });
}

const retried = { kind: 'answer', resyncAfterSeconds: 1, finalized: false } as const;

/** Whether the call goes on with another target: V1 to V3 (decide/window.ts), while it is young. */
function isToGoOn({ parts, memory }: Serving, { began }: Progress, { observation, found }: Taken, answer: Answering): boolean {
  const { clock, timing, isEnding } = parts;
  if (answer.finalized || isEnding?.() === true || clock.monotonic() >= began + (timing.callBudget ?? 0)) return false;
  const { transaction, now, lateWindow, agenda } = observation;
  const { waits } = memory.recall(transaction.uid);
  const next = agendaOf({ transaction, status: answer.status, now, lateWindow, waits });
  return mayGoOn({ agenda, running: answer.status, stored: found }, next);
}

// Locks that this call has taken are given back if the Transaction vanishes.
function carriedOn({ observation: { view } }: Taken): Carry {
  return view.kind === 'begin' ? { ...emptyCarry, locks: view.locks.states, acquired: view.locks.acquired } : emptyCarry;
}
