// Reads all rows of tables of the API server, and counts them.
import type { Failed } from '../../hooks/objects/cluster.ts';
import { type List, type Page, type Row, readPage } from '../kubernetes/tables.ts';
import type { Transport } from '../kubernetes/transport.ts';

export interface Active {
  readonly count: number;
  /** Age in seconds of the oldest one; 0 if there is none. A Transaction that waits for a gate has no age. */
  readonly oldest: number;
}

export const none: Active = { count: 0, oldest: 0 };

export function withOneMore({ count, oldest }: Active, age: number): Active {
  return { count: count + 1, oldest: Math.max(oldest, age) };
}

/** In ms. A scrape does not wait longer. */
const longestRead = 8_000;

/** Whether all pages were read. */
export async function eachRow(
  transport: Transport,
  lists: readonly List[],
  see: (row: Row, now: number) => void,
): Promise<boolean> {
  const deadline = performance.now() + longestRead;
  for await (const page of pagesOf(transport, lists)) {
    if (page.kind === 'failed' || performance.now() > deadline) return false;
    for (const row of page.rows) see(row, page.serverTime);
  }
  return true;
}

async function* pagesOf(transport: Transport, lists: readonly List[]): AsyncGenerator<Page | Failed> {
  for (const list of lists) {
    for (let next: string | undefined; next !== ''; ) {
      const page: Page | Failed = await readPage(transport, list, next);
      yield page;
      next = page.kind === 'ok' ? page.next : '';
    }
  }
}
