// One Transaction over time: its states as they are stored. A watch that ends, for whatever reason, loses nothing: the Transaction is
// read again, and watched from there.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Failed } from '../../hooks/cluster.ts';
import { type JsonObject, textAt } from '../../hooks/model/json.ts';
import { collectionPath } from '../../server/kubernetes/paths.ts';
import { Problem } from '../problem.ts';
import { caller, type Session } from './session.ts';
import { locationOf, noSuch, problemOf, type TransactionName, transactions } from './transactions.ts';
import { versionIn } from './watch.ts';

/** Between two attempts to reach the API server again, in ms. */
const pause = 500;
/** Between the end of a watch and the next read, so that a watch that ends at once does not become a loop. */
const breath = 50;

export interface Followed {
  /** Undefined while there is no connection: `trouble` says why. */
  readonly object?: JsonObject;
  readonly trouble?: string;
}

/**
 * The Transaction as it is, and then each time that it has changed, until `signal`. Throws a Problem if it does not exist (any more),
 * or if the first read fails; later failures are states.
 */
export async function* follow(session: Session, wanted: TransactionName, signal: AbortSignal): AsyncGenerator<Followed> {
  let seen: JsonObject | undefined;
  while (!signal.aborted) {
    for await (const followed of untilTheWatchEnds(session, wanted, { seen, signal })) {
      seen = followed.object ?? seen;
      yield followed;
    }
  }
}

interface Following {
  readonly seen: JsonObject | undefined;
  readonly signal: AbortSignal;
}

async function* untilTheWatchEnds(session: Session, wanted: TransactionName, following: Following): AsyncGenerator<Followed> {
  const { seen, signal } = following;
  const now = await readAgain(session, wanted, seen);
  if (now.object === undefined || isNews(now.object, seen)) yield now;
  if (now.object !== undefined) yield* changes(session, wanted, versionIn(now.object), signal);
  await sleep(now.object === undefined ? pause : breath, undefined, { signal }).catch(() => undefined);
}

async function readAgain(session: Session, wanted: TransactionName, seen: JsonObject | undefined): Promise<Followed> {
  const answer = await session.cluster.get(locationOf(wanted), caller);
  if (answer.kind === 'ok') {
    if (seen !== undefined && uidIn(seen) !== uidIn(answer.object)) throw deleted(wanted);
    return { object: answer.object };
  }
  if (seen === undefined || answer.failure.kind !== 'transient')
    throw ended(answer, session, { wanted, wasThere: seen !== undefined });
  return { trouble: problemOf(answer, session, { verb: 'get', ...wanted }).message };
}

function isNews(object: JsonObject, seen: JsonObject | undefined): boolean {
  return seen === undefined || versionIn(seen) !== versionIn(object);
}

function uidIn(object: JsonObject): string {
  return textAt(object, 'metadata', 'uid') ?? '';
}

function deleted({ namespace, name }: TransactionName): Problem {
  return new Problem(`Transaction ${name} in namespace ${namespace} was deleted while it was followed.`);
}

interface Lost {
  readonly wanted: TransactionName;
  readonly wasThere: boolean;
}

function ended(answer: Failed, session: Session, { wanted, wasThere }: Lost): Problem {
  if (answer.failure.kind !== 'absent' || answer.failure.subject !== wanted.name)
    return problemOf(answer, session, { verb: 'get', ...wanted });
  return wasThere ? deleted(wanted) : noSuch(wanted);
}

/** Later versions, until the watch ends. */
async function* changes(
  session: Session,
  { namespace, name }: TransactionName,
  from: string,
  signal: AbortSignal,
): AsyncGenerator<Followed> {
  const query = { fieldSelector: `metadata.name=${name}`, resourceVersion: from };
  const path = collectionPath(transactions, namespace) ?? '';
  for await (const { type, object } of session.watcher.events({ path, query }, signal)) {
    // ERROR: the version is too old (410), or the API server ends. DELETED: the next read says so.
    if (type !== 'ADDED' && type !== 'MODIFIED') return;
    yield { object };
  }
}
