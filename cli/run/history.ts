import { at, isList, type JsonObject } from '../../hooks/model/json.ts';
import { groupOf } from '../../hooks/model/reference.ts';
import { listTransactions } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { note, say } from '../io.ts';
import { exits, wrongUse } from '../problem.ts';
import { ageOf } from '../show/age.ts';
import { tableOf } from '../show/table.ts';
import { type Target, type TransactionView, targetIn, viewOf } from '../show/view.ts';

export async function run({ io, options, operands, connect }: Call): Promise<number> {
  const wanted = operands[0] === undefined ? undefined : objectIn(operands[0]);
  const session = await connect();
  const namespace = options.flag('allNamespaces') ? undefined : session.namespace;
  const objects = newestFirst(await listTransactions(session, namespace));
  const rows =
    wanted === undefined
      ? objects.map(rowOf)
      : objects.flatMap((one) => rowsFor(one, wanted, { place: session.namespace, everywhere: namespace === undefined }));
  if (rows.length > 0) say(io, ...tableOf([...columns, ...(wanted === undefined ? ['MESSAGE'] : ['CHANGE', 'STATE'])], rows));
  else note(io, nothing(operands[0], namespace));
  return exits.done;
}

function nothing(operand: string | undefined, namespace: string | undefined): string {
  const place = namespace === undefined ? 'any namespace' : `namespace ${namespace}`;
  return `No Transactions${operand === undefined ? '' : ` that change ${operand}`} in ${place}.`;
}

const columns = ['NAMESPACE', 'TRANSACTION', 'AGE', 'PHASE', 'DONE', 'TOOK'];

interface Wanted {
  readonly kind: string;
  readonly name: string;
}

function objectIn(operand: string): Wanted {
  const [kind = '', name = '', ...rest] = operand.split('/');
  if (kind === '' || name === '' || rest.length > 0)
    throw wrongUse(`history takes KIND/NAME, such as Deployment/web-server; found "${operand}".`);
  return { kind: kind.toLowerCase(), name };
}

function newestFirst(objects: readonly JsonObject[]): readonly JsonObject[] {
  return objects.toSorted((left, right) => (viewOf(right).createdAt ?? 0) - (viewOf(left).createdAt ?? 0));
}

function rowOf(object: JsonObject): readonly string[] {
  const view = viewOf(object);
  return [...cellsOf(view), view.message];
}

function cellsOf({ namespace, name, createdAt, startedAt, endedAt, phase, done }: TransactionView): readonly string[] {
  const age = createdAt === undefined ? '' : ageOf(Date.now() - createdAt);
  const took = startedAt === undefined || endedAt === undefined ? '' : ageOf(endedAt - startedAt);
  return [namespace, name, age, phase, done, took];
}

interface Scope {
  readonly place: string;
  readonly everywhere: boolean;
}

/**
 * A row for each change of that object, in the namespace of the command. Of all namespaces also those whose target names none: it may be of
 * a cluster-scoped kind.
 */
function rowsFor(object: JsonObject, wanted: Wanted, { place, everywhere }: Scope): readonly (readonly string[])[] {
  const view = viewOf(object);
  const changes = at(object, 'spec', 'changes');
  return (isList(changes) ? changes : []).flatMap((change, index) => {
    if (!isAbout(targetIn(change), wanted, { own: everywhere ? place : view.namespace, wanted: place })) return [];
    const { type = '', state = '' } = view.changes[index] ?? {};
    return [[...cellsOf(view), type, state]];
  });
}

interface Namespaces {
  readonly own: string;
  readonly wanted: string;
}

/** `deployment/web` and `Deployment.apps/web` are the same. A target of a cluster-scoped kind has no namespace of its own. */
function isAbout({ apiVersion, kind, name, namespace }: Target, wanted: Wanted, { own, wanted: place }: Namespaces): boolean {
  const kinds = [kind, `${kind}.${groupOf(apiVersion)}`].map((one) => one.toLowerCase());
  return kinds.includes(wanted.kind) && name === wanted.name && (namespace ?? own) === place;
}
