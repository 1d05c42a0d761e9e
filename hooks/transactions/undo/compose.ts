// What a rollback makes of each object: the undos of all newer Transactions, the newest first, each evaluated as an undo is (attribution/),
// on the state that the undos before it leave. Nothing is written. What Kubernetes would delete in answer is read once, for the whole way
// from now to then, as it is for any change (observe/dry-run.ts).
import { identityOf, type Reference } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { turnFor } from '../../objects/requests/loop-turns.ts';
import { goneApplier, isLineGone } from '../attribution/applied-by.ts';
import { goneManagers } from '../attribution/other-transactions.ts';
import { evaluateUndo } from '../attribution/undo.ts';
import type { Fault } from '../checks/fault.ts';
import { selected } from '../checks/undo-choices.ts';
import { mostChanges } from '../checks/validity.ts';
import { forgedDrift } from '../decide/guards.ts';
import { judgeUndo } from '../decide/rolling-back.ts';
import { undoingAgain } from '../decide/undo-transitions.ts';
import { noHazards } from '../hazards/hazards.ts';
import { restoreWay } from '../model/change.ts';
import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import { isToUndo } from '../model/item.ts';
import { type OtherChange, type Others, uidOfHolder } from '../model/other-transactions.ts';
import type { Rollback } from '../model/rollback.ts';
import type { Status } from '../model/status.ts';
import { annotations, holderOf, type Transaction } from '../model/transaction.ts';
import { turnToCompare } from '../observe/comparing.ts';
import type { Presence, RollbackObjects, RollbackView } from '../observe/observation.ts';
import type { ObserveContext } from '../observe/observe.ts';
import { findOthers } from '../observe/other-transactions.ts';
import { withPriorStates } from '../observe/prior-states.ts';
import { readLive } from '../observe/read.ts';
import { readSnapshot } from '../observe/snapshot.ts';
import { leftBy } from '../plan/compensation.ts';
import { type Drift, driftOf } from '../snapshots/drift.ts';
import { halfToUndo } from '../writes/halves.ts';
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
import { compositionOf, type RollbackContext, type UndoObject } from './composition.ts';
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
  const toUndo = entries.filter(({ index }) => status.items[index] !== undefined && isToUndo(status.items[index]));
  const fresh = toUndo.filter(({ target }) => !objects.has(identityOf(target)));
  const tooMany = tooManyObjects(progress, objects.size + fresh.length, bounds);
  if (tooMany !== undefined) return refused(tooMany);
  const lacking = await addObjects(context, fresh);
  if (lacking !== undefined) return lacking;
  for (const entry of toUndo.toReversed()) {
    const ended = await undoEntry(context, { release, status, entry });
    if (ended !== undefined) return ended;
  }
  undone.add(release.uid);
  return undefined;
}

async function undoEntry(context: Context, { release, status, entry }: Omit<Stepping, 'object'>): Promise<Ended | undefined> {
  const object = context.objects.get(identityOf(entry.target));
  if (object === undefined) return undefined;
  object.place = entry.index - mostChanges * (context.releases.composed.indexOf(release) + 1);
  object.isSealed ||= isSealed(entry, release) || isSealed(entry, context.observing.transaction);
  return object.blocked === undefined ? stepBack(context, { release, status, entry, object }) : undefined;
}

/** Objects that are read at once. */
const atOnce = 8;

async function addObjects(context: Context, fresh: readonly SnapshotEntry[]): Promise<Ended | undefined> {
  const { observing, rollback } = context;
  const targets = fresh.map(({ target }) => target);
  const names = { place: 'spec.rollback.overwrite', names: rollback.overwrite };
  const chosen = selected(names, targets, observing.transaction.namespace).indexes;
  const add = (entry: SnapshotEntry): Promise<Ended | undefined> =>
    addObject(context, entry, { targets, isOverwritten: chosen.includes(targets.indexOf(entry.target)) });
  const found = await inTurn(fresh, add, atOnce);
  return found.find((ended) => ended !== undefined);
}

interface Added {
  readonly targets: readonly Reference[];
  readonly isOverwritten: boolean;
}

async function addObject(
  { observing, objects, releases }: Context,
  entry: SnapshotEntry,
  { targets, isOverwritten }: Added,
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
  const known = { target, entry, now, others: others.found, isOverwritten };
  objects.set(identityOf(target), {
    ...known,
    seen: known.others.changes,
    state: now,
    isSealed: false,
    gone: new Set(),
    place: 0,
  });
  return undefined;
}

interface Stepping {
  readonly release: Transaction;
  readonly status: Status;
  readonly entry: SnapshotEntry;
  readonly object: UndoObject;
}

/** The undo of one change, on the state so far. */
async function stepBack(context: Context, stepping: Stepping): Promise<Ended | undefined> {
  const { release, status, entry, object } = stepping;
  const { source } = context.observing;
  const drift = driftOf(release.status ?? status, entry, { transaction: release, packer: source.packer });
  if (drift === 'broken') {
    const why = `${forgedDrift(entry.index)} (Transaction ${release.name})`;
    return refused(refusal(context.progress, 'SnapshotBroken', why));
  }
  const version = status.items[entry.index]?.resourceVersion;
  const changes = await withPriorStates(source, entry.target, version, seenBy(context, release, object));
  if ('kind' in changes) return { faults: [], trouble: changes.failure };
  await turnToCompare(object.state, entry.prior, entry.expected);
  const judged = judge(stepping, { ...object.others, changes }, drift);
  if (judged === undefined) return undefined;
  if (judged.verdict.kind === 'wait') return { faults: [], waiting: judged.verdict.message };
  follow(object, release, judged);
  await turnFor(object.state);
  return undefined;
}

/** The object, as the undo would leave it. */
function follow(object: UndoObject, release: Transaction, { evidence, verdict }: NonNullable<ReturnType<typeof judge>>): void {
  const gone = isLineGone(evidence) ? goneApplier(object.state, object.others) : undefined;
  if (gone !== undefined) object.gone.add(gone);
  // Somebody has deleted it: it stays away.
  if (verdict.kind === 'conflict' && verdict.reason !== 'Gone') object.blocked = { evidence, verdict };
  const undo = { transaction: release, entry: evidence.entry, goneOwners: [], goneManagers: goneManagers(evidence) };
  object.state = leftBy(undo, verdict, object.state);
}

function judge({ release, status, entry, object }: Stepping, others: Others, drift: readonly Drift[]) {
  const [change, item] = [release.changes[entry.index], status.items[entry.index]];
  if (change === undefined || item === undefined) return undefined;
  const live: Presence = object.state === undefined ? { kind: 'absent' } : { kind: 'present', object: object.state };
  const half = entry.recreates === true ? halfToUndo(entry, { item, live: object.state }, release) : entry;
  const chosen = object.isOverwritten ? { ...item, overwrite: true as const } : item;
  const view = { change, live, hazards: noHazards, wasUnlocked: true, item: chosen, others };
  return judgeUndo({ status, transaction: release }, view, { entry: half, drift });
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
  const targets = all.map(({ target }) => target);
  const names = { place: 'spec.rollback.keep', names: rollback.keep };
  const { indexes } = selected(names, targets, observing.transaction.namespace);
  const trouble = await blockLosses(observing, all, new Set(all.filter((_, index) => indexes.includes(index))));
  if (trouble !== undefined) return { faults: [], trouble };
  const tooLarge = tooLargeStates(progress, all);
  if (tooLarge !== undefined) return refused(tooLarge);
  const composing: RollbackContext = { transaction: observing.transaction, rollback, releases, packer: observing.source.packer };
  const view = compositionOf(composing, all.map(resealed));
  if (view.objects !== undefined && view.faults.length === 0) keepComposition(observing, releases, kept(view.objects, objects));
  return view;
}

function kept(composed: RollbackObjects, objects: Context['objects']): readonly KeptObject[] {
  return [...composed].flatMap(([identity, { target, now, after }], index) => {
    const object = objects.get(identity);
    if (object === undefined) return [];
    const { entry, others } = object;
    const states = { ...(now && { prior: now }), ...(after && { expected: after }) };
    const made = { index, type: restoreWay(now, after), target, resource: entry.resource, ...states };
    return [{ entry: { ...made, approximate: false, restores: true }, others }];
  });
}

// What says why it is blocked must not show values of an object that another Transaction has sealed.
function resealed(object: UndoObject): UndoObject {
  const { blocked } = object;
  if (blocked === undefined || !object.isSealed || blocked.evidence.isSealed) return object;
  const evidence = { ...blocked.evidence, isSealed: true };
  return { ...object, blocked: { evidence, verdict: evaluateUndo(evidence) } };
}
