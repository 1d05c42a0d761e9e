// Decides what the undo of one change needs: nothing, one compensation, a wait, or a conflict because others would lose their work.
//
// The undo deletes an object that the Transaction created only if
// D1. it is that object, by uid or by field manager, or a controller made it again (made-again.ts);
// D2. no later Transaction has changed it;
// D3. no other client has written into it, unless the user accepts the loss;
// D4. Kubernetes would delete no object of other owners with it (hazards/table.ts, hazards/read-contained.ts);
// D5. no object that stays needs it (decide/needed.ts);
// D6. no write of its Create can still take effect (decide/rolling-back.ts).

import { contentOf } from '../../objects/content/content.ts';
import { managersOf } from '../../objects/content/fields.ts';
import { hasManager, hasRestored, isTerminating } from '../../objects/content/ownership.ts';
import type { FailureKind } from '../../objects/failure.ts';
import { isObject, type JsonObject } from '../../objects/json.ts';
import { describe, kindOf, type Reference } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import type { Hazards } from '../hazards/hazards.ts';
import { joined, missingIn, noted, ownersNote, unlistedKindsNote } from '../hazards/messages.ts';
import { evaluateHazards } from '../hazards/table.ts';
import { verbOf } from '../model/change.ts';
import type { Filled } from '../model/filled.ts';
import type { Wanted } from '../model/other-transactions.ts';
import type { Reason } from '../model/reason.ts';
import { annotations, longestManager } from '../model/transaction.ts';
import { appliedAgain, isLineGone, unlikeOurs } from './applied-by.ts';
import {
  type Attributed,
  attribute,
  describeForeign,
  type Evidence,
  type ForeignPath,
  isAbsent,
  once,
  takenOver,
  uidOf,
} from './attribute.ts';
import { foreignContent, isAsRecorded } from './foreign-content.ts';
import { goingSentence } from './former.ts';
import { withKeptFinalizers } from './kept-finalizers.ts';
import { stayingNote } from './kept-scale.ts';
import { isMadeAgain } from './made-again.ts';
import {
  deletedAgain,
  deletedByOthers,
  deletedInstead,
  isBroughtBack,
  isCreation,
  isShown,
  laterThan,
  laterWork,
  type OthersEvidence,
  readAllBeforeReturn,
  readAllFirst,
  readAllIfUnlocked,
  readManagersFirst,
  sharedFields,
  unknownOrder,
} from './other-transactions.ts';
import { overLater } from './over-later.ts';
import {
  awaitGone,
  type Completion,
  completion,
  isRecreatedByUndo,
  type Recreation,
  recreatedContent,
  recreation,
} from './recreation.ts';
import { isMadeByUs, lacksOwners } from './restored-object.ts';
import { type Bridging, evaluateStorage } from './stored-versions.ts';

export type UndoVerdict =
  /** No part of our change is left. `note` is for the user. */
  | { readonly kind: 'restored'; readonly note?: string }
  | { readonly kind: 'delete'; readonly live: JsonObject; readonly note?: string }
  | Recreation
  /** An earlier step has recreated the object; its status and managedFields may still be missing. */
  | Completion
  | {
      readonly kind: 'content';
      readonly live: JsonObject;
      readonly restored: JsonObject;
      readonly attributed: Attributed;
      /** What status.storedVersions must say before. */
      readonly storedVersions?: readonly string[];
      /** What the first write does beside restoring. */
      readonly note?: string;
      /** What the undo leaves, as the object is now. */
      readonly staying?: string | undefined;
    }
  | Bridging
  /** The undo has nothing to restore, but our write may still be in flight: a new version of `live` makes that write miss. */
  | { readonly kind: 'fence'; readonly live: JsonObject; readonly end: Ended; readonly givesUpOn: readonly FailureKind[] }
  | { readonly kind: 'wait'; readonly message: string; readonly missing?: Reference }
  /** The undo needs to know other Transactions first. */
  | { readonly kind: 'readMore'; readonly others: Wanted }
  /** `foreign`: the fields that are in the way, if the conflict is about content. */
  | {
      readonly kind: 'conflict';
      readonly reason: Reason;
      readonly message: string;
      readonly foreign?: readonly ForeignPath[];
    };

/** The undo of one change ends without a write. */
export type Ended = Extract<UndoVerdict, { kind: 'restored' | 'conflict' }>;

export interface UndoEvidence extends OthersEvidence {
  /** What others would lose by the undo. */
  readonly hazards: Hazards;
  /** Whether the Transaction was Committed: from then on others rely on its objects. */
  readonly wasCommitted: boolean;
  /** Whether the user wants the undo to overwrite what others wrote (contentConflicts). */
  readonly overwrites?: boolean | undefined;
  readonly filled?: Filled;
  /** Whether this undo has made a write for the change already. */
  readonly isUndone?: boolean;
}

export function evaluateUndo(evidence: UndoEvidence): UndoVerdict {
  const unknown = readManagersFirst(evidence) ?? readAllIfUnlocked(evidence) ?? unknownOrder(evidence);
  const known = isShown(evidence) ? { ...evidence, recorded: true } : evidence;
  return unknown ?? evaluators[verbOf(evidence.entry.type)](known);
}

const evaluators = { create: evaluateCreated, update: evaluateChanged, patch: evaluateChanged, delete: evaluateDeleted } as const;

function evaluateCreated(evidence: UndoEvidence): UndoVerdict {
  const { live, entry, createdUid } = evidence;
  if (live === undefined) return deletedByOthers(evidence) ?? { kind: 'restored' };
  // (D1)
  const isSame = createdUid === undefined ? isMadeByUs(evidence, live) : uidOf(live) === createdUid;
  if (isSame || isBroughtBack(evidence)) return evaluateCreation(evidence, live, isSame);
  if (evidence.isUndone === true && isMadeAgain({ entry, live })) return { kind: 'delete', live };
  return (
    deletedByOthers(evidence) ?? {
      kind: 'restored',
      note: `${describe(entry.target)} was created by someone else; it was not changed`,
    }
  );
}

function evaluateCreation(evidence: UndoEvidence, live: JsonObject, isSame: boolean): UndoVerdict {
  if (isTerminating(live)) return { kind: 'wait', message: goingSentence(evidence.entry.target, live, evidence.isSealed) };
  // (D2) A policy may have taken our annotation away: that is no later work.
  const again = isAsRecorded(evidence) ? undefined : appliedAgain(evidence, wholeObject, 'ForeignContent');
  const upon = readAllBeforeReturn(evidence) ?? laterThan(evidence) ?? (isOverwritten(evidence, again) ? undefined : again);
  if (upon !== undefined) return upon;
  return evaluateOwnCreation(evidence, live, isSame);
}

function evaluateOwnCreation(evidence: UndoEvidence, live: JsonObject, isSame: boolean): UndoVerdict {
  const { kept, note } = foreignContent(evidence, evidence.filled ?? 'Keep');
  // (D3) The uid does not prove that the object is ours: fields that others own beside us may be their work.
  const more = isAsRecorded(evidence) ? [] : [...unlikeOurs(evidence), ...(isSame ? [] : sharedFields(evidence))];
  const foreign = once([...othersIn(evidence, kept), ...more]);
  const changed = `${describe(evidence.entry.target)} was created by this Transaction and changed by others since`;
  if (foreign.length > 0 && evidence.overwrites !== true)
    return conflict('ForeignContent', `${changed}: ${describeForeign(foreign, evidence)}`, foreign);
  // (D4)
  return blockerOf(evidence, undefined) ?? { kind: 'delete', live, ...noted(joined(note, unlistedKindsNote(evidence.hazards))) };
}

const wholeObject = [[]];

function evaluateChanged(evidence: UndoEvidence): UndoVerdict {
  const { live, entry } = evidence;
  if (live === undefined) return deletedByOthers(evidence) ?? evaluateGone(evidence);
  if (uidOf(live) === uidOf(entry.prior)) return evaluateContent(evidence, live);
  return evidence.overwrites === true && isRecreatedByUndo(evidence, live)
    ? completion(evidence, live)
    : evaluateReplaced(evidence, live);
}

function evaluateReplaced(evidence: UndoEvidence, live: JsonObject): UndoVerdict {
  // An object that the undo of another Transaction has recreated shows our change, recorded or not.
  if (isBroughtBack(evidence)) return evaluateContent(evidence, live);
  const name = describe(evidence.entry.target);
  if (!evidence.recorded) return { kind: 'restored', note: `${name} was recreated by someone else; it was not changed` };
  if (evidence.overwrites === true) return evaluateContent(evidence, live);
  const by =
    [...new Set(managersOf(live).map(({ name: manager }) => foreign(manager, longestManager)))].slice(0, 5).join(', ') ||
    'unknown';
  return (
    deletedByOthers(evidence) ??
    conflict('Replaced', `${name} was deleted and recreated by someone else; its field managers are ${by}`)
  );
}

// Somebody deleted the object of a change. Only the user knows whether the object is still wanted.
function evaluateGone(evidence: UndoEvidence): UndoVerdict {
  const { entry, overwrites } = evidence;
  const next = `the undo recreates it only if ${annotations.undoOverwrite} names it`;
  if (overwrites !== true) return conflict('Gone', `${describe(entry.target)} was deleted by someone else; ${next}`);
  return blockerOf(evidence, entry.prior) ?? recreation(evidence);
}

function evaluateContent(evidence: UndoEvidence, live: JsonObject): UndoVerdict {
  const { entry, managers } = evidence;
  const attributed = attribute(evidence);
  const staying = stayingNote(evidence, live, attributed.staying);
  // Our restoring write has landed, and it writes all values at once: later differences are others' work. The engine must still
  // restore only the field ownership.
  if (hasRestored(live, managers.restore)) {
    const lost = ownersNote(missingIn(entry.prior ?? {}, evidence.hazards), evidence.isSealed);
    return { kind: 'content', live, restored: contentOf(live, entry.resource), attributed, staying, ...noted(lost) };
  }
  const isOwned = lacksOwners(evidence, live, attributed);
  if (!isOwned && isAbsent(evidence, attributed)) return { kind: 'restored' };
  const upon = laterWork(evidence, attributed);
  if (upon !== undefined && !isOverwritten(evidence, upon)) return upon;
  if (isOwned || attributed.kind !== 'untouched') return evaluateMerge(evidence, live, attributed);
  return { kind: 'restored', ...noted(staying) };
}

function evaluateMerge(evidence: UndoEvidence, live: JsonObject, attributed: Attributed): UndoVerdict {
  const found = attributed.kind === 'foreign' ? attributed.foreign : takenOver(evidence, attributed);
  const foreign = othersIn(evidence, found);
  if (foreign.length > 0 && evidence.overwrites !== true)
    return conflict(
      'RollbackConflict',
      `${describe(evidence.entry.target)} was changed by others in fields that this Transaction changed: ${describeForeign(foreign, evidence)}`,
      foreign,
    );
  if (found.length === 0) return restoring(evidence, live, attributed);
  const over = overLater(evidence, live, { ...attributed, foreign: found });
  return restoring(evidence, over.live, over.attributed);
}

/** Why the undo does not make `after` of the object, or not yet: others would lose something. */
function blockerOf({ entry, live, hazards, wasCommitted }: UndoEvidence, after: JsonObject | undefined): UndoVerdict | undefined {
  const { resource, target, expected } = entry;
  return evaluateHazards({ kind: kindOf(resource), target, before: live, after, undo: { expected, wasCommitted } }, hazards);
}

/** The conflicts that a user may have overwritten: others lose values, and nothing that Kubernetes would delete. */
const contentConflicts: readonly Reason[] = ['RollbackConflict', 'ForeignContent', 'Recreated', 'Replaced'];

function isOverwritten({ overwrites }: UndoEvidence, verdict: UndoVerdict | undefined): boolean {
  return overwrites === true && verdict?.kind === 'conflict' && contentConflicts.includes(verdict.reason);
}

// The work of a Transaction of this line that is gone counts as ours, too.
function othersIn(evidence: UndoEvidence, foreign: readonly ForeignPath[]): readonly ForeignPath[] {
  return isLineGone(evidence) ? foreign.filter(({ manager }) => manager !== evidence.managers.forward) : foreign;
}

function restoring(evidence: UndoEvidence, live: JsonObject, attributed: Attributed): UndoVerdict {
  const restored = withKeptFinalizers(attributed.merge.restored, live);
  if (!isObject(restored)) return { kind: 'restored' };
  const upon = blockerOf(evidence, restored) ?? evaluateStorage(evidence.entry, evidence.hazards.stored, live, restored);
  if (upon !== undefined && upon.kind !== 'trim') return upon;
  const lost = ownersNote(missingIn(restored, evidence.hazards), evidence.isSealed);
  const staying = stayingNote(evidence, live, attributed.staying);
  const first = { ...noted(lost), ...(upon && { storedVersions: upon.storedVersions }) };
  return { kind: 'content', live, restored, attributed, staying, ...first };
}

function evaluateDeleted(evidence: UndoEvidence): UndoVerdict {
  const { live, entry } = evidence;
  if (live === undefined)
    return deletedInstead(evidence) ?? deletedAgain(evidence) ?? blockerOf(evidence, entry.prior) ?? recreation(evidence);
  if (isTerminating(live)) return awaitGone(evidence, live);
  if (uidOf(live) === uidOf(entry.prior)) return undeleted(evidence, live);
  if (hasManager(live, [evidence.managers.restore])) return completion(evidence, live);
  // Under a shared field manager nothing in the object names the Transaction that has created it.
  return deletedAgain(evidence) ?? laterThan(evidence, isCreation) ?? createdByOthers(evidence, live);
}

function createdByOthers(evidence: UndoEvidence, live: JsonObject): UndoVerdict {
  const foreign = recreatedContent(evidence, live);
  if (foreign.length === 0)
    return readAllFirst(evidence) ?? { kind: 'restored', ...noted(ownersNote(evidence.hazards, evidence.isSealed)) };
  if (evidence.overwrites === true) return replacing(evidence, live);
  const message = `${describe(evidence.entry.target)} was recreated by someone else with different content: ${describeForeign(foreign, evidence)}`;
  return conflict('Recreated', message, foreign);
}

// The successor gets the content of the object that the change deleted.
function replacing(evidence: UndoEvidence, live: JsonObject): UndoVerdict {
  const { entry } = evidence;
  if (entry.prior === undefined) return { kind: 'restored' };
  const upon = blockerOf(evidence, entry.prior);
  const attributed = attribute({ ...evidence, entry: { ...entry, expected: live } });
  return upon ?? { kind: 'content', live, restored: contentOf(entry.prior, entry.resource), attributed };
}

// The object was never deleted. Our restore manager in it shows that a process fenced it and then died.
function undeleted({ managers }: Evidence, live: JsonObject): UndoVerdict {
  const isMarked = hasManager(live, [managers.restore]);
  return isMarked ? { kind: 'fence', live, end: { kind: 'restored' }, givesUpOn: [] } : { kind: 'restored' };
}

function conflict(reason: Reason, message: string, foreign?: readonly ForeignPath[]): UndoVerdict {
  return { kind: 'conflict', reason, message, ...(foreign === undefined ? {} : { foreign }) };
}
