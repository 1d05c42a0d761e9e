import { setTimeout as sleep } from 'node:timers/promises';
import { textAt } from '../../hooks/objects/json.ts';
import { printed } from '../../hooks/transactions/inspect.ts';
import { isPhase, isTerminal } from '../../hooks/transactions/model/phase.ts';
import { isShort } from '../cluster/follow.ts';
import type { Session } from '../cluster/session.ts';
import { type Column, readTable, type Selection, type Table, type TableRow, watchTable } from '../cluster/tables.ts';
import { isNamespaceMissing, listTransactions, noNamespace, problemOf } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { note, say, sayAll, unlessAborted } from '../io.ts';
import { exits, wrongUse } from '../problem.ts';
import { formatted } from '../show/formats.ts';
import { tableOf } from '../show/table.ts';

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
  const labels = labelSelector === undefined ? {} : { labelSelector };
  const format = options.text('output') ?? '';
  const all = await listTransactions(session, namespace, labels);
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
  if (table.rows.length > 0) sayAll(call.io, linesOf(table, table.rows, call));
  else note(call.io, `No ${what} in ${namespace === undefined ? 'any namespace' : `namespace ${namespace}`}.`);
  return call.options.flag('watch') ? follow(call, session, { selection, table }) : exits.done;
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

function linesOf(table: Pick<Table, 'columns'>, rows: readonly TableRow[], { options }: Call): readonly string[] {
  const { columns } = table;
  const isWide = options.text('output') === 'wide';
  const isShown = (_: unknown, index: number): boolean => isWide || columns[index]?.priority === 0;
  const place = ({ namespace }: TableRow): readonly string[] => (options.flag('allNamespaces') ? [namespace] : []);
  const header = columns.filter(isShown).map(({ name }: Column) => name.toUpperCase());
  const cells = rows.map((row) => [
    ...place(row),
    ...withoutRepeats(table, row).filter(isShown),
    ...(isWide ? [] : [waitingFor(table, row)]),
  ]);
  return tableOf([...(options.flag('allNamespaces') ? ['NAMESPACE'] : []), ...header, ...(isWide ? [] : ['WAITING FOR'])], cells);
}

/** The reason of a Transaction that succeeded, or that runs, is its phase. */
function withoutRepeats(table: Pick<Table, 'columns'>, row: TableRow): readonly string[] {
  const phase = cellOf(table, row, 'Phase');
  return row.cells.map((cell, index) => (table.columns[index]?.name === 'Reason' && cell === phase ? '' : cell));
}

/** The present step of a Transaction that runs: its message names the object, and the time until which the engine waits. */
function waitingFor(table: Pick<Table, 'columns'>, row: TableRow): string {
  const phase = cellOf(table, row, 'Phase');
  if (phase === '') return 'the engine';
  return isPhase(phase) && isTerminal(phase) ? '' : cellOf(table, row, 'Message');
}

interface Following {
  readonly selection: Selection;
  readonly table: Table;
}

/** The wait between two watches, in ms. After a watch without events, `pause` applies. */
const breath = 50;
/** The wait between two attempts to reach the API server, in ms. */
const pause = 500;

async function follow(call: Call, session: Session, { selection, table }: Following): Promise<number> {
  const { interrupted } = call.io;
  const show = rowsAfter(table, call);
  const watchFrom = async (version: string): Promise<boolean> => {
    let isQuiet = true;
    for await (const row of watchTable(session, selection, version, interrupted)) {
      isQuiet = false;
      show(row);
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

/** Columns whose values change with time: the API server formats them by its clock. */
const growing = ['Age'];

/** Prints a row if it differs from the printed row. It aligns the row with the columns of the table, and prints their names first. */
export function rowsAfter(table: Table, call: Call): (row: TableRow) => void {
  const shown = new Map(table.rows.map((row) => [keyOf(row), row]));
  const cellsOf = (row: TableRow | undefined): string | undefined =>
    row?.cells.filter((_, index) => !growing.includes(table.columns[index]?.name ?? '')).join('\t');
  return (row) => {
    if (!isWanted(table, call)(row) || cellsOf(shown.get(keyOf(row))) === cellsOf(row)) return;
    const isFirst = shown.size === 0;
    // The row becomes the last one in the Map. All printed rows determine the widths, so that the columns stay aligned.
    shown.delete(keyOf(row));
    shown.set(keyOf(row), row);
    const lines = linesOf(table, [...shown.values()], call);
    sayAll(call.io, isFirst ? lines : lines.slice(-1));
  };
}

interface Again {
  readonly selection: Selection;
  readonly show: (row: TableRow) => void;
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
  for (const row of table.rows) show(row);
  return table.version;
}

function keyOf({ namespace, name }: TableRow): string {
  return `${namespace}/${name}`;
}
