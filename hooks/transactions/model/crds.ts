// CustomResourceDefinitions that a Transaction itself changes, and what of it needs them.

import { at, isList, type Json, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { groupOf, kindOf, versionOf } from '../../objects/reference.ts';
import { parseTime, storedResolution } from '../../objects/time.ts';
import type { Change } from './change.ts';

/**
 * Whether the change, as it is written, makes the API server serve that kind in that version. The name of a CRD must be its plural and
 * group. The API server will refuse any other name, so such content counts for nothing here.
 */
export function isCrdOf({ target, content }: Pick<Change, 'target' | 'content'>, wanted: Change['target']): boolean {
  const names = at(content, 'spec', 'names');
  const group = textAt(content, 'spec', 'group');
  return (
    isCrd({ target }) &&
    group === groupOf(wanted.apiVersion) &&
    textAt(names, 'kind') === wanted.kind &&
    target.name === `${textAt(names, 'plural')}.${group}` &&
    at(versionIn(content, versionOf(wanted.apiVersion)), 'served') === true
  );
}

/**
 * Like `isCrdOf`, also for a change whose content comes from a source and is not at hand. Then the name alone decides, whatever the
 * version. So another kind of the same group counts, too.
 */
export function mayBeCrdOf(change: Change, wanted: Change['target']): boolean {
  if (change.contentFrom === undefined || change.content !== undefined) return isCrdOf(change, wanted);
  return isCrd(change) && change.target.name.slice(change.target.name.indexOf('.') + 1) === groupOf(wanted.apiVersion);
}

export function isCrd({ target }: Pick<Change, 'target'>): boolean {
  return target.kind === 'CustomResourceDefinition' && groupOf(target.apiVersion) === 'apiextensions.k8s.io';
}

/** One version of a CRD. */
export function versionIn(crd: Json | undefined, version: string): Json | undefined {
  const versions = at(crd, 'spec', 'versions');
  return isList(versions) ? versions.find((candidate) => textAt(candidate, 'name') === version) : undefined;
}

/** The facts about the objects of a CRD whose storage version moved. */
export interface StoredObjects {
  /** ms by the API server's clock. */
  readonly now: number;
  /** Objects that were written since the change, in words. They are known once the pause is over. */
  readonly others: readonly string[];
  /** Such objects that are targets of this Transaction, if their undo is before the undo of the CRD. */
  readonly awaited: readonly { readonly name: string; readonly index: number }[];
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
