// The setting for all Packages with the real Metacontroller and the DecoratorController as it is shipped: kubectl apply, edit and delete of
// a Provider, a Configuration and a Function, without annotation.
import t from 'tap';
import { ownName, packageUidLabel } from '../../hooks/crossplane/model/own.ts';
import { type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { type } from '../support/kubectl.ts';
import { findMetacontroller } from '../support/metacontroller/binary.ts';
import { startOwnLoops } from '../support/package-loops.ts';
import { definitionPath, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(1_800_000);

const skip = findMetacontroller() === undefined ? 'neither METACONTROLLER nor PATH names a Metacontroller' : false;

t.test('all Packages: kubectl apply installs, and kubectl delete deletes', { skip }, async (t) => {
  const world = await startPackageWorld(t, { isBalanced: true, environment: { JANUS_PACKAGES_OWN: 'all' } });
  const { client, source } = world;
  const { kubeconfig } = world.plane;
  await startOwnLoops(t, { kubeconfig, hookUrls: [world.address], annotations: {}, isReal: true });
  const group = 'all.example.org';
  await world.publish({ name: 'store', tag: 'v1.0.0', objects: [definitionOf('buckets', group)] });
  await world.publish({ kind: 'Function', name: 'fill', tag: 'v1.0.0' });
  await world.publish({
    kind: 'Configuration',
    name: 'platform',
    tag: 'v1.0.0',
    requires: { store: '>=v1.0.0', fill: '>=v1.0.0' },
  });
  const typed = async (command: string): Promise<string> => {
    const { code, output } = await type(command, '.', { KUBECONFIG: kubeconfig });
    t.equal(code, 0, `${command}: ${output}`);
    return output;
  };
  const yaml = (kind: string, name: string): string =>
    `{"apiVersion":"pkg.crossplane.io/v1","kind":"${kind}","metadata":{"name":"${name}"},"spec":{"package":"${source(name)}:v1.0.0"}}`;
  // A package that is required gets another name if it is not installed yet (docs/packages.md).
  const [required, requiring] = [[yaml('Function', 'fill'), yaml('Provider', 'store')], [yaml('Configuration', 'platform')]];
  const apply = (objects: readonly string[]) => typed(`kubectl apply -f - <<'END'\n${objects.join('\n---\n')}\nEND`);
  const read = async (plural: string, name: string): Promise<JsonObject> => must(await client.get(packagePath(plural, name)));
  const made = async (pkg: JsonObject): Promise<readonly JsonObject[]> =>
    (await client.list(ptxPath(), { labelSelector: `${packageUidLabel}=${textAt(pkg, 'metadata', 'uid')}` })).items;
  const isGone = async (plural: string, name: string): Promise<boolean> =>
    (await client.get(packagePath(plural, name))).code === 404;
  const entries = async (): Promise<number> => listAt(must(await client.get(lockPath)), 'packages').length;

  const installAll = async (): Promise<void> => {
    await apply(required);
    await typed('kubectl wait --for=condition=Installed --timeout=300s function/fill provider/store');
    await apply(requiring);
    await typed('kubectl wait --for=condition=Installed --timeout=300s configuration/platform');
    t.equal(await entries(), 3);
  };

  await t.test('a Provider and a Function, then a Configuration that requires them', async (t) => {
    await installAll();
    t.match(await typed('kubectl get configurations'), /^platform +True +\S+ +\S+ +ActivePackageRevision /m);
    for (const [kind, plural, name] of [
      ['Configuration', 'configurations', 'platform'],
      ['Function', 'functions', 'fill'],
      ['Provider', 'providers', 'store'],
    ] as const) {
      const found = await read(plural, name);
      const names = (await made(found)).map((one) => textAt(one, 'metadata', 'name'));
      t.ok(names.length <= 1 && names.every((one) => one === ownName(kind, found)), `${name}: ${names}`);
    }
  });

  await t.test('kubectl delete of all three at once waits for the instances, and then all go', async (t) => {
    const object = { apiVersion: `${group}/v1beta1`, kind: 'Bucket', metadata: { name: 'mine' } };
    must(await client.create(`/apis/${group}/v1beta1/buckets`, object));
    await typed('kubectl delete configuration/platform function/fill provider/store --wait=false');
    await waitFor(
      async () => conditionIn(statusOf(await read('providers', 'store')), 'Installed')?.reason === 'ResourcesInUse',
      'the Provider to say why it stays',
      { timeoutMs: 300_000 },
    );
    t.match(await typed('kubectl get providers'), /^store +True +\S+ +\S+ +ResourcesInUse /m);
    await waitFor(async () => (await isGone('configurations', 'platform')) && (await isGone('functions', 'fill')), 'the others', {
      timeoutMs: 300_000,
    });
    // The Provider is still being deleted: an apply changes nothing, and is to be repeated once the Provider is gone.
    await apply([yaml('Provider', 'store')]);
    must(await client.delete(`/apis/${group}/v1beta1/buckets/mine`));
    await typed('kubectl wait --for=delete --timeout=300s provider/store');
    await waitFor(async () => (await entries()) === 0, 'the entries to go');
    t.equal((await client.get(definitionPath(`buckets.${group}`))).code, 404);
  });

  await t.test('they are applied again at once, although package transactions have their names', async (t) => {
    await installAll();
    t.equal((await client.get(definitionPath(`buckets.${group}`))).code, 200);
  });
});
