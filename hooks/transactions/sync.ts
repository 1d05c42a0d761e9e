// The program: look, decide, plan, perform, report. One call takes steps of one kind of the saga: it goes on from target to target
// while the stored status announces them and its time allows it (V1 to V4, decide/window.ts). The same for a Transaction that is
// being deleted, since the live deletionTimestamp decides.
//
// A look counts for a moment. It is looked again when a step only prepared the ground (a lock taken, a turn begun) or when the world
// moved between the look and the write.

import type { JsonObject } from '../objects/json.ts';
import type { Outcome } from '../objects/mutation.ts';
import { perform } from '../objects/requests/perform.ts';
import type { Call, EngineParts, Hook, Reply } from './call.ts';
import { type CompletedStep, completedStep, recoveredStep } from './completed-step.ts';
import { decide } from './decide/decide.ts';
import { lockTime } from './decide/locks.ts';
import type { Step } from './decide/step.ts';
import { begun } from './decide/transitions.ts';
import { mayGoOn } from './decide/window.ts';
import { dueOf } from './due.ts';
import { patienceInCall } from './gates/interval.ts';
import { nameWriter, signWrite } from './locks/lease.ts';
import { type Before, movedMeanwhile, observeStand, type Stand, see } from './looking.ts';
import { createMemory, createTurns } from './memory.ts';
import { type Carry, emptyCarry } from './observe/carry.ts';
import { encodedFor } from './observe/encoding.ts';
import type { NotLive } from './observe/live.ts';
import { createLooks } from './observe/looks.ts';
import { turnFor } from './observe/loop-turns.ts';
import { itemOf, type Observation } from './observe/observation.ts';
import { createRooms } from './observe/room.ts';
import { createSources } from './observe/sources.ts';
import { touchedBy } from './outcome/answer.ts';
import { denied } from './outcome/refused.ts';
import { resultOf } from './outcome/result.ts';
import { startSession } from './perform/deadline.ts';
import { type Plan, plan } from './plan/plan.ts';
import { type Answering, replyOf, withoutTransaction } from './reply.ts';
import { rescued } from './rescue.ts';
import { lateWindowOf, type Serving } from './serving.ts';

/** Looks for one target within one call. Each follows from something that moved; more than these is a hot object, and the next call goes on. */
const mostAttempts = 10;

/** Of the time of a call: what follows from a look has the rest. */
const partForLooks = 0.75;

export function createSync(parts: EngineParts): Hook {
  const { cluster, clock, timing } = parts;
  const memory = createMemory(clock, Math.random, timing.sighting ?? 0);
  const inTurn = createTurns();
  const rooms = createRooms();
  const server = crypto.randomUUID();
  let calls = 0;
  return (call) =>
    inTurn(call.uid, () => {
      calls += 1;
      const session = startSession(cluster, clock, timing.stepDeadline);
      const until = clock.monotonic() + timing.stepDeadline * partForLooks;
      const looks = createLooks({ now: clock.monotonic, until, lists: memory.unfinished.of(call.uid) });
      const sources = createSources(parts.manifests, parts.clock);
      const { room, close } = rooms.open(call.namespace);
      const serving = { parts, server, writer: nameWriter(server, calls), memory, session, looks, sources, room };
      return answerCall(serving, call)
        .catch((thrown) => rescued(serving, call, thrown))
        .finally(close);
    });
}

async function answerCall(serving: Serving, call: Call): Promise<Reply> {
  const wait = serving.memory.pauseLeft(call.uid);
  if (wait > 0) return { kind: 'retry', retryAfterSeconds: wait / 1000, because: 'the API server sent Retry-After' };
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

async function takeStep(serving: Serving, stand: Stand, carry: Carry): Promise<CompletedStep> {
  const observation = await observeStand(serving, stand, carry);
  const turn = () => turnFor(...statesOf(observation));
  await turn();
  const step = decide(observation);
  if (await movedMeanwhile(serving, stand, step))
    return completedStep(serving, stand, carry, { observation, step, outcome: [], result: { kind: 'again', carry } });
  await turn();
  const { sealer } = serving.parts;
  const planned = plan(step, observation, { packer: sealer, encoded: await encodedFor(step, observation, sealer) });
  const outcome = await performOf(serving, stand, { observation, step, planned, carry });
  await turn();
  const result = resultOf(step, { observation, plan: planned, outcome, carry, packer: sealer });
  return completedStep(serving, stand, carry, { observation, step, outcome, result });
}

/** The states of the target that the step is about: they may be large. */
function statesOf({ due }: Observation): readonly (JsonObject | undefined)[] {
  const view = itemOf(due);
  if (view === undefined) return [];
  const entry = view.snapshot.kind === 'stored' ? view.snapshot.entries[view.index] : undefined;
  return [view.live.kind === 'present' ? view.live.object : undefined, entry?.prior, entry?.expected];
}

interface Planned {
  readonly observation: Observation;
  readonly step: Step;
  readonly planned: Plan;
  readonly carry: Carry;
}

/** Sends the writes while the lock of their target lasts; one that was refused often enough is not sent once more. */
async function performOf(
  { session, parts }: Serving,
  { nowAt }: Stand,
  { observation, step, planned, carry }: Planned,
): Promise<Outcome> {
  const until = nowAt + lockTime(step, observation) - parts.timing.writeTimeout;
  if (planned.kind === 'refused') return [];
  return denied(planned, step, carry.refused) ?? perform(planned, session.writerUntil(until));
}

/** What a call has come to so far. */
interface Progress extends Before {
  readonly kind: 'further';
  /** Monotonic ms. */
  readonly began: number;
  /** Looks for this target. */
  readonly looks: number;
  /** The writes so far. */
  readonly earlier: Outcome;
  /** The last target that ended well, and the running status. */
  readonly ended?: { readonly completed: CompletedStep; readonly answer: Answering };
}

async function proceed(serving: Serving, call: Call, progress: Progress): Promise<Progress | Reply> {
  const stand = await see(serving, call, progress);
  if (stand.kind !== 'live') return withoutLook(serving, call, stand, progress);
  const recovered = (thrown: unknown): CompletedStep => recoveredStep(serving, stand, thrown);
  const follow = (step: CompletedStep) => followed(serving, call, { ...progress, last: stand }, { stand, step });
  return follow(await takeStep(serving, stand, progress.carry).catch(recovered)).catch((thrown) => follow(recovered(thrown)));
}

interface Stepped {
  readonly stand: Stand;
  readonly step: CompletedStep;
}

/** What follows from a step: another one, or the reply. */
async function followed(serving: Serving, call: Call, progress: Progress, { stand, step }: Stepped): Promise<Progress | Reply> {
  const { carry, ended, earlier } = progress;
  const before = stand.running === undefined ? step.before : (ended?.completed.before ?? step.before);
  const completed = { ...step, before, outcome: [...earlier, ...step.outcome] };
  const { result } = completed;
  const next = { ...progress, earlier: completed.outcome };
  if (result.kind === 'again') {
    if (result.pause !== undefined) await serving.parts.clock.sleep(result.pause);
    return lookAgain(serving, call, { ...next, carry: { ...result.carry, ...touchedBy(step, carry) } }, completed);
  }
  return isToGoOn(serving, progress, completed, result)
    ? { ...next, carry: carriedOn(completed), looks: 1, look: stand, ended: { completed, answer: result } }
    : replyOf(serving, call, completed, result);
}

// What is known of the targets so far is true, whether the Transaction can be read or not.
function withoutLook(serving: Serving, call: Call, live: NotLive, { ended, earlier, carry }: Progress): Promise<Reply> | Reply {
  return live.kind === 'unreadable' && ended !== undefined
    ? replyOf(serving, call, { ...ended.completed, outcome: earlier }, ended.answer)
    : withoutTransaction(serving, call, live, carry);
}

function lookAgain(serving: Serving, call: Call, progress: Progress, completed: CompletedStep): Progress | Reply {
  const { look: _over, ...next } = progress;
  if (progress.looks < mostAttempts) return { ...next, looks: progress.looks + 1 };
  // Begun in any case: what never gets further than this ends by its timeout.
  return replyOf(serving, call, completed, { ...retried, status: begun(completed.status, completed.now) });
}

const retried = { kind: 'answer', wait: { seconds: 1 }, finalized: false } as const;

/** Whether the call goes on with another target: V1 to V3 (decide/window.ts), while it is young. */
function isToGoOn(
  { parts, memory }: Serving,
  { began }: Progress,
  { transaction, now, due, found, step }: CompletedStep,
  answer: Answering,
): boolean {
  const { clock, timing, isEnding } = parts;
  if (answer.finalized || isEnding?.() === true || clock.monotonic() >= began + (timing.callBudget ?? 0)) return false;
  const lateWindow = lateWindowOf(timing);
  const { waits } = memory.recall(transaction.uid);
  const order = memory.snapshots.get(transaction.uid)?.order;
  const next = dueOf({ transaction, status: answer.status, now, lateWindow, waits, order });
  // The answer asks for the next call at once only if the object was deleted.
  const isTerminating = step.kind === 'compensate' && step.verdict.kind === 'delete' && answer.wait === 'now';
  return mayGoOn({ due, running: answer.status, stored: found, isTerminating }, next);
}

// Locks that this call has taken are released if the Transaction vanishes. Only the call that made a change looks at its gate again.
function carriedOn({ locks, due }: CompletedStep): Carry {
  const patient = due.kind === 'apply' ? { awaitLeft: patienceInCall } : {};
  return locks === undefined ? { ...emptyCarry, ...patient } : { ...emptyCarry, locks: locks.states, acquired: locks.acquired };
}
