// One Transaction over time: its states as they are stored. A watch that ends, for whatever reason, loses nothing: the Transaction is
// read again, and watched from there.
import { setTimeout as sleep } from 'node:timers/promises';
import type { Failed } from '../../hooks/objects/cluster.ts';
import { at, isList, isObject, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { collectionPath } from '../../server/kubernetes/paths.ts';
import { unlessAborted } from '../io.ts';
import { Problem } from '../problem.ts';
import { caller, type Session } from './session.ts';
import { noSuch, problemOf, type TransactionName, transactions } from './transactions.ts';
import { versionIn } from './watch.ts';

/** Between two attempts to reach the API server again, in ms. */
const pause = 500;
/** Between the end of a watch and the next read; `pause` after a watch that brought nothing: it may be refused each time. */
const breath = 50;
/** An API server that has just been restarted answers 403 or 404 until it has read its roles and CRDs: so long, in ms, that may pass. */
const patience = 30_000;

export interface Followed {
  /** Undefined while there is no connection: `trouble` says why. */
  readonly object?: JsonObject;
  readonly trouble?: string;
}

/**
 * The Transaction as it is, and then each time that it has changed, until `signal`: from `known` on, where that was just written, so
 * that no state since then is missed. Throws a Problem if it does not exist (any more), or if the first read fails; later failures are
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
  /** Since when no request has succeeded, by `performance.now()`. */
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
  const look = await readAgain(session, wanted, following);
  if (look === undefined) return;
  const { now, version } = look;
  if (now.object === undefined || isNews(now.object, seen)) yield now;
  let isQuiet = true;
  for await (const change of now.object === undefined ? [] : changes(session, wanted, version, signal)) {
    isQuiet = false;
    yield change;
  }
  await sleep(isQuiet ? pause : breath, undefined, { signal }).catch(() => undefined);
}

interface Look {
  readonly now: Followed;
  /** To watch from. */
  readonly version: string;
}

// A list of one, since the version to watch from is that of the list: the API server has forgotten that of an object which has not
// changed for a while, and answers a watch from there with 410 at once.
async function readAgain(session: Session, wanted: TransactionName, following: Following): Promise<Look | undefined> {
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

/** Throws what will not pass by itself. */
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
    // ERROR: the version is too old (410), or the API server ends. DELETED: the next read says so.
    if (type !== 'ADDED' && type !== 'MODIFIED') return;
    yield { object };
  }
}
