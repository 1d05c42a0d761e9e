// The interface between the web server and the engine: a call of Metacontroller goes in, a reply and a report come out.
import type { Clock, Cluster, Expressions, Manifests, Sealer } from '../objects/cluster.ts';
import type { JsonObject } from '../objects/json.ts';

/** The parts of a request that the engine uses. A call is only a trigger: the engine reads everything else live. */
export interface Call {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The status in the request; returned unchanged when the Transaction is gone, never evaluated. */
  readonly status: JsonObject;
  /** Observed children, if someone configured any; echoed unchanged, since Metacontroller deletes what an answer omits. */
  readonly children: readonly JsonObject[];
}

/** `retry` is HTTP 429 with `Retry-After`: Metacontroller stores nothing and calls again. */
export type Reply =
  | {
      readonly kind: 'status';
      readonly status: JsonObject;
      readonly children: readonly JsonObject[];
      /** In seconds, fractions allowed; 0 requests no further call. */
      readonly resyncAfterSeconds: number;
      readonly finalized: boolean;
    }
  /** `because`: for the log. */
  | { readonly kind: 'retry'; readonly retryAfterSeconds: number; readonly because: string };

/** One write to a target object, for the audit log. Never content. */
export interface AuditLine {
  readonly item: number;
  readonly verb: string;
  readonly resource: string;
  readonly target: string;
  readonly serviceAccount: string;
  /** `ok`, or the reason of the failure. */
  readonly outcome: string;
}

/** One write to a Lease. */
export interface LockOperation {
  readonly operation: 'acquire' | 'renew' | 'release';
  /** `conflict`: another Transaction was faster, holds the lock, or the Lease has changed meanwhile. */
  readonly result: 'success' | 'conflict' | 'error';
}

/** A Kubernetes Event, as `kubectl describe` shows it. */
export interface EventRecord {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** The result of one change. */
export interface ItemOperation {
  readonly operation: 'prepare' | 'commit' | 'rollback';
  readonly result: 'success' | 'conflict' | 'error';
}

/** How the wait for one change has ended. `stopped`: the Transaction ended for another reason. */
export interface GateOutcome {
  readonly at: 'AfterChange' | 'AtEnd';
  readonly outcome: 'passed' | 'failed' | 'timeout' | 'stopped';
  readonly seconds: number;
}

/** What has happened once the status of an answer is stored. Until then the answer may be lost, or computed again. */
export interface Stored {
  readonly fromPhase: string;
  readonly toPhase: string;
  /** Seconds from the beginning, or from the beginning of the undo, if a terminal phase is reached. */
  readonly durationSeconds?: number;
  /** Seconds for which the Transaction waited, once it holds all locks or gives up. */
  readonly lockWaitSeconds?: number;
  /** The number of changes, when the Transaction begins. */
  readonly itemCount?: number;
  readonly items: readonly ItemOperation[];
  readonly gates: readonly GateOutcome[];
  /** The reason of each change that conflicts with others' work. */
  readonly conflicts: readonly string[];
  /** Why a requested undo was refused before its first write. */
  readonly refusedUndo?: string;
}

/** What one call did, as data: the server makes the log line, the counters and the Events from it. */
export interface StepReport {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The kind of step: `begin`, `snapshot`, `apply`, `restore`, `release`, `wait`, `rest`, ... */
  readonly step: string;
  /** Why the engine takes this step, in words. */
  readonly because: string;
  readonly fromPhase: string;
  readonly toPhase: string;
  /** 0-based index of the change that the step concerns. */
  readonly item?: number;
  /** `done`, `waiting`, `failed`, or the reason of the transient error that the step waits for. */
  readonly outcome: string;
  /** The error, if the engine itself failed: for the log. */
  readonly thrown?: unknown;
  /** The invariant that a write would have broken, if that was thrown: a static text. */
  readonly invariant?: string;
  /** The API server's time in ms since the epoch. */
  readonly at: number;
  /** The versions of the found status and of the status in the answer. The second is greater if the answer must be stored. */
  readonly foundVersion: number;
  readonly version: number;
  readonly stored: Stored;
  readonly locks: readonly LockOperation[];
  readonly audit: readonly AuditLine[];
  readonly events: readonly EventRecord[];
}

/** Limits of one call. Times are in ms of the monotonic clock. */
export interface Timing {
  /** After that many ms a call sends no request. */
  readonly stepDeadline: number;
  /** ms after which a write has no effect, counted from when the port gets it. */
  readonly writeTimeout: number;
  /**
   * ms for which a ServiceAccount, a permission of it, or a verified snapshot counts as present once it was seen. Without it the
   * engine reads them each time.
   */
  readonly sighting?: number;
  /** ms after which a call starts no further target. 0, or absent: it handles one. */
  readonly callBudget?: number;
  /** ms of a call for which a read of the Transaction and its Leases counts. */
  readonly readAge?: number;
  /** Writes of one wave that the call sends side by side, at most; one by default. */
  readonly parallel?: number;
}

export interface EngineParts {
  readonly cluster: Cluster;
  readonly sealer: Sealer;
  readonly manifests: Manifests;
  readonly clock: Clock;
  /** For gates with an expression; absent if no Transaction has such a gate. */
  readonly expressions?: Expressions;
  readonly timing: Timing;
  /** The namespace of the Leases and the sealing key. */
  readonly engineNamespace: string;
  /** The namespaces whose Transactions are served; empty or absent: all. */
  readonly namespaces?: readonly string[];
  readonly record: (report: StepReport) => void;
  /** Whether the process is about to end: then a call starts no further target. */
  readonly isEnding?: () => boolean;
}

/** Serves one call. Rejects only on a bug. */
export type Hook = (call: Call) => Promise<Reply>;
