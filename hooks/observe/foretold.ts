// The lock of the change that is next, read beside the Transaction and not after it. What was read counts if the Transaction is
// still at the version of which the call told, so that its state was stored before the lock was looked at: whoever signs a Lease
// reads the Transaction after that (writes/lease.ts), and the other way round both could miss each other.
import type { Reader } from '../cluster.ts';
import { leaseLocation } from '../writes/lease.ts';
import { engine } from '../writes/resources.ts';
import type { Presence } from './observation.ts';
import { read } from './read.ts';

export interface Foretold {
  /** Of the Lease. */
  readonly name: string;
  /** Of the Transaction for which it counts. */
  readonly resourceVersion: string;
  readonly lease: Presence;
}

export interface Expected {
  /** Of the Lease; undefined when it is not known. */
  readonly name: string | undefined;
  /** Of the Transaction, as the call told it; empty when it did not. */
  readonly resourceVersion: string;
  readonly engineNamespace: string;
}

export async function foretell(reader: Reader, expected: Expected): Promise<Foretold | undefined> {
  const { name, resourceVersion, engineNamespace } = expected;
  if (name === undefined || resourceVersion === '') return undefined;
  return { name, resourceVersion, lease: await read(reader, leaseLocation(name, engineNamespace), engine) };
}
