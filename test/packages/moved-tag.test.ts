// `packagePullPolicy: Always`: a Package that makes its own package transactions follows its tag. Each call about the Package reads the tag; a
// call is asked for each minute, and here an annotation makes one at once.
import t from 'tap';
import { optedIn, packageUidLabel } from '../../hooks/crossplane/model/own.ts';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { post } from '../support/hook-process.ts';
import { startOwnLoops } from '../support/package-loops.ts';
import { packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { answering, passOn } from '../support/registry/proxy.ts';

t.setTimeout(1_800_000);

const world = await startPackageWorld(t, { environment: { JANUS_PACKAGES_OWN: 'annotated' } });
const { client, source } = world;
const loops = await startOwnLoops(t, { kubeconfig: world.plane.kubeconfig, hookUrls: [world.hook.url] });

const publish = (plural: string): Promise<string> =>
  world.publish({ name: 'mover', tag: 'latest', objects: [definitionOf(plural, 'mover.example.org')] });
const read = async (): Promise<JsonObject> => must(await client.get(packagePath('providers', 'mover')));
const shortDigest = (digest: string): string => digest.replace('sha256:', '').slice(0, 12);

async function apply(reference: string, packagePullPolicy = 'Always'): Promise<void> {
  const metadata = { name: 'mover', annotations: optedIn };
  const object = {
    apiVersion: 'pkg.crossplane.io/v1',
    kind: 'Provider',
    metadata,
    spec: { package: reference, packagePullPolicy },
  };
  must(await client.apply(packagePath('providers', 'mover'), object));
}

async function installed(digest: string): Promise<JsonObject> {
  return waitFor(
    async () => {
      const found = await read();
      const condition = conditionIn(statusOf(found), 'Installed');
      const isCurrent = textAt(statusOf(found), 'currentRevision') === `mover-${shortDigest(digest)}`;
      if (isCurrent && condition?.status === 'True' && condition.reason === 'ActivePackageRevision') return found;
      throw new Error(JSON.stringify(statusOf(found)));
    },
    `${digest} to be installed`,
    { timeoutMs: 300_000 },
  );
}

/** The answer of the hook to a call about the Package, and the requests to registries that it made. */
async function called(): Promise<{ readonly resync: unknown; readonly reads: readonly string[] }> {
  const before = world.proxy.seen.length;
  const answer = await post(`${world.hook.url}/packages/own/sync`, { object: await read() });
  const { resyncAfterSeconds: resync } = (await answer.body.json()) as { resyncAfterSeconds: unknown };
  return { resync, reads: world.proxy.seen.slice(before).map(({ method, path }) => `${method} ${path}`) };
}

/** A call beside which the loop calls not, if it reads this. */
async function callReads(...expected: readonly string[]): Promise<unknown> {
  return waitFor(async () => {
    const before = loops.calls().length;
    const { resync, reads } = await called();
    if (loops.calls().length > before || JSON.stringify(reads) !== JSON.stringify(expected)) throw new Error(String(reads));
    return { resync };
  }, `a call to read ${expected}`);
}

async function ring(): Promise<void> {
  must(await client.patch(packagePath('providers', 'mover'), { metadata: { annotations: { rung: String(Date.now()) } } }));
}

t.test('a tag that has moved is installed, by the same package transaction made again', async (t) => {
  const first = await publish('ones');
  await apply(`${source('mover')}:latest`);
  await installed(first);
  t.same(await callReads('HEAD /v2/acme/mover/manifests/latest'), { resync: 60 }, 'one read of the tag');
  const second = await publish('twos');
  await ring();
  const found = await installed(second);
  const labelSelector = `${packageUidLabel}=${textAt(found, 'metadata', 'uid')}`;
  t.equal((await client.list(ptxPath(), { labelSelector })).items.length, 1);
  t.equal(at(found, 'metadata', 'generation'), 1, 'nobody has edited the Package');
});

t.test('a registry that does not answer changes nothing', async (t) => {
  const before = await read();
  world.proxy.act(answering(503));
  t.equal((await called()).resync, 60);
  world.proxy.act(passOn);
  t.same(statusOf(await read()), statusOf(before));
});

t.test('without the policy, and with a digest, there is nothing to follow, and no read', async (t) => {
  const third = await publish('threes');
  const second = textAt(statusOf(await read()), 'resolvedPackage')?.split('@')[1] ?? '';
  await apply(`${source('mover')}@${second}`);
  await installed(second);
  t.same(await callReads(), { resync: 0 });
  await apply(`${source('mover')}:latest`, 'IfNotPresent');
  await installed(third);
  await publish('fours');
  t.same(await callReads(), { resync: 0 });
});
