import { setTimeout as sleep } from 'node:timers/promises';
import { printed } from '../../hooks/transactions/inspect.ts';
import { isShort } from '../cluster/follow.ts';
import type { Session } from '../cluster/session.ts';
import { type Column, readTable, type Selection, type Table, type TableRow, watchTable } from '../cluster/tables.ts';
import { listTransactions, problemOf } from '../cluster/transactions.ts';
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
  const objects = await listTransactions(session, namespace, labels);
  const text = formatted(objects.map(printed), format, true);
  if (text !== '') say(io, text);
  return exits.done;
}

async function showTable(call: Call, session: Session, selection: Selection): Promise<number> {
  const table = await read(session, selection);
  const { namespace } = selection;
  if (table.rows.length > 0) sayAll(call.io, linesOf(table, table.rows, call));
  else note(call.io, `No Transactions in ${namespace === undefined ? 'any namespace' : `namespace ${namespace}`}.`);
  return call.options.flag('watch') ? follow(call, session, { selection, table }) : exits.done;
}

async function read(session: Session, selection: Selection): Promise<Table> {
  const table = await readTable(session, selection);
  if (table.kind === 'failed') throw problemOf(table, session, { verb: 'list', namespace: selection.namespace });
  return table;
}

function linesOf({ columns }: Pick<Table, 'columns'>, rows: readonly TableRow[], { options }: Call): readonly string[] {
  const isShown = (_: unknown, index: number): boolean => options.text('output') === 'wide' || columns[index]?.priority === 0;
  const all = options.flag('allNamespaces');
  const header = columns.filter(isShown).map(({ name }: Column) => name.toUpperCase());
  const cells = rows.map(({ namespace, cells }) => [...(all ? [namespace] : []), ...cells.filter(isShown)]);
  return tableOf([...(all ? ['NAMESPACE'] : []), ...header], cells);
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
    if (cellsOf(shown.get(keyOf(row))) === cellsOf(row)) return;
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
