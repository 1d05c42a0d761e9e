// What must be known to evaluate one item: its lock, its snapshot, the ServiceAccount, the live object.
import { isTerminating } from '../../objects/content/ownership.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { identityOf } from '../../objects/reference.ts';
import { undoOrder } from '../checks/undo-order.ts';
import { type Hazards, noHazards } from '../hazards/hazards.ts';
import { readHazards, readUndoHazards } from '../hazards/read.ts';
import type { HazardContext, Staying } from '../hazards/read-context.ts';
import { leaseLocation, lockOf, wasLost } from '../locks/lease.ts';
import { inverseOf, type SnapshotEntry } from '../model/entry.ts';
import { isTerminal } from '../model/phase.ts';
import { isRequested, type Status } from '../model/status.ts';
import { annotations, mayBreak, type Transaction } from '../model/transaction.ts';
import { driftOf } from '../snapshots/drift.ts';
import { engine, serviceAccountOf } from '../writes/resources.ts';
import type { StoredSnapshot } from './awaited.ts';
import type { Carry } from './carry.ts';
import { tryInTurn } from './deferred.ts';
import { dueHalf } from './halves.ts';
import { readHolders } from './holders.ts';
import type { ItemView, Presence } from './observation.ts';
import { findOthers, heldSince } from './other-transactions.ts';
import { type Prefetch, readInTurn } from './prefetch.ts';
import { withPriorStates } from './prior-states.ts';
import { type Listed, presenceWith, read, readLive, readServiceAccount } from './read.ts';
import { readSnapshot, type SnapshotSource } from './snapshot.ts';

export interface ItemContext {
  readonly source: SnapshotSource;
  readonly transaction: Transaction;
  readonly status: Status;
  readonly now: number;
  readonly engineNamespace: string;
  readonly ownLeases: () => Promise<Listed>;
  readonly index: number;
  readonly direction: 'forward' | 'backward';
  readonly carry: Pick<Carry, 'others'>;
  /** The namespaces in which the engine lists Transactions; empty for all namespaces. */
  readonly namespaces: readonly string[];
  /**
   * Whether the state before the change may replace a read of the live object. Its version goes with the write. If the object has
   * changed, the API server refuses the write, and the engine reads the object. It also reads the object if no write follows.
   */
  readonly mayAssume: boolean;
  /** The target, as the engine read it before it read the Transaction. */
  readonly earlier: Presence | undefined;
  /** The reads of an undo's targets before their turn. */
  readonly ahead: Prefetch | undefined;
  /** What all changes share, if it was read before. */
  readonly shared?: Pick<ItemView, 'snapshot' | 'serviceAccount'>;
  /** Identities of objects that the engine assumes are gone: no owner loses them. */
  readonly assumedGone?: ReadonlySet<string>;
  /** By identity: targets that stay after this undo. */
  readonly staying?: ReadonlyMap<string, Staying>;
  /** The snapshot, if this attempt has read it already. */
  readonly snapshot: StoredSnapshot | undefined;
}

export async function observeItem(context: ItemContext): Promise<ItemView> {
  const { source, transaction, status, index } = context;
  const work = workAt(context);
  const known = knownEntry(context);
  const unread = context.earlier ?? assumedLive(context, known);
  const [snapshot, serviceAccount, locks, early] = await Promise.all([
    ...readShared(context),
    observeLease(context, work.item.lockLease),
    unread ?? (known && readInTurn(context, known)),
  ]);
  const base = { ...work, snapshot, serviceAccount, ...locks, ...nothing } as const;
  const entry = entryOf(snapshot, index);
  if (entry === undefined || serviceAccount.kind !== 'present') return { ...base, live: absent, liveFrom: 'now' };
  const lease = isLockOf(entry, status) ? base.lease : absent;
  const live = earlyOf(context, entry === known, early) ?? (await readLive(source.reader, transaction, entry));
  const drift = driftOf(status, entry, { transaction, packer: source.packer });
  const found = { live, liveFrom: originOf(live, context.earlier, unread) };
  const due = { ...base, lease, drift, ...found, ...dueHalf(context, { ...base, ...found }, entry) };
  return { ...due, ...(await readMore(context, due)) };
}

function readShared({ shared, snapshot, source, transaction, status }: ItemContext) {
  return [
    shared?.snapshot ?? snapshot ?? readSnapshot(source, transaction, status.rollbackRef),
    shared?.serviceAccount ?? readServiceAccount(source, transaction),
  ] as const;
}

/** The change that is due, with what the status has of it: there is one for each (decodeStatus). */
export function workAt({
  transaction,
  status,
  index,
}: Pick<ItemContext, 'transaction' | 'status' | 'index'>): Pick<ItemView, 'index' | 'change' | 'item'> {
  const [change, item] = [transaction.changes[index], status.items[index]];
  if (change === undefined || item === undefined) throw new Error(`there is no change ${index} of ${transaction.changes.length}`);
  return { index, change, item };
}

// A read from before the engine knew that the snapshot is the stored snapshot counts for that entry only.
function earlyOf({ earlier }: ItemContext, isKnown: boolean, early: Presence | undefined): Presence | undefined {
  return earlier !== undefined || isKnown ? early : undefined;
}

// The status may name a Lease that is not that of the target.
function isLockOf({ index, target }: SnapshotEntry, { items }: Status): boolean {
  return lockOf(target).name === items[index]?.lockLease;
}

function originOf(live: Presence, earlier: Presence | undefined, unread: Presence | undefined): ItemView['liveFrom'] {
  if (live === earlier) return 'earlier';
  return live === unread ? 'assumed' : 'now';
}

/** A Lease that is not among ours is read by itself: it may be gone, or another's. */
async function observeLease(
  { source, transaction, now, engineNamespace, ownLeases }: ItemContext,
  name: string | undefined,
): Promise<Pick<ItemView, 'lease' | 'leases' | 'holders'>> {
  const own = await ownLeases();
  if (own.kind === 'trouble') return { lease: own, leases: [], holders: new Map() };
  const found = own.objects.find((lease) => textAt(lease, 'metadata', 'name') === name);
  if (found !== undefined) return { lease: { kind: 'present', object: found }, leases: own.objects, holders: new Map() };
  const lease = name === undefined ? absent : await read(source.reader, leaseLocation(name, engineNamespace), engine);
  return { lease, leases: own.objects, holders: await readHolders({ ...source, transaction, now }, [lease]) };
}

// Not where something is known to have moved since the snapshot, or was not known when it was taken.
function assumedLive({ mayAssume, status, index }: ItemContext, known: SnapshotEntry | undefined): Presence | undefined {
  const item = status.items[index];
  const isUncertain = known?.approximate === true && (known.recreates !== true || item?.deleted === true);
  if (!mayAssume || known === undefined || isUncertain || item?.drift !== undefined) return undefined;
  return presenceWith(known.prior);
}

const absent: Presence = { kind: 'absent' };

/** The entry as this process has it, so that the target is read at once. It counts only if it is that of the stored snapshot. */
function knownEntry({ source, transaction, status, index }: ItemContext): SnapshotEntry | undefined {
  const cached = source.cache.get(transaction.uid);
  return cached?.digest === status.rollbackRef?.digest ? cached?.entries[index] : undefined;
}

function entryOf(snapshot: StoredSnapshot, index: number): SnapshotEntry | undefined {
  return snapshot.kind === 'stored' ? snapshot.entries[index] : undefined;
}

type More = Partial<Pick<ItemView, 'hazards' | 'tried' | 'irreversible' | 'others' | 'othersTrouble' | 'wasUnlocked'>>;

type Held = Pick<ItemView, 'snapshot' | 'lease' | 'leases' | 'live' | 'liveFrom'>;

const nothing = { drift: [], hazards: noHazards } as const;

async function readMore(context: ItemContext, { snapshot, lease, leases, live, liveFrom }: Held): Promise<More> {
  const entry = entryOf(snapshot, context.index);
  if (snapshot.kind !== 'stored' || entry === undefined) return {};
  const hazards = hazardContextOf(context, entry, snapshot.entries);
  if (context.direction === 'backward') return readForUndo(context, hazards, entry, { snapshot, lease, leases, live });
  if (!context.mayAssume) return {};
  // If the engine has read the live object just now, it reads the Transaction again (W5).
  const isDue = liveFrom !== 'now' || live.kind === 'absent';
  const [found, tried] = await Promise.all([
    readForward(context, hazards, entry, live),
    isDue ? tryInTurn({ hazards, entry, live }) : {},
  ]);
  return { ...found, ...tried };
}

async function readForUndo(
  context: ItemContext,
  hazards: HazardContext,
  entry: SnapshotEntry,
  { snapshot, lease, leases, live }: Omit<Held, 'liveFrom'>,
): Promise<More> {
  const wasUnlocked = wasReleased(context) || (lease.kind === 'present' && wasLost(lease.object));
  const entries = snapshot.kind === 'stored' ? snapshot.entries : [];
  const [found, others] = await Promise.all([
    readUndo(hazards, entry, live, context.now),
    readOthers(context, entry, { entries, leases, wasUnlocked }),
  ]);
  return { hazards: found, wasUnlocked, ...others };
}

function hazardContextOf(
  { source: { reader, callReads }, transaction, status, direction, assumedGone = new Set(), staying }: ItemContext,
  entry: SnapshotEntry,
  entries: readonly SnapshotEntry[],
): HazardContext {
  const lister = { reader, callReads, identity: serviceAccountOf(transaction) };
  const base = { lister, transaction, entry, isAgain: direction === 'forward' };
  if (direction === 'backward')
    return { ...base, gone: assumedGone, undo: { status, entries, staying, orderOf: () => undoOrder(entries) } };
  if (transaction.rollback === undefined) return { ...base, gone: assumedGone };
  const identities = (wanted: readonly SnapshotEntry[]) => new Set(wanted.map(({ target }) => identityOf(target)));
  return {
    ...base,
    // A list counts for a moment: it may still have what an earlier change has deleted.
    gone: identities(entries.filter(({ type, index }) => type === 'Delete' && index < entry.index)),
    stayingTargets: identities(entries.filter(({ type }) => type !== 'Delete')),
  };
}

// What a rollback brings back or changes needs what an undo needs: the owners that the object names.
async function readForward(context: ItemContext, hazards: HazardContext, entry: SnapshotEntry, live: Presence): Promise<More> {
  if (entry.restores !== true || entry.type === 'Delete' || live.kind === 'trouble') return readDelete(hazards, entry, live);
  return {
    hazards: await readUndoHazards(hazards, inverseOf(entry), live.kind === 'present' ? live.object : undefined, context.now),
  };
}

/** What others would lose by a Delete. */
async function readDelete(hazards: HazardContext, { type }: SnapshotEntry, live: Presence): Promise<More> {
  if (type !== 'Delete' || live.kind !== 'present' || isTerminating(live.object) || mayBreak(hazards.transaction)) return {};
  return { hazards: await readHazards(hazards, { before: live.object, after: undefined }) };
}

async function readUndo(hazards: HazardContext, entry: SnapshotEntry, live: Presence, now: number): Promise<Hazards> {
  if (live.kind === 'trouble') return noHazards;
  return readUndoHazards(hazards, entry, live.kind === 'present' ? live.object : undefined, now);
}

// Before an undo of a Transaction that has ended. Of a Committed one every change is recorded. A request that stops a running one finds
// its locks held.
function wasReleased({ status, index }: ItemContext): boolean {
  const isRecorded = status.items[index]?.progress.kind === 'applied';
  const isAgain = status.handledAnnotations[annotations.retryRollback] !== undefined;
  return isTerminal(status.phase) || (isRecorded ? isRequested(status) : isAgain);
}

interface OthersNeeds {
  readonly entries: readonly SnapshotEntry[];
  readonly leases: readonly JsonObject[];
  readonly wasUnlocked: boolean;
}

async function readOthers(
  { source, transaction, namespaces, carry, status, index }: ItemContext,
  { target }: SnapshotEntry,
  { entries, leases, wasUnlocked }: OthersNeeds,
): Promise<More> {
  if (carry.others === undefined) return {};
  const targets = entries.map((entry) => entry.target);
  const since = heldSince(leases);
  const others = await findOthers({ source, transaction, namespaces, targets, since }, target, carry.others);
  if (others.kind === 'trouble') return { othersTrouble: others.failure };
  const version = status.items[index]?.resourceVersion;
  const changes = wasUnlocked ? await withPriorStates(source, target, version, others.found.changes) : others.found.changes;
  return 'kind' in changes ? { othersTrouble: changes.failure } : { others: { ...others.found, changes } };
}
