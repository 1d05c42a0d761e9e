// Why the undo of a Create does not delete the object, or not yet: others would lose its contents, its dependents, or stored data. And why
// the undo of another change does not restore it: others would lose what they wrote meanwhile.

import { type JsonObject, textAt } from '../../objects/json.ts';
import { describe, kindOf } from '../../objects/reference.ts';
import { isDefinition } from '../model/crds.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Reason } from '../model/reason.ts';
import { lossBy } from './consequences.ts';
import { isFedByKubernetes } from './dependents.ts';
import { shownOf, unlistedKindsNote } from './one-way.ts';
import { pruningVersions } from './pruning.ts';
import { noData, type Stored } from './stored.ts';

/** The change to undo, and its object. */
interface Evidence {
  readonly entry: SnapshotEntry;
  readonly live: JsonObject | undefined;
}

/** What Kubernetes deletes together with an object. */
export interface UndoHazards {
  /** Objects of others in it, or owned by it. */
  readonly contents: readonly string[];
  /** Targets of the same Transaction whose undo comes first. */
  readonly ownContents: readonly string[];
  readonly behind?: Stored | undefined;
  /** Kinds that the ServiceAccount may not list: their objects are unknown. */
  readonly unlisted: readonly string[];
  readonly away?: readonly string[] | undefined;
  /** Kinds that cannot be listed for now: their objects are unknown. */
  readonly failing: readonly string[];
  /** Whether the Transaction was Committed: from then on others rely on its objects. */
  readonly wasCommitted: boolean;
}

type UndoBlocker =
  | { readonly kind: 'wait'; readonly message: string }
  | { readonly kind: 'conflict'; readonly reason: Reason; readonly message: string };

const mostShown = 5;

/** Undefined if others lose nothing when the object is deleted. */
export function deletionBlocker(evidence: Evidence & UndoHazards, live: JsonObject): UndoBlocker | undefined {
  const { entry, contents, ownContents, wasCommitted } = evidence;
  const name = describe(entry.target);
  if (contents.length > 0) {
    const what = `${name} was created by this Transaction, and objects of others would be deleted with it`;
    return notEmpty(`${what}: ${contents.slice(0, mostShown).join(', ')}`);
  }
  if (ownContents.length > 0)
    return { kind: 'wait', message: `waiting to undo ${name} until these are removed: ${shownOf(ownContents, mostShown)}` };
  const behind = storedBehind(evidence, name);
  if (behind !== undefined) return behind;
  const volume = wasCommitted ? boundVolume(evidence, live) : undefined;
  if (volume !== undefined)
    return notEmpty(`${name} was created by this Transaction and is bound to PersistentVolume ${volume}, which may hold data`);
  return volumesOfOthers(evidence, name);
}

/**
 * Undefined if others lose nothing when the object gets back what it was. As soon as a Service has a selector, Kubernetes writes its
 * Endpoints; what it deletes in answer to other fields: checks/consequences.ts and pruning.ts.
 */
export function restoreBlocker(evidence: Evidence & UndoHazards, restored: JsonObject | undefined): UndoBlocker | undefined {
  if (restored === undefined) return undefined;
  const kept = deleting(evidence, restored) ?? dropping(evidence, restored);
  return kept ?? overwritingEndpoints(evidence, restored);
}

function deleting(evidence: Evidence & UndoHazards, restored: JsonObject): UndoBlocker | undefined {
  const { entry, live } = evidence;
  const loss = live === undefined ? undefined : lossBy(live, restored, entry.prior);
  return loss === undefined ? undefined : keptFrom(evidence, loss);
}

function overwritingEndpoints({ entry, contents }: Evidence & UndoHazards, restored: JsonObject): UndoBlocker | undefined {
  if (contents.length === 0 || kindOf(entry.resource) !== '/Service' || !isFedByKubernetes(restored)) return undefined;
  const [which, name] = [shownOf(contents, mostShown), describe(entry.target)];
  return notEmpty(
    `others wrote ${which} since ${name} lost its selector, and Kubernetes would overwrite them; copy or delete them, then retry the rollback`,
  );
}

// Values in fields that a CRD got are of those who wrote them.
function dropping({ entry, live, contents, ownContents }: Evidence & UndoHazards, restored: JsonObject): UndoBlocker | undefined {
  if (!isDefinition(entry.resource) || live === undefined || pruningVersions(live, restored).length === 0) return undefined;
  const name = describe(entry.target);
  if (contents.length > 0)
    return notEmpty(
      `these objects hold values in fields that ${name} would no longer have, and that would be lost: ${shownOf(contents, mostShown)}; remove the values, then retry the rollback`,
    );
  return ownContents.length === 0 ? undefined : untilUndone(name, ownContents);
}

function untilUndone(name: string, those: readonly string[]): UndoBlocker {
  return { kind: 'wait', message: `waiting to undo ${name} until these are undone: ${shownOf(those, mostShown)}` };
}

// The claims that a StatefulSet got are nobody's, unless all was Committed, or they are older.
function keptFrom({ entry, behind, wasCommitted, unlisted }: Evidence & UndoHazards, loss: string): UndoBlocker | undefined {
  const { claims, volumes } = behind ?? noData;
  const isOfClaims = kindOf(entry.resource) === 'apps/StatefulSet';
  const unknown = unlisted.length > 0 ? ['claims that the ServiceAccount may not list'] : [];
  const lost = wasCommitted ? [...claims, ...unknown] : volumes;
  if (isOfClaims && lost.length === 0) return undefined;
  const which = isOfClaims ? ` (${shownOf(lost, mostShown)}); to keep them, set whenScaled to Retain` : '';
  return notEmpty(`${describe(entry.target)} cannot be as it was before: ${loss}${which}; then retry the rollback`);
}

// What is stored in a volume that was made for a claim of a Transaction that was never Committed is nobody's.
function volumesOfOthers({ behind: { volumes } = noData }: UndoHazards, name: string): UndoBlocker | undefined {
  if (volumes.length === 0) return undefined;
  const which = shownOf(volumes, mostShown);
  return notEmpty(
    `${name} was created by this Transaction, and Kubernetes would delete with it these volumes, which existed before: ${which}; to keep them, set their reclaim policy to Retain, then retry the rollback`,
  );
}

function storedBehind({ behind: { claims } = noData, wasCommitted }: UndoHazards, name: string): UndoBlocker | undefined {
  if (!wasCommitted || claims.length === 0) return undefined;
  const which = shownOf(claims, mostShown);
  return notEmpty(
    `${name} was created by this Transaction, and Kubernetes deletes these claims with it: ${which}; their volumes may hold data`,
  );
}

/** The note on a deletion; `more` is another one. */
export function unlistedKindsPart(
  { unlisted, failing, away }: Pick<UndoHazards, 'unlisted' | 'failing' | 'away'>,
  more?: string,
): { readonly note?: string } {
  const notes = [more, unlistedKindsNote(unlisted, failing, away)].filter((note) => note !== undefined);
  return notes.length === 0 ? {} : { note: notes.join('; ') };
}

/** The volume that a claim is bound to. A claim whose content names a volume is not bound by that alone. */
function boundVolume({ entry }: Evidence, live: JsonObject): string | undefined {
  if (entry.resource.group !== '' || entry.resource.kind !== 'PersistentVolumeClaim') return undefined;
  const volume = textAt(live, 'spec', 'volumeName');
  const isBound = textAt(live, 'status', 'phase') === 'Bound' || volume !== textAt(entry.expected, 'spec', 'volumeName');
  return isBound ? (volume ?? '') : undefined;
}

function notEmpty(message: string): UndoBlocker {
  return { kind: 'conflict', reason: 'NotEmpty', message };
}
