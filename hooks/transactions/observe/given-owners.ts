// The owners that a change gives to its object: if one does not exist, Kubernetes deletes the object.
import type { Answer, Reader } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { describe } from '../../objects/reference.ts';
import { type Fault, fault } from '../checks/fault.ts';
import type { Resolved } from '../checks/targets.ts';
import { findOwners, ownersLackedBy, shown } from '../hazards/read-owners.ts';
import { isDeletion } from '../model/change.ts';
import { isSealed } from '../model/entry.ts';
import type { Transaction } from '../model/transaction.ts';
import { serviceAccountOf } from '../writes/resources.ts';
import type { Prepared } from './observation.ts';

type Wrong = { readonly kind: 'fault'; readonly fault: Fault } | { readonly kind: 'trouble'; readonly failure: Failure };

/** The fault of the owners that the change gives to its object; undefined if there is no fault. */
export async function wrongOwner(
  { reader, transaction }: { readonly reader: Reader; readonly transaction: Transaction },
  { prior, expected, resolved }: Prepared,
): Promise<Wrong | undefined> {
  const given = ownersLackedBy(prior, expected);
  const { namespace } = resolved.target;
  const found = await findOwners(readingOnce(reader), serviceAccountOf(transaction), given, namespace);
  if (found.trouble !== undefined) return { kind: 'trouble', failure: found.trouble.failure };
  const [dead] = [...found.gone, ...found.leaving, ...found.unserved];
  const [hidden] = found.hidden;
  if (dead !== undefined) return { kind: 'fault', fault: deadOwnerFault(dead, resolved, transaction) };
  return hidden === undefined ? undefined : { kind: 'fault', fault: hiddenOwnerFault(hidden, resolved, transaction) };
}

/** The owners that each Reader has read. A Reader serves one attempt. */
const owners = new WeakMap<Reader, Map<string, Promise<Answer>>>();

/** Many changes give their objects the owners that the change before has given: an attempt reads each owner once. */
function readingOnce(reader: Reader): Reader {
  const known = owners.get(reader) ?? new Map<string, Promise<Answer>>();
  owners.set(reader, known);
  return {
    ...reader,
    getMetadata: (location, identity) => {
      const key = JSON.stringify([
        location.resource.group,
        location.resource.plural,
        location.namespace,
        location.name,
        identity,
      ]);
      const answer = known.get(key) ?? reader.getMetadata(location, identity);
      known.set(key, answer);
      return answer;
    },
  };
}

/** Faults of owners that an earlier change of this Transaction deletes, even if it creates them again. */
export function deletedOwnerFaults(targets: readonly Prepared[], transaction: Transaction): readonly Fault[] {
  return targets.flatMap(({ prior, expected, resolved }) => {
    const before = targets.filter((one) => isDeleting(one) && one.resolved.index < resolved.index);
    const deleted = new Set(before.map((one) => textAt(one.prior, 'metadata', 'uid')));
    const dead = ownersLackedBy(prior, expected).find((owner) => deleted.has(textAt(owner, 'uid')));
    return dead === undefined ? [] : [deadOwnerFault(dead, resolved, transaction)];
  });
}

function isDeleting({ resolved, recreates }: Prepared): boolean {
  return isDeletion(resolved.change) || recreates === true;
}

function deadOwnerFault(owner: JsonObject, resolved: Resolved, transaction: Transaction): Fault {
  const why = `is given ${nameOf(owner, resolved, transaction)} as owner, which will not exist: Kubernetes would delete the object; remove that owner from metadata.ownerReferences, or name an existing one with its uid`;
  return fault('Invalid', `spec.changes[${resolved.index}]: ${describe(resolved.target)} ${why}`, resolved.index);
}

function hiddenOwnerFault(owner: JsonObject, resolved: Resolved, transaction: Transaction): Fault {
  const { namespace, serviceAccountName } = transaction;
  const why = `is given ${nameOf(owner, resolved, transaction)} as owner, which ServiceAccount ${namespace}/${serviceAccountName} may not read: if it does not exist, Kubernetes deletes the object; allow the ServiceAccount to get it, or leave it out of metadata.ownerReferences`;
  return fault('Forbidden', `spec.changes[${resolved.index}]: ${describe(resolved.target)} ${why}`, resolved.index);
}

function nameOf(owner: JsonObject, resolved: Resolved, transaction: Transaction): string {
  if (isSealed(resolved, transaction)) return 'an object';
  return `${shown(owner, 'kind')} ${shown(owner, 'name')} (uid ${shown(owner, 'uid')})`;
}
