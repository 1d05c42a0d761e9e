// What an object that stays needs of the targets of its Transaction: each row by one field. That an undo keeps it:
// test/scenarios/undo/needed-objects.test.ts.
import t from 'tap';
import { isObject, type JsonObject } from '../../../../hooks/objects/json.ts';
import type { Reference } from '../../../../hooks/objects/reference.ts';
import { keptWith, needsOf } from '../../../../hooks/transactions/checks/needs.ts';
import { json } from '../../../support/table.ts';

function object(text: string): JsonObject {
  const parsed = json(text);
  if (!isObject(parsed)) throw new Error(`no object: ${text}`);
  return parsed;
}

const groups: Readonly<Record<string, string>> = {
  ...Object.fromEntries(['Deployment', 'ReplicaSet', 'StatefulSet', 'DaemonSet'].map((kind) => [kind, 'apps/v1'])),
  ...Object.fromEntries(['Job', 'CronJob'].map((kind) => [kind, 'batch/v1'])),
  ...Object.fromEntries(['Ingress', 'IngressClass'].map((kind) => [kind, 'networking.k8s.io/v1'])),
  ...Object.fromEntries(
    ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'].map((kind) => [kind, 'rbac.authorization.k8s.io/v1']),
  ),
  ...Object.fromEntries(
    ['ValidatingWebhookConfiguration', 'MutatingWebhookConfiguration'].map((kind) => [kind, 'admissionregistration.k8s.io/v1']),
  ),
  APIService: 'apiregistration.k8s.io/v1',
  CustomResourceDefinition: 'apiextensions.k8s.io/v1',
  PriorityClass: 'scheduling.k8s.io/v1',
  RuntimeClass: 'node.k8s.io/v1',
  Widget: 'shop.example.com/v1',
};

/** `Secret a` is in the namespace shop, `Secret other/a` in another one, `Namespace /shop` in none. */
function reference(text: string): Reference {
  const [kind = '', path = ''] = text.split(' ');
  const [first = '', second] = path.split('/');
  const apiVersion = groups[kind] ?? 'v1';
  if (second === undefined) return { apiVersion, kind, name: first, namespace: 'shop' };
  return { apiVersion, kind, name: second, ...(first === '' ? {} : { namespace: first }) };
}

/** An object with its kind and name, and more. */
function item(index: number, text: string, rest = '{}') {
  const target = reference(text);
  const { apiVersion, kind, name, namespace } = target;
  const own = object(rest);
  const metadata = isObject(own.metadata) ? own.metadata : {};
  const full = { apiVersion, kind, ...own, metadata: { name, ...(namespace === undefined ? {} : { namespace }), ...metadata } };
  return { index, target, object: full as JsonObject | undefined };
}

type Row = readonly [what: string, stays: string, rest: string, needed: string, unlike: string];

const pod = (spec: string): string => `{spec: ${spec}}`;
const templated = (spec: string): string => `{spec: {template: {spec: ${spec}}}}`;
const container = (key: string): string => templated(`{containers: [{name: c, ${key}}]}`);
const hook = '{webhooks: [{name: v, clientConfig: {service: {namespace: shop, name: hook}}}, {name: w, clientConfig: {url: x}}]}';

const rows: readonly Row[] = [
  [
    'env, a key of a ConfigMap',
    'Deployment a',
    container('env: [{name: A, valueFrom: {configMapKeyRef: {name: n, key: k}}}]'),
    'ConfigMap n',
    'Secret n',
  ],
  [
    'env, a key of a Secret',
    'Deployment a',
    container('env: [{name: A, valueFrom: {secretKeyRef: {name: n, key: k}}}]'),
    'Secret n',
    'ConfigMap n',
  ],
  ['envFrom, a ConfigMap', 'Deployment a', container('envFrom: [{configMapRef: {name: n}}]'), 'ConfigMap n', 'ConfigMap other/n'],
  ['envFrom, a Secret', 'Deployment a', container('envFrom: [{secretRef: {name: n}}]'), 'Secret n', 'Secret other/n'],
  ['an optional ConfigMap', 'Deployment a', container('envFrom: [{configMapRef: {name: n, optional: true}}]'), '', 'ConfigMap n'],
  [
    'an optional key',
    'Deployment a',
    container('env: [{name: A, valueFrom: {secretKeyRef: {name: n, key: k, optional: true}}}]'),
    '',
    'Secret n',
  ],
  [
    'a container that runs first',
    'Deployment a',
    templated('{initContainers: [{name: i, envFrom: [{secretRef: {name: n}}]}]}'),
    'Secret n',
    '',
  ],
  [
    'a volume of a ConfigMap',
    'DaemonSet a',
    templated('{volumes: [{name: v, configMap: {name: n}}]}'),
    'ConfigMap n',
    'Secret n',
  ],
  [
    'an optional volume',
    'DaemonSet a',
    templated('{volumes: [{name: v, configMap: {name: n, optional: true}}, {name: w, secret: {secretName: n, optional: true}}]}'),
    '',
    'ConfigMap n',
  ],
  [
    'a volume of a Secret',
    'DaemonSet a',
    templated('{volumes: [{name: v, secret: {secretName: n}}]}'),
    'Secret n',
    'ConfigMap n',
  ],
  [
    'a volume that needs a Secret to be mounted',
    'DaemonSet a',
    templated('{volumes: [{name: v, csi: {driver: d, nodePublishSecretRef: {name: n}}}]}'),
    'Secret n',
    '',
  ],
  [
    'a projected volume',
    'ReplicaSet a',
    templated('{volumes: [{name: v, projected: {sources: [{secret: {name: n}}, {configMap: {name: m, optional: true}}]}}]}'),
    'Secret n',
    'ConfigMap m',
  ],
  [
    'a claim',
    'StatefulSet a',
    templated('{volumes: [{name: v, persistentVolumeClaim: {claimName: n}}]}'),
    'PersistentVolumeClaim n',
    '',
  ],
  ['a Secret for images', 'Job a', templated('{imagePullSecrets: [{name: n}]}'), 'Secret n', ''],
  [
    'a ServiceAccount',
    'CronJob a',
    `{spec: {jobTemplate: ${templated('{serviceAccountName: n}')}}}`,
    'ServiceAccount n',
    'Secret n',
  ],
  [
    'a ServiceAccount under its former field',
    'ReplicationController a',
    templated('{serviceAccount: n}'),
    'ServiceAccount n',
    '',
  ],
  ['classes of Pods', 'Pod a', pod('{priorityClassName: n, runtimeClassName: r}'), 'PriorityClass /n, RuntimeClass /r', ''],
  ['a Pod itself', 'Pod a', pod('{containers: [{name: c, envFrom: [{secretRef: {name: n}}]}]}'), 'Secret n', ''],
  ['a template of an unknown kind', 'Widget a', container('envFrom: [{secretRef: {name: n}}]'), '', 'Secret n'],
  ['the Service of a StatefulSet', 'StatefulSet a', '{spec: {serviceName: n}}', 'Service n', ''],
  [
    'what an Ingress leads to',
    'Ingress a',
    '{spec: {rules: [{http: {paths: [{backend: {service: {name: n}}}]}}], defaultBackend: {service: {name: d}}}}',
    'Service n, Service d',
    '',
  ],
  [
    'the class and the certificate of an Ingress',
    'Ingress a',
    '{spec: {ingressClassName: n, tls: [{secretName: s}]}}',
    'IngressClass /n, Secret s',
    '',
  ],
  [
    'another object behind an Ingress',
    'Ingress a',
    '{spec: {defaultBackend: {resource: {apiGroup: "shop.example.com", kind: Widget, name: n}}}}',
    'Widget n',
    '',
  ],
  [
    'a Role',
    'RoleBinding a',
    '{roleRef: {apiGroup: "rbac.authorization.k8s.io", kind: Role, name: n}}',
    'Role n',
    'ClusterRole /n',
  ],
  [
    'a ClusterRole',
    'RoleBinding a',
    '{roleRef: {apiGroup: "rbac.authorization.k8s.io", kind: ClusterRole, name: n}}',
    'ClusterRole /n',
    'Role n',
  ],
  [
    'who a binding is for',
    'ClusterRoleBinding /a',
    '{subjects: [{kind: ServiceAccount, name: n, namespace: other}, {kind: User, name: n}]}',
    'ServiceAccount other/n',
    'ServiceAccount n',
  ],
  ['the Service of a validating webhook', 'ValidatingWebhookConfiguration /a', hook, 'Service hook', 'Service other/hook'],
  ['the Service of a mutating webhook', 'MutatingWebhookConfiguration /a', hook, 'Service hook', 'Deployment hook'],
  ['the Service of an APIService', 'APIService /a', '{spec: {service: {namespace: shop, name: n}}}', 'Service n', ''],
  [
    'the Service of a conversion',
    'CustomResourceDefinition /a',
    '{spec: {group: g, conversion: {webhook: {clientConfig: {service: {namespace: shop, name: n}}}}}}',
    'Service n',
    '',
  ],
  ['a Service needs nothing', 'Service a', '{spec: {selector: {app: a}}}', '', 'Deployment a'],
  ['its Namespace', 'ConfigMap a', '{}', 'Namespace /shop', 'Namespace /other'],
  [
    'its owner, beside it or in no namespace',
    'ConfigMap a',
    '{metadata: {ownerReferences: [{apiVersion: v1, kind: Secret, name: n}, {apiVersion: "rbac.authorization.k8s.io/v1", kind: ClusterRole, name: r}]}}',
    'Secret n, ClusterRole /r',
    'Secret other/n',
  ],
];

const split = (text: string): readonly string[] => (text === '' ? [] : text.split(', '));

for (const [what, stays, rest, needed, unlike] of rows)
  t.test(what, async (t) => {
    const others = [...split(needed), ...split(unlike)];
    const items = [item(0, stays, rest), ...others.map((text, at) => item(at + 1, text))];
    const found = [...(needsOf(items).get(0) ?? [])].map((index) => others[index - 1]);
    t.same(found.toSorted(), split(needed).toSorted());
    const kept = keptWith(items, new Set([0]));
    t.same(
      [...kept.values()],
      split(needed).map(() => 0),
    );
  });

const widgets = '{spec: {group: "shop.example.com", names: {kind: Widget, plural: widgets}}}';

t.test(
  'an object needs the definition of its kind, found by group and kind, or by the group if the content is not known',
  async (t) => {
    const [widget, own, other] = [
      item(0, 'Widget a'),
      item(1, 'CustomResourceDefinition /widgets.shop.example.com', widgets),
      item(2, 'CustomResourceDefinition /gadgets.shop.example.com', widgets.replace('kind: Widget', 'kind: Gadget')),
    ];
    t.same([...keptWith([widget, own, other], new Set([0])).keys()], [1]);
    const unknown = { ...other, object: undefined };
    t.same([...keptWith([widget, own, unknown], new Set([0])).keys()], [1, 2]);
    const elsewhere = { ...item(2, 'CustomResourceDefinition /gadgets.example.com'), object: undefined };
    t.same([...keptWith([widget, own, elsewhere], new Set([0])).keys()], [1]);
  },
);

const answering = [
  item(0, 'Secret cert'),
  item(1, 'Service hook', '{spec: {selector: {app: a}}}'),
  item(
    2,
    'Deployment app',
    '{spec: {template: {metadata: {labels: {app: a, tier: t}}, spec: {volumes: [{name: v, secret: {secretName: cert}}]}}}}',
  ),
  item(3, 'Deployment other', '{spec: {template: {metadata: {labels: {app: b}}}}}'),
  item(4, 'Deployment other/app', '{spec: {template: {metadata: {labels: {app: a}}}}}'),
  item(5, 'ValidatingWebhookConfiguration /v', hook),
  item(6, 'Ingress i', '{spec: {defaultBackend: {service: {name: hook}}}}'),
];

t.test('a Service that the API server calls needs its Pods, and these need further objects', async (t) => {
  t.same(
    keptWith(answering, new Set([5])),
    new Map([
      [1, 5],
      [2, 5],
      [0, 2],
    ]),
    'whose labels are more than the selector wants, in the namespace of the Service only',
  );
  t.same(keptWith(answering, new Set([6])), new Map([[1, 6]]), 'an Ingress keeps its Service, not what is behind');
  const headless = answering.map((one) => (one.index === 1 ? item(1, 'Service hook', '{spec: {}}') : one));
  t.same([...keptWith(headless, new Set([5])).keys()], [1], 'a Service without a selector selects nothing');
});

t.test('an object that stays already is not kept again, and a circle ends', async (t) => {
  t.same(keptWith(answering, new Set([0, 1, 2, 5])), new Map());
  const circle = [
    item(0, 'ConfigMap a', '{metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: b}]}}'),
    item(1, 'ConfigMap b', '{metadata: {ownerReferences: [{apiVersion: v1, kind: ConfigMap, name: a}]}}'),
  ];
  t.same(keptWith(circle, new Set([0])), new Map([[1, 0]]));
  t.same([...(needsOf(circle).get(0) ?? [])], [1]);
});

t.test('an object that is not there needs nothing', async (t) => {
  t.same(keptWith([{ ...item(0, 'ConfigMap a'), object: undefined }, item(1, 'Namespace /shop')], new Set([0])), new Map());
});
