// The values that Kubernetes' own controllers write into objects that others made. These values are derived: a controller writes
// them again. So they are content of no manager, and no conflict.
//
// A name alone proves nothing: any client can send it, and many controllers share one. So a row is a manager, a kind, a subresource
// and exact fields. If an object shows the write, the row also has a condition on the object (derived.ts compares).
// test/controlplane/controller-writes.test.ts holds each row against the controllers themselves.
//
// The engine does not compare status, finalizers, owner references, and objects that a controller made itself, so the table leaves
// them out. It leaves out the node of a Pod, too: its binding leaves the field without an owner. Source: k8s.io/kubernetes
// pkg/registry/core/pod/storage/storage.go.
import { at, isObject, type Json, listAt, textAt } from '../json.ts';
import { isToken } from './generated.ts';

/** Managers of Kubernetes itself. */
export const kubernetesManagers: readonly string[] = [
  'kube-controller-manager',
  'kube-scheduler',
  'kubelet',
  'cloud-controller-manager',
  'kube-apiserver',
  'clusterrole-aggregation-controller',
];

/** One write of a controller. */
export interface ControllerWrite {
  /** `*` for every manager. */
  readonly manager: string;
  /** As `kindOf` names it; `*` for every kind. */
  readonly kind: string;
  readonly subresource: string;
  /** Names of fields. A value inside such a field belongs to the row, too. */
  readonly fields: readonly (readonly string[])[];
  /** The condition that an object must meet for this write. */
  readonly when?: (object: Json) => boolean;
  /**
   * The value is no function of the object, or holds others' values. It goes with an object that the engine made; otherwise it
   * counts as the others' value.
   */
  readonly isShared?: true;
  /**
   * The writer decides the value, which stays whatever a change and its undo do: any client that scales. The entry in managedFields
   * names the subresource, and owns no other field.
   */
  readonly isOfScale?: true;
  readonly source: string;
}

const kubernetes = 'https://github.com/kubernetes/kubernetes/blob/v1.36.3';
const controllers = `${kubernetes}/pkg/controller`;
const binder = `${controllers}/volume/persistentvolume`;
const volumeBinding = `${kubernetes}/pkg/scheduler/framework/plugins/volumebinding/binder.go`;

const manager = 'kube-controller-manager';
const plain = { manager, subresource: '' };
const annotation = (name: string): readonly string[] => ['metadata', 'annotations', name];
const label = (name: string): readonly string[] => ['metadata', 'labels', name];
const claim = '/PersistentVolumeClaim';
const volume = '/PersistentVolume';
const boundByController = annotation('pv.kubernetes.io/bound-by-controller');
const replicaSet = { ...plain, kind: 'apps/ReplicaSet', when: isOfDeployment };
const token = { ...plain, kind: '/Secret', when: isTokenOf };
const taints = ['spec', 'taints'];

export const controllerWrites: readonly ControllerWrite[] = [
  {
    manager: 'clusterrole-aggregation-controller',
    kind: 'rbac.authorization.k8s.io/ClusterRole',
    subresource: '',
    fields: [['rules']],
    when: (object) => isObject(at(object, 'aggregationRule')),
    source: `${controllers}/clusterroleaggregation/clusterroleaggregation_controller.go#L139`,
  },
  {
    ...{ manager, kind: 'apps/Deployment', subresource: 'status' },
    fields: [annotation('deployment.kubernetes.io/revision')],
    source: `${controllers}/deployment/sync.go#L171`,
  },
  {
    ...replicaSet,
    fields: [
      ['spec', 'minReadySeconds'],
      annotation('deployment.kubernetes.io/revision'),
      annotation('deployment.kubernetes.io/revision-history'),
      annotation('deployment.kubernetes.io/desired-replicas'),
      annotation('deployment.kubernetes.io/max-replicas'),
    ],
    source: `${controllers}/deployment/sync.go#L167`,
  },
  { ...replicaSet, fields: [['spec', 'replicas']], source: `${controllers}/deployment/sync.go#L424` },
  {
    ...{ manager: '*', kind: '*', subresource: 'scale' },
    // `spec.replicas` of Kubernetes' kinds; specReplicasPath of a CustomResourceDefinition.
    fields: [[]],
    isOfScale: true,
    source: `${kubernetes}/staging/src/k8s.io/apimachinery/pkg/util/managedfields/scalehandler.go#L93`,
  },
  {
    ...token,
    fields: [...['token', 'ca.crt', 'namespace'].map((key) => ['data', key]), annotation('kubernetes.io/service-account.uid')],
    source: `${controllers}/serviceaccount/tokens_controller.go#L439`,
  },
  {
    ...token,
    fields: [label('kubernetes.io/legacy-token-invalid-since')],
    source: `${controllers}/serviceaccount/legacy_serviceaccount_token_cleaner.go#L196`,
  },
  {
    ...token,
    manager: 'kube-apiserver',
    fields: [label('kubernetes.io/legacy-token-last-used')],
    source: `${kubernetes}/pkg/serviceaccount/legacy.go#L189`,
  },
  {
    ...{ ...plain, kind: '/ConfigMap' },
    fields: [['data'], annotation('kubernetes.io/description')],
    when: (object) => textAt(object, 'metadata', 'name') === 'kube-root-ca.crt',
    source: `${controllers}/certificates/rootcacertpublisher/publisher.go#L234`,
  },
  {
    ...{ ...plain, kind: '/Endpoints' },
    fields: [
      ['subsets'],
      ['metadata', 'labels'],
      annotation('endpoints.kubernetes.io/last-change-trigger-time'),
      annotation('endpoints.kubernetes.io/over-capacity'),
    ],
    source: `${controllers}/endpoint/endpoints_controller.go#L522`,
  },
  {
    ...{ ...plain, kind: claim },
    fields: [['spec', 'volumeName'], annotation('pv.kubernetes.io/bind-completed'), boundByController],
    source: `${binder}/pv_controller.go#L1073`,
  },
  { ...plain, kind: claim, fields: [['spec', 'storageClassName']], source: `${binder}/pv_controller.go#L986` },
  {
    ...{ ...plain, kind: claim },
    fields: ['volume.kubernetes.io/storage-provisioner', 'volume.beta.kubernetes.io/storage-provisioner'].map(annotation),
    source: `${binder}/pv_controller_base.go#L685`,
  },
  {
    ...{ manager: 'kube-scheduler', kind: claim, subresource: '' },
    fields: [annotation('volume.kubernetes.io/selected-node')],
    source: `${volumeBinding}#L565`,
  },
  { ...plain, kind: volume, fields: [['spec', 'claimRef'], boundByController], source: `${binder}/pv_controller.go#L1020` },
  {
    ...{ manager: 'kube-scheduler', kind: volume, subresource: '' },
    fields: [['spec', 'claimRef'], boundByController],
    source: `${volumeBinding}#L549`,
  },
  {
    ...{ ...plain, kind: '/Node' },
    fields: [annotation('node.alpha.kubernetes.io/ttl')],
    source: `${controllers}/ttl/ttl_controller.go#L285`,
  },
  {
    ...{ ...plain, kind: '/Node' },
    fields: [
      ['spec', 'podCIDR'],
      ['spec', 'podCIDRs'],
    ],
    source: `${kubernetes}/staging/src/k8s.io/component-helpers/node/util/cidr.go#L54`,
  },
  { ...plain, kind: '/Node', fields: [taints], isShared: true, source: `${controllers}/controller_utils.go#L1396` },
  {
    ...{ manager: 'cloud-controller-manager', kind: '/Node', subresource: '' },
    fields: [
      taints,
      ['spec', 'providerID'],
      label('node.kubernetes.io/instance-type'),
      label('topology.kubernetes.io/region'),
      label('topology.kubernetes.io/zone'),
    ],
    isShared: true,
    source: `${kubernetes}/staging/src/k8s.io/cloud-provider/controllers/node/node_controller.go#L466`,
  },
];

function isTokenOf(object: Json): boolean {
  return isObject(object) && isToken(object);
}

function isOfDeployment(object: Json): boolean {
  return listAt(object, 'metadata', 'ownerReferences').some(
    (owner) => at(owner, 'controller') === true && textAt(owner, 'kind') === 'Deployment',
  );
}
