// A CRD gains a version, and an object that exists moves to it, in one Transaction. The object is read in a version that is served now: its
// change is planned as a change, and undone exactly, managedFields included.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { allowIrreversible, commit, itemsOf, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, portraits } from '../../support/targets.ts';

const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const definition = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
const fields = { size: { type: 'integer' }, color: { type: 'string' } };

interface Version {
  readonly name: string;
  readonly served?: boolean;
  readonly storage?: boolean;
  readonly fields?: JsonObject;
}

const old: Version = { name: 'v1alpha1', storage: true };
const next: Version = { name: 'v1' };

t.test('an object moves to a version that its CRD gains', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const group = `${namespace}.example.org`;

  /** A kind of its own for each test, with the object `small`, which two managers have written. */
  const scene = async (t: { teardown(handler: () => unknown): void }, plural: string, versions: readonly Version[] = [old]) => {
    const kind = `K${plural}`;
    const name = `${plural}.${group}`;
    const crd = (all: readonly Version[], more: JsonObject = {}): JsonObject => ({
      spec: {
        ...{ group, scope: 'Namespaced', names: { kind, plural, listKind: `${kind}List`, singular: plural } },
        versions: all.map(({ name, served = true, storage = false, fields: properties = fields }) => {
          const spec = { type: 'object', properties };
          return { name, served, storage, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } } };
        }),
        ...more,
      },
    });
    const of = (version: string): { apiVersion: string; kind: string } => ({ apiVersion: `${group}/${version}`, kind });
    const where = (version: string): string => path(`${group}/${version}/${plural}`);
    must(await client.create(crds, { ...definition, metadata: { name }, ...crd(versions) }, { fieldManager: 'admin' }));
    t.teardown(() => client.delete(`${crds}/${name}`));
    await waitFor(async () => (await client.get(where('v1alpha1'))).code === 200, 'the kind to be served');
    const makeOne = async (small: string): Promise<void> => {
      const object = { ...of('v1alpha1'), metadata: { name: small }, spec: { size: 2 } };
      must(await client.apply(`${where('v1alpha1')}/${small}`, object, { fieldManager: 'shop' }));
      must(await client.patch(`${where('v1alpha1')}/${small}`, { spec: { color: 'red' } }));
    };
    await makeOne('small');
    const grown = (type: string, all: readonly Version[] = [...versions, next], more?: JsonObject): JsonObject =>
      change(type, name, crd(all, more), definition);
    const shown = (isNew = false) => portraits(client, [`${crds}/${name}`, `${where('v1alpha1')}/small`], isNew);
    return { of, where, makeOne, grown, shown, crd: `${crds}/${name}` };
  };

  for (const [crdType, type, spec] of [
    ['Apply', 'Apply', { size: 3 }],
    ['Patch', 'Patch', { size: 3 }],
    ['Update', 'Update', { size: 3, color: 'blue' }],
    ['Apply', 'Delete', undefined],
  ] as const)
    await t.test(`${type} of the object, after ${crdType} of the CRD`, async (t) => {
      const plural = `plain${type.toLowerCase()}`;
      const { of, where, grown, shown } = await scene(t, plural);
      const was = await shown(type === 'Delete');
      const content = spec && { spec };
      const status = await commit(stage, plural, [grown(crdType), change(type, 'small', content, of('v1'))]);
      t.match(textAt(itemsOf(status)[1], 'note'), /made in its turn, after spec\.changes\[0\]/);
      const found = await client.get(`${where('v1')}/small`);
      if (spec === undefined) t.equal(found.code, 404);
      else t.equal(at(must(found), 'spec', 'size'), 3);
      await undoAll(stage, plural);
      t.same(await shown(type === 'Delete'), was, 'all is as before, managedFields included');
      await waitFor(async () => (await client.get(where('v1'))).code === 404, 'the version to be gone');
    });

  await t.test('several objects, one of them new, and the old version is served no longer', async (t) => {
    const { of, where, makeOne, grown, shown } = await scene(t, 'several');
    await makeOne('other');
    const was = await shown();
    const unserved = [{ ...old, served: false }, next];
    const changes = ['small', 'other', 'third'].map((name) => change('Apply', name, { spec: { size: 3 } }, of('v1')));
    await commit(stage, 'several', [grown('Apply', unserved), ...changes]);
    t.equal((await client.get(where('v1alpha1'))).code, 404);
    await undoAll(stage, 'several');
    await waitFor(async () => (await client.get(`${where('v1alpha1')}/small`)).code === 200, 'the version to be served');
    t.same(await shown(), was);
    t.equal((await client.get(`${where('v1alpha1')}/third`)).code, 404);
  });

  await t.test('an edit of others in the old version stays, whatever version they write', async (t) => {
    const { of, where, grown } = await scene(t, 'edited');
    await commit(stage, 'edited', [grown('Apply'), change('Apply', 'small', { spec: { size: 3 } }, of('v1'))]);
    must(await client.patch(`${where('v1alpha1')}/small`, { spec: { color: 'blue' } }));
    await undoAll(stage, 'edited');
    t.same(at(must(await client.get(`${where('v1alpha1')}/small`)), 'spec'), { size: 2, color: 'blue' });
  });

  await t.test('a Create of what exists in another version is refused', async (t) => {
    const { of, grown, shown } = await scene(t, 'exists');
    const was = await shown();
    await stage.transaction('exists', [grown('Apply'), change('Create', 'small', { spec: { size: 3 } }, of('v1'))]);
    t.match((await stepToEnd(stage, 'exists')).status, { phase: 'Failed', message: /nothing was applied: .*already exists/ });
    t.same(await shown(), was);
  });

  await t.test('a version without some of the fields is refused: the values would be lost', async (t) => {
    const { of, grown, shown } = await scene(t, 'lossy');
    const was = await shown();
    const changes = [
      grown('Apply', [old, { ...next, fields: { size: { type: 'integer' } } }]),
      change('Apply', 'small', { spec: { size: 3 } }, of('v1')),
    ];
    await stage.transaction('lossy', changes);
    const message =
      /nothing was applied: spec\.changes\[1\]: .*cannot be undone: .*version v1alpha1 has fields for, and version v1 has not/;
    t.match((await stepToEnd(stage, 'lossy')).status, { phase: 'Failed', message });
    t.same(await shown(), was);
    await commit(stage, 'lossy-yes', changes, allowIrreversible);
  });

  await t.test('a rule that the object breaks is found in its turn', async (t) => {
    const small = { ...fields, size: { type: 'integer', maximum: 1 } };
    const { of, grown, shown, where, crd } = await scene(t, 'strict');
    must(
      await client.patch(crd, {
        spec: { versions: at(grown('Apply', [{ ...old, fields: small }]), 'content', 'spec', 'versions') ?? [] },
      }),
    );
    const invalid = { ...of('v1alpha1'), metadata: { name: 'x' }, spec: { size: 2 } };
    await waitFor(async () => (await client.create(where('v1alpha1'), invalid, { dryRun: 'All' })).code === 422, 'the rule');
    const was = await shown();
    const both = [
      { ...old, fields: small },
      { ...next, fields: small },
    ];
    await stage.transaction('strict', [grown('Apply', both), change('Apply', 'small', { spec: { size: 1 } }, of('v1'))]);
    t.match((await stepToEnd(stage, 'strict')).status, { phase: 'RolledBack', message: /cannot be undone: .*spec\.size/ });
    t.same((await shown())[1], was[1]);
  });

  await t.test('an object that a webhook converts is refused: it cannot be compared', async (t) => {
    const { of, grown, shown } = await scene(t, 'converted');
    const was = await shown();
    const clientConfig = { url: 'https://127.0.0.1:1/' };
    const conversion = { strategy: 'Webhook', webhook: { clientConfig, conversionReviewVersions: ['v1'] } };
    await stage.transaction('converted', [
      grown('Apply', [old, next], { conversion }),
      change('Apply', 'small', { spec: { size: 3 } }, of('v1')),
    ]);
    t.match((await stepToEnd(stage, 'converted')).status, {
      phase: 'Failed',
      message: /nothing was applied.*spec\.changes\[0\] makes the API server serve v1, and a webhook converts it: name a version/,
    });
    t.same(await shown(), was);
  });

  for (const lost of [1, 2])
    await t.test(`${lost} replies are lost: what was written counts as ours, and is undone exactly`, async (t) => {
      const plural = `crash${lost}`;
      const { of, grown, shown } = await scene(t, plural);
      const was = await shown();
      await stage.transaction(plural, [grown('Apply'), change('Apply', 'small', { spec: { size: 3 } }, of('v1'))]);
      await stepUntil(stage, plural, 'Prepared');
      for (let call = 0; call < lost; call += 1) await stage.call(plural);
      t.equal((await stepToEnd(stage, plural)).phase, 'Committed');
      await undoAll(stage, plural);
      t.same(await shown(), was);
    });

  await t.test('the engine dies after each write of the object, and a rollback restores it', async (t) => {
    const { of, grown, shown, where } = await scene(t, 'torn');
    const was = await shown();
    const changes = [grown('Apply'), change('Apply', 'small', { spec: { size: 3 } }, of('v1')), change('Create', 'torn', {})];
    await stage.transaction('torn', changes);
    await stepUntil(stage, 'torn', 'Prepared');
    must(await client.create(path('configmaps'), { metadata: { name: 'torn' } }));
    const isWritten = async (): Promise<boolean> => at((await client.get(`${where('v1')}/small`)).body, 'spec', 'size') === 3;
    await stepUntil(stage, 'torn', 'Committing');
    while (!(await isWritten())) {
      await stage.call('torn');
      if (!(await isWritten())) await step(stage, 'torn');
    }
    t.equal((await stepToEnd(stage, 'torn')).phase, 'RolledBack');
    t.same(await shown(), was);
  });
});
