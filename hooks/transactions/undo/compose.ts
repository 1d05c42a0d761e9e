// What a rollback makes of each object: the undos of all newer Transactions, the newest first, each evaluated as an undo is (attribution/),
// on the state that the undos before it leave. Nothing is written. What Kubernetes would delete in answer is read once, for the whole way
// from now to then, as it is for any change (observe/dry-run.ts).
import { identityOf, type Reference } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { goneApplier, isLineGone } from '../attribution/applied-by.ts';
import { evaluateUndo } from '../attribution/undo.ts';
import type { Fault } from '../checks/fault.ts';
import { isSelected } from '../checks/undo-choices.ts';
import { mostChanges } from '../checks/validity.ts';
import { forgedDrift } from '../decide/guards.ts';
import { undoingAgain } from '../decide/undo-transitions.ts';
import { noHazards } from '../hazards/hazards.ts';
import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import { toUndoOf } from '../model/item.ts';
import { type OtherChange, uidOfHolder } from '../model/other-transactions.ts';
import type { Rollback } from '../model/rollback.ts';
import type { Status } from '../model/status.ts';
import { annotations, holderOf, type Transaction } from '../model/transaction.ts';
import { workAt } from '../observe/item.ts';
import type { RollbackObjects, RollbackView } from '../observe/observation.ts';
import type { ObserveContext } from '../observe/observe.ts';
import { findOthers } from '../observe/other-transactions.ts';
import { withPriorStates } from '../observe/prior-states.ts';
import { presenceWith, readLive } from '../observe/read.ts';
import { readSnapshot } from '../observe/snapshot.ts';
import { driftOf } from '../snapshots/drift.ts';
import {
  begunAt,
  bounds,
  type RollbackProgress,
  reach,
  refusal,
  snapshotsTooLarge,
  tooLargeStates,
  tooManyObjects,
} from './bounds.ts';
import { compositionOf, type RollbackContext, restoreEntry, type UndoObject } from './composition.ts';
import { evaluated } from './evaluated.ts';
import { type KeptObject, keepComposition } from './kept.ts';
import { blockLosses } from './losses.ts';
import type { Releases } from './releases.ts';

type Ended = Exclude<RollbackView, { found: object }>;

interface Context {
  readonly observing: ObserveContext;
  readonly rollback: Rollback;
  readonly releases: Releases;
  readonly objects: Map<string, UndoObject>;
  /** uids of Transactions that count as undone. */
  readonly undone: Set<string>;
  readonly progress: RollbackProgress;
}

/** `releases`: those to undo, found by releases.ts. */
export async function compose(observing: ObserveContext, rollback: Rollback, releases: Releases): Promise<RollbackView> {
  const dropped = releases.undone.filter((one) => !releases.composed.includes(one));
  const context: Context = {
    ...{ observing, rollback, releases, objects: new Map() },
    undone: new Set(dropped.map(({ uid }) => uid)),
    progress: begunAt(releases.composed),
  };
  for (const release of releases.composed) {
    reach(context.progress, release, context.objects.values());
    const ended = await undoOne(context, release);
    if (ended !== undefined) return ended;
  }
  return finished(context);
}

async function entriesOf({ observing, progress }: Context, release: Transaction): Promise<readonly SnapshotEntry[] | Ended> {
  const snapshot = await readSnapshot(observing.source, release, release.status?.rollbackRef);
  if (snapshot.kind === 'trouble') return { faults: [], trouble: snapshot.failure };
  if (snapshot.kind === 'broken') return refused(refusal(progress, 'SnapshotBroken', snapshot.message));
  const tooLarge = snapshotsTooLarge(progress, snapshot.entries, bounds);
  return tooLarge === undefined ? snapshot.entries : refused(tooLarge);
}

function refused(wrong: Fault): Ended {
  return { faults: [wrong] };
}

async function undoOne(context: Context, release: Transaction): Promise<Ended | undefined> {
  const { observing, objects, undone, progress } = context;
  const entries = await entriesOf(context, release);
  if ('faults' in entries) return entries;
  const request = { annotation: annotations.requestRollback, value: 'rollback' };
  if (release.status === undefined) return undefined;
  const status = undoingAgain(release.status, request, observing.now, { leases: [], writer: undefined });
  const toUndo = toUndoOf(entries, status.items);
  const fresh = toUndo.filter(({ target }) => !objects.has(identityOf(target)));
  const tooMany = tooManyObjects(progress, objects.size + fresh.length, bounds);
  if (tooMany !== undefined) return refused(tooMany);
  const targets = fresh.map(({ target }) => target);
  const found = await inTurn(fresh, (entry) => addObject(context, entry, targets), atOnce);
  const lacking = found.find((ended) => ended !== undefined);
  if (lacking !== undefined) return lacking;
  for (const entry of toUndo.toReversed()) {
    const object = objects.get(identityOf(entry.target));
    const ended = object && (await undoEntry(context, { release, status, entry, object }));
    if (ended !== undefined) return ended;
  }
  undone.add(release.uid);
  return undefined;
}

/** Objects that are read at once. */
const atOnce = 8;

async function addObject(
  { observing, objects, releases, rollback }: Context,
  entry: SnapshotEntry,
  targets: readonly Reference[],
): Promise<Ended | undefined> {
  const { source, transaction, namespaces } = observing;
  const { target } = entry;
  const live = await readLive(source.reader, transaction, entry);
  if (live.kind === 'trouble') return { faults: [], trouble: live.failure };
  // One list serves the objects of one release, and no others.
  const since = targets.map(identityOf);
  const looking = { source, transaction, namespaces, targets, since, known: releases.listed };
  const others = await findOthers(looking, target, 'all');
  if (others.kind === 'trouble') return { faults: [], trouble: others.failure };
  const now = live.kind === 'present' ? live.object : undefined;
  objects.set(identityOf(target), {
    ...{ target, entry, now, state: now, others: others.found, seen: others.found.changes },
    isKept: isSelected(rollback.keep, target, transaction.namespace),
    isOverwritten: isSelected(rollback.overwrite, target, transaction.namespace),
    ...{ isSealed: false, gone: new Set(), place: 0 },
  });
  return undefined;
}

interface Stepping {
  readonly release: Transaction;
  readonly status: Status;
  readonly entry: SnapshotEntry;
  readonly object: UndoObject;
}

async function undoEntry(context: Context, stepping: Stepping): Promise<Ended | undefined> {
  const { release, entry, object } = stepping;
  object.place = entry.index - mostChanges * (context.releases.composed.indexOf(release) + 1);
  object.isSealed ||= isSealed(entry, release) || isSealed(entry, context.observing.transaction);
  return object.blocked === undefined ? stepBack(context, stepping) : undefined;
}

/** The undo of one change, on the state so far. */
async function stepBack(context: Context, { release, status, entry, object }: Stepping): Promise<Ended | undefined> {
  const { source } = context.observing;
  const drift = driftOf(status, entry, { transaction: release, packer: source.packer });
  if (drift === 'broken') {
    const why = `${forgedDrift(entry.index)} (Transaction ${release.name})`;
    return refused(refusal(context.progress, 'SnapshotBroken', why));
  }
  const { change, item } = workAt({ transaction: release, status, index: entry.index });
  const changes = await withPriorStates(source, entry.target, item.resourceVersion, seenBy(context, release, object));
  if ('kind' in changes) return { faults: [], trouble: changes.failure };
  const view = {
    ...{ change, live: presenceWith(object.state), hazards: noHazards, wasUnlocked: true },
    item: { ...item, ...(object.isOverwritten && { overwrite: true as const }) },
    others: { ...object.others, changes },
  };
  const found = await evaluated({ status, transaction: release }, view, { entry, drift });
  if (found.verdict.kind === 'wait') return { faults: [], waiting: found.verdict.message };
  follow(object, found);
  return undefined;
}

/** The object, as the undo would leave it. */
function follow(object: UndoObject, { evidence, verdict, after }: Awaited<ReturnType<typeof evaluated>>): void {
  const gone = isLineGone(evidence) ? goneApplier(object.state, object.others) : undefined;
  if (gone !== undefined) object.gone.add(gone);
  // Somebody has deleted it: it stays away.
  if (verdict.kind === 'conflict' && verdict.reason !== 'Gone') object.blocked = { evidence, verdict };
  object.state = after;
}

/** The changes of other Transactions, as they stand when the undo of this one is due. What is undone stays so. */
function seenBy({ undone }: Context, release: Transaction, object: UndoObject): readonly OtherChange[] {
  const own = holderOf(release);
  object.seen = object.seen.map((change) => {
    const isUndone = change.stands && (object.isOverwritten || undone.has(uidOfHolder(change.holder)));
    return isUndone ? { ...change, stands: false } : change;
  });
  return object.seen.filter(({ holder }) => holder !== own);
}

async function finished({ observing, rollback, releases, objects, progress }: Context): Promise<RollbackView> {
  const all = [...objects.values()];
  const trouble = await blockLosses(observing, all);
  if (trouble !== undefined) return { faults: [], trouble };
  const tooLarge = tooLargeStates(progress, all);
  if (tooLarge !== undefined) return refused(tooLarge);
  const composing: RollbackContext = { transaction: observing.transaction, rollback, releases, packer: observing.source.packer };
  const view = compositionOf(composing, all.map(resealed));
  if (view.objects !== undefined && view.faults.length === 0) keepComposition(observing, releases, kept(view.objects, objects));
  return view;
}

function kept(composed: RollbackObjects, objects: Context['objects']): readonly KeptObject[] {
  return [...composed].flatMap(([identity, { after }], index) => {
    const object = objects.get(identity);
    return object === undefined ? [] : [{ entry: { ...restoreEntry(object, after), index }, others: object.others }];
  });
}

// What says why it is blocked must not show values of an object that another Transaction has sealed.
function resealed(object: UndoObject): UndoObject {
  const { blocked } = object;
  if (blocked === undefined || !object.isSealed || blocked.evidence.isSealed) return object;
  const evidence = { ...blocked.evidence, isSealed: true };
  return { ...object, blocked: { evidence, verdict: evaluateUndo(evidence) } };
}
