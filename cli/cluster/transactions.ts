// Reads Transactions from the API server.
import type { Answer, Failed, Location, Resource } from '../../hooks/objects/cluster.ts';
import { type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { parseTime } from '../../hooks/objects/time.ts';
import { NeedsNamespace, Problem } from '../problem.ts';
import { sentenceOf, withoutAnswer } from '../show/sentences.ts';
import { allPages } from './pages.ts';
import { caller, type Session } from './session.ts';

export const transactions: Resource = {
  group: 'tx.janus.io',
  version: 'v1alpha1',
  plural: 'transactions',
  kind: 'Transaction',
  namespaced: true,
  verbs: [],
  statusSubresource: true,
};

export interface TransactionName {
  readonly namespace: string;
  readonly name: string;
}

export function locationOf({ namespace, name }: TransactionName): Location {
  return { resource: transactions, namespace, name };
}

/** Undefined if the Transaction does not exist. Throws a Problem for any other failure. */
export async function findTransaction(session: Session, wanted: TransactionName): Promise<JsonObject | undefined> {
  const answer = await session.cluster.get(locationOf(wanted), caller);
  if (answer.kind === 'ok') return answer.object;
  // The API server names the object if it does not exist. It names no object if it does not serve the kind.
  if (answer.failure.kind === 'absent' && answer.failure.subject === wanted.name) return undefined;
  throw problemOf(answer, session, { verb: 'get', namespace: wanted.namespace, name: wanted.name });
}

/** Throws a Problem if the Transaction does not exist. */
export async function getTransaction(session: Session, wanted: TransactionName): Promise<JsonObject> {
  const found = await findTransaction(session, wanted);
  if (found !== undefined) return found;
  throw noSuch(wanted);
}

export function noSuch({ namespace, name }: TransactionName): Problem {
  return new Problem(
    `There is no Transaction ${name} in namespace ${namespace}: janus list -n ${namespace} lists the Transactions of the namespace.`,
  );
}

/** By their creation, a whole second; within one by their names. `objectOf`: the object, with its metadata. */
export function newestFirst<One>(all: readonly One[], objectOf: (one: One) => Json | undefined): readonly One[] {
  const createdAt = (one: One): number => parseTime(textAt(objectOf(one), 'metadata', 'creationTimestamp')) ?? 0;
  return all.toReversed().toSorted((left, right) => createdAt(right) - createdAt(left));
}

/**
 * All Transactions of a namespace, or of the cluster, the newest first. Throws a Problem. The Problem is a NeedsNamespace if the user may not read the list,
 * or if the list is too large.
 */
export async function listTransactions(
  session: Session,
  namespace: string | undefined,
  labelSelector?: string,
): Promise<readonly JsonObject[]> {
  const pages = await allPages((from) => {
    const labels = labelSelector === undefined ? {} : { labelSelector };
    const options = { ...labels, whole: true, limit: 200, ...(from === '' ? {} : { from }) };
    return session.cluster.listMetadata(transactions, namespace, caller, options);
  });
  if (!('kind' in pages))
    return newestFirst(
      pages.flatMap(({ items }) => items),
      (one) => one,
    );
  const problem = problemOf(pages, session, { verb: 'list', namespace });
  throw pages.failure.reason === 'Forbidden' ? new NeedsNamespace(problem.message) : problem;
}

interface VisibleTransactions {
  /** Undefined for all namespaces. */
  readonly namespace: string | undefined;
  readonly objects: readonly JsonObject[];
}

/**
 * All Transactions of the cluster if the user may list them and they fit into one list, otherwise those of the namespace. Throws a
 * Problem.
 */
export async function listVisibleTransactions(session: Session, namespace: string): Promise<VisibleTransactions> {
  try {
    return { namespace: undefined, objects: await listTransactions(session, undefined) };
  } catch (error) {
    if (error instanceof NeedsNamespace) return { namespace, objects: await listTransactions(session, namespace) };
    throw error;
  }
}

/** Throws a Problem if the API server does not answer, or does not accept the user. A cluster without the engine is no Problem. */
export async function mustAnswer({ cluster, server }: Session): Promise<void> {
  const answer = await cluster.resource(`${transactions.group}/${transactions.version}`, transactions.kind);
  const sentence = 'failure' in answer ? withoutAnswer(answer.failure, server) : undefined;
  if (sentence !== undefined) throw new Problem(sentence);
}

interface Attempt {
  readonly verb: string;
  readonly namespace?: string | undefined;
  readonly name?: string;
}

/** The Problem for a failed request on Transactions. */
export function problemOf({ failure }: Failed, { server }: Session, attempt: Attempt): Problem {
  return new Problem(sentenceOf(failure, { ...attempt, resource: 'transactions.tx.janus.io', server }));
}

const namespaces: Resource = {
  ...transactions,
  group: '',
  version: 'v1',
  plural: 'namespaces',
  kind: 'Namespace',
  namespaced: false,
};

/** The Namespace of the command, with its annotations only. */
export function getNamespace({ cluster, namespace }: Session): Promise<Answer> {
  return cluster.getMetadata({ resource: namespaces, name: namespace }, caller);
}

/** Whether the Namespace of the command does not exist. False if the user may not read it. */
export async function isNamespaceMissing(session: Session): Promise<boolean> {
  const found = await getNamespace(session);
  return found.kind === 'failed' && found.failure.kind === 'absent';
}

export function noNamespace(name: string): Problem {
  return new Problem(`Namespace ${name} does not exist: kubectl get namespaces lists the namespaces of the cluster.`);
}

/** The names that are completed. A shell might run commands that another name contains. */
const completed = /^[a-z0-9][a-z0-9.-]*$/;

/** Names for completions. Throws a Problem. */
export async function listNames(session: Session, what: 'transactions' | 'namespaces'): Promise<readonly string[]> {
  const [resource, namespace] = what === 'transactions' ? [transactions, session.namespace] : [namespaces, undefined];
  const answer = await session.cluster.listMetadata(resource, namespace, caller, { limit: 500 });
  if (answer.kind === 'failed') throw problemOf(answer, session, { verb: 'list', namespace });
  return answer.items.map((item) => textAt(item, 'metadata', 'name') ?? '').filter((name) => completed.test(name));
}
