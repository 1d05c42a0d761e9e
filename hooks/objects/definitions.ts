// CustomResourceDefinitions as objects: their versions, where their instances are stored, and which kinds are theirs. Pure.

import { at, isList, type Json, type JsonObject, listAt, textAt } from './json.ts';
import { groupOf, kindOf } from './reference.ts';
import { parseTime, storedResolution } from './time.ts';

/** One version of a CRD. */
export function versionIn(crd: Json | undefined, version: string): Json | undefined {
  const versions = at(crd, 'spec', 'versions');
  return isList(versions) ? versions.find((candidate) => textAt(candidate, 'name') === version) : undefined;
}

/** Ms. For so long an API server waits for the others when a CRD is established. Source: apiextensions-apiserver, pkg/apiserver/customresource_handler.go. */
const untilAllHaveHeard = 5_000;

export function isDefinition(resource: { readonly group: string; readonly kind: string }): boolean {
  return kindOf(resource) === 'apiextensions.k8s.io/CustomResourceDefinition';
}

/** The versions in which objects may be stored since the change, and may not have been before. */
export function newStoredVersions(live: Json | undefined, prior: Json | undefined): readonly string[] {
  const before = storedVersionsOf(prior);
  return storedVersionsOf(live).filter((name) => !before.includes(name));
}

export function storedVersionsOf(definition: Json | undefined): readonly string[] {
  return listAt(definition, 'status', 'storedVersions').filter((name) => typeof name === 'string');
}

/** From when on (ms by the API server's clock) every API server knows the spec of this object: by the times in managedFields. */
export function settledAt(live: JsonObject): number {
  const times = listAt(live, 'metadata', 'managedFields').map((entry) =>
    textAt(entry, 'subresource') === 'status' ? 0 : (parseTime(textAt(entry, 'time')) ?? 0),
  );
  return Math.max(0, ...times) + storedResolution + untilAllHaveHeard;
}

/** The versions that a CRD serves, the one that its objects are stored in first. */
export function servedVersions(definition: Json): readonly string[] {
  const served = listAt(definition, 'spec', 'versions').filter((version) => at(version, 'served') === true);
  const names = served.map((version) => textAt(version, 'name') ?? '');
  const storage = storageOf(definition);
  return [...names.filter((name) => name === storage), ...names.filter((name) => name !== storage)];
}

/** The objects of a CRD, in a version that is served. */
export function instancesOf(definition: JsonObject) {
  const [version = ''] = servedVersions(definition);
  return {
    group: textAt(definition, 'spec', 'group') ?? '',
    version,
    plural: textAt(definition, 'spec', 'names', 'plural') ?? '',
    kind: textAt(definition, 'spec', 'names', 'kind') ?? '',
    namespaced: textAt(definition, 'spec', 'scope') === 'Namespaced',
    verbs: ['list'],
    statusSubresource: false,
  };
}

/** Whether the kind of a CRD has been served at some time. The API server never takes that condition back. */
export function wasServed(definition: JsonObject): boolean {
  const conditions = at(definition, 'status', 'conditions');
  const established = isList(conditions) ? conditions.find((one) => textAt(one, 'type') === 'Established') : undefined;
  return textAt(established, 'status') === 'True';
}

/** Whether new objects of a CRD would be stored in another version. */
export function isStorageMoved(prior: JsonObject | undefined, expected: JsonObject | undefined): boolean {
  if (prior === undefined || expected === undefined) return false;
  return isCrdObject(expected) && storageOf(prior) !== storageOf(expected);
}

export function storageOf(definition: Json | undefined): string | undefined {
  const versions = at(definition, 'spec', 'versions');
  return isList(versions)
    ? textAt(
        versions.find((one) => at(one, 'storage') === true),
        'name',
      )
    : undefined;
}

function isCrdObject(object: JsonObject): boolean {
  return isDefinition({ group: groupOf(textAt(object, 'apiVersion') ?? ''), kind: textAt(object, 'kind') ?? '' });
}

// Groups of kube-apiserver itself; CRDs may have groups that end alike. Source: k8s.io/kubernetes pkg/controlplane/instance.go.
const builtInGroups: readonly string[] = [
  ...['', 'apps', 'autoscaling', 'batch', 'extensions', 'policy'],
  ...['admissionregistration', 'apiextensions', 'apiregistration', 'authentication', 'authorization', 'certificates'].map(
    ofKubernetes,
  ),
  ...['coordination', 'discovery', 'events', 'flowcontrol.apiserver', 'internal.apiserver', 'networking', 'node'].map(
    ofKubernetes,
  ),
  ...['rbac.authorization', 'resource', 'scheduling', 'storage', 'storagemigration'].map(ofKubernetes),
];

function ofKubernetes(name: string): string {
  return `${name}.k8s.io`;
}

/** Whether the kind is not built into Kubernetes: a CRD defines it, or an aggregated API server serves it. */
export function isCustom({ group }: { readonly group: string }): boolean {
  return !builtInGroups.includes(group);
}
