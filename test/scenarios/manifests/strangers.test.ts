// Others who come between: they create, delete or mark what an Apply is about. Nothing of theirs is taken for ours, or lost.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { itemsOf, managerNames, partial } from '../../support/round-trip.ts';
import { everyNth } from '../../support/selection.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil, stepUntilGone } from '../../support/stepping.ts';
import { portraits } from '../../support/targets.ts';

const mark = 'tx.janus.io/applied-by';
const shared = { spec: { fieldManager: 'app' } };
const wanted = { color: 'green', size: 'small' };

const manifest = (name: string, data: JsonObject = wanted): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name },
  data,
});

const applyOf = (name: string): JsonObject => ({ type: 'Apply', content: manifest(name) });

async function holderOf(stage: Stage, name: string): Promise<string> {
  return `${stage.namespace}/${name}/${textAt(await stage.read(name), 'metadata', 'uid')}`;
}

/** Server-side apply with our mark, as somebody does who has seen it. */
async function forge(stage: Stage, transaction: string, object: JsonObject): Promise<void> {
  const name = textAt(object, 'metadata', 'name') ?? '';
  const annotations = { [mark]: await holderOf(stage, transaction) };
  const forged = { ...object, metadata: { name, annotations } };
  must(await stage.client.apply(stage.path(`configmaps/${name}`), forged, { fieldManager: 'app' }));
}

/** What somebody does once the Transaction is prepared, and how it must end then. */
interface Intrusion {
  readonly name: string;
  readonly isThere: boolean;
  readonly act: (stage: Stage, transaction: string, name: string) => Promise<unknown>;
  readonly reason: string;
}

const intrusions: readonly Intrusion[] = [
  {
    name: 'it was created by somebody',
    isThere: false,
    act: ({ client, path }, _, name) => client.create(path('configmaps'), manifest(name, { color: 'red' })),
    reason: 'AlreadyExists',
  },
  {
    name: 'a user created it with this content',
    isThere: false,
    act: ({ client, path }, _, name) => client.create(path('configmaps'), manifest(name)),
    reason: 'AlreadyExists',
  },
  {
    name: 'a user created it under this field manager, with our mark and other content',
    isThere: false,
    act: (stage, transaction, name) => forge(stage, transaction, manifest(name, { color: 'red' })),
    reason: 'AlreadyExists',
  },
  {
    name: 'it was created by somebody with our mark, written by another manager',
    isThere: false,
    act: async (stage, transaction, name) => {
      const metadata = { name, annotations: { [mark]: await holderOf(stage, transaction) } };
      return stage.client.create(stage.path('configmaps'), { ...manifest(name), metadata });
    },
    reason: 'AlreadyExists',
  },
  {
    name: 'it was deleted',
    isThere: true,
    act: ({ client, path }, _, name) => client.delete(path(`configmaps/${name}`)),
    reason: 'Gone',
  },
  {
    name: 'it was changed in a field of content',
    isThere: true,
    act: ({ client, path }, _, name) => client.patch(path(`configmaps/${name}`), { data: { color: 'red' } }),
    reason: 'Conflict',
  },
  {
    name: 'somebody put our mark on it',
    isThere: true,
    act: (stage, transaction, name) => forge(stage, transaction, { metadata: { name }, apiVersion: 'v1', kind: 'ConfigMap' }),
    reason: 'Conflict',
  },
];

async function intruded(t: Test, stage: Stage, { isThere, act, reason }: Intrusion, name: string): Promise<void> {
  if (isThere) must(await stage.client.create(stage.path('configmaps'), manifest(name, { color: 'blue' })));
  await stage.transaction(name, [{ ...applyOf(name) }], shared);
  await stepUntil(stage, name, 'Prepared');
  await act(stage, name, name);
  const [theirs] = await portraits(stage.client, [stage.path(`configmaps/${name}`)]);
  const { status } = await stepToEnd(stage, name);
  t.match(status, { phase: 'RolledBack' });
  const succeeded = (at(status, 'conditions') as readonly JsonObject[]).find(({ type }) => type === 'Succeeded');
  t.equal(succeeded?.reason, reason, textAt(succeeded, 'message') ?? '');
  t.same(await portraits(stage.client, [stage.path(`configmaps/${name}`)]), [theirs], 'theirs is as they left it');
}

t.test('another client writes between two writes of the engine', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  t.jobs = 4;
  await Promise.all(
    everyNth(2, intrusions).map((one, index) => t.test(one.name, (t) => intruded(t, stage, one, `between-${index}`))),
  );
  t.same(await stage.leases(), []);
});

t.test('the engine marks objects under a shared manager', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const committed = async (name: string): Promise<void> => {
    await stage.transaction(name, [applyOf(name)], shared);
    t.match(await stepToEnd(stage, name), { phase: 'Committed' });
  };
  const undone = async (name: string): Promise<JsonObject> => {
    await stage.annotate(name, { 'tx.janus.io/request-rollback': '1', ...partial });
    return (await stepToEnd(stage, name)).status;
  };

  await t.test('pre-flight refuses a mark that exists already', async (t) => {
    await stage.transaction('early', [applyOf('early')], shared);
    await forge(stage, 'early', manifest('early', { color: 'red' }));
    const { status } = await stepToEnd(stage, 'early');
    t.match(status, {
      phase: 'Failed',
      message: /nothing was applied: .*annotation tx\.janus\.io\/applied-by of this Transaction/,
    });
    t.match(must(await client.get(path('configmaps/early'))), { data: { color: 'red' } });
  });

  await t.test('the undo leaves a created object that the shared manager has changed since', async (t) => {
    await committed('changed');
    await forge(stage, 'changed', manifest('changed', { ...wanted, theirs: 'yes' }));
    t.match(itemsOf(await undone('changed')), [{ left: true, error: { reason: 'ForeignContent', message: /data\.theirs/ } }]);
    t.match(must(await client.get(path('configmaps/changed'))), { data: { theirs: 'yes' } });
  });

  await t.test('the undo leaves a created object that the shared manager has applied without a mark', async (t) => {
    await committed('by-hand');
    must(await client.apply(path('configmaps/by-hand'), manifest('by-hand'), { fieldManager: 'app' }));
    t.match(itemsOf(await undone('by-hand')), [{ left: true, error: { reason: 'ForeignContent', message: /applied again/ } }]);
    t.match(must(await client.get(path('configmaps/by-hand'))), { data: wanted });
  });

  await t.test('the undo leaves a patched object that the shared manager has applied without a mark', async (t) => {
    must(await client.create(path('configmaps'), manifest('patched', { color: 'blue' })));
    await committed('patched');
    must(await client.apply(path('configmaps/patched'), manifest('patched'), { fieldManager: 'app' }));
    t.match(itemsOf(await undone('patched')), [{ left: true, error: { reason: 'RollbackConflict', message: /applied again/ } }]);
    t.match(must(await client.get(path('configmaps/patched'))), { data: wanted });
  });

  await t.test('the mark and the entry of a shared manager stay when the Transaction is deleted', async (t) => {
    await committed('kept');
    const kept = await portraits(client, [path('configmaps/kept')]);
    must(await client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/kept`));
    await stepUntilGone(stage, 'kept');
    t.same(await portraits(client, [path('configmaps/kept')]), kept);
    t.same(managerNames(must(await client.get(path('configmaps/kept')))), ['app']);
    t.ok(at(must(await client.get(path('configmaps/kept'))), 'metadata', 'annotations', mark));
  });

  await t.test('the engine removes the entry of its own manager when the Transaction is deleted', async (t) => {
    await stage.transaction('own', [applyOf('own')]);
    t.match(await stepToEnd(stage, 'own'), { phase: 'Committed' });
    t.match(managerNames(must(await client.get(path('configmaps/own')))), [/^janus-own-/]);
    must(await client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/own`));
    await stepUntilGone(stage, 'own');
    t.same(managerNames(must(await client.get(path('configmaps/own')))), []);
  });
});
