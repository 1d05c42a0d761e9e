// The number of requests to the API server, by its own counter, read before and after.
import { type Client, must } from '../../test/support/client.ts';

/** Answered requests by `VERB resource/subresource`, dry runs with ` (dry run)` appended. Without watches, which do not end. */
export type Requests = ReadonlyMap<string, number>;

export async function countRequests(client: Client): Promise<Requests> {
  const answer = await client.get('/metrics');
  if (answer.code !== 200) must(answer);
  const counts = new Map<string, number>();
  for (const line of answer.text.split('\n')) {
    const [, labels, value] = /^apiserver_request_total\{(.*)\} (\S+)$/.exec(line) ?? [];
    const key = labels === undefined ? undefined : keyOf(labels);
    if (key !== undefined) counts.set(key, (counts.get(key) ?? 0) + Number(value));
  }
  return counts;
}

function keyOf(text: string): string | undefined {
  const labels = new Map([...text.matchAll(/(\w+)="([^"]*)"/g)].map(([, name = '', value = '']) => [name, value]));
  const [verb = '', resource = ''] = [labels.get('verb'), labels.get('resource')];
  if (verb === 'WATCH' || verb === 'CONNECT' || resource === '') return undefined;
  const subresource = labels.get('subresource') ?? '';
  return `${verb} ${resource}${subresource && `/${subresource}`}${labels.get('dry_run') ? ' (dry run)' : ''}`;
}

/** The requests between two readings, minus `own`: those of the bench itself. */
export function between(before: Requests, after: Requests, own: Requests): Requests {
  const differences = [...after].map(([key, value]): readonly [string, number] => [
    key,
    value - (before.get(key) ?? 0) - (own.get(key) ?? 0),
  ]);
  return new Map(differences.filter(([, value]) => value > 0).toSorted(([, one], [, other]) => other - one));
}

type RequestClass = 'reads' | 'writes' | 'dryRuns' | 'reviews' | 'events';

export function sumsOf(requests: Requests): Readonly<Record<RequestClass, number>> {
  const sums = { reads: 0, writes: 0, dryRuns: 0, reviews: 0, events: 0 };
  for (const [key, value] of requests) sums[classOf(key)] += value;
  return sums;
}

function classOf(key: string): RequestClass {
  if (key.endsWith('(dry run)')) return 'dryRuns';
  if (/accessreviews$/.test(key)) return 'reviews';
  if (/ events$/.test(key)) return 'events';
  return /^(GET|LIST) /.test(key) ? 'reads' : 'writes';
}
