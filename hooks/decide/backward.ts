// What taking one change back takes: nothing, one compensation, patience, or giving up because others would pay for it.
import { asNew, contentOf, withoutKeys } from '../content/content.ts';
import { managersOf } from '../content/fields.ts';
import { withoutGenerated } from '../content/generated.ts';
import { listKindsOf } from '../content/lists.ts';
import { differences } from '../content/merge.ts';
import { hasManager, isTerminating, isUnclaimed } from '../content/ownership.ts';
import type { Path } from '../content/path.ts';
import { at, isObject, type Json, type JsonObject, withKey } from '../model/json.ts';
import { describe } from '../model/reference.ts';
import { isOurCreation } from './forward.ts';
import {
  type Attributed,
  attribute,
  describeForeign,
  type Evidence,
  type ForeignPath,
  foreignPath,
  takenOver,
  uidOf,
  writtenState,
} from './judge.ts';

export type Backward =
  /** Nothing of ours is left; `note` tells what a person should know. */
  | { readonly kind: 'restored'; readonly note?: string }
  | { readonly kind: 'delete'; readonly live: JsonObject }
  | { readonly kind: 'recreate'; readonly note?: string }
  /** The object was created again by us; its status and managedFields may still be missing. */
  | { readonly kind: 'complete'; readonly live: JsonObject }
  | { readonly kind: 'content'; readonly live: JsonObject; readonly restored: JsonObject; readonly attributed: Attributed }
  /** Nothing is to be written, but something else may be about to: what names the version of `live` is made to miss. */
  | { readonly kind: 'fence'; readonly live: JsonObject; readonly end: Ended }
  | { readonly kind: 'wait'; readonly message: string }
  | { readonly kind: 'conflict'; readonly reason: string; readonly message: string };

/** The undo of one change is over without a write. */
export type Ended = Extract<Backward, { kind: 'restored' | 'conflict' }>;

export interface BackwardEvidence extends Evidence {
  readonly uid: string;
  /** uid of the object that our Create made, where it was recorded. */
  readonly createdUid: string | undefined;
  /** For a created Namespace or CustomResourceDefinition: what others have put there. */
  readonly contents: readonly string[];
  /** For a deleted object: its owners that are no more. */
  readonly goneOwners: readonly string[];
}

export function judgeBackward(evidence: BackwardEvidence): Backward {
  switch (evidence.entry.type) {
    case 'Create':
      return judgeCreated(evidence);
    case 'Update':
    case 'Patch':
      return judgeChanged(evidence);
    case 'Delete':
      return judgeDeleted(evidence);
  }
}

function judgeCreated(evidence: BackwardEvidence): Backward {
  const { live, entry, createdUid } = evidence;
  const name = describe(entry.target);
  if (live === undefined) return { kind: 'restored' };
  const ours = createdUid === undefined ? isOurCreation(evidence, evidence.uid) : uidOf(live) === createdUid;
  if (!ours) return { kind: 'restored', note: `${name} was created by someone else; it was left alone` };
  if (isTerminating(live)) return { kind: 'wait', message: `${name} is being deleted; waiting until it is gone` };
  const foreign = foreignContent(evidence);
  if (foreign.length > 0) {
    return conflict(
      'ForeignContent',
      `${name} was created here and has been changed by others since: ${describeForeign(foreign)}`,
    );
  }
  if (evidence.contents.length > 0) {
    const shown = evidence.contents.slice(0, 5).join(', ');
    return conflict('NotEmpty', `${name} was created here and others have put things in it since: ${shown}`);
  }
  return { kind: 'delete', live };
}

// Written by Kubernetes itself into objects of others; not a reason to keep an object.
const kubernetesManagers = ['kube-controller-manager', 'kube-scheduler', 'kubelet', 'cloud-controller-manager', 'kube-apiserver'];

function foreignContent(evidence: Evidence): readonly ForeignPath[] {
  const { entry, live } = evidence;
  const kinds = listKindsOf(entry.expected, live);
  const written = writtenState(evidence, kinds);
  const ours = (object: Json | undefined): JsonObject | undefined =>
    isObject(object) ? withoutBookkeeping(contentOf(object, entry.resource)) : undefined;
  const theirs = differences(ours(written), ours(live), kinds);
  const byKubernetes = managersOf(live)
    .filter(({ name }) => kubernetesManagers.includes(name))
    .flatMap(({ fields }) => [...fields]);
  const owned = (path: Path): boolean => byKubernetes.some((text) => text.startsWith(JSON.stringify(path).slice(0, -1)));
  const changed = theirs.filter((path) => path.length > 0 && !owned(path) && !isUnclaimed(live, path, kinds));
  // Where no dry run told the defaults, only what another manager has written is foreign.
  const isKnown = (path: Path): boolean => !['unknown', evidence.managers.forward].includes(foreignPath(live, path).manager);
  const known = entry.approximate ? changed.filter(isKnown) : changed;
  return known.map((path) => foreignPath(live, path));
}

function withoutBookkeeping(object: JsonObject): JsonObject {
  const metadata = withoutKeys(at(object, 'metadata'), ['annotations', 'finalizers', 'ownerReferences']);
  return withKey(withKey(object, 'metadata', metadata), 'status', undefined);
}

function judgeChanged(evidence: BackwardEvidence): Backward {
  const { live, entry, recorded } = evidence;
  const name = describe(entry.target);
  if (live === undefined) return { kind: 'restored', note: `${name} was deleted by someone else since; it was left so` };
  if (uidOf(live) === uidOf(entry.prior)) return judgeContent(evidence, live);
  if (!recorded) return { kind: 'restored', note: `${name} was created again by someone else; it was left alone` };
  return conflict('Replaced', `${name} was deleted and created again by someone else since`);
}

function judgeContent(evidence: BackwardEvidence, live: JsonObject): Backward {
  const { entry, managers } = evidence;
  const attributed = attribute(evidence);
  // Our restoring write has been here, and it is whole: what differs now was written after it. Only ownership is to go back.
  if (hasManager(live, [managers.restore]))
    return { kind: 'content', live, restored: contentOf(live, entry.resource), attributed };
  if (attributed.kind === 'untouched' || isAbsent(evidence, attributed)) return { kind: 'restored' };
  const foreign = attributed.kind === 'foreign' ? attributed.foreign : takenOver(evidence, attributed);
  const name = describe(entry.target);
  if (foreign.length > 0)
    return conflict('RollbackConflict', `${name} was changed by others where we had changed it: ${describeForeign(foreign)}`);
  const { restored } = attributed.merge;
  return isObject(restored) ? { kind: 'content', live, restored, attributed } : { kind: 'restored' };
}

// Announced, and nothing of it is there: what others have set in its place is theirs. A Patch always leaves our entry.
function isAbsent({ entry, live, managers, recorded }: Evidence, { ours }: Attributed): boolean {
  if (recorded || hasManager(live, [managers.forward])) return false;
  return entry.type === 'Patch' || !ours.some(({ state }) => state === 'applied');
}

function judgeDeleted(evidence: BackwardEvidence): Backward {
  const { live, entry } = evidence;
  if (live === undefined) return { kind: 'recreate', ...ownersNote(evidence) };
  if (isTerminating(live)) return awaitGone(entry);
  if (uidOf(live) === uidOf(entry.prior)) return undeleted(evidence, live);
  if (hasManager(live, [evidence.managers.restore])) return { kind: 'complete', live };
  const foreign = recreatedContent(evidence, live);
  if (foreign.length === 0) return { kind: 'restored', ...ownersNote(evidence) };
  return conflict(
    'Recreated',
    `${describe(entry.target)} was created again by someone else with other content: ${describeForeign(foreign)}`,
  );
}

// It was never deleted. Who fenced it and died has left his mark.
function undeleted({ managers }: Evidence, live: JsonObject): Backward {
  const isMarked = hasManager(live, [managers.restore]);
  return isMarked ? { kind: 'fence', live, end: { kind: 'restored' } } : { kind: 'restored' };
}

// Be it the one that was deleted here or what somebody has made since: it will not stay.
function awaitGone({ target }: Evidence['entry']): Backward {
  const message = `${describe(target)} is kept by finalizers while it is being deleted; waiting until it is gone to create it again`;
  return { kind: 'wait', message };
}

function recreatedContent(evidence: BackwardEvidence, live: JsonObject): readonly ForeignPath[] {
  const { prior } = evidence.entry;
  if (prior === undefined) return [];
  const kinds = listKindsOf(prior, live);
  const paths = differences(comparable(prior, evidence), comparable(live, evidence), kinds);
  return paths.filter((path) => !isUnclaimed(live, path, kinds)).map((path) => foreignPath(live, path));
}

function ownersNote({ goneOwners }: BackwardEvidence): { readonly note?: string } {
  return goneOwners.length === 0 ? {} : { note: `owner references dropped, their owners are gone: ${goneOwners.join(', ')}` };
}

function comparable(object: JsonObject, { entry }: Evidence): JsonObject {
  const fresh = withoutGenerated(asNew(contentOf(object, entry.resource)));
  return withKey(fresh, 'metadata', withoutKeys(at(fresh, 'metadata'), ['annotations', 'ownerReferences']));
}

function conflict(reason: string, message: string): Backward {
  return { kind: 'conflict', reason, message };
}
