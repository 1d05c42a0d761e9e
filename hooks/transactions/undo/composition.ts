// What a rollback would do, from the composed states: the order of its changes, the decisions of the user, and what its plan shows.
import type { Packer } from '../../objects/cluster.ts';
import { contentOf } from '../../objects/content/content.ts';
import { isSameState } from '../../objects/content/ownership.ts';
import type { JsonObject } from '../../objects/json.ts';
import { describe, identityOf, type Reference } from '../../objects/reference.ts';
import { goneApplier } from '../attribution/applied-by.ts';
import { attribute } from '../attribution/attribute.ts';
import type { UndoEvidence, UndoVerdict } from '../attribution/undo.ts';
import { type Fault, fault } from '../checks/fault.ts';
import { needsOf } from '../checks/needs.ts';
import { selected } from '../checks/undo-choices.ts';
import type { judgeUndo } from '../decide/rolling-back.ts';
import { isDeletedAlong } from '../hazards/dependents.ts';
import { noHazards } from '../hazards/hazards.ts';
import { howToAllow, joined, noted } from '../hazards/messages.ts';
import { restoreWay } from '../model/change.ts';
import { inverseOf, type SnapshotEntry } from '../model/entry.ts';
import type { Others } from '../model/other-transactions.ts';
import type { Reason } from '../model/reason.ts';
import type { Rollback, RollbackSet } from '../model/rollback.ts';
import { managersOfChange, type Transaction } from '../model/transaction.ts';
import type { UndoFinding } from '../model/undo.ts';
import type { RollbackView } from '../observe/observation.ts';
import { findingOf } from './finding.ts';
import type { Releases } from './releases.ts';

type Judged = ReturnType<typeof judgeUndo>;

/** An object, on the way back. */
export interface UndoObject {
  readonly target: Reference;
  readonly entry: SnapshotEntry;
  readonly now: JsonObject | undefined;
  readonly others: Others;
  /** What the user has decided. */
  readonly isKept: boolean;
  readonly isOverwritten: boolean;
  /** Of the others, as they stand. */
  seen: Others['changes'];
  state: JsonObject | undefined;
  isSealed: boolean;
  /** Transactions that were deleted, whose values go back with those of an older one. */
  readonly gone: Set<string>;
  /** Orders the objects of the undone Transactions: the older ones first, and each in its own order. */
  place: number;
  blocked?: Judged;
}

export interface RollbackContext {
  readonly transaction: Transaction;
  readonly rollback: Rollback;
  readonly releases: Releases;
  readonly packer: Pick<Packer, 'tag'>;
}

interface Decided extends UndoObject {
  readonly after: JsonObject | undefined;
}

export function compositionOf(composing: RollbackContext, objects: readonly UndoObject[]): RollbackView {
  const { transaction, rollback } = composing;
  const targets = objects.map(({ target }) => target);
  const choose = (name: 'keep' | 'overwrite') =>
    selected({ place: `spec.rollback.${name}`, names: rollback[name] }, targets, transaction.namespace);
  const [keep, overwrite] = [choose('keep'), choose('overwrite')];
  const both = keep.indexes.filter((index) => overwrite.indexes.includes(index));
  const wrong = [...keep.faults, ...overwrite.faults, ...both.map((index) => twice(targets[index]))];
  if (wrong.length > 0) return { faults: wrong.map((message) => fault('Invalid', message)) };
  const decided = objects.map((one) => decidedOn(one, rollback));
  const ordered = inOrder(decided, composing);
  const findings = ordered.map((one, index) => findingFor(composing, one, index));
  const blocked = ordered.flatMap((one, index) => blockedFault(one, findings[index]));
  const indexes = (isChosen: (one: Decided) => boolean): ReadonlySet<number> =>
    new Set(ordered.flatMap((one, index) => (isChosen(one) ? [index] : [])));
  return {
    faults: blocked,
    objects: new Map(ordered.map(({ target, now, after }) => [identityOf(target), { target, now, after, live: now }])),
    found: {
      set: setOf(composing, ordered),
      findings,
      choices: { keep: indexes(({ isKept }) => isKept), overwrite: indexes(({ isOverwritten }) => isOverwritten) },
    },
  };
}

function twice(target: Reference | undefined): string {
  return `${target === undefined ? 'an object' : describe(target)} is named in both spec.rollback.keep and spec.rollback.overwrite`;
}

function decidedOn(object: UndoObject, { isPartial }: Rollback): Decided {
  const isKept = object.isKept || (isPartial && object.blocked !== undefined);
  return { ...object, isKept, after: isKept ? object.now : object.state };
}

function blockedFault({ blocked, isKept, target }: Decided, finding: UndoFinding | undefined): readonly Fault[] {
  if (blocked === undefined || isKept) return [];
  const { reason = 'RollbackConflict', message = '' } = finding ?? {};
  return [fault(reason, `spec.rollback: ${describe(target)}: ${message}; ${nextFor(reason)}`)];
}

// What Kubernetes would delete with an object cannot be overwritten.
function nextFor(reason: Reason): string {
  return reason === 'NotEmpty'
    ? `name the object in spec.rollback.keep, set spec.rollback.partial, or ${howToAllow}`
    : 'name the object in spec.rollback.keep or in spec.rollback.overwrite, or set spec.rollback.partial';
}

// What stays or comes back, what is needed first: objects of older releases, then those of the release that stays, in its order. Then what
// goes, reversed. What would delete along an object that comes back goes before all of these.
function inOrder(decided: readonly Decided[], { releases, transaction }: RollbackContext): readonly Decided[] {
  const own = new Map(
    releases.base?.changes.map(({ target }, index) => [
      identityOf({ ...target, namespace: target.namespace ?? transaction.namespace }),
      index,
    ]),
  );
  const rank = ({ target, place }: Decided): number => {
    const namespace = target.namespace ?? transaction.namespace;
    return own.get(identityOf({ ...target, namespace })) ?? place;
  };
  const there = decided.filter(({ now, after }) => now !== undefined || after !== undefined);
  const sorted = there.toSorted((one, other) => rank(one) - rank(other));
  const staying = neededFirst(
    sorted.filter(({ after }) => after !== undefined),
    ({ after }) => after,
  );
  const going = neededFirst(
    sorted.filter(({ after }) => after === undefined),
    ({ now }) => now,
  );
  const leaving = going.toReversed();
  const isTaker = (one: Decided): boolean =>
    staying.some(({ now, target }) => now === undefined && isDeletedAlong(one.target, target));
  const early = leaving.findLastIndex(isTaker) + 1;
  return [...leaving.slice(0, early), ...staying, ...leaving.slice(early)];
}

function neededFirst(objects: readonly Decided[], stateOf: (one: Decided) => JsonObject | undefined): readonly Decided[] {
  const needs = needsOf(objects.map((one, index) => ({ index, target: one.target, object: stateOf(one) })));
  const placed = new Set<number>();
  const ordered: Decided[] = [];
  const visiting = new Set<number>();
  const visit = (index: number): void => {
    if (placed.has(index) || visiting.has(index)) return;
    visiting.add(index);
    for (const needed of [...(needs.get(index) ?? [])].toSorted((one, other) => one - other)) visit(needed);
    placed.add(index);
    const object = objects[index];
    if (object !== undefined) ordered.push(object);
  };
  for (const index of objects.keys()) visit(index);
  return ordered;
}

function setOf({ releases }: RollbackContext, ordered: readonly Decided[]): RollbackSet {
  return {
    undone: releases.undone.map(({ name, uid }) => ({ name, uid })),
    objects: ordered.map(({ target, now, after, isSealed }) => ({ ...target, way: restoreWay(now, after), isSealed })),
  };
}

function findingFor({ transaction, packer }: RollbackContext, object: Decided, index: number): UndoFinding {
  const { evidence, verdict } = object.blocked ?? judgedFor(transaction, object);
  return findingOf({ evidence: { ...evidence, entry: { ...evidence.entry, index } }, packer }, verdict);
}

/** As an undo shows it: the undo of the change from what is to be to what is now. */
function judgedFor(transaction: Transaction, object: Decided): Judged {
  const evidence = evidenceOf(transaction, object, object.after);
  return { evidence, verdict: verdictFor(object, evidence) };
}

/** The change of the rollback that makes `after` of the object. */
export function restoreEntry({ target, entry, now }: UndoObject, after: JsonObject | undefined): SnapshotEntry {
  const { index, resource } = entry;
  const states = { ...(now && { prior: now }), ...(after && { expected: after }) };
  return { index, type: restoreWay(now, after), target, resource, ...states, approximate: false, restores: true };
}

export function evidenceOf(transaction: Transaction, object: UndoObject, after: JsonObject | undefined): UndoEvidence {
  return {
    ...{ entry: inverseOf(restoreEntry(object, after)), live: object.now, isSealed: object.isSealed },
    ...{ managers: managersOfChange(transaction, undefined), drift: [], recorded: true },
    ...{ hazards: noHazards, others: undefined, version: undefined, createdUid: undefined },
    ...{ isRequested: true, wasCommitted: true, uid: transaction.uid },
  };
}

function verdictFor(object: Decided, evidence: UndoEvidence): UndoVerdict {
  const { now, after, entry } = object;
  if (isSameState(now, after, entry.resource)) return { kind: 'restored' };
  if (now === undefined || after === undefined) return now === undefined ? { kind: 'recreate' } : { kind: 'delete', live: now };
  const restored = contentOf(after, entry.resource);
  return { kind: 'content', live: now, restored, attributed: attribute(evidence), ...noted(recordNote(object, after)) };
}

/** What a user should know of Transactions that were deleted. */
function recordNote({ gone, others }: Decided, after: JsonObject): string | undefined {
  const staying = goneApplier(after, others);
  const overwritten = [...gone].filter((name) => name !== staying);
  return joined(
    ...overwritten.map((name) => `Transaction ${name} was deleted: its values are overwritten`),
    staying === undefined ? undefined : `Transaction ${staying} was deleted: its values stay`,
  );
}
