// Small reads that several observations share.
import type { Answer, Identity, Location, Reader } from '../../objects/cluster.ts';
import { whyIncomparable } from '../../objects/content/too-large.ts';
import { type Failure, tooLarge } from '../../objects/failure.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { holderOf, type Transaction } from '../model/transaction.ts';
import { isUnserved, isWithoutObjects, untilServed } from '../reading/served.ts';
import { locationOf } from '../writes/change.ts';
import { engine, leases, serviceAccountOf, serviceAccounts, uidLabel } from '../writes/resources.ts';
import type { Presence } from './observation.ts';

export function presenceOf(answer: Answer): Presence {
  if (answer.kind === 'ok') return { kind: 'present', object: answer.object };
  return answer.failure.kind === 'absent' ? { kind: 'absent' } : { kind: 'trouble', failure: answer.failure };
}

/** A state of an object that is known without a read; undefined: there is no object. */
export function presenceWith(object: JsonObject | undefined): Presence {
  return object === undefined ? { kind: 'absent' } : { kind: 'present', object };
}

export async function read(reader: Reader, location: Location, identity: Identity): Promise<Presence> {
  return presenceOf(await reader.get(location, identity));
}

/** The target of an entry, read as the ServiceAccount. */
export async function readLive(
  reader: Reader,
  transaction: Transaction,
  { target, resource }: Pick<SnapshotEntry, 'target' | 'resource'>,
): Promise<Presence> {
  const identity = serviceAccountOf(transaction);
  const answer = await reader.get(locationOf(target, resource), identity);
  if (answer.kind === 'failed' && isUnserved(answer.failure) && !(await isWithoutObjects({ reader, identity }, resource)))
    return { kind: 'trouble', failure: untilServed(answer.failure), isUnserved: true };
  const found = presenceOf(answer);
  const why = found.kind === 'present' ? whyIncomparable(found.object) : undefined;
  return why === undefined ? found : { kind: 'trouble', failure: tooLarge(`it is ${why}: remove what is too much`) };
}

/**
 * A deleted ServiceAccount can still be impersonated, and rights of groups still apply: so the engine checks that the account
 * exists.
 */
export function readServiceAccount(
  { reader }: { readonly reader: Reader },
  { namespace, serviceAccountName: name }: Transaction,
): Promise<Presence> {
  const location = { resource: serviceAccounts, namespace, name };
  return read(reader, location, engine);
}

export type Listed =
  | { readonly kind: 'ok'; readonly objects: readonly JsonObject[] }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** What identifies a Transaction as the holder of a Lease. */
export type Owner = Pick<Transaction, 'namespace' | 'name' | 'uid'>;

/** The Leases with the label of a Transaction. Whole objects, since the holder is in the spec. */
export async function readOwnLeases(reader: Reader, transaction: Owner, engineNamespace: string): Promise<Listed> {
  const selector = { labelSelector: `${uidLabel}=${transaction.uid}`, whole: true };
  const listed = await reader.listMetadata(leases, engineNamespace, engine, selector);
  if (listed.kind === 'failed') return { kind: 'trouble', failure: listed.failure };
  const isOurs = (lease: JsonObject): boolean => textAt(lease, 'spec', 'holderIdentity') === holderOf(transaction);
  return { kind: 'ok', objects: listed.items.filter(isOurs) };
}
