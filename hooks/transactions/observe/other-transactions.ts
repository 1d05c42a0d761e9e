// Reads other Transactions that change the same objects, and writes nothing. The engine reads Transactions with known names by name. It
// looks at all Transactions only if no name is known: it lists their metadata, and reads whole only those that may change one of our targets
// (reading/known-targets.ts).
//
// One list serves all targets of a call, because it stays true while we hold the locks: a Transaction changes an object only while it
// holds the lock of the object (I6), and the engine makes the list after it has acquired all locks. The key of the list names them
// all: if another Transaction has held one of them since, the engine lists again. A plan holds no locks: it is true for the moment of its
// list.
import type { Failure } from '../../objects/failure.ts';
import { at, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { identityOf, type Reference } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { byName, type ChangeOfObject, changesTo, type Others, standing, type Wanted } from '../model/other-transactions.ts';
import { decodeTransaction, namesBehind, type Transaction } from '../model/transaction.ts';
import { hashesOf } from '../reading/known-targets.ts';
import { type Lister, listAll } from '../reading/listing.ts';
import { engine, transactions } from '../writes/resources.ts';
import type { SnapshotSource } from './snapshot.ts';

interface OthersContext {
  readonly source: Pick<SnapshotSource, 'reader' | 'callReads'>;
  readonly transaction: Transaction;
  readonly namespaces: readonly string[];
  /** All targets of the Transaction. */
  readonly targets: readonly Reference[];
  /** What is as it was when the list began. Of a Transaction that holds locks: these (heldSince). */
  readonly since: Json;
  /** Transactions that were read: they count as long as their versions are the same. */
  readonly known?: readonly Transaction[];
}

/** A list from before the Transaction acquired one of its Leases no longer counts. */
export function heldSince(leases: readonly JsonObject[]): Json {
  return leases.map((lease) => [textAt(lease, 'metadata', 'uid') ?? '', textAt(lease, 'spec', 'acquireTime') ?? '']);
}

type FoundOthers = { readonly kind: 'found'; readonly found: Others } | { readonly kind: 'trouble'; readonly failure: Failure };

/** Names that are read one by one, at most: anybody who may write the object can add names to it. */
const mostNames = 20;

export async function findOthers(context: OthersContext, target: Reference, wanted: Wanted): Promise<FoundOthers> {
  const names = namesOf(wanted);
  const places = context.namespaces.length === 0 ? [undefined] : context.namespaces;
  const changes: ChangeOfObject[] = [];
  for (const namespace of places) {
    for (const name of names) {
      const listing = await listOthers(context, { namespace, name });
      if (listing.kind !== 'listed') return { kind: 'trouble', failure: listing.failure };
      changes.push(...listing.items);
    }
  }
  const identity = identityOf(target);
  const own = changes.filter(({ object }) => object === identity).map(({ change }) => change);
  const found = { changes: standing(own, context.transaction.uid), areAll: names.includes(undefined) };
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

type Listing = Awaited<ReturnType<typeof listAll<ChangeOfObject>>>;

/** What Transactions of that place change of our targets. */
function listOthers({ source, transaction, targets, since, known = [] }: OthersContext, place: Place): Promise<Listing> {
  const key = JSON.stringify(['others', transaction.uid, place.namespace, place.name, since]);
  const lister = { ...source, identity: engine };
  const own = { lister, key, uid: transaction.uid, targets, known: new Map(known.map((one) => [one.uid, one])) };
  return source.callReads.inCall(key, () => (place.name === undefined ? searchAll(own, place) : listWhole(own, place)));
}

interface Search {
  readonly lister: Lister;
  readonly key: string;
  /** That of the Transaction itself, which does not count. */
  readonly uid: string;
  readonly targets: readonly Reference[];
  /** By uid. */
  readonly known: ReadonlyMap<string, Transaction>;
}

function listWhole(search: Search, place: Place): Promise<Listing> {
  const { name, namespace } = place;
  const wanted = { resource: transactions, namespace, whole: true, ...(name === undefined ? {} : { name }) };
  const pick = pickOf(search);
  return listAll(search.lister, search.key, wanted, pick);
}

function pickOf({ lister, uid, targets }: Search): (object: JsonObject) => readonly ChangeOfObject[] {
  const named = byName(targets);
  return (object) => {
    const other = decodeTransaction(object);
    lister.callReads.targets.learn(other);
    return other.uid === uid ? [] : changesTo(named, other);
  };
}

/** A Transaction that may change one of the targets. */
interface Candidate {
  readonly namespace: string;
  readonly name: string;
  /** As it was read; undefined if it must be read whole. */
  readonly known: Transaction | undefined;
}

/** Transactions that are read one by one, at most; more are read page by page with all others. */
const mostReads = 100;
const atOnce = 4;

async function searchAll(search: Search, place: Place): Promise<Listing> {
  const { lister, uid, targets, key, known } = search;
  const hashes = hashesOf(targets);
  const wanted = { resource: transactions, namespace: place.namespace };
  const found = await listAll(lister, key, wanted, (object): readonly Candidate[] => {
    const metadata = at(object, 'metadata');
    const isSkipped = textAt(metadata, 'uid') === uid || lister.callReads.targets.mayChange(metadata, hashes) === 'no';
    if (isSkipped) return [];
    const own = known.get(textAt(metadata, 'uid') ?? '');
    const isSame = own?.resourceVersion === textAt(metadata, 'resourceVersion');
    const [namespace, name] = ['namespace', 'name'].map((key) => textAt(metadata, key) ?? '') as [string, string];
    return [{ namespace, name, known: isSame ? own : undefined }];
  });
  if (found.kind !== 'listed') return found;
  if (found.items.filter((one) => one.known === undefined).length > mostReads) return listWhole(search, place);
  const named = byName(targets);
  const read = await inTurn(
    found.items,
    async (one): Promise<Listing> =>
      one.known === undefined ? listWhole(search, one) : { kind: 'listed', items: changesTo(named, one.known) },
    atOnce,
  );
  const failed = read.find(({ kind }) => kind !== 'listed');
  return failed ?? { kind: 'listed', items: read.flatMap((one) => (one.kind === 'listed' ? one.items : [])) };
}
