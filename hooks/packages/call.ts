// The interface between the web server and the coordinator of packages: a call of Metacontroller goes in, an answer comes out.
import type { Clock, Cluster } from '../objects/cluster.ts';
import type { JsonObject } from '../objects/json.ts';
import type { Gzip } from './model/gzip.ts';
import type { Version } from './model/version.ts';
import type { Registry } from './registry.ts';

/** A call is a doorbell: only name and uid of its object count, everything else is read live. */
export interface PackageCall {
  readonly name: string;
  readonly uid: string;
  /** The status in the request; answered unchanged once the object is gone, or where nothing is left to do. */
  readonly status: JsonObject;
  readonly finalizing: boolean;
}

export interface PackageReply {
  readonly status: JsonObject;
  /** In seconds; 0 requests no further call. */
  readonly resyncAfterSeconds: number;
  readonly finalized: boolean;
}

/** What a call did, for the log. */
export interface PackageReport {
  readonly name: string;
  readonly uid: string;
  readonly fromPhase: string;
  readonly toPhase: string;
  /** A try ended with this call. */
  readonly ended?: { readonly kind: 'Succeeded' | 'Failed' | 'Abandoned'; readonly reason?: string };
  /** From the first try to now, where this call ended it for good. */
  readonly durationSeconds?: number;
  /** Why, in words. */
  readonly because: string;
  /** Writes that took effect. */
  readonly writes: number;
  /** The failure of a write or a read, if there was one; contains no secret. */
  readonly trouble?: string;
  /** What a bug threw; the call was answered all the same. */
  readonly thrown?: unknown;
}

interface Opening {
  /** `.dockerconfigjson`. */
  readonly pullSecrets: readonly string[];
  /** The source of the package that the user named. */
  readonly root: string;
  /** ms after which nothing is read any more. */
  readonly deadline: number;
}

export interface PackageParts {
  readonly cluster: Cluster;
  readonly clock: Clock;
  readonly openRegistry: (opening: Opening) => Registry;
  readonly gzip: Gzip;
  /** The namespace of stages, their contents and pull secrets; it holds a ServiceAccount of this name, which does all of it. */
  readonly namespace: string;
  /** The version of Crossplane; without it no package's `spec.crossplane.version` is checked. */
  readonly crossplane?: Version;
  /** ms for which a call reads from registries and the cluster. */
  readonly deadline: number;
  /** ms of a call after which it sends no write. */
  readonly sendingTime: number;
  /** ms after which no request of a process that died, or stalled, can take effect: `sendingTime`, and the lifetime of a write. */
  readonly lateWindow: number;
  readonly record: (report: PackageReport) => void;
}

/** Serves one call. What throws once the package transaction is read is answered like a read that failed, and reported. */
export type PackageHook = (call: PackageCall) => Promise<PackageReply>;
