// The step that follows from one read: a closed union. Each step touches at most one target.

import type { Precondition } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import type { Restoring } from '../attribution/restore.ts';
import type { UndoVerdict } from '../attribution/undo.ts';
import type { Lock } from '../locks/lease.ts';
import type { Change } from '../model/change.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Wanted } from '../model/other-transactions.ts';
import type { Status } from '../model/status.ts';
import type { Wait } from '../model/wait.ts';
import type { Prepared } from '../observe/observation.ts';
import type { Drift } from '../snapshots/drift.ts';

export type Step =
  /** Nothing is written; the status becomes this one.  */
  | { readonly kind: 'setStatus'; readonly status: Status; readonly because: string; readonly wait: Wait }
  /** The target is missing: it is read, then all is observed again within this call. */
  | { readonly kind: 'readMore'; readonly entry: SnapshotEntry; readonly because: string }
  /** Other Transactions that change the object are not read yet: the engine reads them, then observes everything again. */
  | { readonly kind: 'readMore'; readonly others: Wanted; readonly because: string }
  /** What a requested undo would do with each change is missing: it is evaluated, then all is observed again. */
  | { readonly kind: 'readMore'; readonly survey: true; readonly because: string }
  /** Why the gate of a change has ended badly is missing: it is read, then all is observed again. */
  | { readonly kind: 'readMore'; readonly diagnose: number; readonly because: string }
  /** The engine reads the gates again within this call, after `pause` ms. It may go on to do this for `awaitLeft` ms. */
  | { readonly kind: 'pollLater'; readonly pause: number; readonly awaitLeft: number; readonly because: string }
  | {
      readonly kind: 'acquire';
      readonly create: readonly Lock[];
      readonly replace: readonly { readonly lock: Lock; readonly lease: JsonObject }[];
      /** Whether a rollback takes locks again that it has lost. */
      readonly isRegained?: true;
      /** The status to store if it takes more than this call: since when it waits, and the names of the Leases. */
      readonly meanwhile: Status;
      readonly because: string;
    }
  | { readonly kind: 'renew'; readonly leases: readonly JsonObject[]; readonly because: string }
  /** Puts the name of this call into the first change's Lease. `isSettled`: all requests of the writer named there are answered. */
  | { readonly kind: 'sign'; readonly lease: JsonObject; readonly isSettled: boolean; readonly because: string }
  /** Releases locks that this call has taken, and waits. */
  | {
      readonly kind: 'releaseAndWait';
      readonly leases: readonly JsonObject[];
      readonly status: Status;
      /** The status to store instead if a lock could not be released: it names the locks, so another call releases them. */
      readonly held?: Status;
      readonly because: string;
      readonly wait: Wait;
    }
  | { readonly kind: 'store'; readonly targets: readonly Prepared[]; readonly name: string; readonly because: string }
  | { readonly kind: 'discard'; readonly configMaps: readonly JsonObject[]; readonly because: string }
  | {
      readonly kind: 'apply';
      readonly index: number;
      readonly change: Change;
      readonly entry: SnapshotEntry;
      readonly live: JsonObject | undefined;
      readonly precondition: Precondition | undefined;
      /** Of a Restore that brings an object back or changes it. */
      readonly restoring?: Restoring;
      readonly goneOwners?: readonly string[];
      /** What should be known of it once it is made. */
      readonly note?: string;
      readonly because: string;
    }
  /** The deferred dry run of a change has failed in its turn: nothing is sent. */
  | {
      readonly kind: 'refused';
      readonly index: number;
      readonly entry: SnapshotEntry;
      readonly failure: Failure;
      readonly because: string;
    }
  /** Stores what has changed since the snapshot in an object that is about to be deleted. */
  | {
      readonly kind: 'recordDrift';
      readonly index: number;
      readonly entry: SnapshotEntry;
      readonly drift: readonly Drift[];
      readonly because: string;
    }
  | {
      readonly kind: 'compensate';
      readonly index: number;
      readonly entry: SnapshotEntry;
      readonly verdict: UndoVerdict;
      readonly goneOwners: readonly string[];
      /** Field managers of Transactions that are undone or gone: nothing is returned to them. */
      readonly goneManagers: readonly string[];
      readonly because: string;
    }
  /** Deletes the Transaction itself; letting go of what belongs to it follows as for any deletion. */
  | { readonly kind: 'expire'; readonly because: string }
  | { readonly kind: 'release'; readonly leases: readonly JsonObject[]; readonly because: string }
  | {
      readonly kind: 'releaseFields';
      readonly index: number;
      readonly entry: SnapshotEntry;
      readonly live: JsonObject;
      readonly because: string;
    }
  | {
      readonly kind: 'cleanUp';
      readonly leases: readonly JsonObject[];
      readonly configMaps: readonly JsonObject[];
      readonly because: string;
    };

/** Only the status changes. */
export type SetStatus = Extract<Step, { kind: 'setStatus' }>;
