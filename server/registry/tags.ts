// Reads all tags of a source, page by page.

import { isTag } from '../../hooks/crossplane/model/reference.ts';
import { at, isList, type Json } from '../../hooks/objects/json.ts';
import type { Reply } from './exchange.ts';
import { limits } from './limits.ts';
import type { Session } from './session.ts';
import { invalid } from './trouble.ts';

const pageSize = 1_000;

/** Throws a Trouble if there are too many pages, or if they lead in a circle. */
export async function readTags(source: string, session: Session): Promise<readonly string[]> {
  const tags = new Set<string>();
  const seen = new Set<string>();
  const home = session.addressOf(source, 'tags/list');
  let next: URL | undefined = new URL(`?n=${pageSize}`, home);
  while (next !== undefined) {
    requireNew(next, seen, source);
    const reply = await session.ask(source, { path: next, accept: 'application/json' });
    for (const tag of tagsOf(await reply.text(limits.answerBytes), source)) tags.add(tag);
    if (tags.size > limits.tags) throw invalid(`${source} has more than ${limits.tags} tags`);
    next = nextOf(reply, next, home);
  }
  return [...tags];
}

function requireNew(page: URL, seen: Set<string>, source: string): void {
  if (seen.has(page.href)) throw invalid(`${source}: the pages of its tags lead in a circle`);
  seen.add(page.href);
  if (seen.size > limits.pages) throw invalid(`${source}: its tags have more than ${limits.pages} pages`);
}

function tagsOf(text: string, source: string): readonly string[] {
  try {
    // Numbers do not matter here. A parser that keeps all digits of numbers costs ten times as much.
    const tags = at(JSON.parse(text) as Json, 'tags');
    return (isList(tags) ? tags : []).filter((tag) => typeof tag === 'string').filter(isTag);
  } catch {
    throw invalid(`${source}: the list of its tags is no JSON`);
  }
}

/** `Link: <address>; rel="next"`. It must be a page of this list, because the hook requests it with the token of this list. */
function nextOf(reply: Reply, from: URL, home: URL): URL | undefined {
  const link = /<([^>]*)>\s*;\s*rel="?next"?/.exec(reply.header('link') ?? '')?.[1];
  if (link === undefined) return undefined;
  const url = URL.canParse(link, from.href) ? new URL(link, from) : undefined;
  if (url?.origin !== home.origin || url.pathname !== home.pathname)
    throw invalid(`${home.host}${home.pathname}: the next page of tags is no page of them`);
  return url;
}
