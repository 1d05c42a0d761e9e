// Whether the ServiceAccount of a Transaction may create objects like a target.

import type { AccessAnswer, Reader } from '../../objects/cluster.ts';
import type { Resolved } from '../checks/targets.ts';
import type { Transaction } from '../model/transaction.ts';
import { serviceAccountOf } from '../writes/resources.ts';

interface Context {
  readonly reader: Reader;
  readonly transaction: Transaction;
}

/** Always allowed for a Delete: the engine reviewed that permission before it acquired the locks. */
export async function mayCreate({ reader, transaction }: Context, { change, resource, target }: Resolved): Promise<AccessAnswer> {
  if (change.type === 'Delete') return { kind: 'ok', allowed: true };
  const place = target.namespace === undefined ? {} : { namespace: target.namespace };
  return reader.allowed(
    { verb: 'create', group: resource.group, resource: resource.plural, ...place },
    serviceAccountOf(transaction),
  );
}
