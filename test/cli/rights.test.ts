// The rights that janus rbac prints are enough for the whole life of an app, and no more: a ServiceAccount that has just these installs,
// upgrades, drops, fails a gate and undoes, through the packed program and kubectl.
import { dirname } from 'node:path';
import t from 'tap';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { openCli } from '../support/cli.ts';
import { waitFor } from '../support/client.ts';
import { pathWithKubectl } from '../support/kubectl.ts';
import { inAllOnly } from '../support/selection.ts';
import { startStage } from '../support/stage.ts';

const stage = await startStage(t);
const cli = await openCli(t, stage.kubeconfig);
const [[key = '', value = '']] = Object.entries(stage.label) as [[string, string]];
const given = ['-n', stage.namespace, '--service-account', 'releaser', '--field-manager', 'shop'];
const label = ['--label', `${key}=${value}`];
const path = await pathWithKubectl();
const named = (kind: string, apiVersion = 'v1', name = 'shop') => ({ apiVersion, kind, metadata: { name } });
const configMap = (color: string) => ({ ...named('ConfigMap'), data: { color } });
const secret = (color: string) => ({ ...named('Secret'), stringData: { color } });
const priority = (description: string) => ({
  ...named('PriorityClass', 'scheduling.k8s.io/v1', stage.namespace),
  ...{ value: 7, description },
});
const service = { ...named('Service'), spec: { ports: [{ port: 80 }], selector: { app: 'shop' } } };
const deployment = {
  ...named('Deployment', 'apps/v1'),
  spec: {
    selector: { matchLabels: { app: 'shop' } },
    template: { metadata: { labels: { app: 'shop' } }, spec: { containers: [{ name: 'a', image: 'a:1' }] } },
  },
};

/** Nothing may say that a right is missing. */
async function janus(...words: readonly string[]) {
  const found = await cli.run([...words]);
  t.notMatch(`${found.out}${found.err}`, /Forbidden|may not/, words.join(' '));
  return found;
}

async function shell(command: string) {
  const env = { PATH: `${cli.programs}:${dirname(process.execPath)}:${path}` };
  return cli.run(['-euo', 'pipefail', '-c', command], { node: 'bash', bare: true, env });
}

const write = (objects: readonly JsonObject[]) =>
  cli.write('app/all.json', JSON.stringify({ kind: 'List', apiVersion: 'v1', items: objects }));

/** The command that a plan prints grants what is missing. */
async function grant(): Promise<string> {
  const { out } = await cli.run(['plan', '-f', 'app/', ...given]);
  const [, command = ''] = /^To grant what is missing: +(.*)$/m.exec(out) ?? [];
  t.equal(
    command,
    `janus rbac -f app/ --service-account releaser --field-manager shop -n ${stage.namespace} | kubectl apply -f -`,
    out,
  );
  const { code, out: done, err } = await shell(command);
  t.equal(code, 0, err);
  return done;
}

t.test('a ServiceAccount with just these rights releases, drops and undoes an app', async (t) => {
  write([configMap('red'), secret('red'), priority('red'), service]);
  const granted = await grant();
  for (const kind of [
    'serviceaccount/releaser',
    'role.rbac.authorization.k8s.io/janus:',
    'clusterrolebinding.rbac.authorization.k8s.io/janus:',
  ])
    t.match(granted, new RegExp(`^${kind}.* created$`, 'm'));

  t.match(await janus('plan', '-f', 'app/', ...given), { code: 1 });
  t.match(await janus('apply', '-f', 'app/', ...given, ...label, '--name', 'one', '--wait'), { code: 0 });
  write([configMap('green'), secret('green'), priority('green')]);
  t.match(await janus('apply', '-f', 'app/', ...given, ...label, '--name', 'two', '--gate', '1m', '--wait'), { code: 0 });

  await t.test('the second run changes nothing, although the manifests have a kind less', async (t) => {
    const again = async () => {
      const { code, out, err } = await shell(`janus rbac -f app/ ${given.join(' ')} | kubectl apply -f -`);
      t.equal(code, 0, err);
      return out.trim().split('\n');
    };
    // Another test may install a kind between two runs.
    await waitFor(async () => (await again()).every((line) => line.endsWith(' unchanged')), 'a run that changes nothing');
  });

  const spec = {
    serviceAccountName: 'releaser',
    fieldManager: 'shop',
    changes: [service, secret('')].map(({ apiVersion, kind, metadata: { name } }) => ({
      type: 'Delete',
      target: { apiVersion, kind, name },
    })),
  };
  const metadata = { name: 'three', namespace: stage.namespace, labels: stage.label };
  const drop = cli.write('drop.json', JSON.stringify({ ...named('Transaction', 'tx.janus.io/v1alpha1'), metadata, spec }));
  t.match(await janus('apply', '-f', drop, '--wait'), { code: 0 });

  await t.test('a gate that fails says what its Pods wait for, and the release is undone', async (t) => {
    write([configMap('blue'), deployment]);
    t.match(await grant(), /^role\..* configured$/m);
    const failed = await janus('apply', '-f', 'app/', ...given, ...label, '--name', 'four', '--gate', '3s', '--wait');
    t.match(failed, { code: 3 });
    t.match(textAt(await stage.read('four'), 'status', 'message'), /Pod|replica/);
  });

  for (const name of ['three', 'two', 'one'])
    t.match(await janus('undo', name, '-n', stage.namespace, '--wait', '--yes'), { code: 0 });
  t.equal((await stage.client.get(stage.path('services/shop'))).code, 404);
  t.equal((await stage.client.get(`/apis/scheduling.k8s.io/v1/priorityclasses/${stage.namespace}`)).code, 404);
});

t.test('with these rights an undo knows what goes with its objects, and says once what it may not list', async (t) => {
  const app = ['-n', stage.namespace, '--service-account', 'lister', '--field-manager', 'listed'];
  const plain = ['a', 'b', 'c', 'd'].map((name) => ({ ...configMap('red'), metadata: { name } }));
  // Kinds of other tests may come meanwhile: their groups are examples.
  const notes = (text: string) =>
    [...text.matchAll(/^Note .* could not list them: (.*) \(/gm)]
      .map(([, kinds = '']) => kinds.split(', ').filter((kind) => !kind.includes('example')))
      .filter((kinds) => kinds.length > 0);
  const undone = async (name: string, objects: readonly JsonObject[]) => {
    write(objects);
    t.match(await shell(`janus rbac -f app/ ${app.join(' ')} | kubectl apply -f -`), { code: 0 });
    t.match(await janus('apply', '-f', 'app/', ...app, ...label, '--name', name, '--wait'), { code: 0 });
    const plan = await janus('undo', name, '-n', stage.namespace, '--plan');
    const end = await janus('undo', name, '-n', stage.namespace, '--wait', '--yes');
    return [plan.out, end.out].map(notes);
  };
  t.same(await undone('plain', plain), [[['secrets']], [['secrets']]], 'the app has no Secrets: its Role may not list them');
  t.same(await undone('sealed', [...plain, { ...secret('red'), metadata: { name: 'sealed' } }]), [[], []]);
});

t.test(
  'the undo of a Namespace that the release has created reads the ServiceAccount that Kubernetes puts into it',
  inAllOnly,
  async (t) => {
    const tenant = `${stage.namespace}-tenant`;
    t.teardown(() => stage.client.delete(`/api/v1/namespaces/${tenant}`));
    write([named('Namespace', 'v1', tenant)]);
    const spaced = ['-n', stage.namespace, '--service-account', 'spaced', '--field-manager', 'spaced'];
    t.match(await shell(`janus rbac -f app/ ${spaced.join(' ')} | kubectl apply -f -`), { code: 0 });
    t.match(await janus('apply', '-f', 'app/', ...spaced, ...label, '--name', 'tenant', '--wait'), { code: 0 });
    const account = `/api/v1/namespaces/${tenant}/serviceaccounts/default`;
    await waitFor(async () => (await stage.client.get(account)).code === 200, 'the ServiceAccount of the Namespace');
    t.match(await janus('undo', 'tenant', '-n', stage.namespace, '--wait', '--yes'), { code: 0 });
  },
);
