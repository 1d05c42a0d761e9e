// All that a decision may know: a frozen value, the API server's time included.

import type { Agenda } from '../agenda/agenda.ts';
import type { Fault } from '../checks/fault.ts';
import type { Resolved } from '../checks/targets.ts';
import type { Answer } from '../cluster.ts';
import type { Failure, Unseen } from '../model/failure.ts';
import type { JsonObject } from '../model/json.ts';
import type { Others } from '../model/others.ts';
import type { Reference } from '../model/reference.ts';
import type { SnapshotEntry } from '../model/snapshot.ts';
import type { RollbackRef, Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import type { Lock } from '../writes/lease.ts';

export type Presence =
  | { readonly kind: 'present'; readonly object: JsonObject }
  | { readonly kind: 'absent' }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** What this process knows of its own earlier calls for the same Transaction. */
export interface Recollection {
  /** The name under which it was the last time a writer; what it sent is answered, or `unsettledAt` says when it was not. */
  readonly writer?: string;
  /** Whether it may send more under that name. */
  readonly isOpen: boolean;
  /** By the API server's clock, in ms: when a request of it stayed unanswered, or it took the place of such a writer. */
  readonly unsettledAt?: number;
  /** The last change that it is known to have made, by its index; whether an answer with it was stored is another matter. */
  readonly sentUpTo?: number;
  /** How many calls in a row have only waited. */
  readonly waits: number;
}

/** What is known of a wanted lock; `unknown` ones are tried first and read only when they turn out to be taken. */
export type LockState = Presence | { readonly kind: 'unknown' };

/** Locks to take, in the order of their names. */
export interface LockView {
  readonly locks: readonly Lock[];
  readonly states: ReadonlyMap<string, LockState>;
  /** Those that this very call has acquired. */
  readonly acquired: ReadonlySet<string>;
}

/** A target before its change: what is there, and what a dry run says would be. */
export interface Prepared {
  readonly resolved: Resolved;
  readonly prior: JsonObject | undefined;
  readonly expected: JsonObject | undefined;
  readonly approximate: boolean;
  /** Its dry run waits for its turn. */
  readonly deferred?: true;
  /** What should be known of it although it is no fault. */
  readonly note?: string;
  /** Kinds that cannot be listed for now: what would go with it is not known. */
  readonly failing?: readonly Unseen[];
}

export type StoredSnapshot =
  | { readonly kind: 'stored'; readonly ref: RollbackRef; readonly entries: readonly SnapshotEntry[] }
  /** Missing, or not what the status says was stored. */
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'trouble'; readonly failure: Failure };

export type View =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'begin';
      readonly faults: readonly Fault[];
      readonly trouble?: Failure;
      /** Leases of ours that an earlier call has taken, where there are faults. */
      readonly strays?: readonly JsonObject[];
      /** In the order of the changes. */
      readonly targets: readonly Reference[];
      readonly locks: LockView;
    }
  | { readonly kind: 'relock'; readonly snapshot: StoredSnapshot; readonly locks: LockView }
  | {
      readonly kind: 'prepare';
      readonly faults: readonly Fault[];
      readonly trouble?: Failure;
      readonly targets: readonly Prepared[];
      /** A snapshot of ours that an earlier call has stored. */
      readonly adopted?: Extract<StoredSnapshot, { kind: 'stored' }>;
      /** What lies under its name and is no complete snapshot of ours. */
      readonly leftovers: readonly JsonObject[];
      readonly snapshotName: string;
    }
  | {
      readonly kind: 'item';
      readonly serviceAccount: Presence;
      readonly snapshot: StoredSnapshot;
      readonly lease: Presence;
      /** All our Leases. */
      readonly leases: readonly JsonObject[];
      readonly live: Presence;
      /**
       * Where `live` comes from. `assumed`: it is the state before the change; only a write that is bound to its version may follow.
       * `earlier`: it was read before this look at the Transaction began, `now`: after that (W5, decide/in-flight.ts).
       */
      readonly liveFrom: 'assumed' | 'earlier' | 'now';
      /** What others would lose with the object that is about to be deleted, in words. */
      readonly contents: readonly string[];
      /** What goes with it and is itself to be taken back before. */
      readonly ownContents: readonly string[];
      /** Kinds that the ServiceAccount may not list: of these it is not known what would go with it. */
      readonly unlisted: readonly string[];
      /** Kinds that cannot be listed for now. */
      readonly failing: readonly Unseen[];
      /** A kind that could not be listed although what it holds is inside. */
      readonly unseenInside?: Unseen;
      readonly contentsTrouble?: Failure;
      /** uids of owners of what comes back that are no more. */
      readonly goneOwners: readonly string[];
      /** uids of those that may not be read. */
      readonly hiddenOwners?: readonly string[];
      /** Of a ServiceAccount's token that comes back: whose it will be, the same one's as before or another's of its name. */
      readonly tokenOf?: 'same' | 'other' | 'nobody';
      /** Other Transactions over the same object, once they were looked for. */
      readonly others?: Others;
      readonly othersTrouble?: Failure;
      /** What the deferred dry run of the change has come to, in its turn. */
      readonly tried?: Answer;
      /** The CustomResourceDefinition that an earlier change made for this kind. */
      readonly definition?: JsonObject;
    }
  | { readonly kind: 'release'; readonly leases: readonly JsonObject[]; readonly trouble?: Failure }
  | {
      readonly kind: 'settle';
      readonly leases: readonly JsonObject[];
      readonly configMaps: readonly JsonObject[];
      readonly trouble?: Failure;
    };

/** How much a status announces: `one` change, or all that follow (decide/window.ts). */
export type Pace = 'one' | 'all';

export interface Observation {
  /** ms since the epoch by the API server's clock, of one second's resolution. */
  readonly now: number;
  readonly transaction: Transaction;
  readonly status: Status;
  readonly agenda: Agenda;
  readonly engineNamespace: string;
  /** Names this process among all that serve. */
  readonly server: string;
  /** Names this call of it. */
  readonly writer: string;
  readonly recollection: Recollection;
  /** How long a write of an unknown fate may still land, in ms. */
  readonly lateWindow: number;
  /** How much is announced at once. */
  readonly pace: Pace;
  readonly view: View;
  /** The plain text of an item's drift; undefined when it cannot be opened. */
  readonly openDrift: (drift: string, entry: SnapshotEntry) => string | undefined;
}
