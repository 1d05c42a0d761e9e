// The step that is due for a package transaction, from its stored status.
import type { PackageTransaction } from './model/package-transaction.ts';
import { isTerminal, millisecondsOf, type Status } from './model/status.ts';

export type Due =
  /** Nothing is left to do. */
  | 'rest'
  /** The spec is not valid, or a user changed it: final. */
  | 'refuse'
  /** The time of the next try, or of the next deletion of leftovers, has not come yet. */
  | 'wait'
  /** The hook acquires the Lock. If the package transaction is being deleted, the hook abandons the Lock. */
  | 'acquire'
  | 'validate'
  | 'prepare'
  | 'install'
  | 'verify'
  /** The hook deletes objects, and undoes nothing any more. */
  | 'delete'
  | 'rollBack'
  | 'release'
  | 'cleanUp'
  /** Crossplane has not got all revisions of a package transaction that has succeeded. */
  | 'handOver';

const byPhase = {
  Waiting: 'acquire',
  Validating: 'validate',
  Preparing: 'prepare',
  Installing: 'install',
  Verifying: 'verify',
  Deleting: 'delete',
  RollingBack: 'rollBack',
  Releasing: 'release',
  Succeeded: 'cleanUp',
  Failed: 'cleanUp',
} as const;

/** `now` in ms since the epoch. */
export function dueOf(ptx: PackageTransaction, now: number): Due {
  const { status, isDeleting } = ptx;
  if (isTerminal(status.phase) && !isDeleting) return afterEnd(status, now);
  if (status.phase !== 'Waiting' || isDeleting) return byPhase[status.phase];
  if (faultOf(ptx) !== undefined) return 'refuse';
  return millisecondsOf(status.retryTime) > now ? 'wait' : 'acquire';
}

function afterEnd({ sweepTime, handOverFault }: Status, now: number): Due {
  if (sweepTime !== undefined && millisecondsOf(sweepTime) <= now) return 'cleanUp';
  if (handOverFault !== undefined) return 'handOver';
  return sweepTime === undefined ? 'rest' : 'wait';
}

/** Why the spec is not valid, in words. */
export function faultOf({ wanted, specDigest, status }: PackageTransaction): string | undefined {
  if (typeof wanted === 'string') return wanted;
  const isChanged = status.specDigest !== undefined && status.specDigest !== specDigest;
  return isChanged ? 'spec was changed after this began: create another package transaction' : undefined;
}
