// What wakes a package transaction: the Lock, and its own stages. CRDs never wake it: every call would hold all of them. A related
// object is a doorbell; the hook reads everything live.
import { type JsonObject, textAt } from '../objects/json.ts';
import { packageLabel } from './model/names.ts';
import { kindOf, packageApiVersion } from './model/package.ts';
import { locks, revisionsOfKind, stages, theLock, uidLabel } from './writes/resources.ts';

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
  const matchLabels = { [packageLabel]: textAt(pkg, 'metadata', 'name') ?? '' };
  if (kind === undefined) return [];
  return [{ apiVersion: packageApiVersion, resource: revisionsOfKind(kind).plural, labelSelector: { matchLabels } }];
}
