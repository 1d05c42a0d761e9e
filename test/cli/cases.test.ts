// Releases that once went wrong, by the command line, on an API server of their own: one APIService without a backend is there for everybody.
import t from 'tap';
import { at, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { makeCertificate } from '../support/certificate.ts';
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { ownControlPlane } from '../support/own-control-plane.ts';
import { account, startStage } from '../support/stage.ts';

const plane = await ownControlPlane(t);
const stage = await startStage(t);
const { client, namespace, path } = stage;
const cli = await openCli(t, plane.kubeconfig);
const where = ['-n', namespace];
const [[key = '', value = '']] = Object.entries(stage.label) as [[string, string]];

/** As one line of releases, unless `words` say otherwise. */
const apply = (
  name: string,
  items: readonly JsonObject[],
  words: readonly string[] = ['--field-manager', name.replace(/-.*/, '')],
) =>
  cli.run(
    [
      'apply',
      '-f',
      '-',
      ...where,
      '--service-account',
      account,
      '--label',
      `${key}=${value}`,
      '--name',
      name,
      '--wait',
      ...words,
    ],
    {
      input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items }),
    },
  );
const undo = (name: string, ...words: readonly string[]) => cli.run(['undo', name, ...where, '--yes', '--wait', ...words]);
const release = async (...given: Parameters<typeof apply>) => {
  const done = await apply(...given);
  if (done.code !== 0) throw new Error(`expected ${given[0]} to be applied: ${done.out}${done.err}`);
};
const codes = (paths: readonly string[]) => Promise.all(paths.map(async (one) => (await client.get(one)).code));
/** What the test can see of the objects, without what controllers write into them. */
const contents = (paths: readonly string[]) =>
  Promise.all(
    paths.map(async (one) => {
      const { metadata: _ours, status: _theirs, ...content } = must(await client.get(one));
      return content;
    }),
  );

const configMap = (name: string, color: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { color },
});
const deployment = (name: string, image: string, place: JsonObject = {}): JsonObject => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name, ...place } },
  spec: {
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image }] } },
  },
});

t.test('an install that fails leaves nothing, with and without a field manager', async (t) => {
  const place = { namespace: 'cases-x' };
  const rules = [
    {
      host: 'not_a host',
      http: { paths: [{ path: '/', pathType: 'Prefix', backend: { service: { name: 'app', port: { number: 80 } } } }] },
    },
  ];
  const items = [
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: 'cases-x' } },
    {
      ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'app', ...place } },
      spec: { selector: { app: 'app' }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] },
    },
    deployment('app', 'reg.example/app:1', place),
    { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', metadata: { name: 'app', ...place }, spec: { rules } },
  ];
  for (const [name, words] of [
    ['v1', ['--field-manager', 'shop']],
    ['v2', []],
  ] as const) {
    const done = await apply(name, items, words);
    t.match(done, { code: 3, out: /was rolled back after [^\n]*Ingress[^\n]*Invalid \(\.spec\.rules/ }, done.out + done.err);
    t.same(await codes(['/api/v1/namespaces/cases-x']), [404]);
  }
});

t.test('the undo restores a recreated Job exactly', async (t) => {
  const job = (image: string, ports: JsonObject): JsonObject => ({
    ...{ apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'migrate' } },
    spec: { template: { spec: { restartPolicy: 'Never', containers: [{ name: 'c', image, ...ports }] } } },
  });
  const jobs = path('batch/v1/jobs');
  const former = must(await client.create(jobs, job('reg.example/migrate:1', {})));
  const next = job('reg.example/migrate:2', { ports: [{ containerPort: 9000 }] });
  const refused = await apply('job-1', [next]);
  t.match(refused, { code: 2, out: /Invalid[\s\S]*--recreate-immutable/ });
  const flags = ['--field-manager', 'job', '--recreate-immutable'];
  // Its Pods go with it.
  await waitFor(async () => textAt(must(await client.get(`${jobs}/migrate`)), 'status', 'startTime'), 'the Job to be started');
  t.match(await apply('job-2', [next], flags), { code: 2, out: /--allow-irreversible/ });
  await release('job-3', [next], [...flags, '--allow-irreversible']);
  const done = await undo('job-3');
  t.match(done, { code: 0, out: /was rolled back after/ }, done.out);
  const back = must(await client.get(`${jobs}/migrate`));
  const plain = (object: JsonObject) =>
    JSON.stringify(at(object, 'spec')).replaceAll(textAt(object, 'metadata', 'uid') ?? '', 'uid');
  t.equal(plain(back), plain(former));
});

t.test('the undo deletes an aggregated ClusterRole with the rules that Kubernetes added', async (t) => {
  const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
  const selector = { matchLabels: { 'cases-aggregate': 'true' } };
  const paths = ['cases-aggregate', 'cases-aggregate-pods'].map(
    (name) => `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}`,
  );
  await release('role-1', [
    { ...role, metadata: { name: 'cases-aggregate' }, aggregationRule: { clusterRoleSelectors: [selector] } },
    {
      ...role,
      metadata: { name: 'cases-aggregate-pods', labels: { 'cases-aggregate': 'true' } },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }],
    },
  ]);
  await waitFor(
    async () => JSON.stringify((await client.get(paths[0] ?? '')).body).includes('"pods"'),
    'the rules to be aggregated',
  );
  t.match(await undo('role-1'), { code: 0, out: /was rolled back after/ });
  t.same(await codes(paths), [404, 404]);
});

t.test('values that the installed program filled in block the whole undo, or are deleted on request', async (t) => {
  const webhook = {
    ...{ name: 'v.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None', failurePolicy: 'Fail' },
    clientConfig: { service: { name: 'hook', namespace, path: '/v' } },
    rules: [{ apiGroups: ['none.example.com'], apiVersions: ['*'], operations: ['CREATE'], resources: ['things'] }],
  };
  const items = [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'app-secret' }, type: 'Opaque' },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'hook' },
      spec: { selector: { app: 'app' }, ports: [{ port: 443, protocol: 'TCP' }] },
    },
    deployment('app', 'reg.example/app:1'),
    {
      apiVersion: 'admissionregistration.k8s.io/v1',
      kind: 'ValidatingWebhookConfiguration',
      metadata: { name: 'cases-filled' },
      webhooks: [webhook],
    },
  ];
  const configuration = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/cases-filled';
  const paths = [path('secrets/app-secret'), path('services/hook'), path('apps/v1/deployments/app'), configuration];
  const byProgram = { fieldManager: 'program' };
  const fill = async (): Promise<void> => {
    must(await client.patch(path('secrets/app-secret'), { data: { ca: 'Y2E=' } }, 'merge', byProgram));
    const caBundle = [
      {
        op: 'add',
        path: '/webhooks/0/clientConfig/caBundle',
        value: Buffer.from(makeCertificate().certificate).toString('base64'),
      },
    ];
    must(await client.patch(configuration, caBundle, 'json', byProgram));
  };
  await release('filled-1', items);
  await fill();
  t.match(await undo('filled-1'), { code: 3, out: /! Secret app-secret {2}ForeignContent/ });
  t.same(await codes(paths), [200, 200, 200, 200], 'nothing was undone');
  t.match(await undo('filled-1', '--overwrite', 'Secret/app-secret'), { code: 0, out: /was rolled back after/ });
  t.same(await codes(paths), [404, 404, 404, 404]);
  await release('filled-2', items, ['--field-manager', 'filled', '--delete-filled']);
  await fill();
  t.match(await undo('filled-2'), { code: 0, out: /was rolled back after/ });
  t.same(await codes(paths), [404, 404, 404, 404]);
});

const web = (version: string, color: string): readonly JsonObject[] => [
  configMap('config', color),
  deployment('api', `reg.example/api:${version}`),
  deployment('worker', `reg.example/worker:${version}`),
];
const ofWeb = [path('configmaps/config'), path('apps/v1/deployments/api'), path('apps/v1/deployments/worker')];

t.test('the engine refuses the whole undo after a hotfix', async (t) => {
  await release('hot-1', web('1.0', 'blue'));
  await release('hot-2', web('1.1', 'red'));
  const image = { spec: { template: { spec: { containers: [{ name: 'c', image: 'reg.example/api:1.1-hotfix' }] } } } };
  must(await client.patch(path('apps/v1/deployments/api'), image, 'strategic', { fieldManager: 'kubectl-set' }));
  const before = await contents(ofWeb);
  const done = await undo('hot-2');
  t.match(
    done,
    { code: 3, out: /it is Committed as before[\s\S]*! Deployment api {2}RollbackConflict[\s\S]*by kubectl-set/ },
    done.out,
  );
  t.same(await contents(ofWeb), before);
  t.match(await stage.read('hot-2'), { status: { phase: 'Committed', undo: { reason: 'UndoRefused' } } });
  t.match(await undo('hot-2', '--overwrite', 'Deployment.apps/api'), { code: 0 });
  t.match(await undo('hot-1'), { code: 0 });
  t.same(await codes(ofWeb), [404, 404, 404]);
});

t.test('the undo of an older release names the newer one', async (t) => {
  await release('drop-1', web('1.0', 'blue'));
  await release('drop-2', web('1.0', 'red').slice(0, 2));
  const before = await contents(ofWeb);
  const done = await undo('drop-1');
  t.match(done, { code: 3, out: /LaterTransaction[\s\S]*janus undo drop-1 .*--to ''/ }, done.out);
  t.same(await contents(ofWeb), before, 'the object that only the older one has is there, too');
  t.match(await undo('drop-2'), { code: 0 });
  t.match(await undo('drop-1'), { code: 0 });
});

t.test('apply reports unchanged only for objects that the cluster has', async (t) => {
  const [first, second] = [[configMap('green', 'a')], [configMap('green', 'b')]];
  await release('green-a', first);
  await release('green-b', second);
  t.match(await apply('green-a', first), {
    code: 1,
    out: '',
    err: /Transaction green-b \(Committed since .*\) changed its objects later/,
  });
  must(await client.patch(path('configmaps/green'), { data: { color: 'c' } }, 'merge', { fieldManager: 'kubectl-edit' }));
  t.match(await apply('green-b', second), {
    code: 1,
    out: '',
    err: /other clients have changed its objects: ConfigMap green data\.color \(by kubectl-edit\)/,
  });
  t.match(await apply('green-b', second, ['--field-manager', 'green', '--new-name']), { code: 0, out: /green-b-2 created/ });
});

// The last one: it slows down all that lists every kind.
t.test('a key that leaves stringData leaves the Secret, and the plan says so', async (t) => {
  const secret = (stringData: JsonObject): JsonObject => ({
    ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'keys' } },
    stringData,
  });
  await release('keys-1', [secret({ user: 'u', old: 'revoked' })]);
  const before = await contents([path('secrets/keys')]);
  const input = JSON.stringify(secret({ user: 'u' }));
  const words = ['plan', '-f', '-', ...where, '--service-account', account, '--name', 'keys-2', '--field-manager', 'keys'];
  const plan = await cli.run(words, { input });
  t.match(plan.out, /data\.old/, plan.out + plan.err);
  t.notMatch(plan.out + plan.err, /revoked|cmV2b2tlZA/);
  await release('keys-2', [secret({ user: 'u' })]);
  t.same(at(must(await client.get(path('secrets/keys'))), 'data'), { user: 'dQ==' });
  t.equal((await undo('keys-2')).code, 0);
  t.same(await contents([path('secrets/keys')]), before);
});

t.test('a release can set a strategy that forbids defaults of the API server', async (t) => {
  const plain = deployment('strategy', 'reg.example/app:1');
  await release('strategy-1', [plain]);
  const where = path('apps/v1/deployments/strategy');
  const before = await contents([where]);
  await release('strategy-2', [{ ...plain, spec: { ...(at(plain, 'spec') as JsonObject), strategy: { type: 'Recreate' } } }]);
  t.same(at(must(await client.get(where)), 'spec', 'strategy'), { type: 'Recreate' });
  t.equal((await undo('strategy-2')).code, 0);
  t.same(await contents([where]), before);
});

t.test('an APIService without a backend delays no undo', async (t) => {
  const services = '/apis/apiregistration.k8s.io/v1/apiservices';
  const group = 'cases.example.com';
  const spec = {
    group,
    version: 'v1',
    groupPriorityMinimum: 100,
    versionPriority: 100,
    insecureSkipTLSVerify: true,
    service: { name: 'none', namespace: 'default' },
  };
  t.teardown(() => client.delete(`${services}/v1.${group}`));
  must(await client.create(services, { metadata: { name: `v1.${group}` }, spec }));
  const accept = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
  const isStale = async () => {
    const { body } = await client.request('GET', '/apis', { headers: { accept } });
    return listAt(body, 'items').some(
      (one) => textAt(one, 'metadata', 'name') === group && JSON.stringify(one).includes('"Stale"'),
    );
  };
  await waitFor(isStale, 'discovery to say that it is away');
  // An engine that has not read before which kinds there are.
  const late = await startStage(t);
  const content = configMap('away', 'blue');
  await late.transaction('away', [{ type: 'Apply', content }]);
  t.match(await late.finished('away'), { phase: 'Committed' });
  const place = ['away', '-n', late.namespace];
  t.match(await cli.run(['undo', ...place, '--yes', '--wait']), { code: 0, out: /was rolled back after/ });
  const { out } = await cli.run(['status', ...place, '-o', 'json']);
  t.match(out, /"note": ".*of kinds whose APIService is not Available: .*v1\.cases\.example\.com"/);
  t.same(await codes([late.path('configmaps/away')]), [404]);
});
