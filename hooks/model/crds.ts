// CustomResourceDefinitions that a Transaction itself changes, and what of it needs them.

import type { Change } from './change.ts';
import { at, isList, type Json, textAt } from './json.ts';
import { groupOf, versionOf } from './reference.ts';

/**
 * Whether the change, as it is written, makes the API server serve that kind in that version. The name of a CRD must be its plural and
 * group: the API server will refuse any other name, so such content counts for nothing here.
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
 * The same for a change whose content is not at hand, since it comes from a source: by its name alone, whatever the version. So a kind of
 * the same group counts, too.
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
