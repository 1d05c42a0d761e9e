// The seam between the web server and the engine: one call of Metacontroller in, one reply and one report out.
import type { Clock, Cluster, Expressions, Sealer } from './cluster.ts';
import type { JsonObject } from './model/json.ts';

/** What the engine takes from a request. It is a doorbell: everything else is read live. */
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
      /** Seconds, fractions allowed; 0 asks for no further call. */
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
  /** `conflict`: another was faster, it is somebody else's lock or has moved meanwhile. */
  readonly result: 'success' | 'conflict' | 'error';
}

/** A Kubernetes Event, as `kubectl describe` shows it. */
export interface EventRecord {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
}

/** What became of one change. */
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

/** What has happened once the status of an answer is stored; until then it may come to nothing, or be answered again. */
export interface Stored {
  readonly fromPhase: string;
  readonly toPhase: string;
  /** In seconds, where an end is reached: from the beginning, or from the beginning of the undo. */
  readonly durationSeconds?: number;
  /** In seconds, where locks are held at last, or given up. */
  readonly lockWaitSeconds?: number;
  /** How many changes the Transaction has, where it begins. */
  readonly itemCount?: number;
  readonly items: readonly ItemOperation[];
  readonly gates: readonly GateOutcome[];
  /** The reason of each change that met the work of somebody else. */
  readonly conflicts: readonly string[];
}

/** What one call did, as data: the log line, the counters and the Events are made from it by the server. */
export interface StepReport {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  /** The kind of step: `begin`, `snapshot`, `apply`, `restore`, `release`, `wait`, `rest`, ... */
  readonly step: string;
  /** Why this step, in words. */
  readonly because: string;
  readonly fromPhase: string;
  readonly toPhase: string;
  /** 0-based index of the change that the step is about. */
  readonly item?: number;
  /** `done`, `waiting`, `failed`, or the reason of the trouble that makes it wait. */
  readonly outcome: string;
  /** What was thrown, where the step met a fault of the engine: for the log. */
  readonly thrown?: unknown;
  /** When, in ms since the epoch, by the API server's clock. */
  readonly at: number;
  /** The version of the status that was found, and of the one that is answered: greater if anything is to be stored. */
  readonly foundVersion: number;
  readonly version: number;
  readonly stored: Stored;
  readonly locks: readonly LockOperation[];
  readonly audit: readonly AuditLine[];
  readonly events: readonly EventRecord[];
}

/** Limits of one call, in ms of the monotonic clock. */
export interface Timing {
  /** No request is sent after so many ms of a call. */
  readonly stepDeadline: number;
  /** No write has an effect later than so many ms after it was given to the port. */
  readonly writeTimeout: number;
  /**
   * A ServiceAccount, a right of its, or a snapshot that was verified counts as being there for so many ms after it was seen.
   * Without it they are looked at whenever they are needed.
   */
  readonly sighting?: number;
  /** After so many ms a call begins with no further target. 0, or absent: it deals with one. */
  readonly callBudget?: number;
  /** A look at the Transaction and its Leases counts for so many ms of a call. */
  readonly lookAge?: number;
}

export interface EngineParts {
  readonly cluster: Cluster;
  readonly sealer: Sealer;
  readonly clock: Clock;
  /** For gates with an expression; absent where no Transaction has one. */
  readonly expressions?: Expressions;
  readonly timing: Timing;
  /** Where Leases and the sealing key live. */
  readonly engineNamespace: string;
  /** The namespaces whose Transactions are served; none, or absent, for all of them. */
  readonly namespaces?: readonly string[];
  readonly record: (report: StepReport) => void;
  /** Whether the process is about to end: a call begins with no further target then. */
  readonly isEnding?: () => boolean;
}

/** Serves one call. Rejects only on a bug. */
export type Hook = (call: Call) => Promise<Reply>;
