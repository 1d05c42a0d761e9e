// The stored states of one Transaction over time. If a watch ends, no state is lost: the command reads the Transaction again, and starts
// another watch from that version.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Failed } from '../../hooks/objects/cluster.ts';
import { at, isList, isObject, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { collectionPath } from '../../server/kubernetes/paths.ts';
import { unlessAborted } from '../io.ts';
import { Problem } from '../problem.ts';
import { caller, type Session } from './session.ts';
import { noSuch, problemOf, type TransactionName, transactions } from './transactions.ts';
import { versionIn } from './watch.ts';

/** The wait between two attempts to reach the API server, in ms. */
const pause = 500;
/** The wait between a watch and the next read. After a watch without events, `pause` applies: the API server may refuse each. */
const breath = 50;
/** After a restart an API server answers 403 or 404 until it has read its roles and CRDs. For this time, in ms, they are retried. */
const patience = 30_000;

export interface Followed {
  /** Undefined while there is no connection: `trouble` says why. */
  readonly object?: JsonObject;
  readonly trouble?: string;
}

/**
 * Yields the Transaction, and then each new state, until `signal`. If `known` was just written, it starts there, so that it misses no
 * later state. Throws a Problem if the Transaction does not exist, or no longer exists, or if the first read fails. Later failures are
 * states.
 */
export async function* follow(
  session: Session,
  wanted: TransactionName,
  { signal, known }: { readonly signal: AbortSignal; readonly known?: JsonObject | undefined },
): AsyncGenerator<Followed> {
  const following: Following = { seen: known, failing: undefined, signal };
  if (known !== undefined) {
    yield { object: known };
    yield* noted(following, changes(session, wanted, versionIn(known), signal));
  }
  while (!signal.aborted) yield* noted(following, untilTheWatchEnds(session, wanted, following));
}

interface Following {
  seen: JsonObject | undefined;
  /** The time of the first failed request since the last success, by `performance.now()`. */
  failing: number | undefined;
  readonly signal: AbortSignal;
}

async function* noted(following: Following, all: AsyncGenerator<Followed>): AsyncGenerator<Followed> {
  for await (const followed of all) {
    following.seen = followed.object ?? following.seen;
    if (followed.object === undefined) following.failing ??= performance.now();
    yield followed;
  }
}

async function* untilTheWatchEnds(session: Session, wanted: TransactionName, following: Following): AsyncGenerator<Followed> {
  const { seen, signal } = following;
  const reading = await readAgain(session, wanted, following);
  if (reading === undefined) return;
  const { now, version } = reading;
  if (now.object === undefined || isNews(now.object, seen)) yield now;
  let isQuiet = true;
  for await (const change of now.object === undefined ? [] : changes(session, wanted, version, signal)) {
    isQuiet = false;
    yield change;
  }
  await sleep(isQuiet ? pause : breath, undefined, { signal }).catch(() => undefined);
}

interface Reading {
  readonly now: Followed;
  /** To watch from. */
  readonly version: string;
}

// Reads a list of one object, because a watch starts from the version of a list. The API server forgets the version of an object that
// has not changed for a while, and answers a watch from it with 410.
async function readAgain(session: Session, wanted: TransactionName, following: Following): Promise<Reading | undefined> {
  const { seen, signal } = following;
  const answer = await unlessAborted(session.cluster.transport.request({ method: 'GET', ...placeOf(wanted) }, caller), signal);
  if (answer === undefined) return undefined;
  if (answer.kind === 'failed') return { now: { trouble: troubleOf(answer, session, { ...following, wanted }) }, version: '' };
  following.failing = undefined;
  const object = objectIn(answer.body);
  if (object === undefined) throw seen === undefined ? noSuch(wanted) : deleted(wanted);
  if (seen !== undefined && uidIn(seen) !== uidIn(object)) throw deleted(wanted);
  return { now: { object }, version: versionIn(answer.body) };
}

type Lost = Following & { readonly wanted: TransactionName };

/** Throws failures that a retry does not fix. */
function troubleOf(answer: Failed, session: Session, { wanted, seen, failing }: Lost): string {
  const problem = problemOf(answer, session, { verb: 'list', namespace: wanted.namespace });
  const mayPass = answer.failure.kind === 'transient' || isShort(failing);
  if (seen === undefined || !mayPass) throw problem;
  return problem.message;
}

/** Whether requests have failed for no longer than a restarted API server needs. */
export function isShort(failing: number | undefined): boolean {
  return failing === undefined || performance.now() - failing < patience;
}

function placeOf({ namespace, name }: TransactionName) {
  return { path: collectionPath(transactions, namespace) ?? '', query: { fieldSelector: `metadata.name=${name}` } };
}

function objectIn(list: JsonObject): JsonObject | undefined {
  const items = at(list, 'items');
  return isList(items) ? items.find(isObject) : undefined;
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

/** Later versions, until the watch ends. */
async function* changes(
  session: Session,
  wanted: TransactionName,
  resourceVersion: string,
  signal: AbortSignal,
): AsyncGenerator<Followed> {
  const { path, query } = placeOf(wanted);
  for await (const { type, object } of session.watcher.events({ path, query: { ...query, resourceVersion } }, signal)) {
    // ERROR: the version is too old (410), or the API server ends. DELETED: the next read reports it.
    if (type !== 'ADDED' && type !== 'MODIFIED') return;
    yield { object };
  }
}
