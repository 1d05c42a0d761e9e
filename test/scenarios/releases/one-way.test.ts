// The engine first refuses changes of built-in kinds that cannot be undone; if they are allowed, it refuses their undo.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { allowIrreversible, commit, partial, undo } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

interface Row {
  readonly what: string;
  readonly apiVersion: string;
  readonly kind: string;
  /** `plural` in the namespace of the stage, or a whole path. */
  readonly where: string;
  readonly name: string;
  readonly object: JsonObject;
  readonly patch: JsonObject;
}

const containers = [{ name: 'main', image: 'example.org/main:1' }];
const required = { nodeSelectorTerms: [{ matchExpressions: [{ key: 'zone', operator: 'Exists' }] }] };
const volume = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' }, hostPath: { path: '/none' } };
const jobOf = (suspend: boolean, zone: string): JsonObject => ({
  spec: { suspend, template: { spec: { restartPolicy: 'Never', nodeSelector: { zone }, containers } } },
});

t.test('pre-flight refuses changes that cannot be undone', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const pod = { apiVersion: 'v1', kind: 'Pod', where: path('pods'), object: { spec: { containers } } };
  const persistent = { apiVersion: 'v1', kind: 'PersistentVolume', where: '/api/v1/persistentvolumes', object: { spec: volume } };
  const node = { apiVersion: 'v1', kind: 'Node', where: '/api/v1/nodes', object: {} };
  const rows: readonly Row[] = [
    { ...pod, what: 'a deadline of a Pod', name: 'deadline', patch: { spec: { activeDeadlineSeconds: 60 } } },
    {
      ...pod,
      what: 'a deadline of a Pod that is lowered',
      name: 'lowered',
      object: { spec: { activeDeadlineSeconds: 60, containers } },
      patch: { spec: { activeDeadlineSeconds: 30 } },
    },
    {
      ...pod,
      what: 'a toleration of a Pod',
      name: 'tolerant',
      patch: { spec: { tolerations: [{ key: 'new', operator: 'Exists' }] } },
    },
    {
      ...persistent,
      what: 'the affinity of a volume',
      name: `${namespace}-near`,
      patch: { spec: { nodeAffinity: { required } } },
    },
    {
      ...node,
      what: 'the range of a Node',
      name: `${namespace}-a`,
      patch: { spec: { podCIDR: '10.9.8.0/24', podCIDRs: ['10.9.8.0/24'] } },
    },
    { ...node, what: 'the provider of a Node', name: `${namespace}-b`, patch: { spec: { providerID: 'example://1' } } },
    {
      what: 'a Job that is resumed with another template',
      apiVersion: 'batch/v1',
      kind: 'Job',
      where: path('batch/v1/jobs'),
      name: 'resumed',
      object: jobOf(true, 'one'),
      patch: jobOf(false, 'two'),
    },
  ];
  for (const { what, apiVersion, kind, where, name, object, patch } of rows)
    await t.test(what, async (t) => {
      must(await client.create(where, { apiVersion, kind, metadata: { name }, ...object }));
      t.teardown(() => client.delete(`${where}/${name}`, { gracePeriodSeconds: 0 }));
      const isSeen = async (): Promise<boolean> =>
        kind !== 'Job' || at(must(await client.get(`${where}/${name}`)), 'status', 'conditions') !== undefined;
      await waitFor(isSeen, 'its controller');
      const changed = change('Patch', name, patch, { apiVersion, kind });
      const id = name.replaceAll('.', '-');
      await stage.transaction(`${id}-no`, [change('Create', `${id}-first`, {}), changed]);
      const { status } = await stepToEnd(stage, `${id}-no`);
      t.match(status, {
        phase: 'Failed',
        message: /^nothing was applied: spec\.changes\[1\].*cannot be undone: .*allow-irreversible/,
      });
      t.equal((await client.get(path(`configmaps/${id}-first`))).code, 404);
      await commit(stage, `${id}-yes`, [changed], allowIrreversible);
      t.match(textAt(await undo(stage, `${id}-yes`, partial), 'phase'), 'Failed', 'the API server does not take it back');
    });

  await t.test('pre-flight admits changes that can be undone', async () => {
    must(await client.create(path('pods'), { metadata: { name: 'plain' }, spec: { containers } }));
    const image = { spec: { containers: [{ name: 'main', image: 'example.org/main:2' }] } };
    await commit(stage, 'plain', [change('Patch', 'plain', image, { apiVersion: 'v1', kind: 'Pod' })]);
  });
});
