// Transactions that change common objects take turns: from the first write of one to its last, no other writes any of them.
import t, { type Test } from 'tap';
import type { Cluster, Write } from '../../../hooks/objects/cluster.ts';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const names = Array.from({ length: 8 }, (_, index) => `shared-${index}`);

/** Lets every write to a target through, and notes by which ServiceAccount's namespace it was made. */
function noting(writers: string[]): (cluster: Cluster) => Cluster {
  const note = ({ identity }: Write): void => {
    if (identity.kind === 'serviceAccount') writers.push(identity.namespace);
  };
  return (cluster) => ({
    ...cluster,
    send: async (write) => {
      note(write);
      const answer = await cluster.send(write);
      // At its end too: a write that was under way while another's began would be seen.
      note(write);
      return answer;
    },
  });
}

/** The list without repetitions in a row. */
function turns(writers: readonly string[]): readonly string[] {
  return writers.filter((writer, index) => writer !== writers[index - 1]);
}

function writersOf({ reports }: Stage): readonly string[] {
  return reports.flatMap(({ name, audit }) => audit.map(() => name));
}

t.test('two Transactions in opposite order over eight objects both commit, one after the other', async (t) => {
  const stage = await startStage(t);
  await createConfigMaps(stage, names);
  const paint =
    (color: string): ((name: string) => ReturnType<typeof change>) =>
    (name) =>
      change('Patch', name, { data: { [color]: 'yes' } });
  await Promise.all([
    stage.transaction('forth', names.map(paint('red'))),
    stage.transaction('back', names.toReversed().map(paint('green'))),
  ]);
  for (const name of ['forth', 'back']) t.match(await stage.finished(name), { phase: 'Committed', progress: '8/8' });
  const writers = writersOf(stage);
  t.equal(writers.length, 16, 'one write for each change');
  t.equal(turns(writers).length, 2, `never interleaved: ${writers.join(' ')}`);
  for (const name of names) {
    t.match(must(await stage.client.get(stage.path(`configmaps/${name}`))), {
      data: { red: 'yes', green: 'yes', color: 'blue' },
    });
  }
  t.same(await stage.leases(), []);
});

t.test('many Transactions over common objects, some undone, leave the values of the Committed ones', async (t) => {
  const stage = await startStage(t);
  await createConfigMaps(stage, names);
  const before = await portraits(
    stage.client,
    names.map((name) => stage.path(`configmaps/${name}`)),
  );
  const own = Array.from({ length: 6 }, (_, index) => `many-${index}`);
  const order = (index: number): readonly string[] => [...names.slice(index), ...names.slice(0, index)];
  await Promise.all(
    own.map((name, index) =>
      stage.transaction(
        name,
        order(index).map((target) => change('Patch', target, { data: { [name]: 'yes' } })),
        { spec: { lockWait: '5m' } },
      ),
    ),
  );
  for (const name of own) t.match(await stage.finished(name, { timeoutMs: 120_000 }), { phase: 'Committed' });
  t.equal(turns(writersOf(stage)).length, own.length, 'one after the other');
  await Promise.all(own.map((name) => stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes' })));
  for (const name of own) await stage.phase(name, 'RolledBack', { timeoutMs: 120_000 });
  for (const name of own) await stage.finished(name);
  t.same(
    await portraits(
      stage.client,
      names.map((name) => stage.path(`configmaps/${name}`)),
    ),
    before,
    'all undone, in whatever order',
  );
  t.same(await stage.leases(), []);
});

t.test('Transactions that share a name in two namespaces take turns at common ClusterRoles', async (t) => {
  const writers: string[] = [];
  const stages = await Promise.all([startStage(t, { wrap: noting(writers) }), startStage(t, { wrap: noting(writers) })]);
  const [first, second] = stages;
  const roles = await createRoles(t, first);
  const before = await portraits(first.client, roles.map(pathOfRole));
  const kind = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };
  const label = (role: string, stage: Stage): ReturnType<typeof change> =>
    change('Patch', role, { metadata: { labels: { [stage.namespace]: 'yes' } } }, kind);
  await Promise.all([
    first.transaction(
      'same-name',
      roles.map((role) => label(role, first)),
    ),
    second.transaction(
      'same-name',
      roles.toReversed().map((role) => label(role, second)),
    ),
  ]);
  for (const stage of stages) t.match(await stage.finished('same-name'), { phase: 'Committed' });
  t.equal(turns(writers).length, 2, `never interleaved: ${writers.join(' ')}`);
  const labels = Object.fromEntries(stages.map(({ namespace }) => [namespace, 'yes']));
  for (const role of roles) t.match(must(await first.client.get(pathOfRole(role))), { metadata: { labels } });

  writers.length = 0;
  await Promise.all(stages.map((stage) => stage.annotate('same-name', { 'tx.janus.io/request-rollback': 'yes' })));
  for (const stage of stages) await stage.phase('same-name', 'RolledBack');
  t.equal(turns(writers).length, 2, `undone one after the other: ${writers.join(' ')}`);
  t.same(await portraits(first.client, roles.map(pathOfRole)), before);
  for (const stage of stages) await waitFor(async () => (await stage.leases()).length === 0, 'the locks to be given back');
});

t.test('a lock that a call could not release does not make Transactions wait in a circle', async (t) => {
  const stage = await startStage(t, {
    withoutLoop: true,
    wrap: refusingOnce(({ location }) => location.name.includes('ring-0')),
  });
  const ring = ['ring-0', 'ring-1'];
  await createConfigMaps(stage, ring);
  const changes = (key: string): readonly JsonObject[] => ring.map((name) => change('Patch', name, { data: { [key]: 'yes' } }));
  await stage.transaction('first', changes('first'));
  await step(stage, 'first');
  const held = async (): Promise<readonly unknown[]> => (await stage.leases()).map((name) => /ring-\d/.exec(name)?.[0]);
  t.same(await held(), ['ring-1'], 'the second lock is held, and the first is not');
  await stage.transaction('rival', changes('rival'));
  await step(stage, 'rival');
  t.same(await held(), ring, 'the rival holds the first one, and waits for the second');
  await step(stage, 'first');
  t.same(await held(), ['ring-0'], 'who has to wait for the first lock gives the second one back');
  for (const name of ['rival', 'first']) t.match(await stepToEnd(stage, name), { phase: 'Committed' }, name);
});

/** "Not now" to the first write that is meant. */
function refusingOnce(isMeant: (write: Write) => boolean): (cluster: Cluster) => Cluster {
  const message = 'for the test';
  const failure = { kind: 'transient', code: 503, reason: 'ServiceUnavailable', message, fields: [], definitive: true } as const;
  let isRefused = false;
  return (cluster) => ({
    ...cluster,
    send: async (write) => {
      if (isRefused || !isMeant(write)) return cluster.send(write);
      isRefused = true;
      return { kind: 'failed', failure };
    },
  });
}

async function createRoles(t: Test, { client, namespace }: Stage): Promise<readonly string[]> {
  const roles = ['a', 'b', 'c'].map((suffix) => `${namespace}:${suffix}`);
  for (const name of roles) {
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
    must(await client.create('/apis/rbac.authorization.k8s.io/v1/clusterroles', { metadata: { name }, rules }));
    t.teardown(() => client.delete(pathOfRole(name)));
  }
  return roles;
}

function pathOfRole(name: string): string {
  return `/apis/rbac.authorization.k8s.io/v1/clusterroles/${name}`;
}
