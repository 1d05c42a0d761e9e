// Measures a Replace of a family of three providers beside the install of that family: as many packages, revisions and CRDs.
import type { PackageWorld } from '../../test/support/package-world.ts';
import { pluralsOfEach, publishFamily, replace } from '../../test/support/replacing.ts';
import type { Line } from './figures.ts';
import { costOf, figuresOf, finished } from './one-install.ts';
import type { Cost } from './package-requests.ts';

const turns = 3;
const perProvider = 20;

/** Each turn has kinds of its own. The figures are those of the turn in the middle. */
export async function besideTheirInstalls(world: PackageWorld): Promise<readonly Line[]> {
  const costs: (readonly [install: Cost, replace: Cost])[] = [];
  for (let turn = 0; turn < turns; turn += 1) costs.push(await turnOf(world, turn));
  const count = 3 * perProvider;
  return [
    { row: `family-${count}-crds`, items: count, ...figuresOf(middleOf(costs.map(([install]) => install)), count) },
    { row: `replace-${count}-crds`, items: count, ...figuresOf(middleOf(costs.map(([, replace]) => replace)), count) },
  ];
}

function middleOf(costs: readonly Cost[]): Cost {
  return costs.toSorted((one, other) => one.ms - other.ms)[Math.floor(costs.length / 2)] as Cost;
}

async function turnOf(world: PackageWorld, turn: number): Promise<readonly [install: Cost, replace: Cost]> {
  const { source } = world;
  const [old, next] = [`old${turn}`, `next${turn}`];
  for (const vendor of [old, next])
    await publishFamily(world, { vendor, group: `turn${turn}.org`, plurals: pluralsOfEach(perProvider) });
  const [from, to] = [source(`${old}/storage`), `${source(`${next}/storage`)}:v1.0.0`];
  const install = await costOf(world, async () => {
    await world.install(old, `${from}:v1.0.0`, { packageName: `${old}-storage`, retryLimit: 1 });
    await finished(world, old);
  });
  const replaced = await costOf(world, async () => {
    await replace(world, next, { from, to, packageName: `${next}-storage` });
    await finished(world, next);
  });
  return [install, replaced];
}
