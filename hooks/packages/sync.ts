// The program of package transactions: what is due, look, decide, perform, answer. A call does one act; the stored status announces
// the next one. Everything is read live, so any process may die anywhere, and any number of them may serve calls.

import { textAt } from '../objects/json.ts';
import type { PackageCall, PackageHook, PackageParts, PackageReply, PackageReport } from './call.ts';
import { clean, release } from './decide/ending.ts';
import { install } from './decide/installing.ts';
import { type Move, staying } from './decide/move.ts';
import { leaving } from './decide/owners.ts';
import { isAsResolved, prepare, withoutCluster } from './decide/preparing.ts';
import { rollBack } from './decide/rolling-back.ts';
import { holds, validate } from './decide/validating.ts';
import { verify } from './decide/verifying.ts';
import { isToRead, type NotRead, refuse, take, wait } from './decide/waiting.ts';
import { type Due, dueOf, faultOf } from './due.ts';
import { finalFault } from './model/fault.ts';
import { type PackageTransaction, readPackageTransaction, type Wanted } from './model/package-transaction.ts';
import { isTerminal } from './model/status.ts';
import { readNextChanges } from './observe/establishing.ts';
import { leftByFormer, leftByTries, leftoversOf } from './observe/leftovers.ts';
import { readOrphans } from './observe/owners.ts';
import { readPreparation } from './observe/preparation.ts';
import { createMemory, type Memory, type Progress } from './observe/progress.ts';
import { failureOf, find, type Looker, Unread } from './observe/reading.ts';
import { pullSecretsOf } from './observe/secrets.ts';
import { lookAtHolder, readNumberedLock, readTheLock, stagesOfTry } from './observe/standing.ts';
import { readAhead, readValidation } from './observe/validation.ts';
import { readVerification } from './observe/verification.ts';
import { answerOf, echo, gone, troubled } from './outcome/answer.ts';
import { changedBy, leftToNewer } from './outcome/changed.ts';
import { perform } from './perform/perform.ts';
import { engine, packageTransactions, stages } from './plan/resources.ts';

export function createPackageSync(parts: PackageParts): PackageHook {
  const serving = { ...parts, memory: createMemory(), ahead: createMemory(mostWaiting) };
  return async (call) => (isAtRest(call) ? echo(call, 0) : serve(serving, call));
}

/** Nothing is left of it, and nobody deletes it: a change of the Lock wakes it, and must cost nothing. */
function isAtRest({ status, finalizing }: PackageCall): boolean {
  return !finalizing && isTerminal(textAt(status, 'phase')) && textAt(status, 'sweepTime') === undefined;
}

/** Package transactions of which it is remembered that their trees are read. */
const mostWaiting = 1_000;

interface Serving extends PackageParts {
  readonly memory: Memory;
  readonly ahead: Memory;
}

async function serve(parts: Serving, call: PackageCall): Promise<PackageReply> {
  const until = parts.clock.monotonic() + parts.sendingTime;
  const answer = await parts.cluster.get({ resource: packageTransactions, name: call.name }, engine);
  if (answer.kind === 'failed') return answer.failure.kind === 'absent' ? gone(call) : echo(call, secondsUntilRead);
  const ptx = readPackageTransaction(answer.object);
  const isLate = () => parts.clock.monotonic() >= until;
  if (ptx.uid !== call.uid) return gone(call);
  if (ptx.isKnown) return act(parts, ptx, { now: answer.serverTime, isLate });
  parts.record(leftToNewer(ptx));
  return echo(call, secondsUntilRead);
}

const secondsUntilRead = 5;

interface Time {
  /** The API server's, in ms since the epoch. */
  readonly now: number;
  /** Whether the call may not send a write any more. */
  readonly isLate: () => boolean;
}

async function act(parts: Serving, ptx: PackageTransaction, { now, isLate }: Time): Promise<PackageReply> {
  try {
    const move = await moveOf(parts, ptx, now);
    const { writes, failure } = await perform(move.deeds, parts.cluster, isLate);
    const reply = answerOf(ptx, move, failure, now);
    report(parts, ptx, reply, { because: move.because, writes, ...(failure === undefined ? {} : { trouble: failure.message }) });
    return reply;
  } catch (error) {
    const failure = failureOf(error);
    const reply = troubled(ptx, failure, now);
    const thrown = error instanceof Unread ? {} : { thrown: error };
    report(parts, ptx, reply, { because: 'a read failed', writes: 0, trouble: failure.message, ...thrown });
    return reply;
  }
}

type Did = Pick<PackageReport, 'because' | 'writes' | 'trouble' | 'thrown'>;

function report({ record }: PackageParts, ptx: PackageTransaction, reply: PackageReply, did: Did): void {
  record({ name: ptx.name, uid: ptx.uid, ...changedBy(ptx.status, reply.status), ...did });
}

interface Scene {
  readonly parts: Serving;
  readonly looker: Looker;
  readonly ptx: PackageTransaction;
  readonly now: number;
  readonly late: number;
  readonly namespace: string;
}

function moveOf(parts: Serving, ptx: PackageTransaction, now: number): Promise<Move> {
  const { namespace, cluster, gzip } = parts;
  const scene = { parts, looker: { reader: cluster, namespace, gzip }, ptx, now, late: parts.lateness, namespace };
  const found = acts[dueOf(ptx, now)](scene).catch((error: unknown) => {
    const move = withoutCluster(scene, failureOf(error));
    if (move === undefined) throw error;
    return move;
  });
  return found.then((move) => (move.finalized === true ? leavingNothing(scene, move) : move));
}

/** Once it is gone, what has no other owner is garbage. */
async function leavingNothing({ looker, ptx, namespace }: Scene, move: Move): Promise<Move> {
  return leaving(move, ptx.status, await readOrphans(looker, ptx.uid), namespace);
}

const acts: Readonly<Record<Due, (scene: Scene) => Promise<Move>>> = {
  rest: async ({ ptx }) => staying(ptx.status, 'nothing is left to do', 0),
  refuse: async (scene) => refuse({ ...scene, lock: await readTheLock(scene.looker) }),
  wait: async ({ ptx, now }) => wait(ptx, now),
  async take(scene) {
    const lock = await readNumberedLock(scene.looker);
    const ofTries = await leftByTries(scene.looker, scene.ptx, scene.now);
    const found = { ...scene, lock, ofTries, ...(await lookAtHolder(scene.looker, scene.ptx, lock)) };
    return take({ ...found, unread: isToRead(found) ? await read(scene) : undefined });
  },
  async validate(scene) {
    const lock = await readTheLock(scene.looker);
    const { ptx, looker, parts } = scene;
    const { wanted } = ptx;
    if (typeof wanted === 'string' || faultOf(ptx) !== undefined || ptx.isDeleting || !holds(ptx, lock))
      return validate({ ...scene, lock, validation: invalid(ptx) });
    const reading = await openReading(scene, wanted);
    if ('reason' in reading) return validate({ ...scene, lock, validation: { kind: 'refused', faults: [reading] } });
    const { registry, isOver } = reading;
    const progress = progressOf(scene, isOver);
    const validation = await readValidation({ looker, wanted, ptx, lock, crossplane: parts.crossplane, registry, progress });
    const orphans = validation.kind === 'valid' ? await readOrphans(looker) : [];
    if (validation.kind === 'unread') parts.ahead.forget(ptx.uid);
    return validate({ ...scene, lock, validation, orphans });
  },
  async prepare(scene) {
    const lock = await readTheLock(scene.looker);
    const { ptx } = scene;
    const { wanted } = ptx;
    if (typeof wanted === 'string' || !isAsResolved(ptx, lock) || ptx.isDeleting)
      return prepare({ ...scene, lock, preparation: undefined });
    const reading = await openReading(scene, wanted);
    if ('reason' in reading) return prepare({ ...scene, lock, preparation: withoutSecret(reading.message) });
    const preparation = await readPreparation({ ...scene, wanted, lock, ...reading });
    if (preparation.kind === 'unfinished') scene.parts.ahead.forget(ptx.uid);
    return prepare({ ...scene, lock, preparation });
  },
  async install(scene) {
    const { looker, ptx, namespace } = scene;
    const { wanted, status } = ptx;
    const planned = status.stages[status.committed];
    const [lock, stage] = await Promise.all([
      readTheLock(looker),
      planned === undefined ? undefined : find(looker, { resource: stages, namespace, name: planned.name }),
    ]);
    // What ends it needs no look, which may fail for ever.
    const goesOn = !ptx.isDeleting && faultOf(ptx) === undefined && isAsResolved(ptx, lock);
    const isNext = goesOn && planned !== undefined && stage === undefined && typeof wanted !== 'string';
    const next = isNext ? await readNextChanges({ looker, ptx, wanted, lock }, planned) : undefined;
    return install({ ...scene, lock, stage, next });
  },
  async verify(scene) {
    const { looker, ptx, parts } = scene;
    const lock = await readTheLock(looker);
    const isToLook = !ptx.isDeleting && isAsResolved(ptx, lock) && ptx.status.outcome === undefined;
    const faults = isToLook ? await readVerification(looker, ptx, progressOf(scene, deadlineOf(parts))) : 'unfinished';
    return verify({ ...scene, lock, faults });
  },
  rollBack: async (scene) => rollBack({ ...scene, found: await stagesOfTry(scene.looker, scene.ptx) }),
  release: async (scene) => release({ ...scene, lock: await readTheLock(scene.looker) }),
  async clean(scene) {
    const { looker, ptx, now } = scene;
    const [leftovers, history] = await Promise.all([leftoversOf(looker, ptx), leftByFormer(looker, now)]);
    return clean({ ...scene, leftovers, history });
  },
};

function invalid(ptx: PackageTransaction) {
  const message = faultOf(ptx);
  if (message === undefined) return undefined;
  return { kind: 'refused', faults: [finalFault('InvalidPackage', message)] } as const;
}

/** The Secret was there when everything was resolved. */
function withoutSecret(message: string) {
  return { kind: 'failed', failure: { kind: 'denied', message } } as const;
}

/** The tree, once in each try by each process. */
async function read(scene: Scene): Promise<NotRead | undefined> {
  const { ptx, parts, looker } = scene;
  const known = parts.ahead.recall(ptx.uid, String(ptx.status.failures));
  const lock = await readTheLock(looker);
  if (known.has('tree') || typeof ptx.wanted === 'string' || lock === undefined) return undefined;
  const opened = await openReading(scene, ptx.wanted);
  if ('reason' in opened) return undefined;
  const { registry, isOver } = opened;
  const unread = await readAhead({ looker, wanted: ptx.wanted, lock, crossplane: parts.crossplane, registry }, isOver);
  if (unread === undefined) known.add('tree');
  return unread;
}

async function openReading({ parts, looker }: Scene, wanted: Wanted) {
  const isOver = deadlineOf(parts);
  const pullSecrets = await pullSecretsOf(looker, wanted);
  if ('reason' in pullSecrets) return pullSecrets;
  return { registry: parts.openRegistry({ pullSecrets, root: wanted.reference.source, deadline: parts.deadline }), isOver };
}

function deadlineOf({ clock, deadline }: PackageParts): () => boolean {
  const until = clock.monotonic() + deadline;
  return () => clock.monotonic() >= until;
}

function progressOf({ parts, ptx }: Scene, isOver: () => boolean): Progress {
  // The version grows when the Lock was given back, and others had it.
  const { phase, version } = ptx.status;
  return { ...parts.memory.recall(ptx.uid, `${phase} ${version}`), isOver };
}
