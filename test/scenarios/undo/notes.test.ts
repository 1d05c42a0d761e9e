// An undo notes what its first write does beside restoring: owner references that it drops, values that a policy changes, what others
// lose. The note stays, whatever happens before the undo of that change has ended: somebody writes between its two writes, the engine
// dies there, the deletion of an object takes long.
import t from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { Death } from '../../support/death.ts';
import { openEngines } from '../../support/engine.ts';
import { commit, itemsOf, managerNames, undoAll } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { mutatingPolicies, stampWritesOf } from '../../support/stamping.ts';
import { stepTo, stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const theirs = { fieldManager: 'their-tool' };
const green = { data: { color: 'green' } };

/** What happens once, after the first write of an undo to that object has been answered. */
let after: { readonly name: string; readonly what: () => Promise<void> } | undefined;

const disturbed = (cluster: Cluster): Cluster => ({
  ...cluster,
  send: async (write, isLate) => {
    const answer = await cluster.send(write, isLate);
    if (after?.name !== write.location.name || answer.kind !== 'ok') return answer;
    const { what } = after;
    after = undefined;
    await what();
    return answer;
  },
});

async function createOwned({ client, path }: Stage, name: string, metadata: JsonObject = {}): Promise<void> {
  const object = { metadata: { name, ...metadata }, data: { color: 'blue' } };
  must(await client.create(path('configmaps'), object, { fieldManager: 'kubectl-create' }));
}

t.test('what the first write of an undo noted stays', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, wrap: disturbed });
  const { client, path } = stage;
  const engines = await openEngines(t, stage);

  const writeBetween = (name: string): void => {
    const annotation = { metadata: { annotations: { seen: 'yes' } } };
    after = { name, what: async () => void must(await client.patch(path(`configmaps/${name}`), annotation, 'merge', theirs)) };
  };
  const owner = async (name: string): Promise<JsonObject> => {
    const made = must(await client.create(path('configmaps'), { metadata: { name } }));
    return { apiVersion: 'v1', kind: 'ConfigMap', name, uid: textAt(made, 'metadata', 'uid') ?? '' };
  };
  /** Commits a change of an object whose owner goes then; returns the note that its undo must leave. */
  const disown = async (name: string, type: 'Update' | 'Delete'): Promise<string> => {
    const gone = await owner(`${name}-owner`);
    await createOwned(stage, name, { ownerReferences: [gone] });
    const content = type === 'Delete' ? undefined : { ...green, metadata: { ownerReferences: [] } };
    await commit(stage, name, [change(type, name, content)]);
    must(await client.delete(path(`configmaps/${name}-owner`)));
    return `owner references dropped, their owners no longer exist: ${textAt(gone, 'uid')}`;
  };

  for (const type of ['Update', 'Delete'] as const) {
    await t.test(`${type}: dropped owner references, a write in between`, async (t) => {
      const name = `busy-${type}`.toLowerCase();
      const note = await disown(name, type);
      writeBetween(name);
      t.match(itemsOf(await undoAll(stage, name)), [{ rolledBack: true, note }]);
      t.equal(after, undefined, 'somebody has written in between');
      t.same(managerNames(must(await client.get(path(`configmaps/${name}`)))).toSorted(), ['kubectl-create', 'their-tool']);
    });

    await t.test(`${type}: dropped owner references, the engine dies in between`, async (t) => {
      const name = `dead-${type}`.toLowerCase();
      const note = await disown(name, type);
      await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes' });
      const what = (): Promise<void> => Promise.reject(new Death());
      after = { name, what };
      await t.rejects(stepToEnd(engines.start({ wrap: disturbed }), name), new Death());
      const { status } = await stepToEnd(engines.start(), name);
      t.match(itemsOf(status), [{ rolledBack: true, note }]);
    });
  }

  await t.test(
    'values that a policy changed, a write in between, and a value that it adds to an object that comes back',
    async (t) => {
      if ((await client.get(mutatingPolicies)).code === 404) return;
      for (const name of ['one-stamped', 'gone-stamped', 'gone-plain']) await createOwned(stage, name);
      await commit(stage, 'back', [change('Delete', 'gone-stamped'), change('Delete', 'gone-plain')]);
      await commit(stage, 'stamped', [change('Patch', 'one-stamped', green)]);
      await stampWritesOf(stage, '-stamped', t, { value: "'stamp'", also: [] });
      writeBetween('one-stamped');
      const note = 'an admission policy changed what the undo wrote: data.stamp';
      t.match(itemsOf(await undoAll(stage, 'stamped')), [{ rolledBack: true, note }]);
      t.equal(after, undefined);
      const back = itemsOf(await undoAll(stage, 'back'));
      t.match(back, [{ rolledBack: true, note }, { rolledBack: true }]);
      t.equal(back[1]?.note, undefined);
    },
  );

  await t.test('what the API server assigns again is no such value', async (t) => {
    const template = { spec: { restartPolicy: 'Never', containers: [{ name: 'main', image: 'example.org/main' }] } };
    const kinds = [
      ['Service', 'v1', { spec: { type: 'NodePort', ports: [{ port: 80 }] } }],
      ['Job', 'batch/v1', { spec: { template, suspend: true } }],
      ['Pod', 'v1', template],
      ['ServiceAccount', 'v1', {}],
    ] as const;
    const targetOf = (kind: string, apiVersion: string): JsonObject => ({ kind, apiVersion });
    await commit(
      stage,
      'made',
      kinds.map(([kind, apiVersion, content]) => change('Create', 'plain', content, targetOf(kind, apiVersion))),
    );
    await commit(
      stage,
      'unmade',
      kinds.map(([kind, apiVersion]) => change('Delete', 'plain', undefined, targetOf(kind, apiVersion))),
    );
    const notes = itemsOf(await undoAll(stage, 'unmade')).map(({ note }) => note);
    t.notMatch(JSON.stringify(notes), /admission/);
  });

  await t.test('what others lose with an object whose deletion takes long', async (t) => {
    const created = { ...change('Create', 'slow', { data: { a: 'b' } }), undo: { foreignContent: 'Delete' } };
    await commit(stage, 'slow', [created]);
    const more = { metadata: { finalizers: ['example.org/slow'] }, data: { more: 'yes' } };
    must(await client.patch(path('configmaps/slow'), more, 'merge', theirs));
    await stage.annotate('slow', { 'tx.janus.io/request-rollback': 'yes' });
    await stepTo(stage, 'slow', 'the wait for the deletion', ({ status }) =>
      /being deleted/.test(textAt(status, 'message') ?? ''),
    );
    must(await client.patch(path('configmaps/slow'), { metadata: { finalizers: null } }));
    const { status } = await stepToEnd(stage, 'slow');
    t.match(itemsOf(status), [{ rolledBack: true, note: /^deleted with what others wrote into it: data.*\(by their-tool\)$/ }]);
  });
});
