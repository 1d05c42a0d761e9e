// A change is sent on the version that its snapshot has, without reading the target again: the API server refuses it where
// anything has moved since, and only then the target is read and judged.
import t from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import { must } from '../../support/client.ts';
import { type Engines, openEngines } from '../../support/engine.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

const green = { data: { color: 'green' } };

interface Counted {
  readonly stage: Stage;
  /** What the engine has asked since the last look. */
  readonly asked: () => readonly string[];
}

function counting(engines: Engines, sighting: number): Counted {
  const asked: string[] = [];
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    get: (location, identity) => {
      asked.push(`get ${location.resource.kind}`);
      return cluster.get(location, identity);
    },
    getMetadata: (location, identity) => {
      asked.push(`look at ${location.resource.kind}`);
      return cluster.getMetadata(location, identity);
    },
    listMetadata: (resource, namespace, identity, options) => {
      const around = 'list what is around';
      if (identity.kind === 'engine') asked.push(`list ${resource.kind}`);
      else if (!asked.includes(around)) asked.push(around);
      return cluster.listMetadata(resource, namespace, identity, options);
    },
    allowed: (question, identity) => {
      asked.push(`may ${question.verb}`);
      return cluster.allowed(question, identity);
    },
    send: (write) => {
      asked.push(`${write.verb} ${write.location.resource.kind}`);
      return cluster.send(write);
    },
  });
  return {
    stage: engines.start({ wrap, timing: { sighting } }),
    asked: () => asked.splice(0).toSorted(),
  };
}

t.test('a change is sent without reading its target', async (t) => {
  const plain = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, plain);
  const hour = 3_600_000;

  await t.test('the engine does not read an object again that it has just seen', async (t) => {
    const { stage, asked } = counting(engines, hour);
    await createConfigMaps(stage, ['a', 'b', 'c']);
    await stage.transaction(
      'brief',
      ['a', 'b', 'c'].map((name) => change('Patch', name, green)),
    );
    await stepUntil(stage, 'brief', 'Prepared');
    asked();
    await step(stage, 'brief');
    t.same(asked(), ['apply ConfigMap', 'get Transaction', 'list Lease', 'look at ConfigMap', 'update Lease']);
    await step(stage, 'brief');
    t.same(asked(), ['apply ConfigMap', 'get Transaction', 'list Lease', 'update Lease']);
    t.match((await stepToEnd(stage, 'brief')).status, { phase: 'Committed' });

    await stage.transaction('as-brief', [change('Patch', 'a', { data: { color: 'blue' } })]);
    asked();
    await stepUntil(stage, 'as-brief', 'Preparing');
    t.same(asked(), ['create Lease', 'get Transaction', 'get Transaction'], 'what the ServiceAccount may was just asked');
    t.match((await stepToEnd(stage, 'as-brief')).status, { phase: 'Committed' });
  });

  await t.test('by each of the four types, and undone again', async (t) => {
    const { stage, asked } = counting(engines, 0);
    await createConfigMaps(stage, ['updated', 'patched', 'deleted']);
    const targets = { Create: 'created', Update: 'updated', Patch: 'patched', Delete: 'deleted' };
    const changes = Object.entries(targets).map(([type, name]) => change(type, name, green));
    await stage.transaction('four', changes);
    await stepUntil(stage, 'four', 'Prepared');
    for (const verb of ['create', 'update', 'apply', 'delete']) {
      asked();
      await step(stage, 'four');
      const expected = [
        `${verb} ConfigMap`,
        'get ServiceAccount',
        'get Transaction',
        'list Lease',
        'look at ConfigMap',
        'update Lease',
        ...(verb === 'delete' ? ['list what is around'] : []),
      ];
      t.same(asked(), expected.toSorted(), verb);
    }
    await stage.annotate('four', { 'tx.janus.io/request-rollback': 'yes' });
    t.match((await stepToEnd(stage, 'four')).status, { phase: 'RolledBack' });
  });

  await t.test('unless it has moved: then it is read, and judged', async (t) => {
    const { stage, asked } = counting(engines, hour);
    await createConfigMaps(stage, ['moved', 'fought-over']);
    await stage.transaction('late', [change('Patch', 'moved', green), change('Patch', 'fought-over', green)]);
    await stepUntil(stage, 'late', 'Prepared');
    must(await stage.client.patch(stage.path('configmaps/moved'), { data: { theirs: 'yes' } }));
    asked();
    t.match(await step(stage, 'late'), { phase: 'Committing' });
    const twice = asked().filter((what) => / ConfigMap$/.test(what));
    t.same(twice, ['apply ConfigMap', 'apply ConfigMap', 'get ConfigMap', 'look at ConfigMap']);
    const moved = must(await stage.client.get(stage.path('configmaps/moved')));
    t.match(moved, { data: { color: 'green', theirs: 'yes' } }, 'both are there');

    must(await stage.client.patch(stage.path('configmaps/fought-over'), { data: { color: 'red' } }));
    t.match((await stepToEnd(stage, 'late')).status, { phase: 'RolledBack', message: /color/ });
    const kept = must(await stage.client.get(stage.path('configmaps/fought-over')));
    t.match(kept, { data: { color: 'red' } }, 'theirs is left alone');
  });
});

t.test('all locks are read by one list, after the Transaction', async (t) => {
  const plain = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, plain);
  const asked: string[] = [];
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    listMetadata: (resource, ...rest) => {
      asked.push(resource.kind);
      return cluster.listMetadata(resource, ...rest);
    },
    get: async (location, identity) => {
      const answer = await cluster.get(location, identity);
      asked.push(`${location.resource.kind} answered`);
      return answer;
    },
  });
  const stage = engines.start({ wrap, timing: { sighting: 3_600_000 } });
  const names = ['a', 'b', 'c', 'd'];
  await createConfigMaps(stage, names);
  await stage.transaction(
    'after',
    names.map((name) => change('Patch', name, green)),
  );
  await stepUntil(stage, 'after', 'Committing');
  asked.length = 0;
  await step(stage, 'after');
  t.same(asked, ['Transaction answered', 'Lease'], 'its state was stored before the locks were looked at');
});
