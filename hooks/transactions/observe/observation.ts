// All that a decision may know: a frozen value, the API server's time included.

import type { Answer, Warnings } from '../../objects/cluster.ts';
import type { Failure, Passing, Refusal } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import type { Reference } from '../../objects/reference.ts';
import type { Fault } from '../checks/fault.ts';
import type { Resolved } from '../checks/targets.ts';
import type { UndoChoices } from '../checks/undo-choices.ts';
import type { Due } from '../due.ts';
import type { Hazards } from '../hazards/hazards.ts';
import type { OwnWrites } from '../in-flight/in-flight.ts';
import type { HolderMap } from '../locks/holder.ts';
import type { Lock } from '../locks/lease.ts';
import type { Change, Way } from '../model/change.ts';
import type { KeptScale } from '../model/entry.ts';
import type { Item } from '../model/item.ts';
import type { Others } from '../model/other-transactions.ts';
import type { RollbackSet } from '../model/rollback.ts';
import type { Pace, Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import type { UndoFinding } from '../model/undo.ts';
import type { KnownDrift } from '../snapshots/drift.ts';
import type { AwaitView, StoredSnapshot } from './awaited.ts';

export type Presence =
  | { readonly kind: 'present'; readonly object: JsonObject }
  | { readonly kind: 'absent' }
  /** `isUnserved`: the kind is not served in that version; whether the object is there is unknown. */
  | { readonly kind: 'trouble'; readonly failure: Passing; readonly isUnserved: true }
  | { readonly kind: 'trouble'; readonly failure: Failure; readonly isUnserved?: never };

/** The state of a wanted lock. The engine tries `unknown` locks first, and reads them only if they turn out to be taken. */
export type LockState = Presence | { readonly kind: 'unknown' };

/** Locks to take, in the order of their names. */
export interface LockView {
  readonly locks: readonly Lock[];
  readonly states: ReadonlyMap<string, LockState>;
  /** Those that this very call has acquired. */
  readonly acquired: ReadonlySet<string>;
  /** The other holders of expired Leases. */
  readonly holders: HolderMap;
}

/** A target before its change: the live object, and the expected object according to a dry run. */
export interface Prepared {
  readonly resolved: Resolved;
  /** How the change will be made. */
  readonly way: Way;
  readonly prior: JsonObject | undefined;
  readonly expected: JsonObject | undefined;
  readonly approximate: boolean;
  /** What should be known of it although it is no fault. */
  readonly note?: string;
  /** Of the API server, about its dry run; without texts if they are hidden. */
  readonly warnings?: Warnings;
  /** Of a deletion: kinds that cannot be listed for now, so that what would be deleted with it is not known. */
  readonly failingKinds?: Hazards['failingKinds'];
  /** Why it cannot be undone. */
  readonly irreversible?: string;
  /** Its dry run waits for its turn. */
  readonly deferred?: true;
  /** A dry run of its undo was refused, and waits for the turn of the change. */
  readonly isPriorRefused?: true;
  /** The earlier change that it cannot be tried before. */
  readonly after?: number;
  /** The API server does not change it in place: it is deleted and created again. */
  readonly recreates?: true;
  /** The number of the object stays, in place of that of content. */
  readonly keepsScale?: KeptScale;
}

/** The checks before anything is touched, and the locks. */
export interface BeginView {
  readonly faults: readonly Fault[];
  readonly trouble?: Failure;
  /** Our Leases that an earlier call has taken. They are read only if there are faults. */
  readonly orphanedLeases?: readonly JsonObject[];
  /** In the order of the changes. */
  readonly targets: readonly Reference[];
  readonly locks: LockView;
}

/** An object that a rollback restores. Its states are undefined where it does not exist. */
export interface RollbackObject {
  readonly target: Reference;
  /** As it was when `after` was composed, and as it is to be. */
  readonly now: JsonObject | undefined;
  readonly after: JsonObject | undefined;
  /** As it was read last. */
  readonly live: JsonObject | undefined;
}

/** By identity. */
export type RollbackObjects = ReadonlyMap<string, RollbackObject>;

/** What a rollback would do: found without locks, or again while it holds all locks. */
export interface RollbackView {
  readonly faults: readonly Fault[];
  readonly trouble?: Failure;
  /** What it waits for, in words. */
  readonly waiting?: string;
  /** Undefined if they are not known. */
  readonly objects?: RollbackObjects;
  /** The composition. The engine keeps it under the locks if nothing has changed. With faults: what a plan shows of objects that are blocked. */
  readonly found?: {
    readonly set: RollbackSet;
    readonly findings: readonly UndoFinding[];
    readonly choices: Pick<UndoChoices, 'keep' | 'overwrite'>;
  };
}

/** The Transactions that a rollback undoes, found again while it holds its locks: uids, the newest first. */
export interface ReleasesView {
  readonly trouble?: Failure;
  readonly uids: readonly string[];
}

export interface RelockView {
  readonly snapshot: StoredSnapshot;
  readonly locks: LockView;
  /** The changes, by index, whose drift is not authentic. */
  readonly brokenDrift: readonly number[];
  /** What the undo would do with each change that is to be undone, once that was evaluated. */
  readonly survey?: readonly UndoFinding[];
}

export interface PrepareView {
  readonly faults: readonly Fault[];
  readonly trouble?: Failure;
  readonly targets: readonly Prepared[];
  /** Our snapshot that an earlier call has stored. */
  readonly adopted?: Extract<StoredSnapshot, { kind: 'stored' }>;
  /** The objects under the snapshot's names that are not a complete snapshot of this Transaction. */
  readonly incompleteParts: readonly JsonObject[];
  readonly snapshotName: string;
}

/** One change, with all that is known of its target. */
export interface ItemView {
  readonly index: number;
  readonly change: Change;
  readonly item: Item;
  readonly serviceAccount: Presence;
  readonly snapshot: StoredSnapshot;
  readonly lease: Presence;
  /** All our Leases. */
  readonly leases: readonly JsonObject[];
  /** The other holder of `lease`, if the Lease has expired. */
  readonly holders: HolderMap;
  /** Whether other Transactions may have changed the object since our change: the lock was lost or released. */
  readonly wasUnlocked?: boolean;
  readonly live: Presence;
  /** The drift of the object from its snapshot, as the item remembers it. */
  readonly drift: KnownDrift;
  /**
   * The source of `live`. `assumed`: it is the state before the change; only a write that is bound to its version may follow.
   * `earlier`: the engine read it before this read of the Transaction began, `now`: after that (W5, in-flight/in-flight.ts).
   */
  readonly liveFrom: 'assumed' | 'earlier' | 'now';
  /** What others would lose by the change, or by its undo. */
  readonly hazards: Hazards;
  /** Other Transactions that change the object, after the engine has read them. */
  readonly others?: Others;
  readonly othersTrouble?: Failure;
  /** The result of the deferred dry run of the change, in its turn. */
  readonly tried?: Answer;
  /** Why the change cannot be undone, as the deferred dry run of its undo shows. */
  readonly irreversible?: string;
}

export interface ReleaseView {
  readonly leases: readonly JsonObject[];
  readonly trouble?: Failure;
}

export interface CleanUpView extends ReleaseView {
  readonly configMaps: readonly JsonObject[];
  /** Why the ConfigMaps are not known; `trouble` is about the Leases. */
  readonly unread?: Failure;
  /** There may be more ConfigMaps than these. */
  readonly hasMore: boolean;
}

type DueTo<Kind extends Due['kind']> = Extract<Due, { kind: Kind }>;

/** The due step, and the reads for it. */
export type Observed =
  | (DueTo<'begin'> & BeginView & { readonly releases?: ReleasesView })
  | (DueTo<'compose'> & { readonly composition?: RollbackView })
  | (DueTo<'prepare'> & PrepareView)
  | (DueTo<'apply'> & ItemView)
  | (DueTo<'await'> & AwaitView)
  | (DueTo<'restore'> & ItemView)
  | (DueTo<'releaseFields'> & ItemView)
  | (DueTo<'reacquire'> & RelockView)
  | (DueTo<'planUndo'> & RelockView)
  | (DueTo<'fail'> & ReleaseView)
  | (DueTo<'release'> & ReleaseView)
  | (DueTo<'cleanUp'> & CleanUpView)
  | (DueTo<'rollBack'> & { readonly awaited?: AwaitView })
  | DueTo<'ignore' | 'conclude' | 'expire' | 'rest'>;

export type ObservedTo<Kind extends Due['kind']> = Extract<Observed, { kind: Kind }>;

/** The reads for one change, if a change is due. */
export function itemOf(due: Observed): ItemView | undefined {
  return due.kind === 'apply' || due.kind === 'restore' || due.kind === 'releaseFields' ? due : undefined;
}

export interface Observation {
  /** ms since the epoch by the API server's clock, of one second's resolution. */
  readonly now: number;
  readonly transaction: Transaction;
  readonly status: Status;
  readonly due: Observed;
  /** The change whose target this call has written to. */
  readonly touched?: number;
  /** The kind of the last completed step of this call. */
  readonly after?: Due['kind'];
  /** Another engine has stored a status while this call was writing. */
  readonly isOvertaken: boolean;
  readonly engineNamespace: string;
  /** Names this process among all that serve. */
  readonly server: string;
  /** Names this call of it. */
  readonly writer: string;
  readonly ownWrites: OwnWrites;
  /** How many calls in a row have only waited. */
  readonly waits: number;
  /** The refusal of a request that the engine needs: to read the ServiceAccount, or to impersonate it. */
  readonly barred?: Refusal | undefined;
  /** Ms since the first refusal in a row; none if no refusal held up the call before. */
  readonly refusedFor?: number;
  /** How long a write in flight may still take effect, in ms. */
  readonly lateWindow: number;
  /** How much is announced at once. */
  readonly pace: Pace;
}
