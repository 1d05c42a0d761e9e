// What others would lose by a change or by its undo, as far as it could be read (read.ts): one value of the view of an item.
import type { Failure, Passing, UnlistableKind } from '../../objects/failure.ts';
import type { StoredObjects } from '../model/crds.ts';

/** A target of this Transaction that would be lost, or that still hinders the undo, until its own undo is done. */
type Awaited = StoredObjects['awaited'][number];

export interface Hazards {
  /** What others would lose, by name. */
  readonly lost: readonly string[];
  readonly awaited: readonly Awaited[];
  /** PersistentVolumeClaims with a volume that a controller made for the object, and deletes with it. */
  readonly claims: readonly string[];
  /** Volumes that were not made for the claim, and that Kubernetes deletes with it. */
  readonly volumes: readonly string[];
  /** Kinds that the ServiceAccount may not list: their objects are unknown. */
  readonly forbiddenKinds: readonly string[];
  /** Kinds that cannot be listed for now: their objects are unknown. */
  readonly failingKinds: readonly UnlistableKind<Passing>[];
  /** APIServices that are not Available: the objects of their kinds are unknown. */
  readonly unavailable: readonly string[];
  /** Of a Namespace or a CRD: a kind in it that cannot be listed. */
  readonly unlistableContents?: UnlistableKind;
  /** uids of owners that no longer exist. */
  readonly goneOwners: readonly string[];
  /** uids of owners that the ServiceAccount may not read; they may no longer exist. */
  readonly forbiddenOwners: readonly string[];
  /** An owner that cannot be read for now. */
  readonly unreadableOwner?: UnlistableKind<Passing>;
  /** For a restored token: whether the ServiceAccount with that name is the former ServiceAccount, another one, or missing. */
  readonly tokenOf?: 'same' | 'other' | 'missing';
  /** Of a CRD whose storage version moved: its objects that were written since. */
  readonly stored?: StoredObjects;
  /** Of a CRD whose storage version moves: whether the undo can move it back. */
  readonly movesBack?: boolean;
  /** A read that failed for now. */
  readonly trouble?: Failure;
}

export const noHazards: Hazards = {
  lost: [],
  awaited: [],
  claims: [],
  volumes: [],
  forbiddenKinds: [],
  failingKinds: [],
  unavailable: [],
  goneOwners: [],
  forbiddenOwners: [],
};

/** The findings of several reads. No two reads find the same hazard. */
export function merged(...found: readonly Partial<Hazards>[]): Hazards {
  return Object.assign({}, noHazards, ...found);
}
