// The seam to the command line: the questions about a Transaction before it is created, and about an existing Transaction. Nothing
// here holds a value of a Secret: the engine masks values before they arrive here.
import type { AccessQuestion, Clock, Expressions, Logs, Manifests, Reader, Sealer, Warnings } from '../objects/cluster.ts';
import type { Json } from '../objects/json.ts';
import type { Reference } from '../objects/reference.ts';
import type { Counted } from './model/item.ts';

/** A fault, as the engine would report it. `reason`: one of docs/reasons.md. */
export interface Finding {
  /** 0-based index of the change; absent if it concerns the whole Transaction. */
  readonly index?: number;
  readonly reason: string;
  readonly message: string;
  /** A permission is missing that only the undo needs. */
  readonly for?: 'undo';
}

/** `hidden`: of a Secret, or sealed by the engine. */
export type Shown = { readonly kind: 'value'; readonly value: Json } | { readonly kind: 'hidden' };

/** A field that differs; a side is absent if it does not have the field. */
export interface FieldChange {
  /** `spec.template.spec.containers[name=web].image` */
  readonly path: string;
  readonly before?: Shown;
  readonly after?: Shown;
  readonly now?: Shown;
}

export type Operation = 'create' | 'update' | 'delete' | 'none';

export type OwnerCode = 'ArgoCD' | 'Flux' | 'Helm' | 'HPA' | 'Controller';

/** Who will act against the change, once it is made. `sentence`: what it would do, and what to do about it. */
export interface Owner {
  readonly code: OwnerCode;
  readonly name: string;
  readonly sentence: string;
}

export interface PlannedChange {
  readonly index: number;
  readonly target: Reference;
  /** As the spec says (changeTypes of model/change.ts). */
  readonly type: string;
  readonly operation: Operation;
  /** No dry run was possible: it needs an earlier change. */
  readonly deferred: boolean;
  /** The earlier change that it needs. */
  readonly dependsOn?: number;
  /** It is deleted and created again. */
  readonly recreates: boolean;
  readonly fields: readonly FieldChange[];
  /** Managers that lose fields to it. */
  readonly losers: readonly { readonly manager: string; readonly paths: readonly string[] }[];
  /** The fields that an apply takes from them, with their values; those of a Secret are hidden. */
  readonly took?: Counted;
  readonly owners: readonly Owner[];
  /** The path of the field that a client has scaled, if the change changes it. */
  readonly scaled?: string;
  /** When the engine waits for it. */
  readonly gate?: 'AfterChange' | 'AtEnd';
  /** The source of its content, such as `Secret db key manifest`. */
  readonly contentFrom?: string;
  readonly note?: string;
  /** Of the API server, about the dry run; without texts if they are hidden. */
  readonly warnings?: Warnings;
}

/** A permission that is missing, and what it is needed for. */
export interface Gap {
  readonly question: AccessQuestion;
  readonly for: 'change' | 'undo';
}

/** A lock that another Transaction holds. `expires`: RFC 3339. `expired`: that time is over, and the holder has not ended. */
export interface HeldLock {
  readonly index: number;
  readonly target: Reference;
  /** namespace/name */
  readonly holder: string;
  readonly expires: string;
  readonly expired?: true;
}

export interface Plan {
  readonly namespace: string;
  readonly name: string;
  readonly serviceAccountName: string;
  /** `unknown`: the API server, or the rights of the caller, gave no answer. */
  readonly verdict: 'accepted' | 'refused' | 'unknown';
  /** Whether the ServiceAccount was impersonated; otherwise the caller's own rights have answered. */
  readonly exact: boolean;
  /** What the engine would report: its first stage that finds something. */
  readonly refusal: readonly Finding[];
  /** What later stages would find. */
  readonly also: readonly Finding[];
  /** Why the verdict is unknown. If the Transaction is refused: why the engine does not know all its faults. */
  readonly trouble?: string;
  readonly gaps: readonly Gap[];
  /** All that the ServiceAccount must be allowed. */
  readonly needs: readonly AccessQuestion[];
  readonly changes: readonly PlannedChange[];
  readonly locks: readonly HeldLock[];
  /** What the caller's rights hid. */
  readonly unseen: readonly string[];
}

export interface PlanParts {
  /** As the caller; its identity `engine` is the caller's own. */
  readonly reader: Reader;
  readonly engineNamespace: string;
  /** `serviceAccount`: by impersonation. */
  readonly actAs: 'serviceAccount' | 'caller';
  readonly clock: Pick<Clock, 'monotonic'>;
  readonly manifests: Manifests;
  /** With any key: only how long a snapshot becomes counts. */
  readonly sealer: Sealer;
  /** Absent: expressions of gates are not checked, and are named as unseen. */
  readonly expressions?: Expressions;
}

/** A field whose value is no longer the released one. */
export interface DriftedField extends FieldChange {
  /** The managers that own the field now, by managedFields. Empty if no manager owns it, or if it was removed. */
  readonly by: readonly string[];
}

/** An object of an existing Transaction, compared with the live object. */
export interface ObjectState {
  /** Index of the change that made it last. */
  readonly index: number;
  readonly target: Reference;
  /**
   * `asReleased`: as the Transaction left it; `changed`: in `fields`; `deleted`, `created`: since; `sealed`: not compared, because only
   * the engine can read the stored state; `unknown`: the stored state or the object cannot be read.
   */
  readonly state: 'asReleased' | 'changed' | 'deleted' | 'created' | 'sealed' | 'unknown';
  /** before: prior; after: released; now: live. */
  readonly fields: readonly DriftedField[];
  /** Why the state is unknown, or the object was not compared. */
  readonly why?: string;
}

export interface LogParts {
  /** As the caller. */
  readonly reader: Reader & Logs;
  readonly clock: Pick<Clock, 'sleep'>;
}

/** The last lines of a container that is not ready. */
export interface FailedLog {
  /** Of the change. */
  readonly index: number;
  /** The object of the change, such as `Deployment web`. */
  readonly object: string;
  readonly pod: string;
  readonly container: string;
  /** Lines, each cleaned; at most 4 kB. */
  readonly text: string;
}

export interface StatesParts {
  readonly reader: Reader;
  /** Expands a compressed entry; undefined if it is not compressed. */
  readonly expand: (text: string) => string | undefined;
}
