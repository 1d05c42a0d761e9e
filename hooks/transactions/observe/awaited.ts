// The findings about open gates, and the snapshot that the engine compares them with.

import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import type { FailingPod } from '../gates/new-pods.ts';
import type { Finding, GateEvidence } from '../gates/verdict.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { GateState } from '../model/gate.ts';
import type { RollbackRef } from '../model/status.ts';

export type StoredSnapshot =
  | { readonly kind: 'stored'; readonly ref: RollbackRef; readonly entries: readonly SnapshotEntry[] }
  /** Missing, or different from the snapshot that the status names. */
  | { readonly kind: 'broken'; readonly message: string }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** One open gate, and the findings about its object. The engine drops the object: gates may have more objects than memory holds. */
export interface GateView {
  readonly index: number;
  readonly entry: SnapshotEntry;
  readonly evidence: Pick<GateEvidence, 'gate' | 'sealed'>;
  /** `trouble`: the object could not be read. */
  readonly finding: Finding | { readonly kind: 'trouble'; readonly failure: Failure };
  /** Absent if the gate does not fail because of Pods, or if its object is ready. */
  readonly pods?: PodsView;
}

/** The Pods of a gate that fails if their containers do not start. */
export interface PodsView {
  /** Ms until the engine lists them again. */
  readonly left: number;
  /** Absent if this poll has not listed them. */
  readonly seen?: PodsSeen;
}

/** `failing`: of the new revision. `unread`: why the engine cannot list them, in words. */
export type PodsSeen =
  | { readonly kind: 'listed'; readonly failing: readonly FailingPod[] }
  | { readonly kind: 'unread'; readonly found: string };

interface Diagnosis extends Pick<GateState, 'pod' | 'logs'> {
  readonly index: number;
  /** Empty if the engine found nothing. */
  readonly words: string;
}

/** The open gates, in the order of the changes, and the locks. */
export interface AwaitView {
  readonly views: readonly GateView[];
  readonly leases: readonly JsonObject[];
  readonly trouble?: Failure;
  readonly snapshot: StoredSnapshot;
  /** Ms for which this call may go on to read them. */
  readonly awaitLeft: number;
  /** How many Transactions of the namespace poll, if the process knows. */
  readonly polled?: number;
  /** Why the object of a gate that has ended badly is not ready, in words; absent until the engine has read it. */
  readonly diagnosis?: Diagnosis;
}
