// What is inside a Namespace, or of the kind of a CustomResourceDefinition, that the Transaction made: it is deleted again only
// when nobody else has put anything there.
import type { Identity, Reader, Resource } from '../cluster.ts';
import type { Failure } from '../model/failure.ts';
import { at, isList, type JsonObject, textAt } from '../model/json.ts';
import type { SnapshotEntry } from '../model/snapshot.ts';

export type Contents =
  | { readonly kind: 'known'; readonly objects: readonly string[] }
  | { readonly kind: 'trouble'; readonly failure: Failure };

const empty: Contents = { kind: 'known', objects: [] };

export async function listContents(
  reader: Reader,
  identity: Identity,
  entry: SnapshotEntry,
  live: JsonObject,
): Promise<Contents> {
  const { group, kind } = entry.resource;
  if (group === '' && kind === 'Namespace') return listNamespace(reader, identity, entry.target.name);
  return group === 'apiextensions.k8s.io' && kind === 'CustomResourceDefinition' ? listInstances(reader, identity, live) : empty;
}

async function listNamespace(reader: Reader, identity: Identity, namespace: string): Promise<Contents> {
  const all = await reader.resources();
  if (all.kind === 'failed') return { kind: 'trouble', failure: all.failure };
  const listable = all.resources.filter(
    ({ namespaced, verbs, kind }) => namespaced && verbs.includes('list') && verbs.includes('delete') && kind !== 'Event',
  );
  return merged(await Promise.all(listable.map((resource) => listOne(reader, identity, resource, namespace))));
}

async function listInstances(reader: Reader, identity: Identity, definition: JsonObject): Promise<Contents> {
  const versions = at(definition, 'spec', 'versions');
  const served = isList(versions) ? versions.find((version) => at(version, 'served') === true) : undefined;
  const resource: Resource = {
    group: textAt(definition, 'spec', 'group') ?? '',
    version: textAt(served, 'name') ?? '',
    plural: textAt(definition, 'spec', 'names', 'plural') ?? '',
    kind: textAt(definition, 'spec', 'names', 'kind') ?? '',
    namespaced: textAt(definition, 'spec', 'scope') === 'Namespaced',
    verbs: ['list'],
    statusSubresource: false,
  };
  return listOne(reader, identity, resource, undefined);
}

async function listOne(reader: Reader, identity: Identity, resource: Resource, namespace: string | undefined): Promise<Contents> {
  const listed = await reader.listMetadata(resource, namespace, identity, {});
  if (listed.kind === 'failed') return listed.failure.kind === 'absent' ? empty : { kind: 'trouble', failure: listed.failure };
  const foreign = listed.items.filter((item) => !isDerived(item) && !isDefault(resource, item));
  return { kind: 'known', objects: foreign.map((item) => `${resource.kind} ${textAt(item, 'metadata', 'name') ?? ''}`) };
}

// Made by a controller for another object: that one is what counts. The Endpoints of a Service have no owner reference.
function isDerived(item: JsonObject): boolean {
  const owners = at(item, 'metadata', 'ownerReferences');
  const keeper = textAt(item, 'metadata', 'labels', 'endpoints.kubernetes.io/managed-by');
  return (isList(owners) && owners.length > 0) || keeper === 'endpoint-controller';
}

// What Kubernetes puts into every Namespace by itself.
function isDefault({ group, kind }: Resource, item: JsonObject): boolean {
  const name = textAt(item, 'metadata', 'name');
  return (
    group === '' && ((kind === 'ServiceAccount' && name === 'default') || (kind === 'ConfigMap' && name === 'kube-root-ca.crt'))
  );
}

function merged(all: readonly Contents[]): Contents {
  const trouble = all.find((one) => one.kind === 'trouble');
  return trouble ?? { kind: 'known', objects: all.flatMap((one) => (one.kind === 'known' ? one.objects : [])) };
}
