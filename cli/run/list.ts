import { setTimeout as sleep } from 'node:timers/promises';
import { textAt } from '../../hooks/objects/json.ts';
import { printed } from '../../hooks/transactions/inspect.ts';
import { isPhase, isTerminal } from '../../hooks/transactions/model/phase.ts';
import { isShort } from '../cluster/follow.ts';
import { readRollbacks } from '../cluster/rollbacks.ts';
import type { Session } from '../cluster/session.ts';
import { type Column, readTable, type Selection, type Table, type TableRow, watchTable } from '../cluster/tables.ts';
import { isNamespaceMissing, listTransactions, noNamespace, problemOf } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { note, say, sayAll, unlessAborted } from '../io.ts';
import { exits, wrongUse } from '../problem.ts';
import { formatted } from '../show/formats.ts';
import { tableOf } from '../show/table.ts';
import { rollbacksOf, undoesOf, undoneNote } from '../show/undone.ts';

export async function run(call: Call): Promise<number> {
  const { options } = call;
  const session = await call.connect();
  const namespace = options.flag('allNamespaces') ? undefined : session.namespace;
  const selection = { namespace, labelSelector: options.text('selector') };
  const format = options.text('output') ?? '';
  if (formats.includes(format) && options.flag('watch'))
    throw wrongUse(`--watch prints rows: leave out -o ${format}, or watch one Transaction with status --watch.`);
  return formats.includes(format) ? showObjects(call, session, selection) : showTable(call, session, selection);
}

const formats = ['name', 'json', 'yaml'];

async function showObjects({ io, options }: Call, session: Session, { namespace, labelSelector }: Selection): Promise<number> {
  const format = options.text('output') ?? '';
  const all = await listTransactions(session, namespace, labelSelector);
  const objects = options.flag('failed') ? all.filter((one) => textAt(one, 'status', 'phase') === 'Failed') : all;
  if (all.length === 0) await refuseMissing(session, namespace);
  const text = formatted(objects.map(printed), format, true);
  if (text !== '') say(io, text);
  return exits.done;
}

async function showTable(call: Call, session: Session, selection: Selection): Promise<number> {
  const read = await readOrThrow(session, selection);
  const table = { ...read, rows: read.rows.filter(isWanted(read, call)) };
  const { namespace } = selection;
  if (read.rows.length === 0) await refuseMissing(session, namespace);
  const what = call.options.flag('failed') ? 'Failed Transactions' : 'Transactions';
  const notes = await notesOn(session, read.rows);
  if (table.rows.length > 0) sayAll(call.io, linesOf({ table, notes }, table.rows, call));
  else note(call.io, `No ${what} in ${namespace === undefined ? 'any namespace' : `namespace ${namespace}`}.`);
  return call.options.flag('watch') ? follow(call, session, { selection, table, rows: read.rows, notes }) : exits.done;
}

/** What rollbacks have undone, in words, by the uids of Transactions. */
type Notes = Map<string, string>;

/** Of the rollbacks among the rows, and of what they have undone. */
async function notesOn(session: Session, rows: readonly TableRow[]): Promise<Notes> {
  const views = await readRollbacks(
    session,
    rows.filter(({ isRollback }) => isRollback),
  );
  const rollbacks = rollbacksOf(views);
  const own = new Map(views.map((view) => [view.uid, { phase: view.phase, undoes: undoesOf(view) }]));
  return new Map(rows.map(({ uid }) => [uid, undoneNote({ phase: '', ...own.get(uid), undoneBy: rollbacks.get(uid) })]));
}

/** A wrong namespace looks like an empty one. A user who may not read Namespaces gets no error. */
async function refuseMissing(session: Session, namespace: string | undefined): Promise<void> {
  if (namespace !== undefined && (await isNamespaceMissing(session))) throw noNamespace(namespace);
}

async function readOrThrow(session: Session, selection: Selection): Promise<Table> {
  const table = await readTable(session, selection);
  if (table.kind === 'failed') throw problemOf(table, session, { verb: 'list', namespace: selection.namespace });
  return table;
}

/** With --failed only these. */
function isWanted(table: Pick<Table, 'columns'>, { options }: Call): (row: TableRow) => boolean {
  return (row) => !options.flag('failed') || cellOf(table, row, 'Phase') === 'Failed';
}

function cellOf({ columns }: Pick<Table, 'columns'>, { cells }: TableRow, wanted: string): string {
  return cells[columns.findIndex(({ name }) => name === wanted)] ?? '';
}

interface Shown {
  readonly table: Pick<Table, 'columns'>;
  readonly notes: ReadonlyMap<string, string>;
}

function linesOf({ table, notes }: Shown, rows: readonly TableRow[], { options }: Call): readonly string[] {
  const { columns } = table;
  const isWide = options.text('output') === 'wide';
  const isShown = (_: unknown, index: number): boolean => isWide || columns[index]?.priority === 0;
  const place = ({ namespace }: TableRow): readonly string[] => (options.flag('allNamespaces') ? [namespace] : []);
  const header = columns.filter(isShown).map(({ name }: Column) => name.toUpperCase());
  const cells = rows.map((row) => [
    ...place(row),
    ...withReason({ table, notes }, row).filter(isShown),
    ...(isWide ? [] : [waitingFor(table, row)]),
  ]);
  return tableOf([...(options.flag('allNamespaces') ? ['NAMESPACE'] : []), ...header, ...(isWide ? [] : ['WAITING FOR'])], cells);
}

/** The reason of a Transaction that succeeded, or that runs, is its phase: it is left out. What a rollback has undone is added. */
function withReason({ table, notes }: Shown, row: TableRow): readonly string[] {
  const [phase, note = ''] = [cellOf(table, row, 'Phase'), notes.get(row.uid)];
  const reasonOf = (cell: string): string => [cell === phase ? '' : cell, note].filter((part) => part !== '').join('; ');
  return row.cells.map((cell, index) => (table.columns[index]?.name === 'Reason' ? reasonOf(cell) : cell));
}

/** The present step of a Transaction that runs: its message names the object, and the time until which the engine waits. */
function waitingFor(table: Pick<Table, 'columns'>, row: TableRow): string {
  const phase = cellOf(table, row, 'Phase');
  if (phase === '') return 'the engine';
  return isPhase(phase) && isTerminal(phase) ? '' : cellOf(table, row, 'Message');
}

interface Following {
  readonly selection: Selection;
  /** As it was printed. */
  readonly table: Table;
  /** All rows, printed or not. */
  readonly rows: readonly TableRow[];
  readonly notes: Notes;
}

/** The wait between two watches, in ms. After a watch without events, `pause` applies. */
const breath = 50;
/** The wait between two attempts to reach the API server, in ms. */
const pause = 500;

async function follow(call: Call, session: Session, following: Following): Promise<number> {
  const { selection, table } = following;
  const { interrupted } = call.io;
  const show = showing(call, session, following);
  const watchFrom = async (version: string): Promise<boolean> => {
    let isQuiet = true;
    for await (const row of watchTable(session, selection, version, interrupted)) {
      isQuiet = false;
      await show(row);
    }
    return isQuiet;
  };
  let from: string | undefined = table.version;
  const looking: Again = { selection, show, failing: undefined };
  while (!interrupted.aborted) {
    const isQuiet = from === undefined || (await watchFrom(from));
    await sleep(isQuiet ? pause : breath, undefined, { signal: interrupted }).catch(() => undefined);
    if (!interrupted.aborted) from = await again(call, session, looking);
  }
  return exits.interrupted;
}

/** Prints a row that has changed, and the rows of what a rollback has undone by now. */
function showing(call: Call, session: Session, { table, rows, notes }: Following): (row: TableRow) => Promise<void> {
  const known = new Map(rows.map((row) => [keyOf(row), row]));
  const show = rowsAfter(table, call, notes);
  const phaseOf = (row: TableRow | undefined): string => (row === undefined ? '' : cellOf(table, row, 'Phase'));
  return async (row) => {
    const before = known.get(keyOf(row));
    known.set(keyOf(row), row);
    if (!row.isRollback || phaseOf(row) === phaseOf(before)) return show(row);
    const all = [...known.values()];
    for (const [uid, note] of await notesOn(session, all)) notes.set(uid, note);
    for (const one of all) show(one);
  };
}

/** Columns whose values change with time: the API server formats them by its clock. */
const growing = ['Age'];

/** Prints a row if it differs from the printed row. It aligns the row with the columns of the table, and prints their names first. */
export function rowsAfter(table: Table, call: Call, notes: ReadonlyMap<string, string>): (row: TableRow) => void {
  const isGrowing = (index: number): boolean => growing.includes(table.columns[index]?.name ?? '');
  const textOf = (row: TableRow): string =>
    withReason({ table, notes }, row)
      .filter((_, index) => !isGrowing(index))
      .join('\t');
  const shown = new Map(table.rows.map((row) => [keyOf(row), { row, text: textOf(row) }]));
  return (row) => {
    const text = textOf(row);
    if (!isWanted(table, call)(row) || shown.get(keyOf(row))?.text === text) return;
    const isFirst = shown.size === 0;
    // The row becomes the last one in the Map. All printed rows determine the widths, so that the columns stay aligned.
    shown.delete(keyOf(row));
    shown.set(keyOf(row), { row, text });
    const rows = [...shown.values()].map((one) => one.row);
    const lines = linesOf({ table, notes }, rows, call);
    sayAll(call.io, isFirst ? lines : lines.slice(-1));
  };
}

interface Again {
  readonly selection: Selection;
  readonly show: (row: TableRow) => Promise<void>;
  /** The time of the first failed request since the last success, by `performance.now()`. */
  failing: number | undefined;
}

/** Prints the rows that have changed meanwhile. Returns the version to watch from; undefined if there is no connection. */
async function again({ io }: Call, session: Session, looking: Again): Promise<string | undefined> {
  const { selection, show } = looking;
  const table = await unlessAborted(readTable(session, selection), io.interrupted);
  if (table === undefined) return undefined;
  if (table.kind === 'failed') {
    const problem = problemOf(table, session, { verb: 'list', namespace: selection.namespace });
    if (table.failure.kind !== 'transient' && !isShort(looking.failing)) throw problem;
    looking.failing ??= performance.now();
    note(io, problem.message);
    return undefined;
  }
  looking.failing = undefined;
  for (const row of table.rows) await show(row);
  return table.version;
}

function keyOf({ namespace, name }: TableRow): string {
  return `${namespace}/${name}`;
}
