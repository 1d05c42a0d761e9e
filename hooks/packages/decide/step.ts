// What one observation leads to: a closed union. The status is stored once all writes of the step are made.
import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import type { Status } from '../model/status.ts';
import type { Garbage, NextChanges, Orphan } from '../observe/observation.ts';
import type { Prepared } from '../writes/stages.ts';

/** What the conditions say while nothing else is known. */
export interface Note {
  readonly reason: 'WaitingForLock' | 'Resolving' | 'ReconcileError';
  readonly message: string;
}

export interface Decided {
  readonly because: string;
  /** The same as before if nothing must be stored. */
  readonly status: Status;
  /** Seconds until the next call; 0: the stored status, or a change of what is related, brings it. */
  readonly wait: number;
  readonly note?: Note;
  /** The status if the API server refuses a write for good; if absent, the write is tried again. */
  readonly refused?: (failure: Failure) => Status;
}

export type Step = Decided &
  (
    | { readonly kind: 'setStatus' }
    | { readonly kind: 'createLock' }
    /** Writes to the Lock as it was read. `fence`: a write of its packages that is in flight fails. */
    | { readonly kind: 'acquire' | 'release' | 'fence'; readonly lock: JsonObject }
    | { readonly kind: 'writePackages'; readonly lock: JsonObject; readonly packages: readonly JsonObject[] }
    /** Installed objects get living owners. `isOptional`: they are of other packages, and an install does not depend on it. */
    | { readonly kind: 'adopt'; readonly orphans: readonly Orphan[]; readonly isOptional: boolean }
    /** The contents of stages are stored. */
    | { readonly kind: 'store'; readonly contents: readonly Prepared[] }
    /** The stage `index` is created. */
    | { readonly kind: 'create'; readonly index: number; readonly next: Extract<NextChanges, { kind: 'changes' }> }
    /** The names of stages that may still be created late are taken, then the rollback of one stage is requested. */
    | {
        readonly kind: 'compensate';
        readonly blocked: readonly number[];
        readonly request?: { readonly stage: JsonObject; readonly value: string };
      }
    /** `history`: its deletion may be refused. */
    | {
        readonly kind: 'cleanUp';
        readonly garbage: readonly Garbage[];
        readonly history: readonly Garbage[];
        readonly finalized: boolean;
      }
  );

/** Seconds after which a call comes though no watch brought it. */
export const safetyWait = 10;

export function setStatus(status: Status, because: string, wait = 1, note?: Note): Step {
  return { kind: 'setStatus', status, because, wait, ...(note === undefined ? {} : { note }) };
}
