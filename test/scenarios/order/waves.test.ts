// Waves: what a call sends side by side, what it waits for between two waves, and what is refused.
import t from 'tap';
import type { Cluster, Write } from '../../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt, withKey } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { type EngineOptions, openEngines } from '../../support/engine.ts';
import { itemsOf } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const parallel = 4;
const timing = { stepDeadline: 120_000, writeTimeout: 2_000, callBudget: 60_000, readAge: 60_000, parallel };
const stage = await startStage(t, { withoutLoop: true });
const engines = await openEngines(t, stage, timing);

const green = { data: { color: 'green' } };
const requested = { 'tx.janus.io/request-rollback': 'yes' };
const isToTarget = (write: Write): boolean => write.identity.kind === 'serviceAccount';
const inWave = (wave: number, one: JsonObject): JsonObject => withKey(one, 'wave', wave);

interface Sent {
  readonly name: string;
  /** Writes to targets that had no answer yet when it was sent. */
  readonly beside: number;
}

/** An engine, and what it has sent to targets so far. */
function noting(options: EngineOptions = {}): { readonly engine: Stage; readonly sent: readonly Sent[] } {
  const sent: Sent[] = [];
  let open = 0;
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    send: async (write, isLate) => {
      if (!isToTarget(write)) return cluster.send(write, isLate);
      sent.push({ name: write.location.name, beside: open });
      open += 1;
      return cluster.send(write, isLate).finally(() => (open -= 1));
    },
  });
  return { engine: engines.start({ ...options, wrap }), sent };
}

async function given(prefix: string, count: number): Promise<readonly string[]> {
  const names = Array.from({ length: count }, (_, index) => `${prefix}-${index}`);
  await createConfigMaps(stage, names);
  return names;
}

const look = (names: readonly string[]) =>
  portraits(
    stage.client,
    names.map((name) => stage.path(`configmaps/${name}`)),
    true,
  );

t.test('a call sends the changes of a wave side by side, forward and back, and no more than it may', async (t) => {
  const names = await given('side', 10);
  const before = await look(names);
  const { engine, sent } = noting();
  await stage.transaction(
    'side',
    names.map((name) => inWave(0, change('Patch', name, green))),
  );
  t.equal((await stepToEnd(engine, 'side')).phase, 'Committed');
  const most = (): number => Math.max(...sent.map(({ beside }) => beside)) + 1;
  t.equal(most(), parallel);
  t.same(new Set(sent.map(({ name }) => name)), new Set(names));
  t.equal(sent.length, names.length, 'each target is written once');

  const made = sent.length;
  await stage.annotate('side', requested);
  t.equal((await stepToEnd(engine, 'side')).phase, 'RolledBack');
  t.ok(sent.slice(made).some(({ beside }) => beside > 0));
  t.ok(most() <= parallel);
  t.same(await look(names), before);
});

t.test('without waves a call sends one change after the other', async (t) => {
  const names = await given('turns', 4);
  const { engine, sent } = noting();
  await stage.transaction(
    'turns',
    names.map((name) => change('Patch', name, green)),
  );
  t.equal((await stepToEnd(engine, 'turns')).phase, 'Committed');
  t.same(
    sent.map(({ name, beside }) => [name, beside]),
    names.map((name) => [name, 0]),
  );
});

t.test('the next kind begins when the writes of this kind have ended', async (t) => {
  const names = await given('kinds', 3);
  const { engine, sent } = noting();
  const service = { spec: { ports: [{ port: 80 }] } };
  const services = ['kinds-a', 'kinds-b'].map((name) => change('Create', name, service, { kind: 'Service' }));
  const patches = names.map((name) => change('Patch', name, green));
  await stage.transaction(
    'kinds',
    [...patches, ...services].map((one) => inWave(3, one)),
  );
  t.equal((await stepToEnd(engine, 'kinds')).phase, 'Committed');
  t.same(
    sent.map(({ beside }) => beside),
    [0, 1, 2, 0, 1],
  );
});

t.test('the next wave begins when the gates of this wave have passed', async (t) => {
  const [one = '', two = ''] = await given('gated', 2);
  const ready = { field: { path: '.data.ready', value: 'yes' } };
  const { engine, sent } = noting();
  await stage.transaction('gated', [
    inWave(0, { ...change('Patch', one, green), gate: { at: 'AtEnd', ready, timeout: '1h' } }),
    inWave(1, change('Patch', two, green)),
  ]);
  await stepUntil(engine, 'gated', 'Committing');
  const { status } = await step(engine, 'gated');
  t.match(textAt(status, 'message'), `waiting for ConfigMap ${stage.namespace}/${one}`);
  t.same(
    sent.map(({ name }) => name),
    [one],
  );
  must(await stage.client.patch(stage.path(`configmaps/${one}`), { data: { ready: 'yes' } }));
  t.equal((await stepToEnd(engine, 'gated')).phase, 'Committed');
  t.same(
    sent.map(({ name }) => name),
    [one, two],
  );
});

t.test('changes that are refused have one cause, and each says why; those beside them are recorded and undone', async (t) => {
  const names = await given('refused', 6);
  const before = await look(names);
  const bad = [1, 4];
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    send: async (write, isLate) =>
      isToTarget(write) && bad.some((index) => write.location.name === names[index]) && write.verb === 'apply'
        ? {
            kind: 'failed',
            failure: { kind: 'refused', code: 422, reason: 'Invalid', message: 'not this one', fields: [], definitive: true },
          }
        : cluster.send(write, isLate),
  });
  const wide = await openEngines(t, stage, { ...timing, parallel: 16 });
  const engine = wide.start({ wrap });
  await stage.transaction(
    'refused',
    names.map((name) => inWave(0, change('Patch', name, green))),
  );
  const { status, phase } = await stepToEnd(engine, 'refused');
  t.equal(phase, 'RolledBack');
  t.match(
    textAt(status, 'cause', 'message') ?? textAt(status, 'message'),
    `Patch of ConfigMap ${stage.namespace}/${names[1]} was refused`,
  );
  t.same(
    itemsOf(status).map((item) => at(item, 'error') !== undefined),
    names.map((_, index) => bad.includes(index)),
  );
  t.same(
    itemsOf(status).map((item) => at(item, 'committed') === true),
    names.map((_, index) => !bad.includes(index)),
  );
  t.same(await look(names), before);
});

t.test('a foreign edit during a wave is read, and only its object is tried again', async (t) => {
  const names = await given('edited', 4);
  let isEdited = false;
  const tries: string[] = [];
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    send: async (write, isLate) => {
      if (!isToTarget(write)) return cluster.send(write, isLate);
      tries.push(write.location.name);
      if (write.location.name === names[2] && !isEdited) {
        isEdited = true;
        must(await stage.client.patch(stage.path(`configmaps/${names[2]}`), { data: { theirs: 'yes' } }));
      }
      return cluster.send(write, isLate);
    },
  });
  await stage.transaction(
    'edited',
    names.map((name) => inWave(0, change('Patch', name, green))),
  );
  t.equal((await stepToEnd(engines.start({ wrap }), 'edited')).phase, 'Committed');
  t.same(tries.toSorted(), [...names, names[2]].toSorted());
  t.match(must(await stage.client.get(stage.path(`configmaps/${names[2]}`))), { data: { theirs: 'yes', color: 'green' } });
});

t.test('a change that needs a later one is refused before a lock, with the names of both', async (t) => {
  const binding = change(
    'Create',
    'reader',
    {
      roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'reader' },
      subjects: [{ kind: 'ServiceAccount', name: 'default', namespace: stage.namespace }],
    },
    { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'RoleBinding' },
  );
  const role = change('Create', 'reader', { rules: [] }, { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'Role' });
  await stage.transaction('too-early', [inWave(2, binding), inWave(2, role)]);
  const { status, phase } = await stepToEnd(engines.start(), 'too-early');
  t.equal(phase, 'Failed');
  t.match(
    textAt(status, 'message'),
    `spec.changes[0]: RoleBinding.rbac.authorization.k8s.io ${stage.namespace}/reader needs Role.rbac.authorization.k8s.io ${stage.namespace}/reader, which is spec.changes[1] in wave 2`,
  );
  t.same(await stage.leases(), []);
  await stage.transaction('in-order', [inWave(2, role), inWave(2, binding)]);
  t.equal((await stepToEnd(engines.start(), 'in-order')).phase, 'Committed');
});

t.test('the API server refuses waves that fall, or that only some changes have', async (t) => {
  const create = (name: string, waves: readonly (number | undefined)[]): Promise<unknown> =>
    stage.transaction(
      name,
      waves.map((wave, index) => {
        const one = change('Patch', `any-${index}`, green);
        return wave === undefined ? one : inWave(wave, one);
      }),
    );
  await t.rejects(create('falling', [1, 0]), /waves do not fall along the list/);
  await t.rejects(create('some', [0, undefined]), /Invalid value: \\?"0 none\\?"/);
  await t.rejects(create('high', [1001]), /should be less than or equal to 1000/);
  await t.rejects(create('negative', [-1]), /should be greater than or equal to 0/);
  await t.resolves(create('good', [0, 0, 7, 1000]));
});

t.test('a hundred and fifty changes in one wave are made and undone', async (t) => {
  const names = await given('many', 150);
  const before = await look(names.slice(0, 20));
  const wide = await openEngines(t, stage, { ...timing, parallel: 16 });
  await stage.transaction(
    'many',
    names.map((name) => inWave(0, change('Patch', name, green))),
  );
  t.equal((await stepToEnd(wide.start(), 'many')).phase, 'Committed');
  await stage.annotate('many', requested);
  t.equal((await stepToEnd(wide.start(), 'many')).phase, 'RolledBack');
  t.same(await look(names.slice(0, 20)), before);
});
