// What a look at a gated object has come to.

import type { ExpressionResult } from '../../objects/cluster.ts';
import type { JsonObject } from '../../objects/json.ts';
import type { ChangeType } from '../model/change.ts';
import type { StoredResource } from '../model/entry.ts';
import type { Gate } from '../model/gate.ts';

/** `found` is in words, cleaned, at most `longestFound` characters; nothing in it changes while the object does not. */
export type Finding =
  | { readonly kind: 'ready'; readonly found: string }
  | { readonly kind: 'notYet'; readonly found: string }
  /** It will not become ready any more. The reason, where it is the object's end; else what the gate checks has failed. */
  | { readonly kind: 'failed'; readonly found: string; readonly reason?: 'Gone' | 'Replaced' | 'Terminating' };

/** The forms of a gate's checks that an expression has. */
export type Checked = 'ready' | 'failed';

/** All that the answer may depend on. */
export interface Look {
  readonly gate: Gate;
  readonly type: ChangeType;
  readonly resource: StoredResource;
  /** Its content must not be repeated in words: types, statuses and CamelCase reasons only (isSealed of model/entry.ts). */
  readonly sealed: boolean;
  /** The object as it was before the change; absent where there was none. */
  readonly prior: JsonObject | undefined;
  /** The uid of the object that the change was made to; undefined where it is not known. */
  readonly uid: string | undefined;
  /** Its resourceVersion as the change left it; absent where it is not known. */
  readonly version?: string;
  /** Absent where there is none. */
  readonly live: JsonObject | undefined;
  /** What the expressions of the gate have come to. */
  readonly evaluated: { readonly [checked in Checked]?: ExpressionResult };
  /** The class that a PersistentVolumeClaim names, where it could be read. */
  readonly storageClass?: JsonObject;
  /** How long ago the change was made, in ms. */
  readonly age: number;
}
