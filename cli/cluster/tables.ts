// Lists and watches in the columns that the API server prints.
import type { Failed } from '../../hooks/objects/cluster.ts';
import { at, type JsonObject, listAt, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { collectionPath } from '../../server/kubernetes/paths.ts';
import { allPages } from './pages.ts';
import { isRollback } from './rollbacks.ts';
import { caller, type Session } from './session.ts';
import { newestFirst, transactions } from './transactions.ts';
import { versionIn } from './watch.ts';

export interface Column {
  readonly name: string;
  /** 0: always shown; more: with -o wide. */
  readonly priority: number;
}

export interface TableRow {
  readonly cells: readonly string[];
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly isRollback: boolean;
}

export interface Table {
  readonly kind: 'ok';
  readonly columns: readonly Column[];
  readonly rows: readonly TableRow[];
  /** To watch from. */
  readonly version: string;
}

export interface Selection {
  /** Undefined for all. */
  readonly namespace: string | undefined;
  readonly labelSelector: string | undefined;
}

const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const pageSize = '500';

/** Reads all pages, the newest Transaction first. */
export async function readTable(session: Session, { namespace, labelSelector }: Selection): Promise<Table | Failed> {
  const pages = await allPages(async (from) => {
    const query = { limit: pageSize, ...present({ labelSelector, continue: from === '' ? undefined : from }) };
    const request = { method: 'GET', path: collectionPath(transactions, namespace), query, accept } as const;
    const answer = await session.cluster.transport.request(request, caller);
    if (answer.kind === 'failed') return answer;
    const { body, size } = answer;
    return { kind: 'ok', body, size, next: textAt(body, 'metadata', 'continue') ?? '' } as const;
  });
  if ('kind' in pages) return pages;
  const last = pages.at(-1)?.body ?? {};
  const rows = newestFirst(
    pages.flatMap(({ body }) => objectsAt(body, 'rows')),
    (row) => at(row, 'object'),
  ).map(rowIn);
  return { kind: 'ok', columns: columnsIn(last), rows, version: versionIn(last) };
}

/** Yields each row that changes, until the watch ends. */
export async function* watchTable(
  session: Session,
  { namespace, labelSelector }: Selection,
  from: string,
  signal: AbortSignal,
): AsyncGenerator<TableRow> {
  const query = { resourceVersion: from, ...present({ labelSelector }) };
  const path = collectionPath(transactions, namespace) ?? '';
  for await (const { type, object } of session.watcher.events({ path, query, accept }, signal)) {
    if (type === 'ERROR') return;
    if (type !== 'DELETED') yield* objectsAt(object, 'rows').map(rowIn);
  }
}

function present(values: Readonly<Record<string, string | undefined>>): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(values).flatMap(([key, value]) => (value === undefined ? [] : [[key, value]])));
}

function columnsIn(table: JsonObject): readonly Column[] {
  return listAt(table, 'columnDefinitions').map((column) => ({
    name: said(textAt(column, 'name') ?? ''),
    priority: Number(at(column, 'priority') ?? 0),
  }));
}

const longestCell = 1_000;

const said = (text: string): string => foreign(text, longestCell);

function rowIn(row: JsonObject): TableRow {
  return {
    cells: listAt(row, 'cells').map((cell) => said(cell === null ? '' : String(cell))),
    namespace: said(textAt(row, 'object', 'metadata', 'namespace') ?? ''),
    name: said(textAt(row, 'object', 'metadata', 'name') ?? ''),
    uid: said(textAt(row, 'object', 'metadata', 'uid') ?? ''),
    isRollback: isRollback(at(row, 'object')),
  };
}
