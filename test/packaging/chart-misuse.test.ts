// The chart where it does not fit at once: values that do not go together, what is there already, what must stay when values change, and a
// namespace that enforces Pod Security.
import t from 'tap';
import { relatedResources, relatedToOwn } from '../../hooks/crossplane/customize.ts';
import { packageKinds } from '../../hooks/crossplane/model/package.ts';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { connectToCluster } from '../support/install.ts';
import { openHelm } from './helm.ts';
import { inShort, openKustomize } from './kustomize.ts';

const client = connectToCluster();
t.teardown(() => client.close());
const helm = await openHelm(t);
const kustomize = await openKustomize(t);
const serviceAccounts = ['deployer'];

const refused: readonly (readonly [values: JsonObject, said: RegExp])[] = [
  [
    { namespaces: [{ name: 'janus-system', serviceAccounts }] },
    /expected namespaces other than janus-system, where the engine has a/,
  ],
  [
    {
      namespaces: [
        { name: 'team-a', serviceAccounts },
        { name: 'team-a', serviceAccounts: ['b'] },
      ],
    },
    /found team-a twice; list all its ServiceAccounts in one entry/,
  ],
  [
    { token: { create: true, secretName: 'janus-sealing-key' } },
    /token\.secretName: expected another Secret than janus-sealing-key/,
  ],
  [{ networkPolicy: { apiServerPorts: [] } }, /apiServerPorts/],
  [{ tls: { clientSecretName: 'mine' } }, /tls\.clientSecretName: expected tls\.secretName too/],
  [{ packages: { kinds: true } }, /packages\.kinds: expected packages\.enabled too/],
  [{ packages: { own: 'all' } }, /packages\.own: expected packages\.enabled too/],
  [{ packages: { authority: 'ConfigMap/a/b' } }, /packages\.authority: expected packages\.enabled too/],
  [{ packages: { enabled: true, authority: 'ca.crt' } }, /packages.authority/],
  [
    { packages: { enabled: true, proxy: 'http://me:cAnaRy@proxy.infra.svc:3128' } },
    /packages\.proxy: expected http:\/\/HOST:PORT or https:\/\/HOST:PORT without credentials/,
  ],
  [{ packages: { enabled: true, noProxy: ['a.example.org'] } }, /packages\.noProxy: expected packages\.proxy too/],
];
for (const [values, said] of refused)
  t.test(`refused: ${JSON.stringify(values)}`, async (t) => {
    const { status, objects, text } = helm.render(values);
    t.equal(status, 1);
    t.same(objects, []);
    t.match(text.replaceAll(/\s+/g, ' '), said);
    t.notMatch(text, 'cAnaRy');
  });

t.test('on Kubernetes before 1.30 it says what it requires', async (t) => {
  const { status, text } = helm.run('template', 'janus', helm.chart, '--kube-version', '1.29.15');
  t.equal(status, 1);
  t.match(text, 'chart requires kubeVersion: >=1.30.0-0 which is incompatible with Kubernetes v1.29.15');
});

// Secrets are no objects of the chart: test/packaging/helm-install.test.ts.
t.test('CRDs and namespaces stay if the values do not name them any more, or if the chart is removed', async (t) => {
  const packages = { enabled: true, kinds: true };
  const { objects } = helm.render({ metacontroller: { install: true }, packages });
  const kept = objects.filter((one) => textAt(one, 'metadata', 'annotations', 'helm.sh/resource-policy') === 'keep');
  const precious = objects.filter(({ kind }) => ['CustomResourceDefinition', 'Namespace'].includes(String(kind)));
  t.ok(precious.length >= 4);
  t.same(precious.filter(({ kind }) => kind === 'Namespace').map(inShort), [
    'Namespace janus-packages',
    'Namespace metacontroller',
  ]);
  t.same(kept.map(inShort), precious.map(inShort));
});

t.test('a namespace of Metacontroller that is there already is left alone', async (t) => {
  const { objects } = helm.render({ metacontroller: { install: true, createNamespace: false } });
  t.same(
    objects.filter(({ kind }) => kind === 'Namespace'),
    [],
  );
});

t.test('the ports of the API server are those of the values', async (t) => {
  const { objects } = helm.render({ networkPolicy: { apiServerPorts: [16443] } });
  const policy = objects.find(({ kind }) => kind === 'NetworkPolicy');
  t.match(at(policy, 'spec', 'egress'), [{ ports: [{ port: 16443 }] }]);
});

t.test('a namespace that enforces Pod Security `restricted` admits every Pod', async (t) => {
  const metadata = { name: 'restricted', labels: { 'pod-security.kubernetes.io/enforce': 'restricted' } };
  await client.create('/api/v1/namespaces', { metadata });
  t.teardown(() => client.delete('/api/v1/namespaces/restricted'));
  const objects = [...helm.render({ metacontroller: { install: true } }).objects, ...kustomize('examples/confined')];
  const pods = objects.flatMap((object) => {
    if (object.kind === 'Pod') return [[inShort(object), at(object, 'spec')] as const];
    const template = at(object, 'spec', 'template', 'spec');
    return isList(at(template, 'containers')) ? [[inShort(object), template] as const] : [];
  });
  t.equal(pods.length, 5);
  for (const [name, spec] of pods) {
    const pod = { metadata: { name: 'one' }, spec: { ...(spec as JsonObject), serviceAccountName: 'default' } };
    const answer = await client.create('/api/v1/namespaces/restricted/pods', pod, { dryRun: 'All' });
    t.equal(answer.code, 201, `${name}: ${textAt(answer.body, 'message') ?? 'admitted'}`);
  }
});

t.test('a variable that is given replaces that of the chart', async (t) => {
  const { objects } = helm.render({ extraEnv: [{ name: 'HOST', value: '::' }] });
  const deployment = objects.find(({ kind }) => kind === 'Deployment');
  const [container] = (at(deployment, 'spec', 'template', 'spec', 'containers') ?? []) as readonly JsonObject[];
  const env = at(container, 'env');
  t.same(isList(env) ? env.filter((one) => textAt(one, 'name') === 'HOST') : env, [{ name: 'HOST', value: '::' }]);
});

t.test('a confined Metacontroller may watch all objects that cause its calls', async (t) => {
  const { objects } = helm.render({ metacontroller: { install: true }, packages: { enabled: true } });
  const role = objects.find((one) => one.kind === 'ClusterRole' && textAt(one, 'metadata', 'name') === 'metacontroller');
  const rules = (at(role, 'rules') ?? []) as readonly JsonObject[];
  const mayWatch = ({ apiGroups, resources, verbs }: JsonObject, group: string, plural: string): boolean =>
    [apiGroups, resources, verbs].every(isList) &&
    (apiGroups as readonly string[]).includes(group) &&
    (resources as readonly string[]).includes(plural) &&
    (verbs as readonly string[]).includes('watch');
  const packages = packageKinds.flatMap((kind) => relatedToOwn({ kind, metadata: { name: 'a', uid: 'u' } }));
  for (const related of [...relatedResources('uid', 'janus-packages'), ...packages]) {
    const [group = '', plural = ''] = [textAt(related, 'apiVersion')?.split('/')[0], textAt(related, 'resource')];
    t.ok(
      rules.some((rule) => mayWatch(rule, group, plural)),
      `${plural} of ${group}`,
    );
  }
});
