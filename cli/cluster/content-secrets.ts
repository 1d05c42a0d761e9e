// The Secrets in which the command line puts the contents of Secrets. One without an owner is left of an apply that was ended
// between its two writes.
import type { Failed, Resource } from '../../hooks/objects/cluster.ts';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { clean } from '../../hooks/objects/words.ts';
import { caller, type Session } from './session.ts';
import type { TransactionName } from './transactions.ts';

export const contentSecrets: Resource = {
  group: '',
  version: 'v1',
  plural: 'secrets',
  kind: 'Secret',
  namespaced: true,
  verbs: [],
  statusSubresource: false,
};

const label = 'tx.janus.io/contents';

/** The one of a Transaction of that name: it cannot have another, so the next apply finds it. */
export function secretNameOf(transaction: string): string {
  return `${transaction}-contents`;
}

/** It can be deleted, and not changed: what its digest in the Transaction promises stays. */
export function contentSecretOf(name: JsonObject, contents: Readonly<Record<string, string>>): JsonObject {
  const data = Object.entries(contents).map(([key, text]) => [key, Buffer.from(text).toString('base64')]);
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { ...name, labels: { [label]: 'true' } },
    type: 'tx.janus.io/contents',
    immutable: true,
    data: Object.fromEntries(data),
  };
}

/** Names of those without an owner; a failure where the user may not list Secrets. Their contents are not read. */
export async function orphans(session: Session, namespace: string | undefined): Promise<readonly TransactionName[] | Failed> {
  const options = { labelSelector: `${label}=true` };
  const answer = await session.cluster.listMetadata(contentSecrets, namespace, caller, options);
  if (answer.kind === 'failed') return answer;
  return answer.items.filter(isOrphan).map((item) => ({
    namespace: clean(textAt(item, 'metadata', 'namespace') ?? ''),
    name: clean(textAt(item, 'metadata', 'name') ?? ''),
  }));
}

/** Whether it is one of ours without an owner: any other Secret of that name is somebody's, and must not go with a Transaction. */
export function isOrphan(secret: JsonObject): boolean {
  const owners = at(secret, 'metadata', 'ownerReferences');
  return textAt(secret, 'metadata', 'labels', label) === 'true' && (!isList(owners) || owners.length === 0);
}
