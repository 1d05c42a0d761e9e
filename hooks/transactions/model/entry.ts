// What a snapshot holds of one target: its state before the change, and the state expected after it.

import type { JsonObject } from '../../objects/json.ts';
import { isSecret, type Reference } from '../../objects/reference.ts';
import { inverseWay, type Way } from './change.ts';
import { isFromSecret } from './source.ts';
import type { Transaction } from './transaction.ts';

/** How a target is served; the part of a resource that its undo needs when discovery has forgotten the kind. */
export interface StoredResource {
  readonly group: string;
  readonly version: string;
  readonly plural: string;
  readonly kind: string;
  readonly namespaced: boolean;
  readonly statusSubresource: boolean;
}

export interface SnapshotEntry {
  readonly index: number;
  /** How the change is made. */
  readonly type: Way;
  readonly target: Reference;
  readonly resource: StoredResource;
  /** Absent when the object did not exist. */
  readonly prior?: JsonObject;
  /** Absent when the object will not exist. */
  readonly expected?: JsonObject;
  /** True if no dry run was possible: expected lacks defaults. */
  readonly approximate: boolean;
  /** Its dry run was refused for a reason that an earlier change may take away: it is made in its turn. */
  readonly deferred?: true;
  /** A dry run of creating the prior state again was refused for such a reason: it is made again in the turn of the change. */
  readonly isPriorRefused?: true;
  /** The content to send, if the spec does not hold it (contentFrom). */
  readonly content?: JsonObject;
  /** The API server does not change the object in place: the change deletes it and creates it again (halves.ts). */
  readonly recreates?: true;
  /** The change of a rollback: `expected` has the owners of all fields, which the change restores, too. */
  readonly restores?: true;
  /** The number of the object stays, in place of that of content (attribution/kept-scale.ts). */
  readonly keepsScale?: KeptScale;
}

/** The number that an autoscaler has. */
export interface KeptScale {
  /** The field of the subresource `scale`. */
  readonly path: readonly string[];
  /** The number when the snapshot was taken. */
  readonly number: number;
  /** The autoscaler, such as `HorizontalPodAutoscaler shop/web`; cleaned. */
  readonly by: string;
}

/** The change that a Restore undoes: from the state after it to the state before it. */
export function inverseOf({ keepsScale: _none, recreates: _half, prior, expected, ...entry }: SnapshotEntry): SnapshotEntry {
  return { ...entry, type: inverseWay(entry.type), ...(expected && { prior: expected }), ...(prior && { expected: prior }) };
}

/**
 * Whether readers of the Transaction's namespace must not learn the content of a target. The target is a Secret, it is in another
 * namespace, or its content is from a Secret.
 */
export function isSealed({ index, target }: Pick<SnapshotEntry, 'index' | 'target'>, { namespace, changes }: Spec): boolean {
  if (isSecret(target) || target.namespace !== namespace) return true;
  return isFromSecret(changes[index]) || changes[index]?.restore?.isSealed === true;
}

type Spec = Pick<Transaction, 'namespace' | 'changes'>;
