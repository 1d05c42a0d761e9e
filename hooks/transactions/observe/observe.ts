// The reads that the due step needs. This stage has only a Reader: nothing here changes anything.

import type { Clock, Expressions, Logs, Reader } from '../../objects/cluster.ts';
import type { Due } from '../due.ts';
import { lockOf } from '../locks/lease.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { driftOf } from '../snapshots/drift.ts';
import type { StoredSnapshot } from './awaited.ts';
import { type LockContext, noLocks, observeBegin, observeLocks } from './begin.ts';
import type { Carry } from './carry.ts';
import { observeGates, observeOverdue } from './gates.ts';
import { observeItem } from './item.ts';
import type { PodTurns } from './new-pods.ts';
import type {
  BeginView,
  CleanUpView,
  Observed,
  Presence,
  ReleasesView,
  ReleaseView,
  RelockView,
  RollbackView,
} from './observation.ts';
import { readOwnConfigMaps } from './own-snapshots.ts';
import type { OpenGateCounts } from './polled.ts';
import type { Prefetch } from './prefetch.ts';
import { observePrepare } from './prepare.ts';
import type { Listed } from './read.ts';
import { readSnapshot, type SnapshotSource } from './snapshot.ts';
import type { Sources } from './sources.ts';

export interface ObserveContext {
  readonly source: SnapshotSource;
  readonly transaction: Transaction;
  readonly status: Status;
  readonly now: number;
  readonly clock: Clock;
  readonly expressions: Expressions | undefined;
  readonly sources: Sources;
  /** Reads for what nothing waits for: a wish of the API server to stay away is no wish to the call. */
  readonly aside: Reader & Logs;
  readonly podTurns: PodTurns;
  readonly polled: OpenGateCounts;
  readonly engineNamespace: string;
  readonly namespaces: readonly string[];
  readonly carry: Carry;
  readonly ownLeases: () => Promise<Listed>;
  /** The target of the due step, read before the Transaction was read. */
  readonly earlier: Presence | undefined;
  /** The reads of an undo's targets before their turn. */
  readonly ahead: Prefetch | undefined;
  /** Read before the engine knew the due step. */
  readonly snapshot: StoredSnapshot | undefined;
  /** Of a rollback, if it is due. */
  readonly composition?: RollbackView | undefined;
  readonly releases?: (() => Promise<ReleasesView>) | undefined;
}

export async function observe(context: ObserveContext, due: Due): Promise<Observed> {
  const { status, carry, transaction, source, sources, engineNamespace, expressions, clock } = context;
  const now = () => context.now;
  const lock = { ...shared(source), transaction, engineNamespace, carry, expressions, clock, sources, now };
  switch (due.kind) {
    case 'begin':
      return { ...due, ...(await observeLocked(context, { ...lock, isWaiting: status.specDigest !== undefined })) };
    case 'compose':
      return { ...due, ...(context.composition === undefined ? {} : { composition: context.composition }) };
    case 'prepare':
      return { ...due, ...(await observePrepare({ ...lock, isWaiting: false, composition: context.composition }, source)) };
    case 'apply':
      return { ...due, ...(await observeItem({ ...context, index: due.index, direction: 'forward', mayAssume: true })) };
    case 'await':
      return {
        ...due,
        ...(await observeGates(context, due)),
        polled: context.polled.add(transaction.namespace, transaction.uid),
      };
    case 'rollBack':
      return { ...due, ...(await observeOverdue(context, due.gates)) };
    case 'restore':
      return { ...due, ...(await observeItem({ ...context, index: due.index, direction: 'backward', mayAssume: false })) };
    case 'releaseFields':
      return { ...due, ...(await observeItem({ ...context, index: due.index, direction: 'forward', mayAssume: false })) };
    case 'reacquire':
      return { ...due, ...(await observeRelock(context)) };
    case 'planUndo':
      return { ...due, ...(await observeUndo(context)) };
    case 'fail':
    case 'release':
      return { ...due, ...(await observeRelease(context)) };
    case 'cleanUp':
      return { ...due, ...(await observeCleanUp(context)) };
    default:
      return due;
  }
}

function shared({ reader, callReads }: SnapshotSource): Pick<SnapshotSource, 'reader' | 'callReads'> {
  return { reader, callReads };
}

// The Transactions to undo are found again once the rollback may hold all locks.
async function observeLocked(context: ObserveContext, locking: LockContext) {
  const view = await withOrphanedLeases(context, await observeBegin(locking));
  const { locks, states } = view.locks;
  const mayHoldAll = locks.every(({ name }) => states.get(name)?.kind === 'present');
  return context.releases === undefined || !mayHoldAll ? view : { ...view, releases: await context.releases() };
}

// A refused Transaction may still hold locks: an earlier call took them, and its answer was lost.
async function withOrphanedLeases(context: ObserveContext, view: BeginView): Promise<BeginView> {
  if (view.faults.length === 0) return view;
  const own = await context.ownLeases();
  return own.kind === 'trouble' ? { ...view, trouble: own.failure } : { ...view, orphanedLeases: own.objects };
}

async function observeRelock(context: ObserveContext): Promise<RelockView> {
  const { source, transaction, status, carry } = context;
  const { snapshot, brokenDrift } = await observeUndo(context);
  const wanted = snapshot.kind === 'stored' ? snapshot.entries.map(({ target }) => lockOf(target)) : [];
  const isWaiting = status.rollbackStartedAt !== undefined;
  const now = () => context.now;
  const locks = await observeLocks({ ...context, ...shared(source), transaction, carry, isWaiting, now }, wanted);
  return { snapshot, locks, brokenDrift };
}

/** What an undo rests on. A plan takes no locks. */
async function observeUndo({ source, transaction, status }: ObserveContext): Promise<RelockView> {
  const snapshot = await readSnapshot(source, transaction, status.rollbackRef);
  const entries = snapshot.kind === 'stored' ? snapshot.entries : [];
  const broken = entries.filter((entry) => driftOf(status, entry, { transaction, packer: source.packer }) === 'broken');
  return { snapshot, locks: noLocks, brokenDrift: broken.map(({ index }) => index) };
}

async function observeRelease({ ownLeases }: ObserveContext): Promise<ReleaseView> {
  const own = await ownLeases();
  return own.kind === 'ok' ? { leases: own.objects } : { leases: [], trouble: own.failure };
}

async function observeCleanUp({ source, transaction, status, ownLeases }: ObserveContext): Promise<CleanUpView> {
  const [own, stored] = await Promise.all([ownLeases(), readOwnConfigMaps(source, transaction, status)]);
  const base = { leases: [], configMaps: [], hasMore: false } as const;
  if (own.kind === 'trouble') return { ...base, trouble: own.failure };
  return stored.kind === 'trouble'
    ? { ...base, leases: own.objects, unread: stored.failure }
    : { leases: own.objects, configMaps: stored.objects, hasMore: stored.hasMore };
}
