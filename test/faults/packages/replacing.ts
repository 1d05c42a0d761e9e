// Stories of a Replace: a package and the family that it requires move to another vendor, with an instance of each kind.
import { at, isList, type JsonObject, objectsAt, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { definitionPath, lockPath, packagePath, ptxPath } from '../../support/package-paths.ts';
import { conditionIn } from '../../support/package-world.ts';
import { definitionOf } from '../../support/registry/builder.ts';
import { createInstances, instancesPath, replaceOf } from '../../support/replacing.ts';
import { comparable } from '../../support/stage.ts';
import type { Site, Story } from './stories.ts';

const plurals = ['ones', 'twos'];
const vendors = ['old', 'new'] as const;
const fields = { type: 'object', properties: { count: { type: 'integer' }, note: { type: 'string' } } };

/** The old vendor's packages are installed by `NAME-1`; the new vendor's are there to be installed. */
async function prepare({ world, driver }: Site, name: string): Promise<readonly JsonObject[]> {
  const [ones, twos] = plurals.map((plural) => definitionOf(plural, `${name}.org`, fields)) as [object, object];
  for (const vendor of vendors) {
    const family = `${vendor}/${name}-family`;
    await world.publish({ name: family, tag: 'v1.0.0', objects: [ones] });
    await world.publish({ name: `${vendor}/${name}`, tag: 'v1.0.0', requires: { [family]: '>=v1.0.0' }, objects: [twos] });
  }
  await world.install(`${name}-1`, `${world.source(`old/${name}`)}:v1.0.0`, { packageName: name, retryLimit: 1 });
  await driver.drive(`${name}-1`);
  await createInstances(world.client, `${name}.org`, plurals, 1);
  return all(world, name);
}

/** CRDs and their instances. */
async function all({ client }: Site['world'], name: string): Promise<readonly JsonObject[]> {
  const paths = plurals.flatMap((plural) => [
    definitionPath(`${plural}.${name}.org`),
    instancesPath(`${name}.org`, plural, 'i-0'),
  ]);
  return Promise.all(paths.map(async (path) => must(await client.get(path))));
}

async function begin({ world }: Site, name: string): Promise<void> {
  const { client, source } = world;
  const wish = { from: source(`old/${name}`), to: `${source(`new/${name}`)}:v1.0.0`, packageName: `${name}-new` };
  const object = replaceOf(name, wish);
  must(await client.create(ptxPath(), { ...object, metadata: { name, finalizers: ['test.janus.io/held'] } }));
}

/** The objects by kind, name and uid, and what each CRD has as controller. */
async function uidFaults({ world }: Site, name: string, before: readonly JsonObject[]): Promise<readonly string[]> {
  const after = await all(world, name);
  return after.flatMap((one, index) => {
    const [now, then] = [one, before[index]].map((object) => textAt(object, 'metadata', 'uid'));
    return now === then ? [] : [`${textAt(one, 'kind')} ${textAt(one, 'metadata', 'name')} has another uid`];
  });
}

async function standing({ world, oracle }: Site, name: string, vendor: (typeof vendors)[number]): Promise<readonly string[]> {
  const { client, source } = world;
  const expected = [source(`${vendor}/${name}-family`), source(`${vendor}/${name}`)].sort();
  const sources = objectsAt(must(await client.get(lockPath)), 'packages').map((one) => textAt(one, 'source') ?? '');
  const revisions = (await client.list(packagePath('providerrevisions'))).items;
  const packages = (await client.list(packagePath('providers'))).items.map((one) => textAt(one, 'spec', 'package') ?? '');
  const uids = new Set(revisions.map((one) => textAt(one, 'metadata', 'uid')));
  const inactive = revisions.filter((one) => textAt(one, 'spec', 'desiredState') !== 'Active');
  const owned = await Promise.all(plurals.map(async (plural) => must(await client.get(definitionPath(`${plural}.${name}.org`)))));
  const isAlone = (object: JsonObject): boolean => {
    const owners = at(object, 'metadata', 'ownerReferences');
    const revisionOwners = (isList(owners) ? owners : []).filter((one) => textAt(one, 'kind') === 'ProviderRevision');
    return (
      revisionOwners.length === 1 && at(revisionOwners[0], 'controller') === true && uids.has(textAt(revisionOwners[0], 'uid'))
    );
  };
  return [
    ...(sources.toSorted().join() === expected.join() ? [] : [`the Lock holds ${sources.join(', ')}`]),
    ...(packages.length === 2 && packages.every((one) => one.includes(`/${vendor}/`))
      ? []
      : [`there are ${packages.join(', ')}`]),
    ...(revisions.length === 2 ? [] : [`there are ${revisions.length} revisions`]),
    ...inactive.map((one) => `${textAt(one, 'metadata', 'name')} is Inactive`),
    ...owned.filter((one) => !isAlone(one)).map((one) => `CRD ${textAt(one, 'metadata', 'name')} has not one revision as owner`),
    ...(await oracle.atRest()),
  ];
}

function reasonFaults(ended: JsonObject, type: string, expected: string): readonly string[] {
  const found = conditionIn(ended, type);
  return found?.reason === expected ? [] : [`expected ${type} ${expected}, found ${found?.reason}: ${found?.message}`];
}

export const replacement: Story = {
  id: 'replace',
  prepare,
  begin,
  async check(site, name, ended, prepared) {
    return [
      ...reasonFaults(ended, 'Ready', 'TransactionComplete'),
      ...(await uidFaults(site, name, prepared as readonly JsonObject[])),
      ...(await standing(site, name, 'new')),
    ];
  },
};

/** Refused for real at the second CRD. */
export const failingReplacement: Story = {
  id: 'failing-replace',
  prepare,
  async begin(site, name) {
    site.refuse(`twos.${name}.org`, 'UPDATE');
    await begin(site, name);
  },
  async check(site, name, ended, prepared) {
    site.refuse();
    const before = JSON.stringify((prepared as readonly JsonObject[]).map((one) => comparable(one)));
    const after = JSON.stringify((await all(site.world, name)).map((one) => comparable(one)));
    return [
      ...reasonFaults(ended, 'Installed', 'CRDInstallationFailed'),
      ...(after === before ? [] : [`the CRDs of ${name} are not as they were: ${after}, before ${before}`]),
      ...(await uidFaults(site, name, prepared as readonly JsonObject[])),
      ...(await standing(site, name, 'old')),
    ];
  },
};
