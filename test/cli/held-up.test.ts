// What holds up an apply or an undo is named to who waits for it: a webhook that cannot be reached, a finalizer that keeps an object.
import t from 'tap';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { account, startStage } from '../support/stage.ts';

const stage = await startStage(t);
const { client, namespace, path } = stage;
const cli = await openCli(t, stage.kubeconfig);
const where = ['-n', namespace];
const [[key = '', value = '']] = Object.entries(stage.label) as [[string, string]];
const release = [...where, '--service-account', account, '--label', `${key}=${value}`, '--wait'];
const webhooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
const hook = 'unreachable.test.janus.io';

/** A webhook whose Service does not exist, for objects with that label. */
async function failWrites(name: string, operation: string, resource = 'configmaps'): Promise<() => Promise<unknown>> {
  const webhook = {
    ...{ name: hook, admissionReviewVersions: ['v1'], sideEffects: 'None', failurePolicy: 'Fail' },
    clientConfig: { service: { name: 'nobody', namespace, path: '/' } },
    rules: [{ apiGroups: [''], apiVersions: ['v1'], operations: [operation], resources: [resource] }],
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
    matchConditions: [{ name: 'one', expression: `(object == null ? oldObject : object).metadata.name == '${name}'` }],
  };
  const remove = () => client.delete(`${webhooks}/${name}-${namespace}`);
  t.teardown(remove);
  must(await client.create(webhooks, { metadata: { name: `${name}-${namespace}` }, webhooks: [webhook] }));
  return remove;
}

const configMap = (name: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  ...more,
});
const dryRun = (object: JsonObject, plural: string) => client.create(path(plural), object, { dryRun: 'All' });
const refusedBy = (object: JsonObject, plural = 'configmaps') =>
  waitFor(async () => (await dryRun(object, plural)).text.includes(hook), 'the API server to call the webhook');
const said = new RegExp(
  `failed \\(InternalError\\): ConfigMap ${namespace}/hooked: .*failed calling webhook "${hook}".*service "nobody" not found`,
);

t.test('the program names an unreachable webhook while the engine retries the write, and at the end', async (t) => {
  const remove = await failWrites('hooked', 'CREATE');
  const object = configMap('hooked');
  await refusedBy(object);
  const input = JSON.stringify(object);
  const planned = await cli.run(['plan', '-f', '-', ...where, '--service-account', account], { input });
  t.match(planned, { code: 3, out: new RegExp(`failed calling webhook "${hook}"`) });
  const running = cli.start(['apply', '-f', '-', ...release, '--name', 'hooked'], { input });
  await waitFor(async () => said.test(running.out()), 'the webhook to be named');
  t.match(running.out(), /; retrying for a minute/);
  await remove();
  t.match(await running.finished, { code: 0, out: /was committed after/ });
});

t.test('the program shows only the reason for a Secret', async (t) => {
  await failWrites('sealed', 'CREATE', 'secrets');
  const object = { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'sealed' } };
  await refusedBy(object, 'secrets');
  const spec = { timeout: '2s' };
  await stage.transaction('sealed', [{ type: 'Apply', content: object }], { spec });
  const { message } = await stage.finished('sealed');
  t.match(
    message,
    /not finished within spec\.timeout \(2s\); the last message was: .*failed \(InternalError\): .*cannot be called; retrying/,
  );
});

t.test('an undo names a webhook that delays its write', async (t) => {
  const input = JSON.stringify(configMap('stays'));
  t.match(await cli.run(['apply', '-f', '-', ...release, '--name', 'stays'], { input }), { code: 0 });
  const remove = await failWrites('stays', 'DELETE');
  await waitFor(
    async () => (await client.delete(path('configmaps/stays'), {}, { dryRun: 'All' })).text.includes(hook),
    'the API server to call the webhook',
  );
  const running = cli.start(['undo', 'stays', ...where, '--yes', '--wait']);
  await waitFor(
    async () => new RegExp(`failed \\(InternalError\\): .*"${hook}".*; retrying`).test(running.out()),
    'the webhook to be named',
  );
  await remove();
  t.match(await running.finished, { code: 0 });
});

t.test('an undo names a finalizer that keeps an object', async (t) => {
  const kept = configMap('kept', { metadata: { name: 'kept', finalizers: ['test.janus.io/kept'] } });
  t.teardown(() => client.patch(path('configmaps/kept'), { metadata: { finalizers: null } }));
  t.match(await cli.run(['apply', '-f', '-', ...release, '--name', 'kept'], { input: JSON.stringify(kept) }), { code: 0 });
  const running = cli.start(['undo', 'kept', ...where, '--yes', '--wait']);
  const named = new RegExp(`ConfigMap ${namespace}/kept is being deleted; .*: finalizers keep it \\(test\\.janus\\.io/kept\\)`);
  await waitFor(async () => named.test(running.out()), 'the finalizer to be named');
  t.match((await cli.run(['status', 'kept', ...where])).out, named);
  must(await client.patch(path('configmaps/kept'), { metadata: { finalizers: null } }));
  t.match(await running.finished, { code: 0 });
});

t.test('a release that recreates an object names the finalizer too', async (t) => {
  const fixed = (color: string) =>
    configMap('fixed', {
      metadata: { name: 'fixed', ...(color === 'red' ? { finalizers: ['test.janus.io/kept'] } : {}) },
      immutable: true,
      data: { color },
    });
  t.teardown(() => client.patch(path('configmaps/fixed'), { metadata: { finalizers: null } }));
  must(await client.create(path('configmaps'), fixed('red')));
  const running = cli.start(['apply', '-f', '-', ...release, '--name', 'fixed', '--recreate-immutable'], {
    input: JSON.stringify(fixed('blue')),
  });
  const named =
    /waiting to create ConfigMap \S+fixed again until the former one is gone: finalizers keep it \(test\.janus\.io\/kept\)/;
  await waitFor(async () => named.test(running.out()), 'the finalizer to be named');
  must(await client.patch(path('configmaps/fixed'), { metadata: { finalizers: null } }));
  t.match(await running.finished, { code: 0 });
});

t.test('a user who waits for a lock reads the progress of its holder, in the command and in the status', async (t) => {
  const own = (name: string, changes: readonly JsonObject[]) => cli.write(`${name}.json`, JSON.stringify(holding(name, changes)));
  const holding = (name: string, changes: readonly JsonObject[]): JsonObject => ({
    ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name, labels: stage.label } },
    spec: { serviceAccountName: account, changes },
  });
  const later = { ready: { field: { path: '.data.ready' } }, timeout: '10m' };
  const apply = (name: string): JsonObject => ({ type: 'Apply', content: configMap(name) });
  const changes = [apply('free'), { ...apply('locked'), gate: later }];
  t.match(await cli.run(['apply', '-f', own('holds', changes), ...where]), { code: 0 });
  await stage.phase('holds', 'Committing');
  await waitFor(async () => /^2\//.test(textAt(await stage.read('holds'), 'status', 'progress') ?? ''), 'both changes');
  const running = cli.start(['apply', '-f', own('waits', [apply('locked')]), ...where, '--wait']);
  const line = 'holds holds ConfigMap locked: committing 2/2';
  await waitFor(async () => running.out().includes(line), 'the holder to be named');
  t.match((await cli.run(['status', 'waits', ...where])).out, new RegExp(`is locked by Transaction .*[^]*\\n {2}${line}\\n`));
  must(await client.patch(path('configmaps/locked'), { data: { ready: 'yes' } }, 'merge'));
  t.match(await running.finished, { code: 0, out: /was committed after/ });
  t.equal(running.out().split(line).length, 2, 'once');
});
