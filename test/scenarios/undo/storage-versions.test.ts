// The undo of a CRD whose storage version moved to one that it did not have before: three writes, each of which the engine may not
// survive. Objects that may be stored in the new version keep the CRD from being restored.
import t, { type Test } from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { dying, untilDeath, writesOf } from '../../support/death.ts';
import { type Engines, openEngines } from '../../support/engine.ts';
import { allowIrreversible, commit, itemsOf, partial, portrait, undo } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepTo, stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const crdKind = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };

interface Kind {
  readonly name: string;
  readonly path: string;
  /** The definition with these versions; the last one is stored. */
  spec(...versions: readonly string[]): JsonObject;
  /** Path of an object, or of all. */
  objects(version: string, name?: string): string;
}

function kindOf({ namespace }: Stage, plural: string): Kind {
  const group = `${namespace}.example.org`;
  const name = `${plural}.${group}`;
  const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const kind = `${plural.slice(0, 1).toUpperCase()}${plural.slice(1, -1)}`;
  return {
    name,
    path: `${definitions}/${name}`,
    spec: (...versions) => ({
      spec: {
        group,
        scope: 'Namespaced',
        names: { plural, kind },
        versions: versions.map((version, index) => ({
          name: version,
          served: true,
          storage: index === versions.length - 1,
          schema,
        })),
      },
    }),
    objects: (version, object = '') =>
      `/apis/${group}/${version}/namespaces/${namespace}/${plural}${object === '' ? '' : `/${object}`}`,
  };
}

async function install(t: Test, { client }: Stage, kind: Kind, versions: readonly string[] = ['v1']): Promise<void> {
  const object = { ...crdKind, metadata: { name: kind.name }, ...kind.spec(...versions) };
  must(await client.create(definitions, object, { fieldManager: 'kubectl-create' }));
  t.teardown(() => client.delete(kind.path));
  await waitFor(async () => (await client.get(kind.objects('v1'))).code === 200, `${kind.name} to be served`);
}

const created = async ({ client }: Stage, kind: Kind, name: string): Promise<void> => {
  const [, , group = ''] = kind.objects('v1').split('/');
  const definition = must(await client.get(kind.path));
  const object = { apiVersion: `${group}/v1`, kind: textAt(definition, 'spec', 'names', 'kind') ?? '', metadata: { name } };
  must(await client.create(kind.objects('v1'), object));
};

async function storedVersions({ client }: Stage, kind: Kind): Promise<unknown> {
  return at(must(await client.get(kind.path)), 'status', 'storedVersions');
}

type Way = 'Patch' | 'Update' | 'Apply';

const moved = (type: Way, kind: Kind): JsonObject => change(type, kind.name, kind.spec('v1', 'v2'), crdKind);

/** The undo by an engine that dies at that point. */
async function undoUntilDeath(stage: Stage, engines: Engines, name: string, wrap: (cluster: Cluster) => Cluster): Promise<void> {
  await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes' });
  await untilDeath(engines.start({ wrap }), name);
}

/** Undone up to the pause after the first write. */
async function bridged(stage: Stage, kind: Kind, name: string): Promise<void> {
  await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes' });
  await stepTo(stage, name, 'the pause', ({ status }) => /waiting until 20/.test(textAt(status, 'message') ?? ''));
  const found = must(await stage.client.get(kind.path));
  t.match(at(found, 'spec', 'versions'), [
    { name: 'v1', storage: true },
    { name: 'v2', storage: false, served: true },
  ]);
}

t.test('a storage version that the CRD did not have', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  const { client } = stage;
  t.jobs = 6;

  /** A CRD, its state of before, and the Transaction that moved its storage version. */
  const move = async (t: Test, plural: string, type: Way = 'Patch') => {
    const kind = kindOf(stage, plural);
    await install(t, stage, kind);
    // An Apply under a field manager that has applied the CRD before.
    const spec = type === 'Apply' ? { fieldManager: 'app' } : {};
    if (type === 'Apply') {
      const object = { ...crdKind, metadata: { name: kind.name }, ...kind.spec('v1') };
      must(await client.apply(kind.path, object, { fieldManager: 'app' }));
    }
    const before = await portrait(stage, kind.path);
    await stage.transaction(plural, [moved(type, kind)], { spec });
    t.match(await stepToEnd(stage, plural), { phase: 'Committed' });
    t.same(await storedVersions(stage, kind), ['v1', 'v2']);
    return { kind, before };
  };

  const points = [
    [1, 'before'],
    [1, 'after'],
    [2, 'before'],
    [2, 'after'],
    [3, 'after'],
  ] as const;
  for (const type of ['Patch', 'Update', 'Apply'] as const)
    for (const [write, side] of points)
      t.test(`${type}: the engine dies ${side} write ${write}, and another one ends the undo exactly`, async (t) => {
        const name = `${type}${write}${side}s`.toLowerCase();
        const { kind, before } = await move(t, name, type);
        await undoUntilDeath(stage, engines, name, dying(writesOf(kind.name), { write, side }));
        t.match(await stepToEnd(engines.start(), name), { phase: 'RolledBack' });
        t.same(await portrait(stage, kind.path), before);
        t.same(await storedVersions(stage, kind), ['v1']);
      });

  t.test('a version that it had already is no longer among the stored ones', async (t) => {
    const kind = kindOf(stage, 'knowns');
    await install(t, stage, kind, ['v2', 'v1']);
    const before = await portrait(stage, kind.path);
    await commit(stage, 'knowns', [moved('Patch', kind)]);
    t.same(await storedVersions(stage, kind), ['v1', 'v2']);
    t.match(await undo(stage, 'knowns'), { phase: 'RolledBack' });
    t.same(await portrait(stage, kind.path), before);
    t.same(await storedVersions(stage, kind), ['v1']);
  });

  t.test('an object that was written before the change does not block the undo', async (t) => {
    const kind = kindOf(stage, 'olds');
    await install(t, stage, kind);
    await created(stage, kind, 'old');
    const before = await portrait(stage, kind.path);
    await stage.transaction('olds-no', [moved('Patch', kind)]);
    t.match((await stepToEnd(stage, 'olds-no')).status, {
      phase: 'Failed',
      message: /^nothing was applied: .*cannot be undone: its objects would be stored as v2 .*allow-irreversible/,
    });
    await commit(stage, 'olds', [moved('Patch', kind)], allowIrreversible);
    t.match(await undo(stage, 'olds'), { phase: 'RolledBack' });
    t.same(await portrait(stage, kind.path), before);
    t.same(await storedVersions(stage, kind), ['v1']);
    must(await client.get(kind.objects('v1', 'old')));
  });

  t.test('the status names an object that was written since; a retry succeeds after its migration', async (t) => {
    const { kind, before } = await move(t, 'news');
    await created(stage, kind, 'new');
    const left = await undo(stage, 'news', partial);
    t.match(left, { phase: 'Failed' });
    t.match(itemsOf(left), [
      { left: true, error: { reason: 'StoredVersions', message: /may be stored as v2: New new; .*retry/ } },
    ]);
    const object = must(await client.get(kind.objects('v1', 'new')));
    const written = must(await client.update(kind.objects('v1', 'new'), object));
    t.not(textAt(written, 'metadata', 'resourceVersion'), textAt(object, 'metadata', 'resourceVersion'), 'it is stored again');
    const definition = must(await client.get(kind.path));
    must(
      await client.update(`${kind.path}/status`, {
        ...definition,
        status: { ...(definition.status as JsonObject), storedVersions: ['v1'] },
      }),
    );
    await stage.annotate('news', { 'tx.janus.io/retry-rollback': 'yes' });
    t.match(await stepTo(stage, 'news', 'the retry', ({ phase }) => phase === 'RolledBack'), { phase: 'RolledBack' });
    await stepToEnd(stage, 'news');
    const [restored, prior] = [await portrait(stage, kind.path), before] as readonly JsonObject[];
    t.same(restored?.spec, prior?.spec);
    must(await client.get(kind.objects('v1', 'new')));
  });

  t.test('an object that is written during the pause blocks the undo too', async (t) => {
    const { kind } = await move(t, 'pauses');
    await bridged(stage, kind, 'pauses');
    await created(stage, kind, 'late');
    t.match((await stepToEnd(stage, 'pauses')).status, { phase: 'Failed', message: /Pause late/ });
  });

  t.test('the engine first undoes an object of this Transaction', async (t) => {
    const kind = kindOf(stage, 'boths');
    await install(t, stage, kind);
    const before = await portrait(stage, kind.path);
    const [, , group = ''] = kind.objects('v1').split('/');
    const object = change('Create', 'own', {}, { apiVersion: `${group}/v2`, kind: 'Both' });
    await commit(stage, 'boths', [moved('Patch', kind), object]);
    t.match(await undo(stage, 'boths'), { phase: 'RolledBack' });
    t.same(await portrait(stage, kind.path), before);
  });
});

t.test('the engine first refuses an account that may not write the status of CRDs', async (t) => {
  const rules = [{ apiGroups: ['*'], resources: ['customresourcedefinitions', 'rights'], verbs: ['*'] }];
  const stage = await startStage(t, { withoutLoop: true, rules });
  const kind = kindOf(stage, 'rights');
  await install(t, stage, kind);
  await stage.transaction('rights', [moved('Patch', kind)]);
  t.match((await stepToEnd(stage, 'rights')).status, {
    phase: 'Failed',
    message: /nothing was applied: .*customresourcedefinitions\/status/,
  });
});
