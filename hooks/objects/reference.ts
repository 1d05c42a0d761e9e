// This file makes every name: the identity of an object, of its lock, and of its key in a snapshot.
import { createHash } from 'node:crypto';
import { type Json, type JsonObject, textAt } from './json.ts';
import { clean } from './words.ts';

/** An object that a change is about. `namespace` is absent for cluster-scoped kinds. */
export interface Reference {
  readonly apiVersion: string;
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string;
}

/** `apps/v1` gives `apps`, `v1` gives the empty group. */
export function groupOf(apiVersion: string): string {
  const slash = apiVersion.indexOf('/');
  return slash < 0 ? '' : apiVersion.slice(0, slash);
}

export function versionOf(apiVersion: string): string {
  return apiVersion.slice(apiVersion.indexOf('/') + 1);
}

export function apiVersionOf({ group, version }: { readonly group: string; readonly version: string }): string {
  return group === '' ? version : `${group}/${version}`;
}

/** A kind in any version, as tables of kinds name it: `apps/Deployment`, `/Pod`. */
export function kindOf({ group, kind }: { readonly group: string; readonly kind: string }): string {
  return `${group}/${kind}`;
}

/** `kindOf` for a reference. */
export function kindOfReference({ apiVersion, kind }: Pick<Reference, 'apiVersion' | 'kind'>): string {
  return kindOf({ group: groupOf(apiVersion), kind });
}

/** Whether it is the Secret of the core group. */
export function isSecret(reference: Pick<Reference, 'apiVersion' | 'kind'>): boolean {
  return kindOfReference(reference) === '/Secret';
}

/** `kindOf` for an object. */
export function kindOfObject(object: Json): string {
  return kindOfReference({ apiVersion: textAt(object, 'apiVersion') ?? '', kind: textAt(object, 'kind') ?? '' });
}

/** A text that is equal for equal objects, whatever the version that addresses them. */
export function identityOf(reference: Reference): string {
  return [groupOf(reference.apiVersion), reference.kind, reference.namespace ?? '', reference.name].join('|');
}

/** For people: `Deployment shop/web-server`, `ClusterRole system:node`. A group that is not well-known is named, too. */
export function describe(reference: Reference): string {
  const group = groupOf(reference.apiVersion);
  const kind = group.includes('.') ? `${reference.kind}.${group}` : reference.kind;
  // Names of roles are free text, if a path can hold them.
  return clean(
    reference.namespace === undefined ? `${kind} ${reference.name}` : `${kind} ${reference.namespace}/${reference.name}`,
  );
}

/** The fields that an object must have to be sent to that reference. */
export function typeMeta(reference: Reference): JsonObject {
  return { apiVersion: reference.apiVersion, kind: reference.kind };
}

/** The names of all Leases that lock an object begin with it. */
export const lockPrefix = 'janus-lock-';
const longestName = 253;
const hashLength = 10;

function shortHash(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, hashLength);
}

/**
 * Name of the Lease that locks an object. The name is readable, and a hash of the whole identity makes it collision-free. Two names
 * may differ in case, or in characters that a Lease name cannot hold: RBAC names hold `:`.
 */
export function lockName(reference: Reference): string {
  const group = groupOf(reference.apiVersion);
  const readable = [reference.namespace ?? '', group === '' ? reference.kind : `${reference.kind}.${group}`, reference.name]
    .filter((part) => part !== '')
    .join('-')
    .toLowerCase()
    .replaceAll(/[^a-z0-9.-]/g, '-')
    .replaceAll(/[.-]{2,}/g, (run) => '-'.repeat(run.length));
  const cut = readable.slice(0, longestName - lockPrefix.length - '-'.length - hashLength).replace(/[.-]+$/, '');
  return `${lockPrefix}${cut}-${shortHash(identityOf(reference))}`;
}

/** Group-aware key of an object inside a snapshot. */
export function snapshotKey(reference: Reference): string {
  const group = groupOf(reference.apiVersion);
  const kind = group === '' ? reference.kind : `${reference.kind}.${group}`;
  return [kind, reference.namespace ?? '', reference.name].join('_');
}
