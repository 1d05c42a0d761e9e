// The reads that the due step needs.
import type { JsonObject } from '../../objects/json.ts';
import type { PackageParts } from '../call.ts';
import { type Due, dueOf, faultOf } from '../due.ts';
import { finalFault } from '../model/fault.ts';
import { holderOf, holds, isAsResolved } from '../model/holder.ts';
import { deletionOf, installOf, type PackageTransaction, replacedBy, type Wanted } from '../model/package-transaction.ts';
import { packagesAfter } from '../model/replacement.ts';
import { isForward } from '../model/status.ts';
import { stages } from '../writes/resources.ts';
import { hasFailed } from '../writes/stages.ts';
import { leavingOf, readDeactivation, readDeletable, readDeletionState, readRest } from './deletion.ts';
import { readEdited, readRewritten } from './edited.ts';
import { garbageOf, garbageOfPrevious, garbageOfTries } from './garbage.ts';
import {
  findLock,
  findNumberedLock,
  handedOverBy,
  pausedAfter,
  pausedFor,
  readHolder,
  stagesOfTry,
  unrecordedBy,
} from './lock-state.ts';
import { readNextChanges } from './next-changes.ts';
import {
  type Context,
  isToRead,
  type NotRead,
  type Observation,
  type ObservedTo,
  type Orphan,
  type Validation,
} from './observation.ts';
import { type Owned, ownsNothing, readOrphans, readOwned } from './owners.ts';
import { readPreparation } from './preparation.ts';
import type { Memory, Progress } from './progress.ts';
import { type Ready, readBefore } from './queue.ts';
import { find, type PackageReader } from './read.ts';
import type { ReadOnce } from './read-once.ts';
import { openRegistryOf } from './registries.ts';
import { retiredByTry } from './retired.ts';
import { readRuntimes, writtenDefinitions } from './runtimes.ts';
import { readAhead, readValidation } from './validation.ts';
import { readVerification } from './verification.ts';
import { readWebhooks } from './webhooks.ts';

/** A process that serves calls, and the values that it remembers. */
export interface Serving extends PackageParts {
  readonly memory: Memory;
  readonly ahead: Memory;
  readonly queue: ReadOnce<readonly Ready[]>;
  readonly owned: ReadOnce<Owned>;
}

interface ObserveContext extends Context {
  readonly serving: Serving;
  readonly reader: PackageReader;
}

export async function observe(serving: Serving, context: Context): Promise<Observation> {
  const due = dueOf(context.ptx, context.now);
  const { cluster, namespace, gzip } = serving;
  const observed = await reads[due]({ ...context, serving, reader: { cluster, namespace, gzip } });
  return { due, ...context, ...observed } as Observation;
}

type Reads = { readonly [Kind in Due]: (context: ObserveContext) => Promise<Omit<ObservedTo<Kind>, keyof Context>> };

const reads: Reads = {
  rest: async () => ({}),
  refuse: async ({ reader }) => ({ lock: await findLock(reader) }),
  wait: async () => ({}),
  async acquire(context) {
    const { reader, ptx, now, serving } = context;
    const lock = await findNumberedLock(reader);
    const ofTries = await garbageOfTries(reader, ptx, now);
    const found = { lock, ofTries, ...(await readHolder(reader, ptx, lock)) };
    if (lock === undefined || !isToRead({ ...context, ...found })) return found;
    const unread = await readPackages(context, lock);
    if (unread !== undefined && holderOf(lock) === undefined) return { ...found, unread };
    return { ...found, unread, before: await readBefore(reader, serving.queue, { ptx, lock, now }) };
  },
  async validate(context) {
    const { ptx, reader, serving } = context;
    const [wanted, deletion] = [installOf(ptx), deletionOf(ptx)];
    const lock = await findLock(reader);
    const fault = faultOf(ptx);
    if (fault !== undefined) return { lock, validation: { kind: 'refused', faults: [finalFault('InvalidPackage', fault)] } };
    if (ptx.isDeleting || !holds(ptx, lock)) return { lock, validation: undefined };
    if (deletion !== undefined)
      return { lock, validation: await readDeletable(context, deletion, lock, progressOf(context, deadlineOf(serving))) };
    if (wanted === undefined) return { lock, validation: undefined };
    if (isForward(ptx.status)) return { lock, validation: await readRest(context, goingOn(ptx, lock)) };
    const opened = await openRegistry(context, wanted);
    if ('reason' in opened) return { lock, validation: { kind: 'refused', faults: [opened] } };
    const { registry, isOver } = opened;
    const progress = progressOf(context, isOver);
    const webhooks = await readWebhooks(reader, { ...serving, ...context });
    const { crossplane, ownMode } = serving;
    const tree = { wanted, lock, crossplane, ownMode, registry, webhooks };
    const validation = await readValidation({ ...context, ...tree, progress });
    if (['unread', 'awaiting'].includes(validation.kind)) serving.ahead.forget(ptx.uid);
    return { lock, validation, orphans: await orphansToAdopt(context, validation) };
  },
  async prepare(context) {
    const { ptx, reader, serving } = context;
    const [wanted, leaving] = [installOf(ptx), leavingOf(ptx)];
    const lock = await findLock(reader);
    if (!isAsResolved(ptx, lock) || ptx.isDeleting) return { lock, preparation: undefined };
    if (wanted === undefined || isForward(ptx.status))
      return { lock, preparation: leaving && (await readDeactivation(context, leaving, lock)) };
    const opened = await openRegistry(context, wanted);
    // The Secret existed when the hook resolved the tree.
    if ('reason' in opened)
      return { lock, preparation: { kind: 'failed', failure: { kind: 'denied', message: opened.message } } };
    const { registry, isOver } = opened;
    const { servers } = ptx.isDryRun ? await readWebhooks(reader, { ...serving, ...context }) : {};
    const progress = progressOf(context, isOver);
    const preparation = await readPreparation({ ...context, wanted, lock, registry, progress, servers });
    if (preparation.kind === 'unfinished') serving.ahead.forget(ptx.uid);
    return { lock, preparation };
  },
  async install({ reader, ptx, namespace, isBeside = false, isOwn = false, crossplaneNamespace, serving }) {
    const [wanted, { status }] = [installOf(ptx), ptx];
    const planned = status.stages[status.committed];
    const [lock, stage] = await Promise.all([
      findLock(reader),
      planned === undefined ? undefined : find(reader, { resource: stages, namespace, name: planned.name }),
    ]);
    // The end of a try needs no further read, which may fail for ever.
    const goesOn = !ptx.isDeleting && faultOf(ptx) === undefined && isAsResolved(ptx, lock);
    const isNext = goesOn && planned !== undefined && stage === undefined;
    const isLost = goesOn && stage !== undefined && hasFailed(stage);
    if (!isNext) return { lock, stage, next: undefined, edited: isLost ? await readEdited(reader, ptx) : undefined };
    const { servers } = await readWebhooks(reader, { ...serving, crossplaneNamespace });
    const next = await readNextChanges({ reader, ptx, wanted, lock, isBeside, isOwn, servers }, planned);
    return { lock, stage, next, edited: next.kind === 'lost' ? await readEdited(reader, ptx) : undefined };
  },
  async verify(context) {
    const { reader, ptx, serving } = context;
    const lock = await findLock(reader);
    const isToCheck = !ptx.isDeleting && isAsResolved(ptx, lock) && ptx.status.outcome === undefined;
    const progress = progressOf(context, deadlineOf(serving));
    if (!isToCheck) return { lock, faults: 'unfinished' };
    const { faults, unserved } = await readVerification(reader, context, progress);
    if (faults === 'unfinished') return { lock, faults, unserved };
    if (faults.length > 0) return { lock, faults, unserved, edited: await readRewritten(reader, ptx, serving.ownMode) };
    const runtimes = replacedBy(ptx) === undefined ? undefined : await readRuntimes(reader, context);
    return { lock, faults, unserved, runtimes, retired: unserved.length > 0 ? undefined : await retiredByTry(reader, ptx) };
  },
  async delete({ reader, ptx }) {
    const [lock, leaving] = [await findLock(reader), leavingOf(ptx)];
    const isToRead = leaving !== undefined && holds(ptx, lock);
    return { lock, state: isToRead ? await readDeletionState({ reader, ptx }, leaving, lock) : undefined };
  },
  async rollBack({ reader, ptx }) {
    const running = ptx.status.handOverTime === undefined ? [] : await handedOverBy(reader, ptx.uid);
    const written = await writtenDefinitions(reader, ptx);
    return { found: await stagesOfTry(reader, ptx), running, written };
  },
  async release({ reader, ptx, isBeside = false }) {
    const isWritten = ptx.status.outcome?.kind === 'Succeeded';
    const lock = await findLock(reader);
    if (!isWritten || ptx.isDryRun) return { lock };
    // Beside Crossplane, Crossplane writes the status of revisions.
    return isBeside
      ? { lock, paused: await pausedAfter(reader, ptx, lock) }
      : { lock, unrecorded: await unrecordedBy(reader, ptx) };
  },
  handOver: async ({ reader, ptx }) => ({ paused: await pausedFor(reader, ptx.uid) }),
  async cleanUp({ reader, ptx, now, serving }) {
    if (ptx.isDryRun) return { garbage: [], history: [], orphans: [] };
    if (!ptx.isDeleting) {
      const [garbage, history] = await Promise.all([garbageOf(reader, ptx), garbageOfPrevious(reader, now)]);
      return { garbage, history, orphans: [] };
    }
    // Many may be deleted at once, and the holder of the Lock needs the API server meanwhile.
    const garbage = ptx.status.sweepTime === undefined ? [] : await garbageOf(reader, ptx);
    if (garbage.length > 0 || ownsNothing(ptx)) return { garbage, history: [], orphans: [] };
    // Once the package transaction is gone, an object without another owner is garbage.
    const owned = await serving.owned(() => readOwned(reader));
    return { garbage, history: [], orphans: await readOrphans(reader, owned, ptx.uid) };
  },
};

/** A dry run writes nothing. */
async function orphansToAdopt({ reader, ptx }: ObserveContext, { kind }: Validation): Promise<readonly Orphan[]> {
  return kind === 'valid' && !ptx.isDryRun ? readOrphans(reader, await readOwned(reader)) : [];
}

/** An earlier try of a Replace has deleted a part of the packages that leave. The new tree is installed. */
function goingOn(ptx: PackageTransaction, lock: JsonObject): Validation {
  return { kind: 'valid', lock: packagesAfter(ptx, lock), replaced: ptx.status.replaced ?? [] };
}

/** Reads the tree ahead, once in each try by each process. */
async function readPackages(context: ObserveContext, lock: JsonObject | undefined): Promise<NotRead | undefined> {
  const { ptx, serving } = context;
  const known = serving.ahead.recall(ptx.uid, String(ptx.status.failures));
  const wanted = installOf(ptx);
  if (known.has('tree') || wanted === undefined || lock === undefined || isForward(ptx.status)) return undefined;
  const opened = await openRegistry(context, wanted);
  if ('reason' in opened) return undefined;
  const { registry, isOver } = opened;
  const webhooks = await readWebhooks(context.reader, { ...serving, ...context });
  const { crossplane, ownMode } = serving;
  const unread = await readAhead({ ...context, wanted, lock, crossplane, ownMode, registry, webhooks }, isOver);
  if (unread === undefined) known.add('tree');
  return unread;
}

const openRegistry = ({ serving, reader }: ObserveContext, wanted: Wanted) => openRegistryOf(reader, serving, wanted);

function deadlineOf({ clock, deadline }: PackageParts): () => boolean {
  const until = clock.monotonic() + deadline;
  return () => clock.monotonic() >= until;
}

function progressOf({ serving, ptx }: ObserveContext, isOver: () => boolean): Progress {
  // The version grows if the Lock was released, and other package transactions held it.
  const { phase, version } = ptx.status;
  return { ...serving.memory.recall(ptx.uid, `${phase} ${version}`), isOver };
}
