// `npm run demo -- packages`: shows packages from a registry, live. A tree is installed as a whole, and updated. A policy stops another
// update half way, which is then undone. The last version is refused before the first write. Then another vendor's package takes its
// place.
import { at, isList, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../../test/support/client.ts';
import { crossplaneVersion, withCrossplane } from '../../test/support/crossplane.ts';
import { type CrossplaneWorld, startCrossplaneWorld } from '../../test/support/crossplane-world.ts';
import { startAdmission } from '../../test/support/denying-admission.ts';
import { definitionPath, lockPath, packagePath } from '../../test/support/package-paths.ts';
import { conditionIn, type PackageWorld, startPackageWorld, statusOf } from '../../test/support/package-world.ts';
import { definitionOf } from '../../test/support/registry/builder.ts';
import { comparable } from '../../test/support/stage.ts';
import type { Checks } from './checks.ts';
import { showReplacement } from './replacing.ts';
import { explain, heading, literal, progress } from './terminal.ts';
import type { Undo } from './undo.ts';

const group = 's3.example.org';
const instancePath = `/apis/${group}/v1beta1/buckets`;

interface Scene {
  readonly world: PackageWorld;
  readonly checks: Checks;
  /** Of a revision that Crossplane runs, if the demo has a Crossplane. */
  readonly healthy?: CrossplaneWorld['healthy'];
}

export async function showPackages(undo: Undo, checks: Checks): Promise<void> {
  heading('Getting ready');
  explain('The demo starts a control plane, a registry and the hook on this machine, and nothing else.');
  const t = { teardown: (handler: () => unknown) => undo.add(async () => void (await handler())) };
  const scene: Scene = { checks, ...(await startScene(t)) };
  const { world } = scene;
  await publish(world);
  progress('published a family and a service provider, four versions of it, by tag');
  await installed(scene);
  await updated(scene);
  await stopped(scene, await policy(world, t));
  await refused(scene);
  const runs = (packageName: string): Promise<void> => runsPackage(scene, packageName);
  await showReplacement({ world, checks, group, instance: `${instancePath}/mine`, schema, runs });
}

/** Beside a real Crossplane, if one is at hand. */
async function startScene(t: Parameters<typeof startPackageWorld>[0]): Promise<Omit<Scene, 'checks'>> {
  if (withCrossplane.skip !== false) return { world: await startPackageWorld(t) };
  const { world, healthy } = await startCrossplaneWorld(t);
  progress(`Crossplane v${crossplaneVersion()} of JANUS_CROSSPLANE runs beside it, and runs what is installed`);
  return { world, healthy };
}

const schema = (...fields: readonly string[]): object => ({
  type: 'object',
  properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' }])),
});

async function publish(world: PackageWorld): Promise<void> {
  await world.publish({ name: 'family', tag: 'v1.1.0', objects: [definitionOf('configs', group)] });
  const versions = { 'v1.0.0': ['region'], 'v1.1.0': ['region', 'acl'], 'v1.2.0': ['region', 'acl', 'owner'], 'v2.0.0': ['acl'] };
  for (const [tag, fields] of Object.entries(versions)) {
    const objects = [definitionOf('buckets', group, schema(...fields)), definitionOf('policies', group, schema(...fields))];
    await world.publish({ name: 's3', tag, requires: { family: '>=v1.1.0' }, objects });
  }
}

async function policy(world: PackageWorld, t: Parameters<typeof startPackageWorld>[0]): ReturnType<typeof startAdmission> {
  const { client } = world;
  const account = client.asServiceAccount('janus-packages', 'janus-packages');
  const probe = () => account.create(definitionPath(), definitionOf('probes', 'probe.org') as JsonObject, { dryRun: 'All' });
  const rule = { apiGroups: ['apiextensions.k8s.io'], apiVersions: ['*'], resources: ['*'] };
  return startAdmission(
    { client, name: 'packages', user: 'system:serviceaccount:janus-packages:janus-packages', rule, probe },
    t,
  );
}

async function run({ world }: Scene, name: string, tag: string): Promise<JsonObject> {
  const reference = `${world.source('s3')}:${tag}`;
  progress(`kubectl create: package transaction ${name} installs ${reference}`);
  await world.install(name, reference, { packageName: 's3', retryLimit: 1 });
  literal(await stagesOf(world, name));
  const status = await world.finished(name);
  for (const type of ['Validated', 'Installed', 'Ready']) {
    const found = conditionIn(status, type);
    literal(`${type} ${found?.status}/${found?.reason}: ${found?.message}`);
  }
  return status;
}

/** The resolved tree and its stages, when both are known. Nothing if the package transaction is refused before. */
async function stagesOf(world: PackageWorld, name: string): Promise<string> {
  const known = await waitFor(async () => {
    const status = statusOf(await world.read(name));
    const [stages, isOver] = [at(status, 'stages'), conditionIn(status, 'Finished')?.status === 'True'];
    return (isList(stages) || isOver) && status;
  }, `package transaction ${name} to have stages, or to be finished`);
  const listed = (key: string): readonly Json[] => {
    const found = at(known, key);
    return isList(found) ? found : [];
  };
  const tree = listed('proposedLockPackages').map((one) => `  ${textAt(one, 'source')} ${textAt(one, 'version')}`);
  const stages = listed('stages').map((one) => textAt(one, 'purpose'));
  return stages.length === 0 ? 'no stage was made' : `the tree:\n${tree.join('\n')}\nin stages: ${stages.join(', ')}`;
}

function claim({ checks }: Scene, what: string, found: unknown, expected: unknown): void {
  checks.that(what, found === expected, found);
}

async function lockOf({ world }: Scene): Promise<readonly string[]> {
  const { body, code } = await world.client.get(lockPath);
  const packages = code === 200 ? at(body, 'packages') : undefined;
  return (isList(packages) ? packages : []).map((one) => `${textAt(one, 'source')} ${textAt(one, 'version')}`);
}

/** Everything that a package transaction could have touched. */
async function everything({ world, healthy }: Scene): Promise<string> {
  const paths = [definitionPath(), packagePath('providers'), packagePath('providerrevisions'), instancePath];
  const lists = await Promise.all(
    paths.map(async (path) => (await world.client.list(path)).items.map((item) => comparable(item))),
  );
  // Crossplane says in the status of a revision that the revision is paused: that is no part of an install.
  const isSeen = (key: string): boolean => healthy === undefined || key !== 'managedFields';
  return JSON.stringify(lists.flat().map((one) => Object.entries(one as JsonObject).filter(([key]) => isSeen(key))));
}

async function installed(scene: Scene): Promise<void> {
  heading('Install');
  explain('The hook resolves the tree to digests, and checks it, before the first write. Then its stages follow one another.');
  literal(`the Lock before: ${(await lockOf(scene)).join(', ') || 'nothing'}`);
  const status = await run(scene, 'install', 'v1.0.0');
  const lock = await lockOf(scene);
  literal(`the Lock after:\n${lock.map((one) => `  ${one}`).join('\n')}`);
  // Crossplane's controllers read a tag or a digest, and not both.
  const version = scene.healthy === undefined ? '@sha256:' : ' v1.';
  const held = lock.filter((one) => one.includes(version)).length;
  claim(scene, 'the provider and its family are installed, and the Lock holds their versions', held, 2);
  claim(scene, 'it is Ready', conditionIn(status, 'Ready')?.status, 'True');
  await runsPackage(scene);
}

/** The active revision of the package. */
async function runsPackage({ world, healthy }: Scene, packageName = 's3'): Promise<void> {
  if (healthy === undefined) return;
  const labelSelector = `pkg.crossplane.io/package=${packageName}`;
  const { items } = await world.client.list(packagePath('providerrevisions'), { labelSelector });
  const name = textAt(
    items.find((one) => textAt(one, 'spec', 'desiredState') === 'Active'),
    'metadata',
    'name',
  );
  await healthy(name ?? '');
  progress(`Crossplane runs ${name}: its Deployment is available`);
}

async function updated(scene: Scene): Promise<void> {
  heading('Update');
  const bucket = { apiVersion: `${group}/v1beta1`, kind: 'Bucket', metadata: { name: 'mine' }, spec: { region: 'eu' } };
  const before = must(await scene.world.client.create(instancePath, bucket));
  progress('created a Bucket, which must outlive everything');
  await run(scene, 'update', 'v1.1.0');
  await runsPackage(scene);
  const after = must(await scene.world.client.get(`${instancePath}/mine`));
  claim(scene, 'the Bucket is the same object', JSON.stringify(after), JSON.stringify(before));
}

async function stopped(scene: Scene, admission: Awaited<ReturnType<typeof policy>>): Promise<void> {
  heading('An update that a policy stops half way');
  explain('The policy refuses the write of the second CRD, but not its dry run, so the hook cannot know it in advance.');
  const before = await everything(scene);
  admission.decide(({ name, dryRun }) =>
    name === `policies.${group}` && !dryRun ? { code: 403, message: 'not today' } : undefined,
  );
  const status = await run(scene, 'stopped', 'v1.2.0');
  admission.decide(() => undefined);
  claim(scene, 'it says which CRD', conditionIn(status, 'Installed')?.reason, 'CRDInstallationFailed');
  claim(scene, 'everything is as before', await everything(scene), before);
}

async function refused(scene: Scene): Promise<void> {
  heading('A version that would break existing objects');
  explain('Version 2 removes the field region, which the Bucket has.');
  const before = await everything(scene);
  const status = await run(scene, 'removed', 'v2.0.0');
  claim(scene, 'it is refused', conditionIn(status, 'Validated')?.reason, 'SchemaIncompatible');
  claim(scene, 'nothing was written', await everything(scene), before);
}
