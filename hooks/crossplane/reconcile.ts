// The program of package transactions: observe, decide, plan, perform, report. A call takes one step, and the stored status
// announces the next step. The hook reads everything live, so any process may die anywhere, and any number of processes may serve
// calls.
import { at, objectsAt, textAt } from '../objects/json.ts';
import { createLruCache } from '../objects/lru-cache.ts';
import { perform, writerUntil } from '../objects/requests/perform.ts';
import type { PackageCall, PackageHook, PackageParts, PackageReply, PackageReport } from './call.ts';
import { decide } from './decide/decide.ts';
import { withoutCluster } from './decide/preparing.ts';
import { type Step, safetyWaitSeconds } from './decide/step.ts';
import { readPackageTransaction } from './model/package-transaction.ts';
import { isTerminal } from './model/status.ts';
import type { Context } from './observe/observation.ts';
import { observe, type Serving } from './observe/observe.ts';
import { createMemory } from './observe/progress.ts';
import { failureOf, ReadFailed } from './observe/read.ts';
import { createReadOnce } from './observe/read-once.ts';
import { echo, gone, resultOf, troubled, waiting } from './outcome/answer.ts';
import { changedBy, eventOf, leftToNewer } from './outcome/changed.ts';
import { plan } from './plan/plan.ts';
import { engine, packageTransactions } from './writes/resources.ts';
import { isOver } from './writes/stages.ts';

export function createPackageSync(parts: PackageParts): PackageHook {
  const serving: Serving = {
    ...parts,
    memory: createMemory(),
    ahead: createMemory(mostWaiting),
    queue: createReadOnce(parts.clock, queueAgeMs),
    // Two package transactions that go at once may be the last owners of an object: one of them must see that the other goes.
    owned: createReadOnce(parts.clock, 0),
  };
  const leaving = { calls: 0 };
  const follow = createFollowing(parts.clock);
  return async (call) => {
    if (isAtRest(call)) return echo(call, 0);
    if (!isFinished(call)) return follow(call, () => answerCall(serving, call));
    if (leaving.calls >= mostLeaving) return echo(call, secondsUntilTurn);
    leaving.calls += 1;
    return answerCall(serving, call).finally(() => {
      leaving.calls -= 1;
    });
  };
}

interface LastRead {
  /** The times until which nothing is due: while a stage runs, and while another one holds the Lock. Monotonic, in ms. */
  readonly stage: number;
  readonly turn: number;
}

/**
 * Each change of the status of a stage causes a call, and each change of the Lock causes one about each that waits. As long as the stage
 * runs, or another one holds the Lock, there is nothing to do, and the hook answers without any read. It reads everything every
 * `safetyWaitSeconds` seconds, or when the last answer said, because the call may be outdated.
 */
function createFollowing({ monotonic }: PackageParts['clock']) {
  const known = createLruCache<LastRead>({ most: mostWaiting });
  return async (call: PackageCall, answer: () => Promise<PackageReply>): Promise<PackageReply> => {
    const { stage = 0, turn = 0 } = known.get(call.uid) ?? {};
    const left = (isFollowing(call) ? stage : isBehind(call) ? turn : 0) - monotonic();
    if (left > 0) return echo(call, left / 1_000);
    const next = monotonic() + safetyWaitSeconds * 1_000;
    known.set(call.uid, { stage: next, turn: 0 });
    const reply = await answer();
    known.set(call.uid, { stage: next, turn: monotonic() + reply.resyncAfterSeconds * 1_000 });
    return reply;
  };
}

/** Whether another one holds the Lock, which no user has changed: a release, or another holder, is a reason to look. */
function isBehind({ name, status, finalizing, related }: PackageCall): boolean {
  const holder = related?.holder;
  return !finalizing && textAt(status, 'phase') === 'Waiting' && holder !== undefined && holder !== name;
}

/** Whether the call comes while a stage runs, of a package transaction that holds the Lock and that no user deletes. */
function isFollowing({ name, status, finalizing, related }: PackageCall): boolean {
  if (finalizing || related?.holder !== name || textAt(status, 'phase') !== 'Installing') return false;
  const [stages, committed] = [objectsAt(status, 'stages'), at(status, 'committed') ?? 0];
  const phase = related.stages.get(textAt(stages[Number(committed)], 'name') ?? '');
  return phase !== undefined && !isOver(phase) && Number(at(status, 'made') ?? 0) > Number(committed);
}

function isFinished({ status }: PackageCall): boolean {
  return isTerminal(textAt(status, 'phase'));
}

/** For so long a read of the queue counts: the next call, a second later, reads it again. */
const queueAgeMs = 1_000;

/** Calls about finished package transactions at once. The others come again, so that the holder of the Lock waits for none of them. */
const mostLeaving = 8;
const secondsUntilTurn = 1;

/** Nothing is left of it, and no user deletes it. A change of the Lock wakes it, and must cost nothing. */
function isAtRest(call: PackageCall): boolean {
  const { status, finalizing } = call;
  const isLeft = ['sweepTime', 'handOverFault'].some((one) => textAt(status, one) !== undefined);
  return !finalizing && isFinished(call) && !isLeft;
}

/** The number of package transactions whose trees a process remembers as read. */
const mostWaiting = 1_000;

const secondsUntilRead = 5;

async function answerCall(serving: Serving, call: PackageCall): Promise<PackageReply> {
  const { cluster, clock, namespace, lateWindow } = serving;
  const until = clock.monotonic() + serving.sendingTime;
  const answer = await cluster.get({ resource: packageTransactions, name: call.name }, engine);
  if (answer.kind === 'failed') return answer.failure.kind === 'absent' ? gone(call) : echo(call, secondsUntilRead);
  const ptx = readPackageTransaction(answer.object);
  if (ptx.uid !== call.uid) return gone(call);
  const crossplaneNamespace = serving.besideIn?.();
  const beside = {
    isBeside: crossplaneNamespace !== undefined,
    crossplaneNamespace,
    isOwn: (serving.ownMode ?? 'none') !== 'none',
  };
  const why = serving.whyToWait?.();
  if (ptx.isKnown && why !== undefined) return waiting({ ptx, now: answer.serverTime }, why);
  if (ptx.isKnown) return takeStep(serving, { ptx, namespace, lateWindow, ...beside, now: answer.serverTime }, until);
  serving.record(leftToNewer(ptx));
  return echo(call, secondsUntilRead);
}

/**
 * `until`: monotonic ms after which the hook sends no write, since another process may believe by then that this process is gone.
 */
async function takeStep(serving: Serving, context: Context, until: number): Promise<PackageReply> {
  try {
    const step = await stepOf(serving, context);
    const writer = writerUntil(serving.cluster, () => serving.clock.monotonic() >= until);
    const outcome = await perform(plan(step, context), writer);
    const { reply, writes, failure } = resultOf(step, context, outcome);
    report(serving, context, reply, {
      because: step.because,
      writes,
      ...(failure === undefined ? {} : { trouble: failure.message }),
    });
    return reply;
  } catch (error) {
    const failure = failureOf(error);
    const reply = troubled(context, failure);
    const thrown = error instanceof ReadFailed ? {} : { thrown: error };
    report(serving, context, reply, { because: 'a read failed', writes: 0, trouble: failure.message, ...thrown });
    return reply;
  }
}

async function stepOf(serving: Serving, context: Context): Promise<Step> {
  try {
    return decide(await observe(serving, context));
  } catch (error) {
    const step = withoutCluster(context, failureOf(error));
    if (step === undefined) throw error;
    return step;
  }
}

function report(
  { record }: PackageParts,
  { ptx, now }: Context,
  reply: PackageReply,
  taken: Pick<PackageReport, 'because' | 'writes' | 'trouble' | 'thrown'>,
): void {
  const { name, uid } = ptx;
  record({ name, uid, ...changedBy(ptx, reply.status), ...eventOf(ptx, reply.status, now), ...taken });
}
