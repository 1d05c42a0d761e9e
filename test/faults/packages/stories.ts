// Stories of package transactions: each ends in one way only, whatever happens to the processes that serve it on the way.
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, type Teardown } from '../../support/client.ts';
import { startPackageAdmission } from '../../support/package-admission.ts';
import { createDriver, type Driver } from '../../support/package-driver.ts';
import type { Plan } from '../../support/package-faults.ts';
import { createOracle, type Oracle } from '../../support/package-oracle.ts';
import { definitionPath, lockPath, packagePath, ptxPath } from '../../support/package-paths.ts';
import { conditionIn, type PackageWorld, startPackageWorld, statusOf } from '../../support/package-world.ts';
import { definitionOf } from '../../support/registry/builder.ts';
import { comparable } from '../../support/stage.ts';
import { failingReplacement, replacement } from './replacing.ts';

export interface Site {
  readonly world: PackageWorld;
  readonly driver: Driver;
  readonly oracle: Oracle;
  /** From now on real writes of objects whose name begins so are refused, their dry runs are not; without a name none. */
  refuse(start?: string, operation?: string): void;
}

export interface Story {
  readonly id: string;
  /** Makes what must be there before, without faults. */
  prepare(site: Site, name: string): Promise<unknown>;
  /** Creates the package transaction `name`, and brings it as far as the faults begin. */
  begin(site: Site, name: string): Promise<void>;
  /** What is not as it must be, in words. `prepared`: what `prepare` gave. */
  check(site: Site, name: string, ended: JsonObject, prepared: unknown): Promise<readonly string[]>;
}

const plurals = ['ones', 'twos'];

export async function openSite(
  t: Teardown,
  options: { readonly isAtOnce?: boolean; readonly isInterrupted?: () => boolean } = {},
): Promise<Site> {
  const world = await startPackageWorld(t, { isByHand: true });
  const { client } = world;
  const admission = await startPackageAdmission(client, t);
  const refuse: Site['refuse'] = (start, refused = 'CREATE') =>
    admission.decide(({ name, dryRun, operation }) =>
      start !== undefined && name.startsWith(start) && !dryRun && operation === refused
        ? { code: 403, message: 'not today' }
        : undefined,
    );
  return { world, driver: createDriver(t, world, options), oracle: createOracle(world), refuse };
}

/** With a finalizer, as Metacontroller's is: the driver removes it. */
async function create({ world }: Site, name: string, { packageName = name, tag = 'v1.0.0' } = {}): Promise<void> {
  const { client, source } = world;
  await world.install(name, `${source(packageName)}:${tag}`, { packageName, retryLimit: 1 });
  must(await client.patch(ptxPath(name), { metadata: { finalizers: ['test.janus.io/held'] } }));
}

const field = { type: 'object', properties: { more: { type: 'string' } } };

async function publish({ world }: Site, name: string, requires: Readonly<Record<string, string>> = {}): Promise<void> {
  const group = `${name}.org`;
  const objects = plurals.map((plural) => definitionOf(plural, group));
  await world.publish({ name, tag: 'v1.0.0', requires, objects });
}

const nothing = async (): Promise<void> => undefined;

function endOf(ended: JsonObject, type: string, expected: string): readonly string[] {
  const found = conditionIn(ended, type);
  const is = `${found?.status}/${found?.reason}`;
  return is === expected ? [] : [`expected ${type} ${expected}, found ${is}: ${found?.message}`];
}

const succeeded = (ended: JsonObject): readonly string[] => endOf(ended, 'Ready', 'True/TransactionComplete');

export const install: Story = {
  id: 'install',
  prepare: ({ oracle }) => oracle.nextNumber(),
  async begin(site, name) {
    await publish(site, name);
    await create(site, name);
  },
  async check({ oracle }, name, ended, number) {
    const own = at(ended, 'transactionNumber');
    const numbers = own === number && (await oracle.nextNumber()) === Number(number) + 1;
    return [
      ...succeeded(ended),
      ...(numbers ? [] : [`expected the number ${number}, found ${own}`]),
      ...(await oracle.installed(name, plurals)),
    ];
  },
};

/** Refused for real at its second CRD. */
export const failing: Story = {
  id: 'failing',
  prepare: nothing,
  async begin(site, name) {
    site.refuse(`twos.${name}.org`);
    await install.begin(site, name);
  },
  async check({ oracle, refuse }, name, ended) {
    refuse();
    const failures = at(ended, 'failures');
    return [
      ...endOf(ended, 'Installed', 'False/CRDInstallationFailed'),
      ...(failures === 1 ? [] : [`expected one failure, found ${failures}`]),
      ...(await oracle.notInstalled(name, plurals)),
    ];
  },
};

export const refused: Story = {
  id: 'refused',
  prepare: nothing,
  async begin(site, name) {
    await publish(site, name, { 'nobody-has-it': '>=v1.0.0' });
    await create(site, name);
  },
  async check({ oracle }, name, ended) {
    return [...endOf(ended, 'Validated', 'False/MissingDependency'), ...(await oracle.notInstalled(name, plurals))];
  },
};

/** Version 1 is installed by `NAME-1`, with an instance of its first CRD; version 2 is there to be installed. */
async function prepareUpdate(site: Site, name: string): Promise<JsonObject> {
  const { client } = site.world;
  await publish(site, name);
  await site.world.publish({ name, tag: 'v1.1.0', objects: plurals.map((plural) => definitionOf(plural, `${name}.org`, field)) });
  await create(site, `${name}-1`, { packageName: name });
  await site.driver.drive(`${name}-1`);
  const instance = { apiVersion: `${name}.org/v1beta1`, kind: 'One', metadata: { name: 'mine' } };
  const mine = must(await client.create(`/apis/${name}.org/v1beta1/ones`, instance));
  const crds = await Promise.all(plurals.map((plural) => crdOf(site, name, plural)));
  return { mine, crds };
}

async function crdOf({ world }: Site, name: string, plural: string): Promise<JsonObject> {
  return comparable(must(await world.client.get(definitionPath(`${plural}.${name}.org`)))) as JsonObject;
}

async function instanceIsThere({ world }: Site, name: string, prepared: unknown): Promise<readonly string[]> {
  const found = await world.client.get(`/apis/${name}.org/v1beta1/ones/mine`);
  const before = at(prepared as JsonObject, 'mine', 'metadata', 'uid');
  return found.code === 200 && at(found.body, 'metadata', 'uid') === before
    ? []
    : [`the instance of ${name} is not the one that was there`];
}

export const update: Story = {
  id: 'update',
  prepare: prepareUpdate,
  begin: (site, name) => create(site, name, { packageName: name, tag: 'v1.1.0' }),
  async check(site, name, ended, prepared) {
    const found = await site.oracle.installed(name, plurals, name);
    // The package and its CRDs have the label of the update, and so has its revision.
    return [...succeeded(ended), ...found, ...(await instanceIsThere(site, name, prepared))];
  },
};

export const failingUpdate: Story = {
  id: 'failing-update',
  prepare: prepareUpdate,
  async begin(site, name) {
    site.refuse(`twos.${name}.org`, 'UPDATE');
    await update.begin(site, name);
  },
  async check(site, name, ended, prepared) {
    site.refuse();
    const crds = await Promise.all(plurals.map((plural) => crdOf(site, name, plural)));
    const before = JSON.stringify(at(prepared as JsonObject, 'crds'));
    return [
      ...endOf(ended, 'Installed', 'False/CRDInstallationFailed'),
      ...(JSON.stringify(crds) === before
        ? []
        : [`the CRDs of ${name} are not as they were: ${JSON.stringify(crds)}, before ${before}`]),
      ...(await site.oracle.installed(name, plurals, `${name}-1`)),
      ...(await site.oracle.nothingMadeBy(name)),
      ...(await instanceIsThere(site, name, prepared)),
    ];
  },
};

/** Deleted once two stages are there. */
export const deletion: Story = {
  id: 'deletion',
  prepare: nothing,
  async begin(site, name) {
    const { world, driver } = site;
    await install.begin(site, name);
    while (at(statusOf(await driver.step(name)), 'committed') !== 2) await new Promise((resolve) => setTimeout(resolve, 20));
    must(await world.client.delete(ptxPath(name)));
  },
  async check({ oracle, world }, name) {
    const { code } = await world.client.get(ptxPath(name));
    return [...(code === 404 ? [] : [`package transaction ${name} is there`]), ...(await oracle.notInstalled(name, plurals))];
  },
};

const limit = 'pkg.crossplane.io/transaction-history-limit';

/** Of all finished ones the last stays. */
const history: Story = {
  id: 'history',
  async prepare(site, name) {
    await install.begin(site, `${name}-1`);
    await site.driver.drive(`${name}-1`);
    must(await site.world.client.patch(lockPath, { metadata: { annotations: { [limit]: '1' } } }));
  },
  begin: install.begin,
  async check({ oracle, world }, name, ended) {
    must(await world.client.patch(lockPath, { metadata: { annotations: { [limit]: null } } }));
    const { items } = await world.client.list(ptxPath());
    // Nobody serves the older ones: those that are being deleted keep their finalizer.
    const staying = items.filter((one) => at(one, 'metadata', 'deletionTimestamp') === undefined);
    const others = staying.map((one) => textAt(one, 'metadata', 'name')).filter((one) => one !== name);
    return [
      ...succeeded(ended),
      ...others.map((one) => `package transaction ${one} is there`),
      ...(await oracle.installed(name, plurals)),
      ...(await oracle.installed(`${name}-1`, plurals)),
    ];
  },
};

export const stories: readonly Story[] = [
  install,
  update,
  refused,
  failing,
  failingUpdate,
  history,
  deletion,
  replacement,
  failingReplacement,
];

/** Runs one story, and returns its violations in words. */
export async function violationsOf(site: Site, story: Story, name: string, plan?: Plan): Promise<readonly string[]> {
  const prepared = await story.prepare(site, name);
  await story.begin(site, name);
  const ended = await site.driver.drive(name, plan);
  return story.check(site, name, ended, prepared);
}

/** Removes what a story that ended as it must has left: the more CRDs there are, the slower is the API server. */
export async function clear({ world: { client } }: Site, name: string): Promise<void> {
  for (const { metadata } of (await client.list(ptxPath())).items) {
    const path = ptxPath(textAt(metadata, 'name'));
    await client.patch(path, { metadata: { finalizers: null } });
    await client.delete(path);
  }
  const lists = ['providers', 'providerrevisions'].map(async (plural) => {
    const { items } = await client.list(packagePath(plural));
    return items.map((one) => packagePath(plural, textAt(one, 'metadata', 'name')));
  });
  const left = [...(await Promise.all(lists)).flat(), ...plurals.map((plural) => definitionPath(`${plural}.${name}.org`))];
  for (const path of left) await client.delete(path);
  await client.patch(lockPath, { packages: [] });
}
