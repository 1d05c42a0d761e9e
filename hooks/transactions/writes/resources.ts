// The engine's own kinds, and what all its writes share.
//
// I3. Every write of a target names the uid and the version that it replaces; a Create relies on the name being free.
import type { Identity, Precondition, Resource } from '../../objects/cluster.ts';
import { isObject, type Json, textAt } from '../../objects/json.ts';
import type { Transaction } from '../model/transaction.ts';

const own = { version: 'v1', namespaced: true, statusSubresource: false, verbs: ['get', 'list', 'create', 'update', 'delete'] };

export const configMaps: Resource = { ...own, group: '', plural: 'configmaps', kind: 'ConfigMap' };

export const secrets: Resource = { ...own, group: '', plural: 'secrets', kind: 'Secret' };

export const serviceAccounts: Resource = { ...own, group: '', plural: 'serviceaccounts', kind: 'ServiceAccount' };

export const pods: Resource = { ...own, group: '', plural: 'pods', kind: 'Pod', statusSubresource: true };

export const replicaSets: Resource = { ...pods, group: 'apps', plural: 'replicasets', kind: 'ReplicaSet' };

export const leases: Resource = { ...own, group: 'coordination.k8s.io', plural: 'leases', kind: 'Lease' };

export const storageClasses: Resource = {
  ...own,
  group: 'storage.k8s.io',
  plural: 'storageclasses',
  kind: 'StorageClass',
  namespaced: false,
};

export const definitions: Resource = {
  ...own,
  group: 'apiextensions.k8s.io',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
  namespaced: false,
  statusSubresource: true,
};

export const transactions: Resource = {
  ...own,
  group: 'tx.janus.io',
  version: 'v1alpha1',
  plural: 'transactions',
  kind: 'Transaction',
  statusSubresource: true,
};

/** The engine's own identity: for Transactions, Leases, snapshots and ServiceAccounts, never for a target. */
export const engine: Identity = { kind: 'engine' };

/** Field manager of the engine's own objects. */
export const engineManager = 'janus-engine';

/** The label of all objects that belong to one Transaction. */
export const uidLabel = 'tx.janus.io/transaction-uid';

/** The identity for every read and write of a target (I11). */
export function serviceAccountOf(transaction: Transaction): Identity {
  return { kind: 'serviceAccount', namespace: transaction.namespace, name: transaction.serviceAccountName };
}

/** The version that was read (I3); undefined if the object does not exist. */
export function preconditionOf(object: Json | undefined): Precondition | undefined {
  const [uid, resourceVersion] = [textAt(object, 'metadata', 'uid'), textAt(object, 'metadata', 'resourceVersion')];
  return isObject(object) && uid !== undefined && resourceVersion !== undefined ? { uid, resourceVersion } : undefined;
}
