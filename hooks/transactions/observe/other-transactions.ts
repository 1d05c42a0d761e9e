// Reads other Transactions that change the same object, and writes nothing. The Transaction holds the lock of the object meanwhile,
// so the result stays true until the step is made. The engine reads Transactions with known names by name. It reads all
// Transactions only if no name is known.
import type { Failure } from '../../objects/failure.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { identityOf, type Reference } from '../../objects/reference.ts';
import { changesTo, type OtherChange, type Others, type Wanted } from '../model/other-transactions.ts';
import { decodeTransaction, namesBehind, type Transaction } from '../model/transaction.ts';
import { listAll } from '../reading/listing.ts';
import { engine, transactions } from '../writes/resources.ts';
import type { SnapshotSource } from './snapshot.ts';

interface OthersContext {
  readonly source: Pick<SnapshotSource, 'reader' | 'callReads'>;
  readonly transaction: Transaction;
  readonly namespaces: readonly string[];
  /** The Lease of the target: a result from before the current holder acquired it no longer counts. */
  readonly lease: JsonObject | undefined;
}

type FoundOthers = { readonly kind: 'found'; readonly found: Others } | { readonly kind: 'trouble'; readonly failure: Failure };

/** Names that are read one by one, at most: anybody who may write the object can add names to it. */
const mostNames = 20;

export async function findOthers(context: OthersContext, target: Reference, wanted: Wanted): Promise<FoundOthers> {
  const names = namesOf(wanted);
  const places = context.namespaces.length === 0 ? [undefined] : context.namespaces;
  const changes: OtherChange[] = [];
  for (const namespace of places) {
    for (const name of names) {
      const failure = await collect(context, target, { namespace, name }, changes);
      if (failure !== undefined) return { kind: 'trouble', failure };
    }
  }
  const found = { changes, areAll: names.includes(undefined) };
  return { kind: 'found', found: context.namespaces.length === 0 ? found : { ...found, namespaces: context.namespaces } };
}

// Undefined means all Transactions.
function namesOf(wanted: Wanted): readonly (string | undefined)[] {
  if (wanted === 'all') return [undefined];
  const names = wanted.map(namesBehind);
  const known = [...new Set(names.flatMap((some) => some ?? []))];
  return names.includes(undefined) || known.length > mostNames ? [undefined] : known;
}

interface Place {
  readonly namespace: string | undefined;
  readonly name: string | undefined;
}

async function collect(
  { source, transaction, lease }: OthersContext,
  target: Reference,
  place: Place,
  changes: OtherChange[],
): Promise<Failure | undefined> {
  const held = [textAt(lease, 'metadata', 'uid'), textAt(lease, 'spec', 'acquireTime')];
  const key = JSON.stringify(['others', identityOf(target), ...held]);
  const { name, namespace } = place;
  const wanted = { resource: transactions, namespace, whole: true, ...(name === undefined ? {} : { name }) };
  const listing = await listAll({ ...source, identity: engine }, key, wanted, (object) => {
    const other = decodeTransaction(object);
    return other.uid === transaction.uid ? [] : changesTo(target, other);
  });
  if (listing.kind !== 'listed') return listing.failure;
  changes.push(...listing.items);
  return undefined;
}
