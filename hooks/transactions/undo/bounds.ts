// What bounds a rollback: its objects, their states, and the snapshots that it reads. Over a bound it is refused as a whole, with the counts
// and the nearest release that can be reached. Pure.
import { limits } from '../../objects/limits.ts';
import { weightOf } from '../../objects/measure.ts';
import { foreign } from '../../objects/words.ts';
import { type Fault, fault } from '../checks/fault.ts';
import { mostChanges } from '../checks/validity.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Transaction } from '../model/transaction.ts';
import { stateSize, whyTooLarge } from '../snapshots/size.ts';
import type { UndoObject } from './composition.ts';

interface Bounds {
  readonly objects: number;
  /** Bytes in memory of all snapshots. */
  readonly snapshots: number;
}

export const bounds: Bounds = { objects: mostChanges, snapshots: limits.undoneSnapshots.value };

type Release = Pick<Transaction, 'name' | 'status'>;

/** How far a rollback has come. */
export interface RollbackProgress {
  /** What it undoes, the newest first. */
  readonly releases: readonly Release[];
  /** The oldest release that can be reached, as far as it is known. */
  reached: Release | undefined;
  /** Snapshots that are read, and their bytes in memory. */
  snapshots: number;
  bytes: number;
}

export function begunAt(releases: readonly Release[]): RollbackProgress {
  return { releases, reached: undefined, snapshots: 0, bytes: 0 };
}

/** All that is newer than the release is composed: so the release can stay. */
export function reach(progress: RollbackProgress, release: Release, objects: Iterable<UndoObject>): void {
  if (release.status?.phase !== 'Committed' || release === progress.releases[0]) return;
  if (statesTooLarge([...objects]) === undefined) progress.reached = release;
}

export function snapshotsTooLarge(
  progress: RollbackProgress,
  entries: readonly SnapshotEntry[],
  { snapshots }: Bounds,
): Fault | undefined {
  progress.snapshots += 1;
  for (const { prior, expected } of entries) progress.bytes += weightOf(prior).memory + weightOf(expected).memory;
  if (progress.bytes <= snapshots) return undefined;
  const which = `the snapshots of ${progress.snapshots} of ${progress.releases.length} Transactions`;
  return refusal(
    progress,
    'SnapshotTooLarge',
    `${which} take ${progress.bytes} bytes in memory, at most ${snapshots} are allowed`,
  );
}

/** `amount`: of the objects with those of the next release. */
export function tooManyObjects(progress: RollbackProgress, amount: number, { objects }: Bounds): Fault | undefined {
  if (amount <= objects) return undefined;
  const which = `${progress.snapshots} of ${progress.releases.length} Transactions`;
  return refusal(progress, 'Invalid', `${which} have ${amount} objects, at most ${objects} are allowed`);
}

/** Whether the snapshot of the rollback can be stored. */
export function tooLargeStates(progress: RollbackProgress, objects: readonly UndoObject[]): Fault | undefined {
  const why = statesTooLarge(objects);
  return why === undefined ? undefined : refusal(progress, 'SnapshotTooLarge', why);
}

function statesTooLarge(objects: readonly UndoObject[]): string | undefined {
  const sizes = objects.map(({ target, now, state }) => stateSize(target, [now, state]));
  return whyTooLarge(sizes, objects.length);
}

const longestName = 253;

export function refusal({ reached }: Pick<RollbackProgress, 'reached'>, reason: Fault['reason'], why: string): Fault {
  const nearest =
    reached === undefined
      ? 'no older release can be reached'
      : `the nearest release that can be reached is ${foreign(reached.name, longestName)}`;
  return fault(reason, `spec.rollback: ${why}; ${nearest}`);
}
