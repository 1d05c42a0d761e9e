// The order in which manifests are applied. It is Helm's order: a kind comes after the kinds that it may need. Source: helm.sh/helm,
// pkg/release/util/kind_sorter.go, InstallOrder.
const order: readonly string[] = [
  'PriorityClass',
  'Namespace',
  'NetworkPolicy',
  'ResourceQuota',
  'LimitRange',
  'PodSecurityPolicy',
  'PodDisruptionBudget',
  'ServiceAccount',
  'Secret',
  'SecretList',
  'ConfigMap',
  'StorageClass',
  'PersistentVolume',
  'PersistentVolumeClaim',
  'CustomResourceDefinition',
  'ClusterRole',
  'ClusterRoleList',
  'ClusterRoleBinding',
  'ClusterRoleBindingList',
  'Role',
  'RoleList',
  'RoleBinding',
  'RoleBindingList',
  'Service',
  'DaemonSet',
  'Pod',
  'ReplicationController',
  'ReplicaSet',
  'Deployment',
  'HorizontalPodAutoscaler',
  'StatefulSet',
  'Job',
  'CronJob',
  'IngressClass',
  'Ingress',
  'APIService',
  'MutatingWebhookConfiguration',
  'ValidatingWebhookConfiguration',
];

/** Sorts by that order. Other kinds come last, by name. Objects of one kind keep their order. */
export function inKindOrder<T>(manifests: readonly T[], kindOf: (manifest: T) => string): readonly T[] {
  return manifests.toSorted((left, right) => compare(kindOf(left), kindOf(right)));
}

function compare(left: string, right: string): number {
  const [first, second] = [order.indexOf(left), order.indexOf(right)];
  if (first >= 0 && second >= 0) return first - second;
  if (first >= 0 || second >= 0) return first >= 0 ? -1 : 1;
  if (left === right) return 0;
  return left < right ? -1 : 1;
}
