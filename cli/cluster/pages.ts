// Lists page by page. The server decides how many pages there are, so the pages that are kept have a bound.
import type { Failed } from '../../hooks/objects/cluster.ts';
import { NeedsNamespace } from '../problem.ts';

interface Page {
  readonly kind: 'ok';
  /** The token for the next page; empty on the last one. */
  readonly next: string;
  /** Characters of the answer. */
  readonly size: number;
}

/** At least 100 000 objects. A hostile server sends one object a page without end, and each page may take the request timeout. */
const most = { pages: 1_000, characters: 256 * 1024 * 1024 } as const;

/** All pages, or the first failure. Throws a Problem if the list is too large. */
export async function allPages<One extends Page>(
  read: (from: string) => Promise<One | Failed>,
): Promise<readonly One[] | Failed> {
  const pages: One[] = [];
  let size = 0;
  let from = '';
  do {
    const page = await read(from);
    if (page.kind === 'failed') return page;
    pages.push(page);
    size += page.size;
    if (size > most.characters || pages.length > most.pages)
      throw new NeedsNamespace(
        `The list of the API server is larger than ${most.characters >> 20} MiB or ${most.pages} pages: name a namespace with -n, or labels with -l.`,
      );
    from = page.next;
  } while (from !== '');
  return pages;
}
