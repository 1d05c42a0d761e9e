// The cost of a Transaction whose dry runs are all admitted: the engine tries and sends each change once, whatever precedes it.
import t from 'tap';
import type { Cluster, Write } from '../../../hooks/objects/cluster.ts';
import { must } from '../../support/client.ts';
import { commit } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

type Noted = Record<'read' | 'tried' | 'sent', string[]>;

/** Notes the requests about targets: the reads, writes and dry runs of the ServiceAccount. */
function notingTargets(noted: Noted): (cluster: Cluster) => Cluster {
  const describe = ({ verb, location }: Write): string => `${verb} ${location.resource.plural} ${location.name}`;
  return (cluster) => ({
    ...cluster,
    get: (location, identity) => {
      if (identity.kind === 'serviceAccount') noted.read.push(`${location.resource.plural} ${location.name}`);
      return cluster.get(location, identity);
    },
    dryRun: (write) => {
      noted.tried.push(describe(write));
      return cluster.dryRun(write);
    },
    send: (write, isLate) => {
      if (write.identity.kind === 'serviceAccount') noted.sent.push(describe(write));
      return cluster.send(write, isLate);
    },
  });
}

t.test('the engine sends few dry runs', async (t) => {
  const noted: Noted = { read: [], tried: [], sent: [] };
  const stage = await startStage(t, { withoutLoop: true, wrap: notingTargets(noted), timing: { callBudget: 5_000 } });
  const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
  t.beforeEach(() => {
    for (const list of Object.values(noted)) list.length = 0;
  });

  await t.test('the engine tries a pair of the table once if its dry runs are admitted', async (t) => {
    await createConfigMaps(stage, ['patched', 'updated', 'deleted']);
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' };
    await commit(stage, 'plain', [
      change('Patch', 'patched', { data: { color: 'green' } }),
      change('Update', 'updated', { data: { color: 'green' } }),
      change('Delete', 'deleted'),
      change('Create', 'created', { data: { color: 'green' } }),
      change('Create', 'reader', { rules: [] }, { ...rbac, kind: 'Role' }),
      change('Create', 'reader', { roleRef, subjects: [] }, { ...rbac, kind: 'RoleBinding' }),
    ]);
    const writes = [
      'apply configmaps patched',
      'create configmaps created',
      'create rolebindings reader',
      'create roles reader',
      'delete configmaps deleted',
      'update configmaps updated',
    ];
    const tried = [...writes, 'create configmaps deleted'].sort();
    t.same([...noted.tried].sort(), tried, 'no second dry run is made; whether a Delete could be undone is tried, too');
    t.same([...noted.sent].sort(), writes);
    const targets = writes.map((write) => write.replace(/^\w+ /, '')).sort();
    // A list of dependents reads the CRD of a kind that another test has just deleted.
    const read = noted.read.filter((one) => !one.startsWith('customresourcedefinitions '));
    t.same(read.sort(), targets, 'each is read once, in pre-flight');
  });

  await t.test('the engine retries a refused dry run, but not the change before it', async (t) => {
    const name = `${stage.namespace}-high`;
    const containers = [{ name: 'main', image: 'example.org/main' }];
    t.teardown(() => stage.client.delete(`/apis/scheduling.k8s.io/v1/priorityclasses/${name}`));
    await commit(stage, 'deferred', [
      change('Create', name, { value: 7 }, { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' }),
      change('Create', 'pod', { spec: { containers, priorityClassName: name } }, { kind: 'Pod' }),
    ]);
    const times = (what: string): number => noted.tried.filter((one) => one === what).length;
    t.equal(times(`create priorityclasses ${name}`), 1);
    t.ok(times('create pods pod') >= 2, 'in pre-flight and in its turn');
    must(await stage.client.delete(stage.path('pods/pod'), { gracePeriodSeconds: 0 }));
  });
});
