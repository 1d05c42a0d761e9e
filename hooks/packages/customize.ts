// What wakes a package transaction: the Lock, and its own stages. CRDs never wake it: every call would hold all of them. A related
// object is a doorbell; the hook reads everything live.
import type { JsonObject } from '../objects/json.ts';
import { locks, stages, theLock, uidLabel } from './writes/resources.ts';

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
