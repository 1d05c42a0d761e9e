// Crossplane is upgraded to another release in the middle of an update: the update succeeds at the first try, and the next release runs what it
// has installed. `JANUS_CROSSPLANE` and `JANUS_CROSSPLANE_NEXT` name the two releases.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { withNextCrossplane } from '../support/crossplane.ts';
import { revisionOf as nameOf, schemaOf, startCrossplaneWorld } from '../support/crossplane-world.ts';
import { definitionPath } from '../support/package-paths.ts';
import { conditionIn, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(1_800_000);

const group = 'upgraded.example.org';
const plurals = ['ones', 'twos', 'threes'];

t.test('an upgrade of Crossplane in the middle of an update', withNextCrossplane, async (t) => {
  const { world, crossplane, lockEntries, packageNames, healthy } = await startCrossplaneWorld(t);
  const { client, source } = world;
  const update = async (minor: number): Promise<string> => {
    const fields = Array.from({ length: minor + 1 }, (_, index) => `f${index}`);
    const objects = plurals.map((plural) => definitionOf(plural, group, schemaOf(...fields)));
    const digest = await world.publish({ name: 'upgraded', tag: `v1.${minor}.0`, objects });
    await world.install(`upgraded-${minor}`, `${source('upgraded')}:v1.${minor}.0`, { packageName: 'upgraded', retryLimit: 1 });
    return digest;
  };
  const succeeds = async (minor: number, digest: string): Promise<void> => {
    const status = await world.finished(`upgraded-${minor}`);
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    t.equal(at(status, 'failures') ?? 0, 0);
    await healthy(nameOf('upgraded', digest));
    t.same(await lockEntries(), [`${nameOf('upgraded', digest)} ${source('upgraded')} v1.${minor}.0`]);
    t.same(await packageNames(), ['upgraded']);
  };
  await succeeds(0, await update(0));
  const path = `/apis/${group}/v1beta1/ones`;
  const object = { apiVersion: `${group}/v1beta1`, kind: 'One', metadata: { name: 'mine' }, spec: { f0: 'a' } };
  const instance = must(await client.create(path, object));

  const digest = await update(1);
  const isInstalling = async (): Promise<boolean> =>
    ['Installing', 'Succeeded'].includes(textAt(statusOf(await world.read('upgraded-1')), 'phase') ?? '');
  await waitFor(isInstalling, 'the update to be under way', { everyMs: 5 });
  await crossplane.upgrade();
  await succeeds(1, digest);
  t.notMatch(crossplane.log(), /panic/);

  await succeeds(2, await update(2));
  t.strictSame(must(await client.get(`${path}/mine`)), instance);
  const isControlled = async (): Promise<boolean> => {
    const found: readonly JsonObject[] = await Promise.all(
      plurals.map(async (plural) => must(await client.get(definitionPath(`${plural}.${group}`)))),
    );
    const controllers = found.map((one) => {
      const owners = at(one, 'metadata', 'ownerReferences');
      return (Array.isArray(owners) ? owners : []).filter((owner) => at(owner, 'controller') === true).length;
    });
    if (controllers.every((count) => count === 1)) return true;
    throw new Error(JSON.stringify(controllers));
  };
  t.ok(await waitFor(isControlled, 'each CRD to have one controller'));
});
