// The Transaction itself, tried: whether the API server would take it, and as what.

import type { Failure } from '../../objects/failure.ts';
import { at, isObject, type Json, type JsonObject, textAt, withPath } from '../../objects/json.ts';
import { describeFailure } from '../checks/failures.ts';
import { type Fault, fault } from '../checks/fault.ts';
import type { PlanParts } from '../inspection.ts';
import { reasonOfFailure } from '../model/reason.ts';
import { creatingManager, decodeTransaction, type Transaction } from '../model/transaction.ts';
import { engine, transactions } from '../writes/resources.ts';
import { holdsSecrets } from './masks.ts';
import { isForbidden, type RestrictedReader } from './restricted-reader.ts';

const apiVersion = 'tx.janus.io/v1alpha1';

export interface Tried {
  /** As the API server would store it; as given if no dry run was made, or if the API server has refused it. */
  readonly transaction: Transaction;
  readonly faults: readonly Fault[];
  readonly trouble?: Failure;
}

/** `object` gets a name if it has only a `generateName`, and a uid if no dry run gives a uid. */
export async function tryCreation(
  { reader, miss }: RestrictedReader,
  actAs: PlanParts['actAs'],
  given: JsonObject,
): Promise<Tried> {
  const object = named(given);
  const plain = decodeTransaction(withPath(object, ['metadata', 'uid'], crypto.randomUUID()));
  const location = { resource: transactions, namespace: plain.namespace, name: plain.name };
  const answer = await reader.dryRun({ verb: 'create', identity: engine, location, object, fieldManager: creatingManager });
  if (answer.kind === 'ok') return { transaction: decodeTransaction(answer.object), faults: [] };
  const { failure } = answer;
  if (failure.kind === 'transient') return { transaction: plain, faults: [], trouble: failure };
  if (failure.kind === 'absent' && !(await isInstalled(reader))) {
    miss('whether the API server takes the Transaction: it does not serve tx.janus.io, install the engine');
    return { transaction: plain, faults: [] };
  }
  const found = refusal(failure, plain, object);
  if (actAs === 'serviceAccount' || !isForbidden(answer)) return { transaction: plain, faults: [found] };
  // The user who plans may not be the user who will create the Transaction.
  miss(`whether the Transaction can be created, for you may not: ${found.message}`);
  return { transaction: plain, faults: [] };
}

/** The object to send: a Transaction without the fields that only the API server sets. */
function named(given: JsonObject): JsonObject {
  const metadata = at(given, 'metadata');
  const kept = Object.entries(isObject(metadata) ? metadata : {}).filter(([key]) => !assigned.includes(key));
  const own: JsonObject = Object.fromEntries(kept);
  const prefix = textAt(own, 'generateName');
  const name = textAt(own, 'name') ?? (prefix === undefined ? undefined : `${prefix}${crypto.randomUUID().slice(0, 5)}`);
  const object = withPath({ apiVersion, kind: 'Transaction', ...given, metadata: own }, ['status'], undefined);
  return name === undefined ? object : withPath(object, ['metadata', 'name'], name);
}

const assigned = ['uid', 'resourceVersion', 'creationTimestamp', 'generation', 'managedFields', 'selfLink'];

async function isInstalled(reader: RestrictedReader['reader']): Promise<boolean> {
  return (await reader.resource(apiVersion, 'Transaction')).kind === 'ok';
}

function refusal(failure: Failure, transaction: Transaction, object: Json): Fault {
  const { namespace, name } = transaction;
  const what = `Transaction ${namespace}/${name}`;
  if (failure.kind === 'exists') return fault('AlreadyExists', `${what} exists: choose another name`);
  if (failure.kind === 'absent')
    return fault('NotFound', `namespace ${namespace} of the Transaction does not exist: create it first`);
  const detail = describeFailure(failure, holdsSecrets(transaction), [object]);
  return fault(reasonOfFailure(failure), `${what} cannot be created: ${detail}`);
}
