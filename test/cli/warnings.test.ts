// What the API server warns of is shown by plan, apply and status: each text once, clean and cut; of a Secret only the number.
import t, { type Test } from 'tap';
import { at, type JsonObject, objectsAt, textAt } from '../../hooks/objects/json.ts';
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { planParts } from '../support/planning.ts';
import { account, startStage } from '../support/stage.ts';

const stage = await startStage(t);
const { client, namespace } = stage;
const cli = await openCli(t, stage.kubeconfig);
const where = ['-n', namespace, '--service-account', account];
const [[key = '', value = '']] = Object.entries(stage.label) as [[string, string]];
const { reader } = planParts(t, stage);

const group = `${namespace}.example.org`;
const deprecation = 'widgets "v1" \\ are déprécié';

/** A kind whose version is deprecated. */
async function serveWidgets(): Promise<void> {
  const all = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const version = { name: 'v1', served: true, storage: true, deprecated: true, deprecationWarning: deprecation, schema };
  const spec = { group, scope: 'Namespaced', names: { plural: 'widgets', kind: 'Widget' }, versions: [version] };
  must(await client.create(all, { metadata: { name: `widgets.${group}` }, spec }));
  t.teardown(() => client.delete(`${all}/widgets.${group}`));
  const served = async () => (await client.list(`/apis/${group}/v1/namespaces/${namespace}/widgets`)).code === 200;
  await waitFor(served, 'widgets to be served');
}

const hostile = `\u202egnp ${'x'.repeat(5_000)}`;

/** A policy that only warns, with the value of the object in its text. */
async function warnOfMaps(): Promise<void> {
  const base = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic';
  const name = `warn-${namespace}`;
  const validations = [{ expression: 'false', messageExpression: `object.data.text + "${hostile.slice(0, 4_900)}"` }];
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps', 'secrets'] };
  const namespaceSelector = { matchLabels: { 'kubernetes.io/metadata.name': namespace } };
  const matchConditions = [{ name: 'text', expression: 'has(object.data) && "text" in object.data' }];
  const matchConstraints = { resourceRules: [rule], namespaceSelector };
  must(await client.create(`${base}ies`, { metadata: { name }, spec: { validations, matchConstraints, matchConditions } }));
  t.teardown(() => client.delete(`${base}ies/${name}`));
  must(await client.create(`${base}ybindings`, { metadata: { name }, spec: { policyName: name, validationActions: ['Warn'] } }));
  t.teardown(() => client.delete(`${base}ybindings/${name}`));
  const resource = await reader.resource('v1', 'ConfigMap');
  if (resource.kind === 'failed') throw new Error(resource.failure.message);
  const write = {
    verb: 'create',
    identity: { kind: 'engine' },
    location: { resource: resource.resource, namespace, name: 'probe' },
    object: configMap('probe'),
    fieldManager: 'probe',
  } as const;
  await waitFor(async () => {
    const answer = await reader.dryRun(write);
    return answer.kind === 'ok' && answer.warnings !== undefined;
  }, 'the API server to warn');
}

const configMap = (name: string): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data: { text: 'cm' },
});
const widget = (name: string): JsonObject => ({
  apiVersion: `${group}/v1`,
  kind: 'Widget',
  metadata: { name },
  spec: { size: 1 },
});
const secret = {
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'sealed' } },
  data: { text: Buffer.from('hunter2').toString('base64') },
};
const labels = { app: 'web' };
const deployment = {
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
  spec: {
    replicas: 0,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
  },
};
const warn = { 'pod-security.kubernetes.io/warn': 'restricted' };

const lines = (out: string): readonly string[] => out.split('\n').filter((line) => line.startsWith('Warning'));
const expected = [
  /^Warning {6}would violate PodSecurity "restricted:latest": allowPrivilegeEscalation != false .*… \(Deployment \S*web\)$/,
  /^Warning {6}widgets "v1" \\ are déprécié \(Widget\S* \S*one, Widget\S* \S*two\)$/,
  /^Warning {6}Validation failed for ValidatingAdmissionPolicy .* cm\\u\{202e\}gnp x+… \(ConfigMap \S*shown\)$/,
  /^Warning {6}1 warning about Secret \S*sealed, not shown$/,
];

function showWarnings(t: Test, out: string): void {
  const found = lines(out);
  t.equal(found.length, expected.length, out);
  for (const one of expected) t.equal(found.filter((line) => one.test(line)).length, 1, `${one} in ${found.join('\n')}`);
  t.notMatch(out, /\u202e|hunter2|aHVudGVyMg/, 'nothing hidden, and no value of a Secret');
  t.ok(
    found.every((line) => line.length < 300),
    'each is cut',
  );
}

await serveWidgets();
await warnOfMaps();
must(await client.patch(`/api/v1/namespaces/${namespace}`, { metadata: { labels: warn } }));
const items = [deployment, widget('one'), widget('two'), configMap('shown')];
const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items: [...items, secret] });

t.test('plan shows each warning once, of a Secret only the number', async (t) => {
  const { code, out } = await cli.run(['plan', '-f', '-', ...where], { input });
  t.equal(code, 1);
  showWarnings(t, out);
  const data = JSON.parse((await cli.run(['plan', '-f', '-', ...where, '-o', 'json'], { input })).out) as JsonObject;
  const found = objectsAt(data, 'changes').map((one) => [textAt(one, 'target', 'name'), at(one, 'warnings')] as const);
  const warned = new Map(found);
  t.same(warned.get('one'), { count: 1, texts: [deprecation] });
  t.same(warned.get('sealed'), { count: 1 });
});

t.test('apply and status show each warning once, and the status keeps them', async (t) => {
  const words = ['apply', '-f', '-', ...where, '--label', `${key}=${value}`, '--wait', '--name', 'warned'];
  const { code, out, err } = await cli.run(words, { input });
  t.equal(code, 0, err);
  showWarnings(t, out);
  showWarnings(t, (await cli.run(['status', 'warned', '-n', namespace])).out);
  const found = objectsAt(await stage.read('warned'), 'status', 'items');
  const stored = new Map(found.map((item) => [textAt(item, 'target')?.split(' ')[1], at(item, 'warnings')]));
  t.same(stored.get('one'), { count: 1, texts: [deprecation] });
  t.same(stored.get('sealed'), { count: 1 }, 'of the Secret only the number is stored');
});

t.test('undo shows the warnings about its own writes, and the status keeps those only', async (t) => {
  const { code, out, err } = await cli.run(['undo', 'warned', '-n', namespace, '--yes', '--wait']);
  t.equal(code, 0, err);
  const [about, ...rest] = lines(out);
  t.match(about, expected[1], out);
  t.same(rest, [], 'a Delete of the others is nothing to warn of');
  t.same(lines((await cli.run(['status', 'warned', '-n', namespace])).out), [about]);
  const found = objectsAt(await stage.read('warned'), 'status', 'items').filter((item) => at(item, 'warnings') !== undefined);
  t.equal(found.length, 2);
});
