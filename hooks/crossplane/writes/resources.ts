// The kinds of the objects in packages, and the identity that writes them.
import type { Identity, Location, Precondition, Resource, Write } from '../../objects/cluster.ts';
import { type Json, type JsonObject, textAt, withPath } from '../../objects/json.ts';
import type { PackageKind } from '../model/package.ts';

const verbs = ['get', 'list', 'create', 'update', 'delete'];
const cluster = { verbs, namespaced: false, statusSubresource: true };
const group = 'pkg.crossplane.io';

export const packageTransactions: Resource = {
  ...cluster,
  group,
  version: 'v1alpha1',
  plural: 'transactions',
  kind: 'Transaction',
};

export const locks: Resource = { ...cluster, group, version: 'v1beta1', plural: 'locks', kind: 'Lock' };

export const imageConfigs: Resource = { ...cluster, group, version: 'v1beta1', plural: 'imageconfigs', kind: 'ImageConfig' };

export const definitions: Resource = {
  ...cluster,
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
};

export const stages: Resource = {
  verbs,
  namespaced: true,
  statusSubresource: true,
  group: 'tx.janus.io',
  version: 'v1alpha1',
  plural: 'transactions',
  kind: 'Transaction',
};

export const configMaps: Resource = { ...stages, group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap' };

export const secrets: Resource = { ...configMaps, plural: 'secrets', kind: 'Secret' };

export function packagesOfKind(kind: PackageKind): Resource {
  return { ...cluster, group, version: 'v1', plural: `${kind.toLowerCase()}s`, kind };
}

export function revisionsOfKind(kind: PackageKind): Resource {
  return { ...cluster, group, version: 'v1', plural: `${kind.toLowerCase()}revisions`, kind: `${kind}Revision` };
}

/** The only object of its kind. */
export const theLock: Location = { resource: locks, name: 'lock' };

export const engine: Identity = { kind: 'engine' };

/** The name of the ServiceAccount that installs packages. */
export const accountName = 'janus-packages';

export function accountIn(namespace: string): Identity {
  return { kind: 'serviceAccount', namespace, name: accountName };
}

/** The field manager of writes outside of stages. */
const fieldManager = 'janus-packages';

/** The label of all objects that a package transaction makes. */
export const nameLabel = 'pkg.crossplane.io/transaction';

/** The label of an installed object that names its revision. It stays when somebody deletes the revision. */
export const revisionLabel = 'packages.janus.io/revision';

/** The label of its stages and their contents. */
export const uidLabel = 'packages.janus.io/transaction-uid';

/** The position of a stage in its try, from 0. */
export const stageLabel = 'packages.janus.io/stage';

/** The ImageConfigs that were applied to the image of a revision, and the name of the image after them, as JSON. */
export const imageConfigsAnnotation = 'packages.janus.io/image-configs';

/** The version of a Package that the hook has chosen for the packages that require it. */
export const chosenAnnotation = 'packages.janus.io/chosen-version';

/** Copied from the meta of a package to its revision. */
export const familyLabel = 'pkg.crossplane.io/provider-family';

/** The live object that a write replaces. */
export function preconditionOf(object: Json | undefined): Precondition {
  return { uid: textAt(object, 'metadata', 'uid') ?? '', resourceVersion: textAt(object, 'metadata', 'resourceVersion') ?? '' };
}

/** Writes as the ServiceAccount of packages: the write creates the object, or replaces `live`. */
export function writeOf(location: Location, object: JsonObject, namespace: string, live?: JsonObject): Write {
  const base = { identity: accountIn(namespace), location, object, fieldManager };
  return live === undefined ? { ...base, verb: 'create' } : { ...base, verb: 'update', precondition: preconditionOf(live) };
}

/** Replaces the status of a live object. */
export function statusWrite(
  { resource, live }: { readonly resource: Resource; readonly live: JsonObject },
  status: JsonObject,
  namespace: string,
): Write {
  const location = { resource, name: textAt(live, 'metadata', 'name') ?? '' };
  const [object, precondition] = [withPath(live, ['status'], status), preconditionOf(live)];
  return { verb: 'update', subresource: 'status', identity: accountIn(namespace), location, object, precondition, fieldManager };
}
