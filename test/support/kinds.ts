// Kinds with generated values, defaults, and lists with keys, and two other states for each of them.
import type { JsonObject } from '../../hooks/objects/json.ts';

export interface Kind {
  readonly kind: string;
  readonly apiVersion: string;
  readonly plural: string;
  readonly clusterScoped?: boolean;
  readonly object: JsonObject;
  /** A patch to apply, and a replacement; a label by default. */
  readonly patch?: JsonObject;
  readonly update?: JsonObject;
}

const pod = (image: string, more: JsonObject = {}): JsonObject => ({
  containers: [
    {
      name: 'web',
      image,
      ports: [{ name: 'http', containerPort: 80 }],
      env: [
        { name: 'A', value: '1' },
        { name: 'B', value: '2' },
      ],
    },
    { name: 'side', image: 'example.org/side:1', volumeMounts: [{ name: 'data', mountPath: '/data' }] },
  ],
  volumes: [{ name: 'data', emptyDir: {} }],
  tolerations: [{ key: 'one', operator: 'Exists' }],
  ...more,
});
const labels = { matchLabels: { app: 'web' } };
const template = (image: string, more: JsonObject = {}): JsonObject => ({
  metadata: { labels: { app: 'web' } },
  spec: pod(image, more),
});
const job = (image: string): JsonObject => ({ template: { spec: pod(image, { restartPolicy: 'Never' }) } });

export const kinds: readonly Kind[] = [
  {
    kind: 'StatefulSet',
    apiVersion: 'apps/v1',
    plural: 'statefulsets',
    object: { spec: { serviceName: 'web', replicas: 0, selector: labels, template: template('example.org/web:1') } },
    patch: {
      spec: {
        template: {
          spec: {
            containers: [
              {
                name: 'web',
                env: [
                  { name: 'B', value: '3' },
                  { name: 'C', value: '4' },
                ],
              },
            ],
          },
        },
      },
    },
    update: {
      spec: {
        serviceName: 'web',
        replicas: 0,
        selector: labels,
        template: template('example.org/web:2', { volumes: [{ name: 'data', emptyDir: { medium: 'Memory' } }] }),
      },
    },
  },
  {
    kind: 'DaemonSet',
    apiVersion: 'apps/v1',
    plural: 'daemonsets',
    object: { spec: { selector: labels, template: template('example.org/web:1') } },
    patch: { spec: { template: { spec: { containers: [{ name: 'third', image: 'example.org/third:1' }] } } } },
    update: { spec: { selector: labels, template: template('example.org/web:2', { tolerations: [] }) } },
  },
  {
    kind: 'Job',
    apiVersion: 'batch/v1',
    plural: 'jobs',
    object: { spec: { suspend: true, ...job('example.org/job:1') } },
    patch: { spec: { parallelism: 2 } },
  },
  {
    kind: 'CronJob',
    apiVersion: 'batch/v1',
    plural: 'cronjobs',
    object: { spec: { schedule: '0 0 1 1 *', suspend: true, jobTemplate: { spec: job('example.org/job:1') } } },
    patch: { spec: { schedule: '1 1 1 1 *' } },
    update: { spec: { schedule: '2 2 2 2 *', suspend: true, jobTemplate: { spec: job('example.org/job:2') } } },
  },
  {
    kind: 'Service',
    apiVersion: 'v1',
    plural: 'services',
    object: {
      spec: {
        type: 'NodePort',
        selector: { app: 'web' },
        ports: [
          { name: 'http', port: 80 },
          { name: 'dns', port: 53, protocol: 'UDP' },
        ],
      },
    },
    patch: { spec: { ports: [{ name: 'more', port: 443 }] } },
    update: { spec: { type: 'ClusterIP', selector: { app: 'other' }, ports: [{ name: 'http', port: 81 }] } },
  },
  {
    kind: 'Ingress',
    apiVersion: 'networking.k8s.io/v1',
    plural: 'ingresses',
    object: { spec: { defaultBackend: { service: { name: 'web', port: { number: 80 } } }, tls: [{ hosts: ['a.example.org'] }] } },
    patch: { spec: { defaultBackend: { service: { name: 'web', port: { number: 81 } } } } },
    update: { spec: { rules: [{ host: 'b.example.org' }] } },
  },
  {
    kind: 'NetworkPolicy',
    apiVersion: 'networking.k8s.io/v1',
    plural: 'networkpolicies',
    object: { spec: { podSelector: labels, ingress: [{ from: [{ podSelector: {} }] }], policyTypes: ['Ingress'] } },
    patch: { spec: { egress: [{}], policyTypes: ['Ingress', 'Egress'] } },
    update: { spec: { podSelector: {}, policyTypes: ['Egress'] } },
  },
  {
    kind: 'HorizontalPodAutoscaler',
    apiVersion: 'autoscaling/v2',
    plural: 'horizontalpodautoscalers',
    object: { spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'nothing' } } },
    patch: { spec: { maxReplicas: 5 } },
    update: {
      spec: { maxReplicas: 7, minReplicas: 2, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'nothing' } },
    },
  },
  {
    kind: 'PodDisruptionBudget',
    apiVersion: 'policy/v1',
    plural: 'poddisruptionbudgets',
    object: { spec: { minAvailable: 1, selector: labels } },
    patch: { spec: { minAvailable: '50%' } },
    update: { spec: { maxUnavailable: 1, selector: labels } },
  },
  {
    kind: 'ServiceAccount',
    apiVersion: 'v1',
    plural: 'serviceaccounts',
    object: { automountServiceAccountToken: false, imagePullSecrets: [{ name: 'one' }] },
    patch: { imagePullSecrets: [{ name: 'two' }] },
    update: { secrets: [{ name: 'three' }] },
  },
  {
    kind: 'ResourceQuota',
    apiVersion: 'v1',
    plural: 'resourcequotas',
    object: { spec: { hard: { 'count/cronjobs.batch': '50' } } },
    patch: { spec: { hard: { 'count/jobs.batch': '60' } } },
    update: { spec: { hard: { 'count/services': '0070' } } },
  },
  {
    kind: 'RoleBinding',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    plural: 'rolebindings',
    object: {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
      subjects: [{ kind: 'ServiceAccount', name: 'somebody', namespace: 'default' }],
    },
    patch: {
      subjects: [{ kind: 'ServiceAccount', name: 'other', namespace: 'default' }],
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'view' },
    },
  },
  {
    kind: 'EndpointSlice',
    apiVersion: 'discovery.k8s.io/v1',
    plural: 'endpointslices',
    object: { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.3'] }], ports: [{ name: 'http', port: 80 }] },
    patch: { addressType: 'IPv4', endpoints: [{ addresses: ['10.1.2.4'] }], ports: [{ name: 'http', port: 81 }] },
    update: { addressType: 'IPv4', endpoints: [], ports: [] },
  },
  {
    kind: 'PriorityClass',
    apiVersion: 'scheduling.k8s.io/v1',
    plural: 'priorityclasses',
    clusterScoped: true,
    object: { value: 1000, description: 'one' },
    patch: { description: 'two', value: 1000 },
  },
  {
    kind: 'StorageClass',
    apiVersion: 'storage.k8s.io/v1',
    plural: 'storageclasses',
    clusterScoped: true,
    object: { provisioner: 'example.org/none', mountOptions: ['b', 'a'], parameters: { speed: 'slow' } },
    patch: { provisioner: 'example.org/none', allowVolumeExpansion: true },
  },
  {
    kind: 'ValidatingWebhookConfiguration',
    apiVersion: 'admissionregistration.k8s.io/v1',
    plural: 'validatingwebhookconfigurations',
    clusterScoped: true,
    object: {
      webhooks: [
        {
          name: 'a.example.org',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { url: 'https://example.org/a' },
          rules: [],
        },
      ],
    },
    patch: {
      webhooks: [
        {
          name: 'b.example.org',
          sideEffects: 'None',
          admissionReviewVersions: ['v1'],
          clientConfig: { url: 'https://example.org/b' },
        },
      ],
    },
    update: { webhooks: [] },
  },
  {
    kind: 'Lease',
    apiVersion: 'coordination.k8s.io/v1',
    plural: 'leases',
    object: { spec: { holderIdentity: 'somebody', leaseDurationSeconds: 15, renewTime: '2026-01-01T00:00:00.000000Z' } },
    patch: { spec: { leaseTransitions: 3 } },
    update: { spec: { holderIdentity: 'other' } },
  },
  {
    kind: 'ReplicationController',
    apiVersion: 'v1',
    plural: 'replicationcontrollers',
    object: { spec: { replicas: 0, selector: { app: 'web' }, template: template('example.org/web:1') } },
    patch: { spec: { template: { metadata: { annotations: { note: 'new' } } } } },
    update: { spec: { replicas: 0, selector: { app: 'web' }, template: template('example.org/web:2') } },
  },
];
