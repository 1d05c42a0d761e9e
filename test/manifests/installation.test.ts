// The manifests that a user applies: accepted by the API server unchanged, fit for Pod Security restricted, and wired together.
import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { at, isList, type Json, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { tokenPaths } from '../../server/access/tokens.ts';
import { readConfig } from '../../server/config.ts';
import { freeNamespace, must, waitFor } from '../support/client.ts';
import { applyObject, connectToCluster, installManifests, pathOf, readManifest } from '../support/install.ts';
import { controllerDefinitions } from '../support/metacontroller/controller-crds.ts';

const client = connectToCluster();
t.teardown(() => client.close());
await installManifests(client);
for (const definition of controllerDefinitions)
  await client.create('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition);

const manifests = new URL('../../manifests/', import.meta.url);
const [kustomization, component, install] = [
  'kustomization.yaml',
  'tuned-metacontroller/kustomization.yaml',
  '../examples/install/kustomization.yaml',
].map((path) => parse(readFileSync(new URL(path, manifests), 'utf8')) as JsonObject);
const resources = at(kustomization, 'resources') as readonly string[];
const only = async (path: string): Promise<JsonObject> => (await readManifest(path))[0] ?? {};

t.test('the kustomization holds every manifest', async (t) => {
  const files = readdirSync(manifests, { recursive: true, encoding: 'utf8' }).filter((file) => file.endsWith('.yaml'));
  const own = files.filter(
    (file) =>
      !/^(confined-metacontroller|examples|monitoring|packages|served-namespace|sharded)\//.test(file) &&
      !file.endsWith('kustomization.yaml'),
  );
  t.same([...resources].sort(), own.sort());
});

for (const path of resources)
  t.test(`the API server accepts ${path} unchanged`, async (t) => {
    for (const object of await readManifest(path)) {
      const answer = await applyObject(client, object, { dryRun: 'All', fieldValidation: 'Strict' });
      t.equal(answer.code < 300, true, `${textAt(object, 'kind')}: ${textAt(answer.body, 'message') ?? 'accepted'}`);
    }
  });

t.test('the API server accepts the examples, one after the other', async (t) => {
  const namespace = await freeNamespace(client, 'examples', t);
  const files = readdirSync(new URL('examples/', manifests)).sort();
  t.same(files, ['deploy-v2.yaml', 'every-field.yaml', 'release-7.yaml', 'shop.yaml']);
  for (const file of ['shop.yaml', ...files.filter((name) => name !== 'shop.yaml')]) {
    const objects = await readManifest(`examples/${file}`, (text) => text.replaceAll(/(?<=name(space)?: )shop\b/g, namespace));
    for (const object of objects) {
      const answer = await applyObject(client, object, { fieldValidation: 'Strict' });
      t.equal(answer.code < 300, true, `${textAt(object, 'kind')}: ${textAt(answer.body, 'message') ?? 'accepted'}`);
    }
  }
});

t.test('the ServiceAccount of the example may do what deploy-v2 does, and undo it', async (t) => {
  const namespace = await freeNamespace(client, 'examples', t);
  const objects = await readManifest('examples/shop.yaml', (text) => text.replaceAll(/(?<=name(space)?: )shop\b/g, namespace));
  for (const object of objects) must(await applyObject(client, object));
  const account = client.asServiceAccount(namespace, 'deploy-sa');
  const dryRun = { dryRun: 'All' };
  for (const object of objects.filter((one) => ['ConfigMap', 'Deployment'].includes(textAt(one, 'kind') ?? ''))) {
    const path = await pathOf(client, object);
    t.equal((await account.apply(path, object, dryRun)).code, 200);
    // The controller of Deployments writes too, perhaps between the two.
    const updated = await waitFor(async () => {
      const answer = await account.update(path, must(await account.get(path)), dryRun);
      return answer.code !== 409 && answer;
    }, 'no other client to write in between');
    t.equal(updated.code, 200);
  }
  const secret = `/api/v1/namespaces/${namespace}/secrets`;
  t.equal((await account.get(`${secret}/old-api-key`)).code, 200);
  t.equal((await account.delete(`${secret}/old-api-key`, {}, dryRun)).code, 200);
  t.equal((await account.create(secret, { metadata: { name: 'old-api-key-2' } }, dryRun)).code, 201);
  t.equal((await account.create('/api/v1/namespaces/default/secrets', { metadata: { name: 'a' } }, dryRun)).code, 403);
});

t.test('Pod Security restricted admits the Pods', async (t) => {
  const namespace = await freeNamespace(client, 'restricted', t);
  const labels = { 'pod-security.kubernetes.io/enforce': 'restricted' };
  must(await client.patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels } }));
  must(await applyObject(client, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'janus', namespace } }));
  const spec = at(await only('deployment.yaml'), 'spec', 'template', 'spec') as JsonObject;
  const admit = async (of: JsonObject): Promise<number> =>
    (await client.create(`/api/v1/namespaces/${namespace}/pods`, { metadata: { name: 'janus' }, spec: of }, { dryRun: 'All' }))
      .code;
  const unconfined = withPath(spec, ['securityContext', 'seccompProfile'], undefined);
  await waitFor(async () => (await admit(unconfined)) === 403, 'Pods without a seccomp profile to be refused');
  t.equal(await admit(spec), 201);
  t.match(await only('namespace.yaml'), { metadata: { labels } }, 'the namespace of the engine enforces it');
});

t.test('the container can write nowhere and has time to finish a step', async (t) => {
  const spec = at(await only('deployment.yaml'), 'spec', 'template', 'spec');
  t.match(spec, { terminationGracePeriodSeconds: 45, containers: [{ securityContext: { readOnlyRootFilesystem: true } }] });
  for (const volume of at(spec, 'volumes') as readonly JsonObject[])
    t.same(Object.keys(volume).sort(), ['name', 'secret'], 'Secrets are read-only by nature');
});

t.test('the environment of the container is a configuration that the server takes', async (t) => {
  const [container] = at(await only('deployment.yaml'), 'spec', 'template', 'spec', 'containers') as readonly JsonObject[];
  const variables = at(container, 'env') as readonly JsonObject[];
  const inCluster = { KUBERNETES_SERVICE_HOST: '10.0.0.1', KUBERNETES_SERVICE_PORT: '443' };
  const values = variables.map((one) => [textAt(one, 'name') ?? '', textAt(one, 'value') ?? 'janus-system']);
  const read = readConfig({ ...inCluster, ...Object.fromEntries(values) });
  t.match(read, { kind: 'ok', config: { port: 8080, host: '0.0.0.0', engineNamespace: 'janus-system', logLevel: 'info' } });
  t.match(container, {
    ports: [{ name: 'http', containerPort: 8080 }],
    livenessProbe: { httpGet: { path: '/healthz', port: 'http' } },
    readinessProbe: { httpGet: { path: '/readyz', port: 'http' } },
  });
});

t.test('the Service finds the Pods, and Metacontroller the Service', async (t) => {
  const [service, deployment, controller] = await Promise.all(
    ['service.yaml', 'deployment.yaml', 'composite-controller.yaml'].map(only),
  );
  const labels = at(deployment, 'spec', 'template', 'metadata', 'labels');
  t.same(at(service, 'spec', 'selector'), labels);
  t.same(at(deployment, 'spec', 'selector', 'matchLabels'), labels);
  t.match(at(service, 'spec', 'ports'), [{ port: 80, targetPort: 'http' }]);
  const base = `http://${textAt(service, 'metadata', 'name')}.${textAt(service, 'metadata', 'namespace')}.svc`;
  for (const hook of ['sync', 'finalize'])
    t.equal(textAt(controller, 'spec', 'hooks', hook, 'webhook', 'url'), `${base}/${hook}`);
});

t.test('the Pods know the token that Metacontroller sends', async (t) => {
  const [deployment, controller] = await Promise.all(['deployment.yaml', 'composite-controller.yaml'].map(only));
  const pod = at(deployment, 'spec', 'template', 'spec') as unknown as PodWithToken;
  const [endpoint] = at(controller, 'spec', 'endpointConfigs') as readonly JsonObject[];
  const [volume] = pod.volumes.filter(({ name }) => name === 'token');
  const [container] = pod.containers;
  const [mount] = container?.volumeMounts.filter(({ name }) => name === 'token') ?? [];
  const key = basename(tokenPaths('')[0]);
  t.same(at(endpoint, 'authorization'), {
    type: 'Bearer',
    secretRef: { name: volume?.secret.secretName, namespace: textAt(deployment, 'metadata', 'namespace'), key },
  });
  t.equal(container?.env.find(({ name }) => name === 'JANUS_TOKEN_DIRECTORY')?.value, mount?.mountPath);
  t.equal(mount?.readOnly, true);
  const { host } = new URL(textAt(controller, 'spec', 'hooks', 'sync', 'webhook', 'url') ?? '');
  t.equal(textAt(endpoint, 'host'), host);
});

interface PodWithToken {
  readonly volumes: readonly { readonly name: string; readonly secret: { readonly secretName: string } }[];
  readonly containers: readonly {
    readonly env: readonly { readonly name: string; readonly value?: string }[];
    readonly volumeMounts: readonly { readonly name: string; readonly mountPath: string; readonly readOnly: boolean }[];
  }[];
}

t.test('the CompositeController is, but for its URLs and its token, the one of the recorded calls', async (t) => {
  const recording = readFileSync(new URL('../fixtures/metacontroller/01-sync-first.json', import.meta.url), 'utf8');
  const recorded = at(JSON.parse(recording) as Json, 'request', 'controller', 'spec');
  const { endpointConfigs: _token, ...spec } = at(await only('composite-controller.yaml'), 'spec') as JsonObject;
  t.same(withoutUrls(spec), withoutUrls(recorded));
});

function withoutUrls(spec: Json | undefined): Json {
  return JSON.parse(JSON.stringify(spec).replaceAll(/"url":"[^"]*"/g, '"url":""')) as Json;
}

t.test('the component adds the tuned flags to Metacontroller, and examples/install uses it', async (t) => {
  const [patch] = at(component, 'patches') as readonly JsonObject[];
  t.match(at(patch, 'target'), { kind: 'StatefulSet', name: 'metacontroller' });
  const operations = parse(textAt(patch, 'patch') ?? '') as readonly JsonObject[];
  t.same(
    operations.map((operation) => [operation.op, operation.path, operation.value]),
    ['--workers=50', '--client-go-qps=1000', '--client-go-burst=2000'].map((flag) => [
      'add',
      '/spec/template/spec/containers/0/args/-',
      flag,
    ]),
  );
  t.same(at(install, 'components'), ['../../manifests/tuned-metacontroller']);
  const sources = at(install, 'resources');
  t.ok(isList(sources) && sources.includes('../../manifests'));
});
