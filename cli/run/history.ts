import { type JsonObject, listAt } from '../../hooks/objects/json.ts';
import { groupOf } from '../../hooks/objects/reference.ts';
import type { Session } from '../cluster/session.ts';
import { listTransactions } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { note, sayAll } from '../io.ts';
import { exits, wrongUse } from '../problem.ts';
import { ageOf } from '../show/age.ts';
import { tableOf } from '../show/table.ts';
import { type Target, type TransactionView, targetIn, viewOf } from '../show/view.ts';

export async function run({ io, options, operands, connect }: Call): Promise<number> {
  const wanted = operands[0] === undefined ? undefined : objectIn(operands[0]);
  const session = await connect();
  const namespace = options.flag('allNamespaces') ? undefined : session.namespace;
  const objects = newestFirst(await listTransactions(session, namespace));
  const rows = wanted === undefined ? objects.map(rowOf) : await rowsAbout(objects, wanted, session, namespace);
  if (rows.length > 0) sayAll(io, tableOf([...columns, ...(wanted === undefined ? ['MESSAGE'] : ['CHANGE', 'STATE'])], rows));
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

function cellsOf({ namespace, name, createdAt, startTime, endedAt, phase, done }: TransactionView): readonly string[] {
  const age = createdAt === undefined ? '' : ageOf(Date.now() - createdAt);
  const took = startTime === undefined || endedAt === undefined ? '' : ageOf(endedAt - startTime);
  return [namespace, name, age, phase, done, took];
}

/** One row for each change of that object. */
async function rowsAbout(
  objects: readonly JsonObject[],
  wanted: Wanted,
  session: Session,
  namespace: string | undefined,
): Promise<readonly (readonly string[])[]> {
  const targets = objects
    .flatMap((one) => listAt(one, 'spec', 'changes').map(targetIn))
    .filter((target) => hasName(target, wanted));
  const scope: Scope = { place: session.namespace, isClusterScoped: await clusterScoped(targets, session, namespace) };
  return objects.flatMap((one) => rowsFor(one, wanted, scope));
}

/** The namespace of the Transaction does not matter to an object of a cluster-scoped kind. */
async function clusterScoped(targets: readonly Target[], session: Session, namespace: string | undefined) {
  const found = new Set<string>();
  for (const key of new Set(namespace === undefined ? targets.map(kindKey) : [])) {
    const [apiVersion = '', kind = ''] = key.split(' ');
    const answer = await session.cluster.resource(apiVersion, kind);
    if (answer.kind === 'ok' && !answer.resource.namespaced) found.add(key);
  }
  return (target: Target): boolean => found.has(kindKey(target));
}

function kindKey({ apiVersion, kind }: Target): string {
  return `${apiVersion} ${kind}`;
}

interface Scope {
  /** The namespace of the command. */
  readonly place: string;
  readonly isClusterScoped: (target: Target) => boolean;
}

function rowsFor(object: JsonObject, wanted: Wanted, { place, isClusterScoped }: Scope): readonly (readonly string[])[] {
  const view = viewOf(object);
  return listAt(object, 'spec', 'changes').flatMap((change, index) => {
    const target = targetIn(change);
    const isThere = isClusterScoped(target) || (target.namespace ?? view.namespace) === place;
    if (!isThere || !hasName(target, wanted)) return [];
    const { type = '', state = '' } = view.changes[index] ?? {};
    return [[...cellsOf(view), type, state]];
  });
}

/** `deployment/web` and `Deployment.apps/web` name one object. */
function hasName({ apiVersion, kind, name }: Target, wanted: Wanted): boolean {
  const kinds = [kind, `${kind}.${groupOf(apiVersion)}`].map((one) => one.toLowerCase());
  return kinds.includes(wanted.kind) && name === wanted.name;
}
