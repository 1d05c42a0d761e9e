// The reads that what is due needs. Reader only: nothing here changes anything.
import type { Agenda } from '../agenda/agenda.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { lockOf } from '../writes/lease.ts';
import type { Ahead } from './ahead.ts';
import { observeBegin, observeLocks } from './begin.ts';
import type { Carry } from './carry.ts';
import { observeItem } from './item.ts';
import type { Presence, View } from './observation.ts';
import { readOwnConfigMaps } from './own-snapshots.ts';
import { observePrepare } from './prepare.ts';
import type { Listed } from './read.ts';
import { readSnapshot, type SnapshotSource } from './snapshot.ts';

export interface ObserveContext {
  readonly source: SnapshotSource;
  readonly transaction: Transaction;
  readonly status: Status;
  readonly engineNamespace: string;
  readonly namespaces: readonly string[];
  readonly carry: Carry;
  readonly ownLeases: () => Promise<Listed>;
  /** The target of what is due, read before this look. */
  readonly earlier: Presence | undefined;
  /** Where targets of an undo are read before their turn. */
  readonly ahead: Ahead | undefined;
}

export async function observe(context: ObserveContext, agenda: Agenda): Promise<View> {
  const { status, carry, transaction, source, engineNamespace } = context;
  const lock = { ...shared(source), transaction, engineNamespace, carry };
  switch (agenda.due) {
    case 'begin':
      return withStrays(context, await observeBegin({ ...lock, isWaiting: status.specDigest !== undefined }));
    case 'stop':
      return observeRelease(context);
    case 'prepare':
      return observePrepare({ ...lock, isWaiting: false }, source);
    case 'apply':
      return observeItem({ ...context, index: agenda.index, direction: 'forward', mayAssume: true });
    case 'restore':
      return observeItem({ ...context, index: agenda.index, direction: 'backward', mayAssume: false });
    case 'disown':
      return observeItem({ ...context, index: agenda.index, direction: 'forward', mayAssume: false });
    case 'relock':
      return observeRelock(context);
    case 'release':
      return observeRelease(context);
    case 'settle':
      return observeSettle(context);
    default:
      return { kind: 'none' };
  }
}

function shared({ reader, sightings, looks }: SnapshotSource): Pick<SnapshotSource, 'reader' | 'sightings' | 'looks'> {
  return { reader, sightings, looks };
}

// A Transaction that is refused may hold locks all the same: of a call whose answer was lost.
async function withStrays(context: ObserveContext, view: View): Promise<View> {
  if (view.kind !== 'begin' || view.faults.length === 0) return view;
  const own = await context.ownLeases();
  return own.kind === 'trouble' ? { ...view, trouble: own.failure } : { ...view, strays: own.objects };
}

async function observeRelock(context: ObserveContext): Promise<View> {
  const { source, transaction, status, engineNamespace, carry } = context;
  const snapshot = await readSnapshot(source, transaction, status.rollbackRef);
  const wanted = snapshot.kind === 'stored' ? snapshot.entries.map(({ target }) => lockOf(target)) : [];
  const isWaiting = status.rollbackStartedAt !== undefined;
  const locks = await observeLocks({ ...shared(source), transaction, engineNamespace, carry, isWaiting }, wanted);
  return { kind: 'relock', snapshot, locks };
}

async function observeRelease({ ownLeases }: ObserveContext): Promise<View> {
  const own = await ownLeases();
  return own.kind === 'ok' ? { kind: 'release', leases: own.objects } : { kind: 'release', leases: [], trouble: own.failure };
}

async function observeSettle({ source, transaction, status, ownLeases }: ObserveContext): Promise<View> {
  const [own, stored] = await Promise.all([ownLeases(), readOwnConfigMaps(source, transaction, status)]);
  const base = { kind: 'settle', leases: [], configMaps: [] } as const;
  if (own.kind === 'trouble') return { ...base, trouble: own.failure };
  return stored.kind === 'trouble'
    ? { ...base, trouble: stored.failure }
    : { ...base, leases: own.objects, configMaps: stored.objects };
}
