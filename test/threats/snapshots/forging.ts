// What somebody with rights on ConfigMaps, and none on the targets, can put where a snapshot might be looked for.
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { digestOf } from '../../../hooks/transactions/snapshots/chunks.ts';
import { must } from '../../support/client.ts';
import { snapshotNamesOf } from '../../support/snapshots.ts';
import type { Stage } from '../../support/stage.ts';

/** Resources as a forger would like the engine to take them. */
export const resources = {
  configMap: served('', 'configmaps', 'ConfigMap'),
  roleBinding: served('rbac.authorization.k8s.io', 'rolebindings', 'RoleBinding'),
  clusterRoleBinding: { ...served('rbac.authorization.k8s.io', 'clusterrolebindings', 'ClusterRoleBinding'), namespaced: false },
  secret: served('', 'secrets', 'Secret'),
} as const;

function served(group: string, plural: string, kind: string) {
  return { group, version: 'v1', plural, kind, namespaced: true, statusSubresource: false };
}

/** Where an engine has ever looked for the snapshot of that Transaction, and where it looks now. */
async function namesFor(stage: Stage, name: string): Promise<readonly string[]> {
  const uid = textAt(await stage.read(name), 'metadata', 'uid') ?? '';
  return [`${name}-rollback`, `${name}-${uid.slice(0, 8)}-rollback`, ...(await snapshotNamesOf(stage, name))];
}

export interface Forged {
  /** Texts of the entries, by the index of their change. */
  readonly texts: readonly string[];
  readonly parts?: number;
  readonly annotations?: JsonObject;
}

/** Puts such a ConfigMap under each of these names; gives what was there before to compare. */
export async function plant(stage: Stage, name: string, { texts, parts = 1, annotations = {} }: Forged): Promise<void> {
  const uid = textAt(await stage.read(name), 'metadata', 'uid') ?? '';
  const data = Object.fromEntries(texts.map((text, index) => [`${index}-0.forged`, text]));
  const metadata = {
    labels: { 'app.kubernetes.io/managed-by': 'janus', 'tx.janus.io/transaction-uid': uid },
    annotations: {
      'tx.janus.io/transaction': `${stage.namespace}/${name}`,
      'tx.janus.io/parts': String(parts),
      'tx.janus.io/digest': digestOf([data]),
      'tx.janus.io/tag': `1.k.${'A'.repeat(43)}`,
      ...annotations,
    },
    finalizers: ['tx.janus.io/snapshot'],
  };
  for (const one of await namesFor(stage, name))
    must(await stage.client.create(stage.path('configmaps'), { metadata: { ...metadata, name: one }, immutable: true, data }));
}

/** The values of an object's data. */
export async function dataOf(stage: Stage, path: string): Promise<unknown> {
  return at(must(await stage.client.get(stage.path(path))), 'data');
}
