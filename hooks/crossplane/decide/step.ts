// The step that one observation leads to: a closed union. The hook stores the status once it has made all writes of the step.
import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import type { Status } from '../model/status.ts';
import type { Garbage, NextChanges, Orphan, RevisionGarbage } from '../observe/observation.ts';
import type { RevisionStatus } from '../writes/applied.ts';
import type { Paused } from '../writes/beside.ts';
import type { Prepared } from '../writes/stages.ts';

/** The conditions of a package transaction while nothing else is known. */
export interface Note {
  readonly reason: 'WaitingForLock' | 'WaitingForPackage' | 'WaitingForCrossplane' | 'Resolving' | 'ReconcileError';
  readonly message: string;
}

export interface Decided {
  readonly because: string;
  /** The status before, if nothing must be stored. */
  readonly status: Status;
  /** Seconds until the next call. 0: the stored status, or a change of a related object, causes the call. */
  readonly wait: number;
  readonly note?: Note;
  /** The status if the API server refuses a write for good. If absent, the hook tries the write again. */
  readonly refused?: (failure: Failure) => Status;
}

export type Step = Decided &
  (
    | { readonly kind: 'setStatus' }
    | { readonly kind: 'createLock' }
    /**
     * Writes to the Lock as the hook read it. `fence`: a write of its packages that is in flight fails. `goForward`: the hook
     * does not undo what the holder has done.
     */
    | { readonly kind: 'acquire'; readonly lock: JsonObject }
    | { readonly kind: 'fence' | 'goForward'; readonly lock: JsonObject }
    /** `unrecorded`: the hook writes the status of these revisions first. */
    | { readonly kind: 'release'; readonly lock: JsonObject; readonly unrecorded?: readonly RevisionStatus[] }
    /** `retired`: goes with the write of the Lock. The API server may refuse its deletion. */
    | {
        readonly kind: 'writePackages';
        readonly lock: JsonObject;
        readonly packages: readonly JsonObject[];
        readonly retired?: RevisionGarbage | undefined;
      }
    /**
     * Installed objects get living owners. `isOptional`: they belong to other packages, and an install does not depend on the
     * write.
     */
    | { readonly kind: 'adopt'; readonly orphans: readonly Orphan[]; readonly isOptional: boolean }
    /** Crossplane may act on the revisions. `isEarly`: the Lock is not written yet. */
    | { readonly kind: 'handOver'; readonly paused: readonly Paused[]; readonly isEarly?: true }
    /**
     * Crossplane must leave the revisions alone: the hook deletes them, or undoes what made them. `written`: definitions that it has
     * written for them.
     */
    | { readonly kind: 'takeBack'; readonly paused: readonly Paused[]; readonly written?: readonly Paused[] }
    /** Objects of a package that is being deleted. `kept`: they lose their owners instead. */
    | { readonly kind: 'delete'; readonly objects: readonly Garbage[]; readonly kept: readonly Orphan[] }
    /** The hook stores the contents of stages. */
    | { readonly kind: 'store'; readonly contents: readonly Prepared[] }
    /** The hook creates the stage `index`. */
    | { readonly kind: 'create'; readonly index: number; readonly next: Extract<NextChanges, { kind: 'changes' }> }
    /** The hook takes the names of stages that a late request may still create. Then it requests the rollback of one stage. */
    | {
        readonly kind: 'compensate';
        readonly blocked: readonly number[];
        readonly request?: { readonly stage: JsonObject; readonly value: string };
      }
    /** `history`: the API server may refuse its deletion. */
    | {
        readonly kind: 'cleanUp';
        readonly garbage: readonly Garbage[];
        readonly history: readonly Garbage[];
        readonly finalized: boolean;
      }
  );

/** Seconds after which a call comes although no watch causes it. */
export const safetyWaitSeconds = 10;

const longestWaitSeconds = 30;

/** Seconds until the next call about one that has waited for `age` ms: a hundred may wait, and the longer they do, the rarer the calls. */
export function rarely(age: number, least: number): number {
  return Math.min(longestWaitSeconds, Math.max(least, Math.ceil(age / 10_000)));
}

export function setStatus(status: Status, because: string, wait = 1, note?: Note): Step {
  return { kind: 'setStatus', status, because, wait, ...(note === undefined ? {} : { note }) };
}
