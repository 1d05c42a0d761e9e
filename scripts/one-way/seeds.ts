// One valid object of each built-in kind that can be changed, to mutate.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { kinds } from '../../test/support/kinds.ts';

export interface Seed {
  readonly apiVersion: string;
  readonly kind: string;
  readonly object: JsonObject;
}

const container = { name: 'main', image: 'example.org/main:1' };
const labels = { app: 'web' };
const template = { metadata: { labels }, spec: { containers: [container] } };
const selector = { matchLabels: labels };
const rules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['pods'] }];
const clientConfig = { url: 'https://example.org/a' };
const node = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'Exists' }] }] };

const more: readonly Seed[] = [
  { apiVersion: 'v1', kind: 'Pod', object: { spec: { containers: [container] } } },
  { apiVersion: 'v1', kind: 'ConfigMap', object: { data: { a: '1' } } },
  { apiVersion: 'v1', kind: 'Secret', object: { stringData: { a: '1' } } },
  { apiVersion: 'v1', kind: 'Endpoints', object: { subsets: [{ addresses: [{ ip: '10.1.2.3' }], ports: [{ port: 80 }] }] } },
  { apiVersion: 'v1', kind: 'LimitRange', object: { spec: { limits: [{ type: 'Container', max: { cpu: '4' } }] } } },
  { apiVersion: 'v1', kind: 'Node', object: { spec: {} } },
  { apiVersion: 'v1', kind: 'Namespace', object: { spec: {} } },
  { apiVersion: 'v1', kind: 'PodTemplate', object: { template } },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    object: { spec: { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/none' } } },
  },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolumeClaim',
    object: { spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } } },
  },
  { apiVersion: 'apps/v1', kind: 'Deployment', object: { spec: { replicas: 0, selector, template } } },
  { apiVersion: 'apps/v1', kind: 'ReplicaSet', object: { spec: { replicas: 0, selector, template } } },
  { apiVersion: 'apps/v1', kind: 'ControllerRevision', object: { revision: 1, data: { a: '1' } } },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role', object: { rules: [] } },
  { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole', object: { rules: [] } },
  {
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'ClusterRoleBinding',
    object: { roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' }, subjects: [] },
  },
  { apiVersion: 'networking.k8s.io/v1', kind: 'IngressClass', object: { spec: { controller: 'example.org/none' } } },
  { apiVersion: 'node.k8s.io/v1', kind: 'RuntimeClass', object: { handler: 'runc' } },
  { apiVersion: 'storage.k8s.io/v1', kind: 'CSIDriver', object: { spec: {} } },
  { apiVersion: 'storage.k8s.io/v1', kind: 'CSINode', object: { spec: { drivers: [] } } },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttachment',
    object: { spec: { attacher: 'example.org', nodeName: 'none', source: { persistentVolumeName: 'none' } } },
  },
  { apiVersion: 'storage.k8s.io/v1', kind: 'CSIStorageCapacity', object: { storageClassName: 'none', capacity: '1Gi' } },
  {
    apiVersion: 'storage.k8s.io/v1',
    kind: 'VolumeAttributesClass',
    object: { driverName: 'example.org', parameters: { a: '1' } },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    object: { webhooks: [{ name: 'a.example.org', sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig }] },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicy',
    object: { spec: { matchConstraints: { resourceRules: rules }, validations: [{ expression: 'true' }] } },
  },
  {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingAdmissionPolicyBinding',
    object: { spec: { policyName: 'none', validationActions: ['Audit'] } },
  },
  {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    object: {
      spec: {
        group: 'one-way.example.org',
        scope: 'Namespaced',
        names: { kind: 'Seed', plural: 'seeds' },
        versions: ['v1', 'v2'].map((name) => ({
          name,
          served: true,
          storage: name === 'v1',
          schema: { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object' } } } },
        })),
      },
    },
  },
  {
    apiVersion: 'apiregistration.k8s.io/v1',
    kind: 'APIService',
    object: { spec: { group: 'one-way-seed.example.org', version: 'v1', groupPriorityMinimum: 100, versionPriority: 100 } },
  },
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'FlowSchema',
    object: { spec: { priorityLevelConfiguration: { name: 'exempt' } } },
  },
  {
    apiVersion: 'flowcontrol.apiserver.k8s.io/v1',
    kind: 'PriorityLevelConfiguration',
    object: { spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, limitResponse: { type: 'Reject' } } } },
  },
  {
    apiVersion: 'certificates.k8s.io/v1',
    kind: 'CertificateSigningRequest',
    object: {},
  },
  { apiVersion: 'resource.k8s.io/v1', kind: 'DeviceClass', object: { spec: {} } },
  {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaim',
    object: { spec: { devices: { requests: [{ name: 'a', exactly: { deviceClassName: 'none' } }] } } },
  },
  {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceClaimTemplate',
    object: { spec: { spec: { devices: { requests: [{ name: 'a', exactly: { deviceClassName: 'none' } }] } } } },
  },
  {
    apiVersion: 'resource.k8s.io/v1',
    kind: 'ResourceSlice',
    object: {
      spec: {
        driver: 'example.org',
        nodeName: 'none',
        pool: { name: 'none', generation: 1, resourceSliceCount: 1 },
        devices: [],
      },
    },
  },
  { apiVersion: 'networking.k8s.io/v1', kind: 'ServiceCIDR', object: { spec: { cidrs: ['10.20.0.0/24'] } } },
  { apiVersion: 'v1', kind: 'Service', object: { spec: { type: 'ClusterIP', ports: [{ port: 80 }], selector: labels } } },
];

/** The seeds. A bound volume and a Pod with a deadline are among them: only these have some of the one-way fields. */
export const seeds: readonly Seed[] = [
  ...more,
  { apiVersion: 'v1', kind: 'Pod', object: { spec: { activeDeadlineSeconds: 60, containers: [container] } } },
  {
    apiVersion: 'v1',
    kind: 'PersistentVolume',
    object: {
      spec: {
        accessModes: ['ReadWriteOnce'],
        capacity: { storage: '1Gi' },
        local: { path: '/none' },
        nodeAffinity: { required: node },
      },
    },
  },
  ...kinds.map(({ apiVersion, kind, object }) => ({ apiVersion, kind, object })),
];
