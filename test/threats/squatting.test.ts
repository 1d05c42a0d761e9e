// Locks are taken with the engine's rights: so the right to the object is asked for first.
import t from 'tap';
import { must } from '../support/client.ts';
import { startStage } from '../support/stage.ts';
import { change, createConfigMaps } from '../support/targets.ts';
import { openGhosts } from './ghosts.ts';

t.test('a user who may not change an object cannot lock it, in any namespace', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  must(await stage.client.create(stage.path('serviceaccounts'), { metadata: { name: 'nobody' } }));
  await createConfigMaps(stage, ['own']);
  const run = openGhosts(t, stage);
  const far = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'kube-system' };
  const targets = [
    change('Patch', 'extension-apiserver-authentication', { data: { a: 'b' } }, far),
    change('Delete', 'system:node', undefined, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' }),
    change('Patch', 'own', { data: { a: 'b' } }),
    change('Create', 'made', { data: { a: 'b' } }),
  ];
  for (const [index, one] of targets.entries()) {
    // Whatever else it asks for: an hour of a lock, and a target that it may not even see.
    const spec = { serviceAccountName: 'nobody', lockTimeout: '1h', lockWait: '1h', changes: [one] };
    const { reason, writes } = await run(`squatter-${index}`, spec, {});
    t.equal(reason, 'Forbidden');
    t.same(writes, [], 'no Lease was tried for, not even for a moment');
  }
});
