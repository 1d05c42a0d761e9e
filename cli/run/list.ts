import { setTimeout as sleep } from 'node:timers/promises';
import { printed } from '../../hooks/inspect.ts';
import type { Session } from '../cluster/session.ts';
import { type Column, readTable, type Selection, type Table, type TableRow, watchTable } from '../cluster/tables.ts';
import { listTransactions, problemOf } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { note, say } from '../io.ts';
import { exits } from '../problem.ts';
import { formatted } from '../show/formats.ts';
import { tableOf } from '../show/table.ts';

export async function run(call: Call): Promise<number> {
  const { options } = call;
  const session = await call.connect();
  const namespace = options.flag('allNamespaces') ? undefined : session.namespace;
  const selection = { namespace, labelSelector: options.text('selector') };
  const format = options.text('output') ?? '';
  return formats.includes(format) ? showObjects(call, session, selection) : showTable(call, session, selection);
}

const formats = ['name', 'json', 'yaml'];

async function showObjects({ io, options }: Call, session: Session, { namespace, labelSelector }: Selection): Promise<number> {
  const labels = labelSelector === undefined ? {} : { labelSelector };
  const format = options.text('output') ?? '';
  const objects = await listTransactions(session, namespace, labels);
  const text = formatted(objects.map(printed), format);
  if (text !== '') say(io, text);
  return exits.done;
}

async function showTable(call: Call, session: Session, selection: Selection): Promise<number> {
  const table = await read(session, selection);
  const { namespace } = selection;
  if (table.rows.length > 0) say(call.io, ...linesOf(table, table.rows, call));
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

/** Between the end of a watch and the next, in ms. */
const breath = 50;

async function follow(call: Call, session: Session, { selection, table }: Following): Promise<number> {
  const { io } = call;
  const shown = new Map(table.rows.map((row) => [keyOf(row), row.cells.join('\t')]));
  let from = table;
  const show = (row: TableRow): void => {
    if (shown.get(keyOf(row)) === row.cells.join('\t')) return;
    shown.set(keyOf(row), row.cells.join('\t'));
    say(io, ...linesOf(table, [row], call).slice(1));
  };
  while (!io.interrupted.aborted) {
    for await (const row of watchTable(session, selection, from.version, io.interrupted)) show(row);
    await sleep(breath, undefined, { signal: io.interrupted }).catch(() => undefined);
    if (!io.interrupted.aborted) {
      from = await read(session, selection);
      for (const row of from.rows) show(row);
    }
  }
  return exits.interrupted;
}

function keyOf({ namespace, name }: TableRow): string {
  return `${namespace}/${name}`;
}
