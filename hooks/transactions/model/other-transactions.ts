// The engine's knowledge of other Transactions that change the same object. The engine reads them as they are stored, while it
// holds the lock of the object. So no such Transaction is under way.

import type { JsonObject } from '../../objects/json.ts';
import { identityOf, type Reference } from '../../objects/reference.ts';
import type { Change, ChangeType, Target } from './change.ts';
import type { Item } from './item.ts';
import { undoneBy } from './rollback.ts';
import { holderOf, managersOfChange, type Transaction } from './transaction.ts';

/** A change of another Transaction to the object. */
export interface OtherChange {
  /** `namespace/name` of the Transaction. */
  readonly transaction: string;
  /** The same with its uid (holderOf). */
  readonly holder: string;
  readonly managers: { readonly forward: string; readonly restore: string };
  readonly type: ChangeType;
  /** Whether it has deleted the object and created it again (halves.ts). */
  readonly recreates: boolean;
  /** It is applied and not undone, and can be undone. */
  readonly stands: boolean;
  /** As its item has them. */
  readonly uid: string | undefined;
  readonly resourceVersion: string | undefined;
  readonly tookFieldsFrom: readonly string[];
  /** Of a rollback that stands: uids of the Transactions that it has undone. */
  readonly undoes?: ReadonlySet<string>;
  /** Read if the versions do not show whether the change came before or after ours (isOrdered). */
  readonly before?: PriorState;
}

/** The state that a change of another Transaction found, from its snapshot. `prior`: undefined if there was no object. */
export type PriorState =
  | { readonly kind: 'known'; readonly prior: JsonObject | undefined }
  | { readonly kind: 'unknown'; readonly why: string };

export interface Others {
  readonly changes: readonly OtherChange[];
  /** Whether the engine read every Transaction. Otherwise it read only the Transactions whose field managers were named. */
  readonly areAll: boolean;
  /** The namespaces in which the engine listed Transactions; absent for all. */
  readonly namespaces?: readonly string[];
}

export const noOthers: Others = { changes: [], areAll: true };

/** Field managers that a name may belong to, or every Transaction. */
export type Wanted = 'all' | readonly string[];

/** Objects by their kinds and names, whatever their namespaces. */
type TargetsByName = ReadonlyMap<string, readonly Reference[]>;

export function byName(targets: readonly Reference[]): TargetsByName {
  return Map.groupBy(targets, nameOf);
}

/** A change of another Transaction, and the identity of its object. */
export interface ChangeOfObject {
  readonly object: string;
  readonly change: OtherChange;
}

/** The changes that a Transaction makes to these objects: one at most to each. */
export function changesTo(targets: TargetsByName, other: Transaction): readonly ChangeOfObject[] {
  return other.changes.flatMap((change, index) => {
    const item = other.status?.items[index];
    const target = (targets.get(nameOf(change.target)) ?? []).find((one) => isSamePlace(change.target, other.namespace, one));
    if (item === undefined || target === undefined) return [];
    return { object: identityOf(target), change: changeOf(other, change, item) };
  });
}

function changeOf(other: Transaction, change: Change, item: Item): OtherChange {
  const { uid, resourceVersion, tookFieldsFrom = [], progress } = item;
  const isApplied = !['waiting', 'prepared', 'restored'].includes(progress.kind);
  const { phase, rollback } = other.status ?? {};
  return {
    transaction: `${other.namespace}/${other.name}`,
    holder: holderOf(other),
    managers: managersOfChange(other, change),
    type: change.type,
    recreates: item.deleted === true,
    // An undo that has begun ends before the Transaction is deleted. What an undo has kept counts as an edit: no other undo waits for it.
    stands: isApplied && phase !== 'RolledBack' && (!other.isBeingDeleted || phase === 'RollingBack'),
    ...(phase === 'Committed' && rollback !== undefined ? { undoes: new Set(rollback.undone.map((one) => one.uid)) } : {}),
    uid,
    resourceVersion,
    tookFieldsFrom,
  };
}

/**
 * The changes of one object, as they stand: what a rollback has undone does not, as long as that rollback stands. A rollback is in the way
 * only of what it has undone: what is older is as it was before. `uid`: of the Transaction whose change is to be undone.
 */
export function standing(changes: readonly OtherChange[], uid: string): readonly OtherChange[] {
  const undone = undoneBy(
    changes.flatMap(({ undoes, holder }) => (undoes === undefined ? [] : [{ uid: uidOfHolder(holder), undoes }])),
  );
  return changes.map((change) => {
    const isTransparent = change.undoes !== undefined && !change.undoes.has(uid);
    return undone.has(uidOfHolder(change.holder)) || isTransparent ? { ...change, stands: false } : change;
  });
}

export function uidOfHolder(holder: string): string {
  return holder.slice(holder.lastIndexOf('/') + 1);
}

/**
 * Whether a change was made after ours. Versions of objects of one kind grow from write to write (Kubernetes documents it since
 * 1.35); a deletion has the version that it found. If a version is unknown, the order is unknown.
 */
export function isAfter(other: Pick<OtherChange, 'type' | 'resourceVersion'>, ours: string | undefined): boolean {
  const [theirs, own] = [numberOf(other.resourceVersion), numberOf(ours)];
  if (theirs === undefined || own === undefined) return false;
  return other.type === 'Delete' ? theirs >= own : theirs > own;
}

/** Whether both versions are known, so that isAfter knows the order. A version is unknown until an answer is recorded. */
export function isOrdered(other: Pick<OtherChange, 'resourceVersion'>, ours: string | undefined): boolean {
  return numberOf(other.resourceVersion) !== undefined && numberOf(ours) !== undefined;
}

function numberOf(version: string | undefined): bigint | undefined {
  return version !== undefined && /^\d{1,40}$/.test(version) ? BigInt(version) : undefined;
}

function nameOf({ apiVersion, kind, name }: Target): string {
  return identityOf({ apiVersion, kind, name });
}

// An absent namespace means the Transaction's own, or no namespace if the kind has none.
function isSamePlace(written: Target, ownNamespace: string, { namespace }: Reference): boolean {
  return namespace === undefined || (written.namespace ?? ownNamespace) === namespace;
}
