// A webhook that nobody serves, and that judges what the engine itself writes: Leases, and the ConfigMaps of a snapshot. The wait names
// it, and ends within a minute. On an API server of its own.
import t from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { engineNamespace } from '../../support/install.ts';
import { ownControlPlane } from '../../support/own-control-plane.ts';
import { startStage } from '../../support/stage.ts';
import { stepTo, stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

await ownControlPlane(t);

const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';

t.test('a webhook without a server, for what the engine writes', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, namespace, path } = stage;
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;
  const rows = {
    'storing the snapshot': { place: namespace, group: '', resource: 'configmaps', where: path('configmaps') },
    'acquiring locks': { place: engineNamespace, group: 'coordination.k8s.io', resource: 'leases', where: leases },
  } as const;
  for (const [index, [what, { place, group, resource, where }]] of Object.entries(rows).entries())
    await t.test(`${what}: the wait names it, and ends within a minute`, async (t) => {
      const metadata = { name: `${namespace}-${resource}` };
      const webhook: JsonObject = {
        ...{ name: `${resource}.example.com`, admissionReviewVersions: ['v1'], sideEffects: 'None', failurePolicy: 'Fail' },
        clientConfig: { service: { name: 'judge', namespace, path: '/judge' } },
        namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': place } },
        objectSelector: { matchExpressions: [{ key: 'tx.janus.io/transaction-uid', operator: 'Exists' }] },
        rules: [{ apiGroups: [group], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: [resource] }],
        timeoutSeconds: 2,
      };
      t.teardown(() => client.delete(`${hooks}/${metadata.name}`));
      must(await client.create(hooks, { metadata, webhooks: [webhook] }));
      const probe = { metadata: { name: 'probe', labels: { 'tx.janus.io/transaction-uid': 'probe' } } };
      await waitFor(async () => (await client.create(where, probe, { dryRun: 'All' })).code === 500, 'the webhook to be called');
      const name = `release-${index}`;
      await stage.transaction(name, [change('Create', `made-${index}`, {})], { spec: { timeout: '30m' } });
      const named = new RegExp(`${what} failed \\(InternalError\\).*"${resource}\\.example\\.com".*service "judge" not found`);
      await stepTo(stage, name, 'the wait', ({ status }) => named.test(textAt(status, 'message') ?? ''));
      const { status } = await stepToEnd(stage, name);
      t.match(status, { phase: 'Failed', message: named });
      t.match(status, {
        message: /for a minute: .*repair or delete the webhook or server that it needs, then create the Transaction again/,
      });
      t.equal((await client.get(path(`configmaps/made-${index}`))).code, 404);
      must(await client.delete(`${hooks}/${metadata.name}`));
      await waitFor(async () => (await client.create(where, probe, { dryRun: 'All' })).code === 201, 'the webhook to be gone');
    });
});
