// Decides for one change: send it now, skip it because it is already done, or refuse it. The engine refuses it if it would
// overwrite another writer's values since the snapshot. Only content can conflict, never the resourceVersion: controllers write
// status, annotations and managedFields all the time.
import type { Precondition } from '../../objects/cluster.ts';
import { contentOf, withoutKeys } from '../../objects/content/content.ts';
import { type ListKinds, listKindsOf, namedPaths, valueAt } from '../../objects/content/lists.ts';
import { differences } from '../../objects/content/merge.ts';
import { isTerminating } from '../../objects/content/ownership.ts';
import { type Path, pathText } from '../../objects/content/path.ts';
import { isHalfApplied } from '../../objects/content/unions.ts';
import { at, equalJson, isObject, type JsonObject, textAt, withKey } from '../../objects/json.ts';
import { describe, kindOf } from '../../objects/reference.ts';
import type { Change } from '../model/change.ts';
import { isDeletingHalf } from '../model/halves.ts';
import type { Reason } from '../model/reason.ts';
import { annotations } from '../model/transaction.ts';
import { type Drift, encodeDrift } from '../snapshots/drift.ts';
import { keptBy } from '../writes/change.ts';
import { preconditionOf } from '../writes/resources.ts';
import { isForged, isMarked, unlikeOurs } from './applied-by.ts';
import { type Attributed, attribute, describeForeign, type Evidence, type ForeignPath, foreignPath, uidOf } from './attribute.ts';
import { priorDrift, withDrift } from './drift.ts';
import { untilGone } from './former.ts';
import { countedOf, isUncounted } from './uncounted.ts';

export type ApplyVerdict =
  | { readonly kind: 'send'; readonly precondition: Precondition | undefined }
  | { readonly kind: 'done' }
  /** The former object, which the first half has deleted, is not gone yet. */
  | { readonly kind: 'wait'; readonly message: string }
  /** The object has drifted from its snapshot without a conflict: the drift must be stored before the change overwrites it. */
  | { readonly kind: 'recordDrift'; readonly drift: readonly Drift[] }
  | { readonly kind: 'conflict'; readonly reason: Reason; readonly message: string };

export interface ApplyEvidence extends Evidence {
  readonly change: Change;
  readonly uid: string;
  /** Bytes that a drift may take in the status. */
  readonly driftRoom: number;
}

export function evaluateApply(evidence: ApplyEvidence): ApplyVerdict {
  switch (evidence.entry.type) {
    case 'Create':
      return evaluateCreate(evidence);
    case 'Update':
      return evaluateExisting(evidence, evidence.live) ?? evaluateUpdate(evidence);
    case 'Patch':
      return evaluateExisting(evidence, evidence.live) ?? evaluatePatch(evidence);
    case 'Delete':
      return evaluateDelete(evidence);
  }
}

/** Whether our Create made the live object. */
export function isOurCreation(evidence: Evidence, transactionUid: string): boolean {
  const isNoted = textAt(evidence.live, 'metadata', 'annotations', annotations.createdBy) === transactionUid;
  return isMarked(evidence) || (isNoted && evidence.managers.holder === undefined);
}

function evaluateCreate(evidence: ApplyEvidence): ApplyVerdict {
  if (evidence.live === undefined) return { kind: 'send', precondition: undefined };
  const former = untilGone(evidence);
  if (former !== undefined) return { kind: 'wait', message: former };
  if (isOurCreation(evidence, evidence.uid) && unlikeOurs(evidence).length === 0) return { kind: 'done' };
  const leaving = terminatingConflict(evidence);
  if (leaving !== undefined) return leaving;
  return conflict('AlreadyExists', `${describe(evidence.entry.target)} was created by someone else after it was checked`);
}

function evaluateExisting({ entry, live }: Evidence, object: JsonObject | undefined): ApplyVerdict | undefined {
  const name = describe(entry.target);
  if (object === undefined) return conflict('Gone', `${name} was deleted by someone else after its snapshot was taken`);
  if (uidOf(live) !== uidOf(entry.prior)) return conflict('Replaced', `${name} was deleted and recreated by someone else`);
  return undefined;
}

// A PUT writes all its values at once. If only some of our values are there, without our entry, another writer wrote those values.
function evaluateUpdate(evidence: ApplyEvidence): ApplyVerdict {
  const attributed = attribute(evidence);
  const { kind, ours, foreign } = attributed;
  const isPart = !isMarked(evidence) && ours.some(({ state }) => state === 'untouched');
  if (kind === 'applied' && !isPart) return { kind: 'done' };
  const changed = changedConflict(evidence);
  if (changed !== undefined) return changed;
  // Others may change annotations that content does not name. If others changed an annotation that content names, our PUT would
  // overwrite it.
  if (foreign.length > 0) return contentConflict(evidence, foreign);
  return versionConflict(evidence) ?? ambiguous(evidence, attributed) ?? unstored(evidence) ?? send(evidence);
}

function evaluatePatch(evidence: ApplyEvidence): ApplyVerdict {
  const attributed = attribute(evidence);
  if (attributed.kind === 'applied' && isHalf(evidence)) return terminatingConflict(evidence) ?? send(evidence);
  if (attributed.kind === 'applied' && !isForged(evidence, attributed)) return { kind: 'done' };
  const moved = attributed.ours.filter(({ state }) => state !== 'untouched').map(({ path }) => path);
  const paths = moved.length > 0 ? moved : overwritten(evidence, attributed.kinds);
  if (paths.length === 0)
    return terminatingConflict(evidence) ?? ambiguous(evidence, attributed) ?? unstored(evidence) ?? send(evidence);
  return contentConflict(
    evidence,
    paths.map((path) => foreignPath(evidence.live, path)),
  );
}

function isHalf({ entry, live, managers }: ApplyEvidence): boolean {
  return isHalfApplied(entry.expected, live, kindOf(entry.resource), managers.forward);
}

// Server-side apply writes every value that content names, also a value that the snapshot already had. If another writer has
// changed that value since, the apply would overwrite it.
function overwritten({ change, entry, live }: ApplyEvidence, kinds: ListKinds): readonly Path[] {
  const { prior, resource } = entry;
  if (prior === undefined || live === undefined || !isObject(change.content)) return [];
  const [before, now] = [countedOf(prior, entry), countedOf(live, entry)];
  return namedPaths(contentOf(change.content, resource), [], kinds).filter(
    (path) => !equalJson(valueAt(before, path, kinds), valueAt(now, path, kinds)) && !isUncounted(live, path, kinds),
  );
}

function evaluateDelete(evidence: ApplyEvidence): ApplyVerdict {
  const { live, entry } = evidence;
  if (live === undefined) return { kind: 'done' };
  const replaced = evaluateExisting(evidence, live);
  if (replaced !== undefined) return replaced;
  // Finalizers keep the object, but its deletion has begun. The undo waits until the object is gone.
  if (isTerminating(live) && !isTerminating(entry.prior)) return { kind: 'done' };
  return changedConflict(evidence) ?? versionOfHalf(evidence) ?? unstored(evidence) ?? send(evidence);
}

// A client has scaled an object of which the change sets nothing but that number: before our write, or after it. The object does not
// show which, because the subresource takes our whole entry away. The engine does not make a change twice (I4).
function ambiguous(evidence: ApplyEvidence, { ours, staying, kinds }: Attributed): ApplyVerdict | undefined {
  const { change, entry, managers } = evidence;
  const isSet = ({ path }: ForeignPath): boolean =>
    !equalJson(valueAt(entry.prior, path, kinds), valueAt(entry.expected, path, kinds));
  const set = staying.filter(isSet);
  const names = set.map(({ path }) => pathText(path));
  const isAlone =
    change.type === 'Update'
      ? ours.length === 0
      : managers.holder === undefined &&
        isObject(change.content) &&
        namedPaths(contentOf(change.content, entry.resource), [], kinds).every((path) => names.includes(pathText(path)));
  return set.length > 0 && isAlone && !isMarked(evidence) ? contentConflict(evidence, set) : undefined;
}

// Annotations and numbers that clients scale to never conflict, but the snapshot holds the old ones: an undo would lose the new ones.
function unstored(evidence: ApplyEvidence): ApplyVerdict | undefined {
  const { entry, live, drift, driftRoom } = evidence;
  if (live === undefined || priorDrift(withDrift(entry, drift), live).length === 0) return undefined;
  const all = priorDrift(entry, live);
  if (encodeDrift(all, driftRoom) !== undefined) return { kind: 'recordDrift', drift: all };
  return contentConflict(
    evidence,
    all.map(({ path }) => foreignPath(live, path)),
  );
}

/** Compares the whole content with the prior state, except annotations, and metadata that the change keeps (keptBy). */
function changedConflict(evidence: ApplyEvidence): ApplyVerdict | undefined {
  const { entry, live, change } = evidence;
  if (live === undefined || entry.prior === undefined) return undefined;
  const kinds = listKindsOf(entry.prior, live);
  const free = ['annotations', ...keptBy(change)];
  const compared = (object: JsonObject): JsonObject => withoutMetadata(countedOf(object, entry), free);
  const differing = differences(compared(entry.prior), compared(live), kinds);
  const paths = differing.filter((path) => !isUncounted(live, path, kinds));
  if (paths.length === 0) return terminatingConflict(evidence);
  return contentConflict(
    evidence,
    paths.map((path) => foreignPath(live, path)),
  );
}

function withoutMetadata(object: JsonObject, keys: readonly string[]): JsonObject {
  return withKey(object, 'metadata', withoutKeys(at(object, 'metadata'), keys));
}

function terminatingConflict({ live, entry }: Evidence): ApplyVerdict | undefined {
  if (!isTerminating(live)) return undefined;
  return conflict('Terminating', `${describe(entry.target)} is being deleted by someone else`);
}

// A Delete of the spec has no content that counts.
function versionOfHalf(evidence: ApplyEvidence): ApplyVerdict | undefined {
  return isDeletingHalf(evidence.entry) ? versionConflict(evidence) : undefined;
}

function versionConflict({ change, live, entry }: ApplyEvidence): ApplyVerdict | undefined {
  const wanted = textAt(change.content, 'metadata', 'resourceVersion');
  const found = textAt(live, 'metadata', 'resourceVersion');
  if (wanted === undefined || wanted === found) return undefined;
  return conflict('ResourceVersion', `${describe(entry.target)} has resourceVersion ${found}, content requires ${wanted}`);
}

function contentConflict(evidence: Evidence, foreign: readonly ForeignPath[]): ApplyVerdict {
  return conflict(
    'Conflict',
    `${describe(evidence.entry.target)} was changed by someone else after its snapshot was taken: ${describeForeign(foreign, evidence)}`,
  );
}

function conflict(reason: Reason, message: string): ApplyVerdict {
  return { kind: 'conflict', reason, message };
}

function send({ live }: Evidence): ApplyVerdict {
  return { kind: 'send', precondition: preconditionOf(live) };
}
