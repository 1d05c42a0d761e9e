// `kubectl wait` for a Provider, with a real Metacontroller and the DecoratorController as it is shipped. Beside a real Crossplane, if
// one is at hand; otherwise the test writes the conditions of the revision, as Crossplane does.
import t from 'tap';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { type Client, must, waitFor } from '../support/client.ts';
import { withCrossplane } from '../support/crossplane.ts';
import { revisionOf, startCrossplaneWorld } from '../support/crossplane-world.ts';
import { type } from '../support/kubectl.ts';
import { findMetacontroller } from '../support/metacontroller/binary.ts';
import { startDecorator } from '../support/metacontroller/decorator.ts';
import { packagePath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(900_000);

const skip = findMetacontroller() === undefined ? 'neither METACONTROLLER nor PATH names a Metacontroller' : false;

/** What Crossplane's controllers write once the revision runs. */
async function reportHealthy(client: Client, revision: string): Promise<void> {
  const conditions = ['RevisionHealthy', 'RuntimeHealthy'].map((type) => {
    return { type, status: 'True', reason: 'Healthy', lastTransitionTime: '2026-01-01T00:00:00Z' };
  });
  const path = packagePath('providerrevisions', revision);
  const live = must(await client.get(path));
  must(await client.update(`${path}/status`, { ...live, status: { ...statusOf(live), conditions } }));
}

t.test('kubectl wait --for=condition=Healthy waits until the revision is healthy', { skip }, async (t) => {
  const isAlone = withCrossplane.skip !== false;
  const world = isAlone ? await startPackageWorld(t) : (await startCrossplaneWorld(t)).world;
  const { client, source } = world;
  const { kubeconfig } = world.plane;
  const manifest = 'packages/decorator-controller.yaml';
  const decorator = await startDecorator({ client, kubeconfig, hookUrl: world.hook.url, manifest });
  t.teardown(() => decorator.stop());
  const digest = await world.publish({ name: 's3', tag: 'v1.0.0', objects: [definitionOf('buckets', 's3.example.org')] });
  await world.install('s3', `${source('s3')}:v1.0.0`, { packageName: 's3' });
  const status = await world.finished('s3');
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  const provider = async (): Promise<JsonObject> => statusOf(must(await client.get(packagePath('providers', 's3'))));
  const isInstalled = async (): Promise<boolean> => conditionIn(await provider(), 'Installed')?.status === 'True';
  await waitFor(isInstalled, 'Metacontroller to store the status', { timeoutMs: 120_000 });
  if (isAlone) {
    t.equal(conditionIn(await provider(), 'Healthy')?.status, 'Unknown');
    await reportHealthy(client, revisionOf('s3', digest));
  }
  const waited = await type('kubectl wait --for=condition=Healthy --timeout=120s provider/s3', '/', { KUBECONFIG: kubeconfig });
  t.same([waited.code, waited.output.trim()], [0, 'provider.pkg.crossplane.io/s3 condition met']);
  const shown = await type('kubectl get providers', '/', { KUBECONFIG: kubeconfig });
  t.match(shown.output, /^s3 +True +True +/m);
  t.match(await provider(), {
    currentRevision: revisionOf('s3', digest),
    currentIdentifier: `${source('s3')}:v1.0.0`,
    resolvedPackage: `${source('s3')}@${digest}`,
  });
});
