// What wakes a package transaction: the Lock, and its own stages. What wakes a Package: its revisions, and its own package
// transactions. CRDs never wake either: every call would hold all of them. A related object is a trigger; the hook reads
// everything live.
import { type JsonObject, textAt } from '../objects/json.ts';
import { longestLabel, packageLabel } from './model/names.ts';
import { packageUidLabel } from './model/own.ts';
import { kindOf, packageApiVersion } from './model/package.ts';
import { locks, packageTransactions, revisionsOfKind, stages, theLock, uidLabel } from './writes/resources.ts';

export function relatedResources(uid: string, namespace: string): readonly JsonObject[] {
  return [
    { apiVersion: `${locks.group}/${locks.version}`, resource: locks.plural, names: [theLock.name] },
    {
      apiVersion: `${stages.group}/${stages.version}`,
      resource: stages.plural,
      namespace,
      labelSelector: { matchLabels: { [uidLabel]: uid } },
    },
  ];
}

/** What wakes the status of a Package: its revisions. */
export function relatedRevisions(pkg: JsonObject): readonly JsonObject[] {
  const kind = kindOf(textAt(pkg, 'kind'));
  const name = textAt(pkg, 'metadata', 'name') ?? '';
  const matchLabels = { [packageLabel]: name };
  // No revision has such a label, and Metacontroller would not accept the selector.
  if (kind === undefined || name.length > longestLabel) return [];
  return [{ apiVersion: packageApiVersion, resource: revisionsOfKind(kind).plural, labelSelector: { matchLabels } }];
}

/** What wakes a Package that makes its own package transactions. */
export function relatedToOwn(pkg: JsonObject): readonly JsonObject[] {
  const matchLabels = { [packageUidLabel]: textAt(pkg, 'metadata', 'uid') ?? '' };
  const { group, version, plural } = packageTransactions;
  return [...relatedRevisions(pkg), { apiVersion: `${group}/${version}`, resource: plural, labelSelector: { matchLabels } }];
}
