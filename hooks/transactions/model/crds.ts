// CustomResourceDefinitions that a Transaction itself changes, and what of it needs them.

import { versionIn } from '../../objects/definitions.ts';
import { at, textAt } from '../../objects/json.ts';
import { groupOf, versionOf } from '../../objects/reference.ts';
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

/** The facts about the objects of a CRD whose storage version moved. */
export interface StoredObjects {
  /** ms by the API server's clock. */
  readonly now: number;
  /** Objects that were written since the change, in words. They are known once the pause is over. */
  readonly others: readonly string[];
  /** Such objects that are targets of this Transaction, if their undo is before the undo of the CRD. */
  readonly awaited: readonly { readonly name: string; readonly index: number }[];
}
