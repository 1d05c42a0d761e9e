// All writes of the command line. It creates a Transaction, and the Secret with its contents; it sets the owner of that Secret, and
// deletes the Secret if the API server refuses the Transaction; it sets annotations of a Transaction; it creates the Transaction or package
// transaction that makes a plan, and deletes it. It asks who the user is, which stores nothing. No other file in cli/ writes (test/architecture.test.ts).
import type { Failed } from '../../hooks/objects/cluster.ts';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { creatingManager } from '../../hooks/transactions/model/transaction.ts';
import { collectionPath, objectPath } from '../../server/kubernetes/paths.ts';
import type { Received } from '../../server/kubernetes/transport.ts';
import { contentSecrets } from './content-secrets.ts';
import { packageTransactions } from './package-transactions.ts';
import { caller, type Session } from './session.ts';
import { locationOf, type TransactionName, transactions } from './transactions.ts';

type Written = Received | Failed;

const json = 'application/json';
const merge = 'application/merge-patch+json';
/** As for kubectl, the API server refuses an unknown field, and does not drop it. */
const strict = { fieldManager: creatingManager, fieldValidation: 'Strict' } as const;

/** With `dryRun`, the API server checks the Transaction, but does not store it. */
export function createTransaction(session: Session, transaction: JsonObject, dryRun = false): Promise<Written> {
  const path = collectionPath(transactions, textAt(transaction, 'metadata', 'namespace'));
  const query = { ...strict, ...(dryRun ? { dryRun: 'All' } : {}) };
  return session.cluster.transport.request({ method: 'POST', path, query, contentType: json, body: transaction }, caller);
}

/** `made`: by this command, for its plan. */
export function deleteTransaction(session: Session, made: JsonObject): Promise<Written> {
  const [namespace = '', name = '', uid = ''] = ['namespace', 'name', 'uid'].map((key) => textAt(made, 'metadata', key));
  const body = { preconditions: { uid } };
  const path = objectPath(locationOf({ namespace, name }));
  return session.cluster.transport.request({ method: 'DELETE', path, contentType: json, body }, caller);
}

export function createContentSecret(session: Session, namespace: string, secret: JsonObject): Promise<Written> {
  const path = collectionPath(contentSecrets, namespace);
  return session.cluster.transport.request({ method: 'POST', path, query: strict, contentType: json, body: secret }, caller);
}

/** Deletes the Secret that this command has created, unless another client has changed it since. */
export function deleteContentSecret(session: Session, made: JsonObject): Promise<Written> {
  const [uid, resourceVersion] = ['uid', 'resourceVersion'].map((key) => textAt(made, 'metadata', key) ?? '');
  const [namespace, name] = ['namespace', 'name'].map((key) => textAt(made, 'metadata', key) ?? '') as [string, string];
  const path = objectPath({ resource: contentSecrets, namespace, name });
  const body = { preconditions: { uid, resourceVersion } } as JsonObject;
  return session.cluster.transport.request({ method: 'DELETE', path, contentType: json, body }, caller);
}

/** Makes the Transaction the owner of the Secret, so that the Secret is deleted with it. */
export function ownContentSecret(session: Session, { namespace, name }: TransactionName, owner: JsonObject): Promise<Written> {
  const reference = {
    apiVersion: textAt(owner, 'apiVersion') ?? '',
    kind: textAt(owner, 'kind') ?? '',
    name: textAt(owner, 'metadata', 'name') ?? '',
    uid: textAt(owner, 'metadata', 'uid') ?? '',
  };
  const path = objectPath({ resource: contentSecrets, namespace, name });
  const body = { metadata: { ownerReferences: [reference] } };
  return session.cluster.transport.request({ method: 'PATCH', path, query: strict, contentType: merge, body }, caller);
}

/** Annotations by name; null removes the annotation. */
export type AnnotationChanges = Readonly<Record<string, string | null>>;

/** Sets and removes annotations of a Transaction in one write, if its version is still the version that was read. */
export function annotate(
  session: Session,
  wanted: TransactionName,
  seen: JsonObject,
  annotations: AnnotationChanges,
): Promise<Written> {
  const resourceVersion = textAt(seen, 'metadata', 'resourceVersion') ?? '';
  const body = { metadata: { resourceVersion, annotations } };
  const path = objectPath(locationOf(wanted));
  return session.cluster.transport.request({ method: 'PATCH', path, query: strict, contentType: merge, body }, caller);
}

/** The name by which the API server knows the user; undefined if it does not say, or if the name is long or has other characters. */
export async function userName(session: Session): Promise<string | undefined> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' };
  const path = '/apis/authentication.k8s.io/v1/selfsubjectreviews';
  const answer = await session.cluster.transport.request({ method: 'POST', path, contentType: json, body }, caller);
  const name = answer.kind === 'ok' ? textAt(answer.body, 'status', 'userInfo', 'username') : undefined;
  return name !== undefined && plainName.test(name) ? name : undefined;
}

/** With an id before it, the engine notes the name as it is (notedValue). */
const plainName = /^[\x20-\x7e]{1,78}$/;

/** `object`: with `spec.dryRun`, so that it changes nothing. */
export function createDryRun(session: Session, object: JsonObject): Promise<Written> {
  const path = collectionPath(packageTransactions, undefined);
  return session.cluster.transport.request({ method: 'POST', path, query: strict, contentType: json, body: object }, caller);
}

export function deleteDryRun(session: Session, made: JsonObject): Promise<Written> {
  const [name = '', uid = ''] = [textAt(made, 'metadata', 'name'), textAt(made, 'metadata', 'uid')];
  const path = objectPath({ resource: packageTransactions, name });
  const body = { preconditions: { uid } };
  return session.cluster.transport.request({ method: 'DELETE', path, contentType: json, body }, caller);
}
