// Follows a Transaction live: prints a line for each stored status. A watch makes sure that it misses none.
import { setTimeout as sleep } from 'node:timers/promises';
import { type JsonObject, textAt } from '../../hooks/model/json.ts';
import { isTerminal, type Phase } from '../../hooks/model/phase.ts';
import { connectAsMetacontroller } from '../../test/support/metacontroller/connection.ts';
import { readEvents } from '../../test/support/metacontroller/watch-stream.ts';
import { conditionOf } from '../../test/support/stage.ts';
import { moment } from './terminal.ts';
import { newsOf, statusIn } from './wording.ts';
import type { World } from './world.ts';

interface Story {
  /** The last status seen. */
  readonly status: JsonObject;
  /** The phase of every status, in the order in which they were stored. */
  readonly phases: readonly string[];
}

// Only a guard against hanging: a Transaction that does not end is printed as it stands, and the checks fail.
const patience = 60_000;

/** Starts the watch, runs `begin`, and prints what happens until the Transaction is in a terminal phase other than `from`. */
export async function follow(world: World, name: string, begin: () => Promise<unknown>, from?: Phase): Promise<Story> {
  const watching = new AbortController();
  const api = await connectAsMetacontroller({ kubeconfig: world.kubeconfig, signal: watching.signal });
  const story = { status: {} as JsonObject, phases: [] as string[] };
  try {
    const selector = encodeURIComponent(`metadata.name=${name}`);
    const path = `/apis/tx.janus.io/v1alpha1/namespaces/shop/transactions?watch=true&fieldSelector=${selector}`;
    const chunks = await api.watch(path);
    const start = performance.now();
    await begin();
    const guard = sleep(patience, undefined, { signal: watching.signal }).catch(() => undefined);
    const told = tell(chunks, start, story, from);
    told.catch(() => undefined);
    await Promise.race([told, guard]);
  } finally {
    watching.abort();
    await api.close();
  }
  return story;
}

interface Telling {
  status: JsonObject;
  readonly phases: string[];
}

async function tell(chunks: AsyncIterable<Uint8Array>, start: number, story: Telling, from: Phase | undefined): Promise<void> {
  for await (const { object } of readEvents(chunks)) {
    const news = newsOf(object, story.phases.length === 0 ? undefined : story.status);
    story.status = statusIn(object);
    story.phases.push(news.phase);
    if (news.message !== '') moment({ seconds: (performance.now() - start) / 1000, ...news });
    if (isOver(story.status, from)) return;
  }
}

function isOver(status: JsonObject, from: Phase | undefined): boolean {
  const phase = (textAt(status, 'phase') ?? 'Pending') as Phase;
  return isTerminal(phase) && phase !== from && conditionOf(status, 'Finished') === 'True';
}
