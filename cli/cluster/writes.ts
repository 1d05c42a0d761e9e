// All that the command line writes: a Transaction, the Secret with its contents, the owner of that Secret, its deletion if the Transaction is
// refused, and annotations of a Transaction. Nothing else in cli/ writes (test/architecture.test.ts).
import type { Failed } from '../../hooks/objects/cluster.ts';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { creatingManager } from '../../hooks/transactions/model/transaction.ts';
import { collectionPath, objectPath } from '../../server/kubernetes/paths.ts';
import type { Received } from '../../server/kubernetes/transport.ts';
import { contentSecrets } from './content-secrets.ts';
import { caller, type Session } from './session.ts';
import { locationOf, type TransactionName, transactions } from './transactions.ts';

type Written = Received | Failed;

const json = 'application/json';
const merge = 'application/merge-patch+json';
/** As kubectl sends: an unknown field is refused, not dropped. */
const strict = { fieldManager: creatingManager, fieldValidation: 'Strict' } as const;

/** With `dryRun`, everything but the storing. */
export function createTransaction(session: Session, transaction: JsonObject, dryRun = false): Promise<Written> {
  const path = collectionPath(transactions, textAt(transaction, 'metadata', 'namespace'));
  const query = { ...strict, ...(dryRun ? { dryRun: 'All' } : {}) };
  return session.cluster.transport.request({ method: 'POST', path, query, contentType: json, body: transaction }, caller);
}

export function createContentSecret(session: Session, namespace: string, secret: JsonObject): Promise<Written> {
  const path = collectionPath(contentSecrets, namespace);
  return session.cluster.transport.request({ method: 'POST', path, query: strict, contentType: json, body: secret }, caller);
}

/** Deletes the Secret that this command has created, unless somebody has changed it since. */
export function deleteContentSecret(session: Session, made: JsonObject): Promise<Written> {
  const [uid, resourceVersion] = ['uid', 'resourceVersion'].map((key) => textAt(made, 'metadata', key) ?? '');
  const [namespace, name] = ['namespace', 'name'].map((key) => textAt(made, 'metadata', key) ?? '') as [string, string];
  const path = objectPath({ resource: contentSecrets, namespace, name });
  const body = { preconditions: { uid, resourceVersion } } as JsonObject;
  return session.cluster.transport.request({ method: 'DELETE', path, contentType: json, body }, caller);
}

/** The Secret is deleted with the Transaction from then on. */
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

/** Annotations by name; null removes the one of that name. */
export type AnnotationChanges = Readonly<Record<string, string | null>>;

/** Sets and removes annotations of a Transaction in one write, if that is still the version that was looked at. */
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
