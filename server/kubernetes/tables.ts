// Reads lists as tables of the API server. A row has a few words instead of a whole object, so the hook can count ten thousand objects.
import type { Failed, Identity, Resource } from '../../hooks/objects/cluster.ts';
import { type Json, type JsonObject, listAt, objectAt, textAt } from '../../hooks/objects/json.ts';
import { collectionPath } from './paths.ts';
import { failed, type Transport } from './transport.ts';

export interface Row {
  /** The text in the column of that name; empty if there is no such column. */
  cell(column: string): string;
  /** The object, with its metadata alone; empty if the list is without metadata. */
  readonly object: JsonObject;
}

export interface Page {
  readonly kind: 'ok';
  readonly rows: readonly Row[];
  /** The token for the next page; empty on the last page. */
  readonly next: string;
  /** The API server's time. */
  readonly serverTime: number;
}

export interface List {
  readonly resource: Resource;
  readonly namespace: string | undefined;
  readonly labelSelector?: string;
  /** Whether each row has the metadata of its object. */
  readonly hasMetadata?: boolean;
  /** Who reads; the engine if absent. */
  readonly identity?: Identity;
}

const engine: Identity = { kind: 'engine' };
const accept = 'application/json;as=Table;g=meta.k8s.io;v=v1';
const rowsOfPage = '500';

export async function readPage(transport: Transport, list: List, next = ''): Promise<Page | Failed> {
  const query = {
    limit: rowsOfPage,
    includeObject: list.hasMetadata === true ? 'Metadata' : 'None',
    ...(list.labelSelector === undefined ? {} : { labelSelector: list.labelSelector }),
    ...(next === '' ? {} : { continue: next }),
  };
  const path = collectionPath(list.resource, list.namespace);
  const answer = await transport.request({ method: 'GET', path, query, accept }, list.identity ?? engine);
  if (answer.kind === 'failed') return failed(answer.failure);
  const columns = listAt(answer.body, 'columnDefinitions').map((column) => textAt(column, 'name') ?? '');
  return {
    kind: 'ok',
    rows: listAt(answer.body, 'rows').map((row) => rowOf(columns, row)),
    next: textAt(answer.body, 'metadata', 'continue') ?? '',
    serverTime: answer.serverTime,
  };
}

function rowOf(columns: readonly string[], row: Json): Row {
  const cells = listAt(row, 'cells');
  return {
    object: objectAt(row, 'object'),
    cell: (column) => {
      const value = cells[columns.indexOf(column)];
      return typeof value === 'string' ? value : '';
    },
  };
}

const units: Readonly<Record<string, number>> = { s: 1, m: 60, h: 3_600, d: 86_400, y: 31_536_000 };

/** The seconds of an age as the API server prints it (`45s`, `5m10s`, `3d4h`); undefined if the text is no age. */
export function secondsOfAge(text: string): number | undefined {
  if (!/^(\d+[smhdy])+$/.test(text)) return undefined;
  return [...text.matchAll(/(\d+)([smhdy])/g)].reduce(
    (sum, [, amount, unit = 's']) => sum + Number(amount) * (units[unit] ?? 0),
    0,
  );
}
