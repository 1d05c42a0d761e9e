import { at, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { groupOf } from '../../hooks/objects/reference.ts';
import { parseTime } from '../../hooks/objects/time.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { annotations, requestedBy } from '../../hooks/transactions/model/transaction.ts';
import { isNamed, type ObjectName, objectNamed } from '../cluster/kinds.ts';
import { listTransactions } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { note, sayAll } from '../io.ts';
import { exits } from '../problem.ts';
import { ageOf } from '../show/age.ts';
import { documentOf } from '../show/document.ts';
import { lastLines } from '../show/failed-logs.ts';
import { type Operations, operationsOf, operationsText } from '../show/operations.ts';
import { tableOf } from '../show/table.ts';
import { rollbacksOf, undoesOf, undoneNote } from '../show/undone.ts';
import { type Target, type TransactionView, targetIn, viewOf, writtenChanges } from '../show/view.ts';
import { saidAsData } from './given.ts';

export async function run(call: Call): Promise<number> {
  const { io, options, operands } = call;
  const session = await call.connect();
  const [given] = operands;
  const [app, named] = given?.includes('/') ? [undefined, given] : [given, undefined];
  const wanted = named === undefined ? undefined : await objectNamed(session, named, 'history');
  const namespace = options.flag('allNamespaces') ? undefined : session.namespace;
  const found = await listTransactions(session, namespace, options.text('selector'));
  const rollbacks = rollbacksOf(found.filter((one) => at(one, 'spec', 'rollback') !== undefined).map(viewOf));
  const about = { wanted, place: session.namespace, rollbacks };
  const records = found
    .filter((object) => app === undefined || textAt(object, 'spec', 'fieldManager') === app)
    .map((object) => recordOf(object, about))
    .filter(({ changes }) => changes === undefined || changes.length > 0);
  if (saidAsData(call, () => documentOf('History', { transactions: records }))) return exits.done;
  if (records.length > 0) sayAll(io, wanted === undefined ? tableOf(header, records.map(rowOf)) : tableAbout(records));
  else note(io, nothing({ app, named, namespace }));
  return exits.done;
}

function nothing({ app, named, namespace }: Readonly<Record<'app' | 'named' | 'namespace', string | undefined>>): string {
  const place = namespace === undefined ? 'any namespace' : `namespace ${namespace}`;
  const of = app === undefined ? '' : ` of app ${app}`;
  return `No Transactions${of}${named === undefined ? '' : ` that change ${named}`} in ${place}.`;
}

interface Recorded {
  readonly namespace: string;
  readonly name: string;
  readonly phase: string;
  readonly message: string;
  /** ms since the epoch. */
  readonly createdAt?: number;
  /** Duration of the work in ms: of the release, or of its undo on request. */
  readonly took?: number;
  readonly operations: Operations;
  /** The field manager that created the Transaction. */
  readonly createdBy: string;
  /** The user who created it, and the user who requested its undo: only names that the admission policy has verified. */
  readonly createdByUser?: string;
  readonly undoRequestedBy?: string;
  readonly fieldManager?: string;
  /** The name of the rollback that has undone it. */
  readonly undoneBy?: string;
  /** Of a rollback: the names of the Transactions that it undoes, the newest first. */
  readonly undoes?: readonly string[];
  /** Of one object, if the command names it. */
  readonly changes?: readonly { readonly type: string; readonly state: string; readonly logs?: readonly string[] }[];
}

interface About {
  /** The object that the command names. */
  readonly wanted: ObjectName | undefined;
  readonly place: string;
  /** By uid: the rollbacks that have undone Transactions. */
  readonly rollbacks: ReadonlyMap<string, string>;
}

function recordOf(object: JsonObject, { wanted, place, rollbacks }: About): Recorded {
  const view = viewOf(object);
  const { namespace, name, phase, message, createdAt } = view;
  const [by, undoes] = [rollbacks.get(view.uid), undoesOf(view)];
  const took = tookOf(object);
  const fieldManager = textAt(object, 'spec', 'fieldManager');
  return {
    ...{ namespace, name, phase, message, operations: operationsOf(view.changes), createdBy: creatorOf(object) },
    ...(createdAt === undefined ? {} : { createdAt }),
    ...(took === undefined ? {} : { took }),
    ...usersOf(view),
    ...(fieldManager === undefined ? {} : { fieldManager: foreign(fieldManager, longestName) }),
    ...(by === undefined ? {} : { undoneBy: by }),
    ...(undoes.length === 0 ? {} : { undoes }),
    ...(wanted === undefined ? {} : { changes: changesOf(object, wanted, place) }),
  };
}

/** An undo on request may begin long after the release, so its own start counts. */
function tookOf(object: JsonObject): number | undefined {
  const time = (key: string): number | undefined => parseTime(textAt(object, 'status', key));
  const isRequested = [annotations.requestRollback, annotations.retryRollback].some(
    (name) => at(object, 'status', 'handledAnnotations', name) !== undefined,
  );
  const [start, end] = [(isRequested ? time('rollbackStartedAt') : undefined) ?? time('startTime'), time('completionTime')];
  return start === undefined || end === undefined ? undefined : end - start;
}

const longestName = 128;

/** Who created it, and who made the last request that the engine has handled. */
function usersOf({ requested, handled }: TransactionView): Pick<Recorded, 'createdByUser' | 'undoRequestedBy'> {
  const value = handled[annotations.retryRollback] ?? handled[annotations.requestRollback] ?? '';
  const [, requester] = new RegExp(`${requestedBy}(.*)`).exec(value) ?? [];
  const creator = requested[annotations.createdByUser];
  return {
    ...(creator === undefined ? {} : { createdByUser: foreign(creator, longestName) }),
    ...(requester === undefined ? {} : { undoRequestedBy: foreign(requester, longestName) }),
  };
}

/** Kubernetes records no user. The owner of the immutable spec is the program that created the object. */
function creatorOf(object: JsonObject): string {
  const entry = listAt(object, 'metadata', 'managedFields').find((one) => at(one, 'fieldsV1', 'f:spec') !== undefined);
  return foreign(textAt(entry, 'manager') ?? 'unknown', longestName);
}

/** The changes of that object. The namespace of the Transaction does not matter to an object of a cluster-scoped kind. */
function changesOf(object: JsonObject, wanted: ObjectName, place: string): NonNullable<Recorded['changes']> {
  const view = viewOf(object);
  return writtenChanges(object).flatMap((change, index) => {
    const target = targetIn(change);
    const isThere = isClusterScoped(target, wanted) || (target.namespace ?? view.namespace) === place;
    if (!isThere || !isNamed(wanted, target)) return [];
    const { type = '', state = '', gate } = view.changes[index] ?? {};
    return [{ type, state, ...(gate?.logs === undefined ? {} : { logs: gate.logs }) }];
  });
}

function isClusterScoped({ apiVersion, kind }: Target, { kinds }: ObjectName): boolean {
  return kinds.some((one) => one.kind === kind && one.group === groupOf(apiVersion) && !one.namespaced);
}

const columns = ['NAMESPACE', 'TRANSACTION', 'AGE', 'PHASE', 'CHANGES', 'TOOK', 'BY'];
const header = [...columns, 'MESSAGE'];

function rowOf(record: Recorded): readonly string[] {
  const { phase, message } = record;
  return [...cellsOf(record), joined(phase === 'Committed' ? '' : message, requestNote(record), undoneNote(record))];
}

const requestNote = ({ undoRequestedBy }: Recorded): string =>
  undoRequestedBy === undefined ? '' : `undo requested by ${undoRequestedBy}`;

const joined = (...parts: readonly string[]): string => parts.filter((part) => part !== '').join('; ');

function cellsOf(record: Recorded): readonly string[] {
  const { namespace, name, createdAt, took, phase, operations, createdBy, createdByUser = `unknown (${createdBy})` } = record;
  const age = createdAt === undefined ? '' : ageOf(Date.now() - createdAt);
  return [namespace, name, age, phase, operationsText(operations), took === undefined ? '' : ageOf(took), createdByUser];
}

/** One row for each change of the object, and what the container that failed last has printed. */
function tableAbout(records: readonly Recorded[]): readonly string[] {
  const rows = records.flatMap((record) =>
    (record.changes ?? []).map(({ type, state }) => [
      ...cellsOf(record),
      type,
      joined(state, requestNote(record), undoneNote(record)),
    ]),
  );
  const [latest] = records.flatMap(({ name, changes = [] }) =>
    changes.flatMap(({ logs }) => (logs === undefined ? [] : { name, logs })),
  );
  const kept = latest === undefined ? [] : lastLines(`the container that failed in ${latest.name}`, latest.logs);
  return [...tableOf([...columns, 'CHANGE', 'STATE'], rows), ...kept];
}
