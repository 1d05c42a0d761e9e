// What taking one change back takes: nothing, one compensation, patience, or giving up because others would pay for it.
import { contentOf } from '../content/content.ts';
import { managersOf } from '../content/fields.ts';
import { hasManager, hasRestored, isTerminating } from '../content/ownership.ts';
import { at, isList, isObject, type Json, type JsonObject, withPath } from '../model/json.ts';
import type { OtherChange, Wanted } from '../model/others.ts';
import type { Reason } from '../model/reason.ts';
import { describe } from '../model/reference.ts';
import { foreign } from '../model/words.ts';
import { isOurCreation } from './apply.ts';
import { type Attributed, attribute, describeForeign, type Evidence, takenOver, uidOf } from './attribute.ts';
import { foreignContent } from './foreign-content.ts';
import { type LostOwners, lostBy, ownersNote } from './gone-owners.ts';
import { type Hanging, keptFor, unlistedPart } from './kept.ts';
import {
  builtUpon,
  deletedByOthers,
  isBroughtBack,
  laterThan,
  lookAtAll,
  lookFirst,
  type OthersEvidence,
  sharedFields,
} from './others.ts';
import { recreatedContent } from './recreated.ts';
import { type Completion, completion, type Recreation, recreation, type TokenEvidence } from './recreation.ts';

export type UndoVerdict =
  /** Nothing of ours is left; `note` says what a person should know. */
  | { readonly kind: 'restored'; readonly note?: string }
  | { readonly kind: 'delete'; readonly live: JsonObject; readonly note?: string }
  | Recreation
  /** The object was created again by us; its status and managedFields may still be missing. */
  | Completion
  | {
      readonly kind: 'content';
      readonly live: JsonObject;
      readonly restored: JsonObject;
      readonly attributed: Attributed;
      readonly note?: string;
    }
  /** Nothing is to be written, but something else may be about to: what names the version of `live` is made to miss. */
  | { readonly kind: 'fence'; readonly live: JsonObject; readonly end: Ended }
  | { readonly kind: 'wait'; readonly message: string }
  /** Other Transactions must be known first. */
  | { readonly kind: 'readMore'; readonly others: Wanted }
  | { readonly kind: 'conflict'; readonly reason: Reason; readonly message: string };

/** The undo of one change is over without a write. */
export type Ended = Extract<UndoVerdict, { kind: 'restored' | 'conflict' }>;

export interface UndoEvidence extends OthersEvidence, Hanging, LostOwners, TokenEvidence {
  readonly uid: string;
}

export function evaluateUndo(evidence: UndoEvidence): UndoVerdict {
  return lookFirst(evidence) ?? evaluateByType(evidence);
}

function evaluateByType(evidence: UndoEvidence): UndoVerdict {
  switch (evidence.entry.type) {
    case 'Create':
      return evaluateCreated(evidence);
    case 'Update':
    case 'Patch':
      return evaluateChanged(evidence);
    case 'Delete':
      return evaluateDeleted(evidence);
  }
}

function evaluateCreated(evidence: UndoEvidence): UndoVerdict {
  const { live, entry, createdUid } = evidence;
  const name = describe(entry.target);
  if (live === undefined) return deletedByOthers(evidence) ?? { kind: 'restored' };
  const isSame = createdUid === undefined ? isOurCreation(evidence, evidence.uid) : uidOf(live) === createdUid;
  if (isSame || isBroughtBack(evidence)) return evaluateCreation(evidence, live, isSame);
  return deletedByOthers(evidence) ?? { kind: 'restored', note: `${name} was created by someone else; it was not changed` };
}

function evaluateCreation(evidence: UndoEvidence, live: JsonObject, isSame: boolean): UndoVerdict {
  const name = describe(evidence.entry.target);
  if (isTerminating(live)) return { kind: 'wait', message: `${name} is being deleted; waiting until it is gone` };
  const upon = laterThan(evidence);
  if (upon !== undefined) return upon;
  // Its uid proves nothing any more: what somebody else owns beside us may be of his making.
  const foreign = [...foreignContent(evidence), ...(isSame ? [] : sharedFields(evidence))];
  if (foreign.length > 0) {
    return conflict(
      'ForeignContent',
      `${name} was created by this Transaction and changed by others since: ${describeForeign(foreign, evidence)}`,
    );
  }
  return keptFor(evidence, live) ?? { kind: 'delete', live, ...unlistedPart(evidence) };
}

function evaluateChanged(evidence: UndoEvidence): UndoVerdict {
  const { live, entry, recorded } = evidence;
  const name = describe(entry.target);
  if (live === undefined)
    return deletedByOthers(evidence) ?? { kind: 'restored', note: `${name} was deleted by someone else; it was not recreated` };
  if (uidOf(live) === uidOf(entry.prior)) return evaluateContent(evidence, live);
  if (!recorded) return { kind: 'restored', note: `${name} was recreated by someone else; it was not changed` };
  if (isBroughtBack(evidence)) return evaluateContent(evidence, live);
  const by =
    [...new Set(managersOf(live).map(({ name: manager }) => foreign(manager, longestManager)))].slice(0, 5).join(', ') ||
    'unknown';
  return (
    deletedByOthers(evidence) ??
    conflict('Replaced', `${name} was deleted and recreated by someone else; its field managers are ${by}`)
  );
}

function evaluateContent(evidence: UndoEvidence, live: JsonObject): UndoVerdict {
  const { entry, managers } = evidence;
  const attributed = attribute(evidence);
  // Our restoring write has been here, and it is whole: what differs now was written after it. Only ownership is to go back.
  if (hasRestored(live, managers.restore))
    return { kind: 'content', live, restored: contentOf(live, entry.resource), attributed };
  if (isAbsent(evidence, attributed)) return { kind: 'restored' };
  const upon = builtUpon(evidence, attributed);
  if (upon !== undefined) return upon;
  if (attributed.kind === 'untouched') return { kind: 'restored' };
  const foreign = attributed.kind === 'foreign' ? attributed.foreign : takenOver(evidence, attributed);
  const name = describe(entry.target);
  if (foreign.length > 0)
    return conflict(
      'RollbackConflict',
      `${name} was changed by others in fields that this Transaction changed: ${describeForeign(foreign, evidence)}`,
    );
  const restored = withKeptFinalizers(attributed.merge.restored, live);
  return isObject(restored)
    ? { kind: 'content', live, restored, attributed, ...ownersNote(lostBy(restored, evidence), evidence) }
    : { kind: 'restored' };
}

// The API server takes no finalizer more for what is being deleted: the rest goes back. Source: apimachinery,
// ValidateObjectMetaAccessorUpdate.
function withKeptFinalizers(restored: Json | undefined, live: JsonObject): Json | undefined {
  const wanted = at(restored, 'metadata', 'finalizers');
  if (!isObject(restored) || !isTerminating(live) || !isList(wanted)) return restored;
  const there = at(live, 'metadata', 'finalizers');
  const kept = wanted.filter((one) => isList(there) && there.includes(one));
  return withPath(restored, ['metadata', 'finalizers'], kept);
}

// Announced, and nothing of it is there: what others have set in its place is theirs. A Patch always leaves our entry.
function isAbsent({ entry, live, managers, recorded }: Evidence, { ours }: Attributed): boolean {
  if (recorded || hasManager(live, [managers.forward])) return false;
  return entry.type === 'Patch' || !ours.some(({ state }) => state === 'applied');
}

function evaluateDeleted(evidence: UndoEvidence): UndoVerdict {
  const { live, entry } = evidence;
  if (live === undefined) return deletedAgain(evidence) ?? recreation(evidence);
  if (isTerminating(live)) return awaitGone(entry);
  if (uidOf(live) === uidOf(entry.prior)) return undeleted(evidence, live);
  if (hasManager(live, [evidence.managers.restore])) return completion(evidence, live);
  const instead = laterThan(evidence, isCreate);
  if (instead !== undefined) return instead;
  const foreign = recreatedContent(evidence, live);
  if (foreign.length === 0) return lookAtAll(evidence) ?? { kind: 'restored', ...ownersNote(evidence, evidence) };
  return conflict(
    'Recreated',
    `${describe(entry.target)} was recreated by someone else with different content: ${describeForeign(foreign, evidence)}`,
  );
}

// It was never deleted. Who fenced it and died has left his mark.
function undeleted({ managers }: Evidence, live: JsonObject): UndoVerdict {
  const isMarked = hasManager(live, [managers.restore]);
  return isMarked ? { kind: 'fence', live, end: { kind: 'restored' } } : { kind: 'restored' };
}

// Created by a later Transaction and deleted by a still later one, it is theirs to bring back first.
function deletedAgain(evidence: UndoEvidence): UndoVerdict | undefined {
  return evidence.isRequested ? (lookAtAll(evidence) ?? laterThan(evidence, isCreate)) : undefined;
}

const isCreate = ({ type }: OtherChange): boolean => type === 'Create';

// Be it the one that was deleted here or what somebody has made since: it will not stay.
function awaitGone({ target }: Evidence['entry']): UndoVerdict {
  const message = `${describe(target)} is being deleted and has finalizers; waiting until it is gone to recreate it`;
  return { kind: 'wait', message };
}

const longestManager = 128;

function conflict(reason: Reason, message: string): UndoVerdict {
  return { kind: 'conflict', reason, message };
}
