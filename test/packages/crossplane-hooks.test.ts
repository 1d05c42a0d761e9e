// Two hooks beside a real Crossplane: both are killed in each phase. Users edit and delete what a try has made, and delete a package.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { runtimes, withCrossplane } from '../support/crossplane.ts';
import { revisionOf as nameOf, schemaOf as schema, startCrossplaneWorld } from '../support/crossplane-world.ts';
import { startAdmission } from '../support/denying-admission.ts';
import { definitionPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(1_800_000);

const group = 'queue.example.org';
const queues = (...fields: readonly string[]): object => definitionOf('queues', group, schema(...fields));
const instancePath = `/apis/${group}/v1beta1/queues/mine`;
const managedPath = `/apis/apiextensions.crossplane.io/v1alpha1/managedresourcedefinitions/queues.${group}`;
const phases = ['Validating', 'Preparing', 'Installing', 'Verifying', 'Releasing'];
const fieldsUpTo = (minor: number): readonly string[] => ['name', ...Array.from({ length: minor }, (_, index) => `f${index}`)];

t.test('two hooks beside Crossplane', withCrossplane, async (t) => {
  const { world, lockEntries, packageNames, healthy } = await startCrossplaneWorld(t);
  const { client, source } = world;
  const revisionPath = (digest: string): string => packagePath('providerrevisions', nameOf('queue', digest));
  const publish = (minor: number): Promise<string> =>
    world.publish({ name: 'queue', tag: `v1.${minor}.0`, objects: [queues(...fieldsUpTo(minor))] });
  const install = (name: string, minor: number): Promise<JsonObject> =>
    world.install(name, `${source('queue')}:v1.${minor}.0`, { packageName: 'queue', retryLimit: 1 });
  const succeeds = async (name: string, minor: number, digest: string): Promise<void> => {
    await install(name, minor);
    const status = await world.finished(name);
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    await healthy(nameOf('queue', digest));
    t.same(await lockEntries(), [`${nameOf('queue', digest)} ${source('queue')} v1.${minor}.0`]);
  };

  await succeeds('queue-0', 0, await publish(0));
  const object = { apiVersion: `${group}/v1beta1`, kind: 'Queue', metadata: { name: 'mine' }, spec: { name: 'a' } };
  const instance = must(await client.create(`/apis/${group}/v1beta1/queues`, object));

  for (const [index, phase] of phases.entries())
    await t.test(`both hooks are killed in ${phase}, and two others go on`, async (t) => {
      const [minor, name] = [index + 1, `killed-${index}`];
      const digest = await publish(minor);
      await install(name, minor);
      const isReached = async (): Promise<boolean> => {
        const found = textAt(statusOf(await world.read(name)), 'phase') ?? '';
        return found === phase || phases.indexOf(found) > index || found === 'Succeeded';
      };
      await waitFor(isReached, `${name} to be ${phase}`, { everyMs: 5 });
      await world.replaceHooks();
      const status = await world.finished(name);
      t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
      await healthy(nameOf('queue', digest));
      t.same(await lockEntries(), [`${nameOf('queue', digest)} ${source('queue')} v1.${minor}.0`]);
      t.same(await packageNames(), ['queue']);
      const read = async (): Promise<JsonObject> => must(await client.get(instancePath));
      t.strictSame(await waitFor(read, 'the instance to be served'), instance);
    });

  const admission = await startAdmission(
    {
      client,
      name: 'two-hooks',
      user: 'system:serviceaccount:janus-packages:janus-packages',
      rule: { apiGroups: ['apiextensions.k8s.io'], apiVersions: ['*'], resources: ['customresourcedefinitions'] },
      probe: () =>
        client
          .asServiceAccount('janus-packages', 'janus-packages')
          .create(definitionPath(), definitionOf('probes', 'probe.org') as JsonObject, { dryRun: 'All' }),
    },
    t,
  );
  const last = { minor: phases.length, digest: '' };
  const byImpatient = { fieldManager: 'impatient' };
  const unpaused = { metadata: { annotations: { 'crossplane.io/paused': 'false' } } };
  const edits: readonly (readonly [what: string, edit: (revision: string) => ReturnType<typeof client.get>, said: RegExp])[] = [
    [
      'unpauses the Package',
      () => client.patch(packagePath('providers', 'queue'), unpaused, 'merge', byImpatient),
      /Provider queue: expected the annotation crossplane\.io\/paused=true, which it had; impatient has written another value/,
    ],
    [
      'edits the new revision',
      (revision) => client.patch(revision, { spec: { revision: 77 } }, 'merge', byImpatient),
      /ProviderRevision queue-\w+: expected spec\.revision \d+, found 77, written by impatient/,
    ],
    ['deletes the new revision', (revision) => client.delete(revision), /ProviderRevision queue-\w+/],
  ];
  for (const [index, [what, edit, said]] of edits.entries())
    await t.test(
      `a user ${what} during a try: it ends, and the next package transaction starts from the present objects`,
      async (t) => {
        last.minor += 1;
        last.digest = await publish(last.minor);
        const answers: number[] = [];
        // The revision is made, and not active yet.
        admission.decide(async ({ dryRun, resource }) => {
          if (!dryRun && resource === 'customresourcedefinitions' && answers.length === 0)
            answers.push((await edit(revisionPath(last.digest))).code);
          return undefined;
        });
        await install(`edited-${index}`, last.minor);
        const status = await world.finished(`edited-${index}`);
        admission.decide(() => undefined);
        t.same(answers, [200]);
        t.match(conditionIn(status, 'Installed')?.message, said, JSON.stringify(status));
        await succeeds(`after-${index}`, last.minor, last.digest);
        t.same(await packageNames(), ['queue']);
      },
    );

  const remove = async (name: string): Promise<JsonObject> => {
    const spec = { change: 'Delete', delete: { source: source('queue') }, retryLimit: 1 };
    must(
      await client.create(ptxPath(), { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name }, spec }),
    );
    return world.finished(name);
  };

  await t.test('a Delete of a package with an instance changes nothing', async (t) => {
    const before = [await lockEntries(), at(must(await client.get(revisionPath(last.digest))), 'spec')];
    t.match(conditionIn(await remove('used'), 'Validated'), { status: 'False', reason: 'ResourcesInUse' });
    t.same([await lockEntries(), at(must(await client.get(revisionPath(last.digest))), 'spec')], before);
    await healthy(nameOf('queue', last.digest));
  });

  await t.test('a Delete removes the package, and Crossplane makes nothing of it again', async (t) => {
    must(await client.delete(instancePath));
    await waitFor(async () => (await client.get(instancePath)).code === 404, 'the instance to go');
    const status = await remove('gone');
    t.match(conditionIn(status, 'Installed'), { reason: 'DeletionComplete' }, JSON.stringify(status));
    t.same([await lockEntries(), await packageNames()], [[], []]);
    t.same((await client.list(packagePath('providerrevisions'))).items, []);
    await waitFor(async () => (await runtimes(client)).length === 0, 'the Deployment to be gone');
    await succeeds('again', 0, await publish(0));
    t.equal(conditionIn(await remove('gone-again'), 'Installed')?.reason, 'DeletionComplete');
    await world.publish({ name: 'other', tag: 'v1.0.0' });
    await world.install('other', `${source('other')}:v1.0.0`, { packageName: 'other' });
    t.equal(conditionIn(await world.finished('other'), 'Ready')?.status, 'True');
    const isGone = async (): Promise<boolean> =>
      (await client.get(managedPath)).code === 404 && (await client.get(definitionPath(`queues.${group}`))).code === 404;
    await waitFor(isGone, 'the CRD and its definition to stay away');
  });
});
