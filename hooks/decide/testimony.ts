// What a step tells this process of the writes of others, for its memory.
import { holdsLocks } from '../agenda/agenda.ts';
import type { Observation } from '../observe/observation.ts';
import { isSignedBy } from '../writes/lease.ts';
import type { Step } from './step.ts';

export type Testimony =
  /** Others may have sent writes until this step took their place. */
  | 'others'
  /** Nobody else has changed anything for this Transaction. */
  | 'alone'
  | undefined;

export function testimonyOf(step: Step, { server, status }: Observation): Testimony {
  switch (step.kind) {
    case 'renew':
      return step.leases.every((lease) => isSignedBy(server, lease)) ? undefined : 'others';
    // Nothing was changed before Preparing; taken again, a lock says nothing of who had it.
    case 'take':
      return status.phase === 'Pending' ? undefined : 'others';
    case 'release':
      return isWhole(step.leases.length, status) && step.leases.every((lease) => isSignedBy(server, lease)) ? 'alone' : undefined;
    default:
      return undefined;
  }
}

// Where another process has given some of them back already, its signature is gone with them.
function isWhole(count: number, status: Observation['status']): boolean {
  return holdsLocks(status) && status.items.every(({ lockLease }) => lockLease !== undefined) && count === status.items.length;
}
