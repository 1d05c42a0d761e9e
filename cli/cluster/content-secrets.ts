// The command line stores the contents of Secrets in these Secrets. If an apply is interrupted between its two writes, it leaves such a
// Secret without an owner.
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

/** The name of the Secret of a Transaction. It follows from the name of the Transaction, so the next apply finds the Secret. */
export function secretNameOf(transaction: string): string {
  return `${transaction}-contents`;
}

/** The Secret is immutable, so its content always matches the digest in the Transaction. */
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

/** Names of such Secrets without an owner; a failure if the user may not list Secrets. It does not read their contents. */
export async function orphans(session: Session, namespace: string | undefined): Promise<readonly TransactionName[] | Failed> {
  const options = { labelSelector: `${label}=true` };
  const answer = await session.cluster.listMetadata(contentSecrets, namespace, caller, options);
  if (answer.kind === 'failed') return answer;
  return answer.items.filter(isOrphan).map((item) => ({
    namespace: clean(textAt(item, 'metadata', 'namespace') ?? ''),
    name: clean(textAt(item, 'metadata', 'name') ?? ''),
  }));
}

/** Whether an apply created the Secret, and no object owns it. Any other Secret must not be deleted with a Transaction. */
export function isOrphan(secret: JsonObject): boolean {
  const owners = at(secret, 'metadata', 'ownerReferences');
  return textAt(secret, 'metadata', 'labels', label) === 'true' && (!isList(owners) || owners.length === 0);
}
