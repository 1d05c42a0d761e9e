// The interface between the web server and the coordinator of packages: a call of Metacontroller goes in, an answer comes out.
import type { Clock, Cluster } from '../objects/cluster.ts';
import type { JsonObject } from '../objects/json.ts';
import type { Gzip } from './model/gzip.ts';
import type { KeySelector } from './model/key-selector.ts';
import type { OwnMode } from './model/own.ts';
import type { PackageKind } from './model/package.ts';
import type { Version } from './model/version.ts';
import type { VerifyingRegistry } from './registry.ts';

/** A call is a trigger: only name and uid of its object count, and the hook reads everything else live. */
export interface PackageCall {
  readonly name: string;
  readonly uid: string;
  /** The status in the request. The hook answers it unchanged if the object is gone, or if nothing is left to do. */
  readonly status: JsonObject;
  readonly finalizing: boolean;
  /**
   * What Metacontroller knows of the Lock and the stages. It may be outdated: it only shows that a call may come for nothing, because a
   * stage has made progress and runs on.
   */
  readonly related?: RelatedObjects;
}

export interface RelatedObjects {
  /** The name of the package transaction that holds the Lock. */
  readonly holder: string | undefined;
  /** The phase of each stage by its name. */
  readonly stages: ReadonlyMap<string, string>;
}

export interface PackageReply {
  readonly status: JsonObject;
  /** In seconds; 0 requests no further call. */
  readonly resyncAfterSeconds: number;
  readonly finalized: boolean;
}

export interface PackageEvent {
  readonly reason: 'Replacing';
  readonly message: string;
  /** The API server's time in ms since the epoch. */
  readonly at: number;
  /** The version of the status that the Event describes. */
  readonly version: number;
}

/** The actions of a call, for the log. */
export interface PackageReport {
  readonly name: string;
  readonly uid: string;
  readonly fromPhase: string;
  readonly toPhase: string;
  /** A try ended with this call. */
  readonly ended?: { readonly kind: 'Succeeded' | 'Failed' | 'Abandoned'; readonly reason?: string };
  /** The time from the first try to now, if this call ended the package transaction for good. */
  readonly durationSeconds?: number;
  /** The content of an Event: which packages leave, and which packages take their place. */
  readonly event?: PackageEvent;
  /** Why, in words. */
  readonly because: string;
  /** Writes that took effect. */
  readonly writes: number;
  /** The failure of a write or a read, if there was one; contains no secret. */
  readonly trouble?: string;
  /** The error of a bug. The hook answers the call nevertheless. */
  readonly thrown?: unknown;
}

export interface Opening {
  /** `.dockerconfigjson` of the Secret that an ImageConfig names: it counts before the pull secrets. */
  readonly configured?: string | undefined;
  /** `.dockerconfigjson`. */
  readonly pullSecrets: readonly string[];
  /** Certificates in PEM of authorities that sign registries, besides those of the system. */
  readonly authority?: string | undefined;
  /** The administrator has named the registry: its addresses may be internal. */
  readonly isNamed?: boolean;
  /** The source of the package that the user named. */
  readonly root: string;
  /** The time in ms after which the hook reads nothing any more. */
  readonly deadline: number;
}

export interface PackageParts {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly openRegistry: (opening: Opening) => VerifyingRegistry;
  /** Where the authority of registries is, and the trusted root of Sigstore, if the administrator has set them. */
  readonly authority?: KeySelector | undefined;
  readonly trustedRoot?: KeySelector | undefined;
  readonly gzip: Gzip;
  /**
   * The namespace of stages, their contents and pull secrets. It holds a ServiceAccount of this name, as which the hook does all
   * its work.
   */
  readonly namespace: string;
  /** The version of Crossplane. Without it the hook checks no package's `spec.crossplane.version`. */
  readonly crossplane?: Version;
  /** The namespace of the Crossplane that runs the revisions which the hook installs. Undefined if none does. */
  readonly besideIn?: () => string | undefined;
  /** Why all package transactions wait, in words: Crossplane does not suit the settings. Undefined if they need not wait. */
  readonly whyToWait?: () => string | undefined;
  /** The name of a Secret with the authority of the servers of webhooks, if Crossplane does not run packages. */
  readonly webhookSecret?: string;
  /** Which Packages make their own package transactions. If absent, none does. */
  readonly ownMode?: OwnMode;
  /** ms for which a call reads from registries and the cluster. */
  readonly deadline: number;
  /** ms of a call after which it sends no write. */
  readonly sendingTime: number;
  /** ms after which no request of a process that died or stalled can take effect: `sendingTime`, and the lifetime of a write. */
  readonly lateWindow: number;
  readonly record: (report: PackageReport) => void;
}

/**
 * Serves one call. If code throws after the package transaction is read, the hook answers as after a failed read, and reports the
 * error.
 */
export type PackageHook = (call: PackageCall) => Promise<PackageReply>;

/** A call about a Package that makes its own package transactions. */
export interface OwnCall {
  readonly kind: PackageKind;
  readonly name: string;
  readonly uid: string;
  /** Metacontroller calls to finalize the Package: it is being deleted, or its controller does not select it any more. */
  readonly isFinalizing: boolean;
}

export interface OwnReply {
  /** If absent, the status stays as it is. */
  readonly status?: JsonObject;
  /** In seconds; 0 requests no further call. */
  readonly resyncAfterSeconds: number;
  readonly finalized: boolean;
}

/** The actions of a call about a Package, for the log. */
export interface OwnReport extends Pick<PackageReport, 'because' | 'writes' | 'trouble' | 'thrown'> {
  readonly kind: PackageKind;
  readonly name: string;
  readonly uid: string;
  /** What `kubectl describe` shows of the Package: it is installed, waits, or is refused. */
  readonly event?: OwnEvent;
}

export interface OwnEvent extends Pick<PackageEvent, 'message' | 'at'> {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  /** The generation of the Package. */
  readonly version: number;
}

type SharedParts =
  | 'cluster'
  | 'clock'
  | 'gzip'
  | 'namespace'
  | 'sendingTime'
  | 'openRegistry'
  | 'deadline'
  | 'authority'
  | 'trustedRoot';

export interface OwnParts extends Pick<PackageParts, SharedParts> {
  /** Crossplane runs the revisions that the hook installs. */
  readonly isBeside?: boolean;
  readonly mode: OwnMode;
  readonly record: (report: OwnReport) => void;
}

/** Serves one call about a Package. If a read fails, the hook decides nothing. */
export type OwnHook = (call: OwnCall) => Promise<OwnReply>;
