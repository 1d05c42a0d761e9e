// Objects that a controller creates again, by server-side apply, although the undo has just deleted them: the controller had read the
// object before. The undo reads such an object once more, and deletes it again.
//
// The table names no controller that creates an object for as long as another object wants it: Endpoints of a Service, kube-root-ca.crt
// and the ServiceAccount default of a Namespace. Kubernetes deletes such an object with the other one.
import { managersOf } from '../../objects/content/fields.ts';
import { at, isObject, type JsonObject } from '../../objects/json.ts';
import { kindOf } from '../../objects/reference.ts';
import type { SnapshotEntry } from '../model/entry.ts';

interface Maker {
  /** As `kindOf` has it. */
  readonly kind: string;
  readonly manager: string;
  /** The condition that an object must meet for this. */
  readonly when: (object: JsonObject) => boolean;
  readonly source: string;
}

const makers: readonly Maker[] = [
  {
    kind: 'rbac.authorization.k8s.io/ClusterRole',
    manager: 'clusterrole-aggregation-controller',
    when: (object) => isObject(at(object, 'aggregationRule')),
    source: 'k8s.io/kubernetes pkg/controller/clusterroleaggregation/clusterroleaggregation_controller.go, updateClusterRoles',
  },
];

function makerOf({ type, recreates, resource, expected }: SnapshotEntry): Maker | undefined {
  if (type !== 'Create' || recreates === true || expected === undefined) return undefined;
  return makers.find(({ kind, when }) => kind === kindOf(resource) && when(expected));
}

/** Whether a controller may create the object of this Create once more after its deletion. */
export function mayBeMadeAgain(entry: SnapshotEntry): boolean {
  return makerOf(entry) !== undefined;
}

/** Whether a controller alone made the live object after the undo had deleted ours. */
export function isMadeAgain({ entry, live }: { readonly entry: SnapshotEntry; readonly live: JsonObject }): boolean {
  const managers = managersOf(live);
  return managers.length > 0 && managers.every(({ name }) => name === makerOf(entry)?.manager);
}
