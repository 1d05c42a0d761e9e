// Other Transactions that change the same object. Reader only. They are read while its lock is held: what is found stays so until
// the step is made. Those whose names are known are asked for by name; all of them only where nothing tells who it was.
import type { ListAnswer, Reader } from '../cluster.ts';
import type { Failure } from '../model/failure.ts';
import { changesTo, type OtherChange, type Others, type Wanted } from '../model/others.ts';
import type { Reference } from '../model/reference.ts';
import { decodeTransaction, namesBehind, type Transaction } from '../model/transaction.ts';
import { engine, transactions } from '../writes/resources.ts';

export interface OthersContext {
  readonly reader: Reader;
  readonly transaction: Transaction;
  readonly namespaces: readonly string[];
}

export type FoundOthers =
  | { readonly kind: 'found'; readonly found: Others }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** More names than these are not asked for one by one: anybody who may write the object can put names into it. */
const mostNames = 20;

/** Transactions of one page: each may have 1.5 MiB. */
const pageSize = 40;

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
  return { kind: 'found', found: { changes, areAll: names.includes(undefined) } };
}

// Undefined stands for every name.
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
  { reader, transaction }: OthersContext,
  target: Reference,
  { namespace, name }: Place,
  changes: OtherChange[],
): Promise<Failure | undefined> {
  for (let from: string | undefined; from !== ''; ) {
    const options = {
      whole: true,
      limit: pageSize,
      ...(name === undefined ? {} : { name }),
      ...(from === undefined ? {} : { from }),
    };
    const page: ListAnswer = await reader.listMetadata(transactions, namespace, engine, options);
    if (page.kind === 'failed') return page.failure;
    const others = page.items.map(decodeTransaction).filter(({ uid }) => uid !== transaction.uid);
    changes.push(...others.flatMap((other) => changesTo(target, other)));
    from = page.next;
  }
  return undefined;
}
