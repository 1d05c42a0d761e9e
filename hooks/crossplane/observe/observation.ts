// All that a decision may use: the step that is due, and the values that the hook read for it.
import type { Resource } from '../../objects/cluster.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import type { Due } from '../due.ts';
import type { PackageFault } from '../model/fault.ts';
import { holderOf, numberFault } from '../model/holder.ts';
import type { PackageKind } from '../model/package.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import type { PackagePlan } from '../model/plan.ts';
import type { PackageReplacement } from '../model/replaced.ts';
import { millisecondsOf } from '../model/status.ts';
import type { RegistryFailure } from '../registry.ts';
import type { RevisionStatus } from '../writes/applied.ts';
import type { Paused } from '../writes/beside.ts';
import type { Sourced } from '../writes/contents.ts';
import type { Prepared } from '../writes/stages.ts';

export interface Context {
  readonly ptx: PackageTransaction;
  /** The namespace of stages, their contents and pull secrets. */
  readonly namespace: string;
  /** The API server's time in ms since the epoch. */
  readonly now: number;
  /** ms after which no request of a process that died can take effect: the deadline of a call, and the lifetime of a write. */
  readonly lateWindow: number;
  /** Crossplane runs the revisions that the hook installs. */
  readonly isBeside?: boolean;
  /** The namespace in which Crossplane runs them. */
  readonly crossplaneNamespace?: string | undefined;
  /** The Packages that the hook makes make their own package transactions. */
  readonly isOwn?: boolean;
}

/** An object that may be deleted. */
export interface Garbage {
  readonly resource: Resource;
  readonly namespace?: string;
  readonly object: JsonObject;
}

/** An installed object whose owners are gone, and the owners that it should have. */
export interface Orphan {
  readonly resource: Resource;
  readonly live: JsonObject;
  readonly owners: readonly JsonObject[];
}

/**
 * The hook reads packages before it takes the Lock: a registry may be slow, and other package transactions wait for the holder of
 * the Lock.
 */
export type NotRead =
  /** The time of the call is over. */
  { readonly kind: 'unfinished' } | { readonly kind: 'failed'; readonly failure: RegistryFailure } | Awaiting;

/**
 * A package of the tree is not installed, and a user has made a Package of it under another name: that Package installs itself first.
 * Otherwise the hook would install the package under the name that its repository gives it, and refuse the user's Package.
 */
export interface Awaiting {
  readonly kind: 'awaiting';
  readonly message: string;
}

/** Those that take the Lock before a package transaction: how many they are, and the name of the first. */
export interface LockQueue {
  readonly count: number;
  readonly first: string;
}

interface ValidTree {
  readonly kind: 'valid';
  readonly lock: readonly JsonObject[];
  /** The packages that leave, of a Replace. */
  readonly replaced?: readonly PackageReplacement[];
  /** Instances that lose values because the user has allowed it, in words. */
  readonly lostValues?: string;
}

export type Validation =
  | ValidTree
  | { readonly kind: 'refused'; readonly faults: readonly (PackageFault | DryRunFault)[] }
  /** Of a Delete or a Replace that goes on: revisions that somebody has installed since its first deletion, in words. */
  | { readonly kind: 'installedAgain'; readonly revisions: readonly string[] }
  /** Of a Delete: a package transaction of this name has deleted or replaced the package meanwhile. */
  | { readonly kind: 'gone'; readonly by: string }
  /** A registry does not provide a value that the hook needs. */
  | { readonly kind: 'failed'; readonly failure: RegistryFailure }
  /** The time of the call is over. The hook keeps its findings, and the next call goes on. */
  | { readonly kind: 'unfinished' }
  /** The time of the call is over before the tree was read. */
  | { readonly kind: 'unread' }
  | Awaiting;

export interface DryRunFault {
  readonly reason: 'DryRunFailed';
  readonly message: string;
}

export type Preparation =
  | { readonly kind: 'ready'; readonly prepared: readonly Prepared[]; readonly existing: ReadonlySet<string> }
  /** Of a dry run. */
  | { readonly kind: 'planned'; readonly plan: PackagePlan }
  | { readonly kind: 'failed'; readonly failure: RegistryFailure }
  | { readonly kind: 'unfinished' };

/** The changes of the next stage, or why the hook cannot know them. */
export type NextChanges =
  | { readonly kind: 'changes'; readonly changes: readonly JsonObject[]; readonly source?: Sourced['source'] }
  | { readonly kind: 'lost'; readonly message: string };

/** A CRD of a new package whose conversion webhook does not answer yet. */
export interface WebhookSecret {
  /** The name of the CRD. */
  readonly definition: string;
  /** The namespace and the name of the Secret that Crossplane makes once it has the revision. */
  readonly secret: string;
  /** The revision, if Crossplane has not got it. */
  readonly paused?: Paused;
  /** Why its instances cannot be read, in words. Absent if the CRD has no authority. */
  readonly unread?: string;
}

/**
 * Whether the package transaction that holds the Lock exists. If it is gone, also its stages, the last one first, its contents, and
 * the revisions that it has paused. If it has not written the Lock, `paused` has only those that Crossplane got in advance.
 */
export interface HolderState {
  readonly isHolderThere: boolean;
  readonly leftStages: readonly JsonObject[];
  readonly garbage: readonly Garbage[];
  readonly paused?: readonly Paused[];
}

/** Revisions beyond the history of their package, and the objects without their references to these revisions. */
export interface RevisionGarbage {
  readonly revisions: readonly Garbage[];
  readonly released: readonly Orphan[];
}

/** What is left of a package that is being deleted. */
export interface DeletionState {
  /** The objects that the next call deletes: first those of the package, then its revisions, then the package. */
  readonly objects: readonly Garbage[];
  /** Revisions that only the hook takes the finalizer of Crossplane from: Crossplane leaves them alone. */
  readonly held?: readonly Paused[];
  /** Objects that stay, without owners. */
  readonly kept: readonly Orphan[];
  /** Why objects cannot be deleted, in words. */
  readonly inUse: readonly string[];
  /** Names of objects that are being deleted. */
  readonly terminating: readonly string[];
  /** Before the first deletion: the uids of the package objects and revisions. */
  readonly uids?: readonly string[];
}

/** What Crossplane runs of the packages of a Replace. */
export interface RuntimeState {
  /** Deployments and Pods of revisions that leave. */
  readonly running: readonly Garbage[];
  /** New revisions that Crossplane has not got. */
  readonly paused: readonly Paused[];
  /** Why new revisions are not healthy, in words. */
  readonly unhealthy: readonly string[];
}

interface WithLock {
  /** Undefined: there is no Lock. */
  readonly lock: JsonObject | undefined;
}

interface Read {
  readonly rest: object;
  readonly refuse: WithLock;
  readonly wait: object;
  readonly acquire: WithLock &
    HolderState & {
      /** Stages and contents of its own earlier tries that are old enough to be deleted. */
      readonly ofTries: readonly Garbage[];
      /** Why the hook does not read its packages ahead. Absent if it reads them. */
      readonly unread?: NotRead | undefined;
      /** Those that take the Lock first. Absent if this one is the next. */
      readonly before?: LockQueue | undefined;
    };
  /** `orphans`: installed objects of any package, if the tree is valid. Undefined: the hook read nothing. */
  readonly validate: WithLock & { readonly validation: Validation | undefined; readonly orphans?: readonly Orphan[] };
  readonly prepare: WithLock & { readonly preparation: Preparation | undefined };
  readonly install: WithLock & {
    /** The live object of the stage that is made last; undefined if it does not exist. */
    readonly stage: JsonObject | undefined;
    /** The contents of the stage, if it does not exist. */
    readonly next: NextChanges | undefined;
    /** Why the try is abandoned, if it cannot go on. */
    readonly edited?: string | undefined;
  };
  /** `faults`: objects that are not as the stages made them, in words. `retired`: absent unless the hook may write the Lock. */
  readonly verify: WithLock & {
    readonly faults: readonly string[] | 'unfinished';
    /** Why the try is abandoned, if there are faults. */
    readonly edited?: string | undefined;
    readonly unserved?: readonly WebhookSecret[];
    /** Of a Replace beside Crossplane, if no object has a fault. */
    readonly runtimes?: RuntimeState | undefined;
    readonly retired?: RevisionGarbage | undefined;
  };
  readonly delete: WithLock & { readonly state: DeletionState | undefined };
  /** The stages of this try that exist, the last one first. */
  readonly rollBack: {
    readonly found: readonly JsonObject[];
    /** Revisions that Crossplane got in advance. */
    readonly running?: readonly Paused[];
    /** Definitions that Crossplane has written for them. */
    readonly written?: readonly Paused[];
  };
  /** The Lock is written: `paused`: revisions that wait for it. `unrecorded`: revisions whose status the hook writes. */
  readonly release: WithLock & { readonly paused?: readonly Paused[]; readonly unrecorded?: readonly RevisionStatus[] };
  readonly handOver: { readonly paused?: readonly Paused[] };
  readonly cleanUp: {
    /** Stages and contents of all its tries. The list is empty if they must stay. */
    readonly garbage: readonly Garbage[];
    /**
     * Finished package transactions beyond the limit of the history, and what a package transaction that was removed by force left.
     */
    readonly history: readonly Garbage[];
    /** Installed objects that would have no owner without the package transaction, if it is about to be deleted. */
    readonly orphans: readonly Orphan[];
  };
}

export type ObservedTo<Kind extends Due> = Context & Read[Kind];

export type Observation = { [Kind in Due]: { readonly due: Kind } & ObservedTo<Kind> }[Due];

/** A Package that makes its own package transactions, as it is now. */
export interface OwnObservation {
  readonly kind: PackageKind;
  readonly pkg: JsonObject;
  /** Metacontroller finalizes the Package. Without a time of deletion, its controller does not select the Package any more. */
  readonly isFinalizing: boolean;
  /** Whether the Package makes its own package transactions. */
  readonly isOwn: boolean;
  readonly isBeside: boolean;
  /** The package transactions that the Package has made, without the largest parts of their status. */
  readonly made: readonly JsonObject[];
  /** Another package transaction that wrote the Package last. */
  readonly writer: JsonObject | undefined;
  /** Another package transaction that holds the Lock. Undefined unless the Package is being deleted. */
  readonly holder: JsonObject | undefined;
  /** The digest to which the tag has moved, if the Package follows its tag. */
  readonly moved?: string | undefined;
  /** Another package transaction with the name of the next one. */
  readonly namesake: JsonObject | undefined;
  readonly revisions: readonly JsonObject[];
  /** Undefined if there is no Lock, or if the decision needs none. */
  readonly lock: JsonObject | undefined;
  readonly namespace: string;
  /** The API server's time in ms since the epoch. */
  readonly now: number;
}

/** Whether the hook has nothing to do before it reads the packages. */
export function isToRead({ ptx, lock, isHolderThere, ofTries }: ObservedTo<'acquire'>): boolean {
  if (lock === undefined || ptx.isDeleting || ofTries.length > 0 || numberFault(lock) !== undefined) return false;
  const holder = holderOf(lock);
  return holder === undefined || (holder.uid !== ptx.uid && isHolderThere);
}

/**
 * ms for which stages and their contents stay. No process is believed to stop for so long. So the time also holds for stages of a
 * package transaction that is gone.
 */
export const keptFor = 600_000;

/** Whether it was created so many ms ago. */
export function isOlder(one: Garbage, age: number, now: number): boolean {
  return now - createdAt(one) >= age;
}

export function createdAt({ object }: Garbage): number {
  return millisecondsOf(textAt(object, 'metadata', 'creationTimestamp'));
}
