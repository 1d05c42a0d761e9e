// How many requests an install of a package takes: of the hook, for the package transaction and for its stages. Requests are counted, since
// time depends on the machine. A poll more or less stays within the bound.
import t from 'tap';
import { apiRequestsOf } from '../../scripts/bench/package-requests.ts';
import { startPackageWorld } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(1_800_000);

const world = await startPackageWorld(t);

async function requestsOf(name: string, count: number): Promise<number> {
  const objects = Array.from({ length: count }, (_, index) => definitionOf(`thing${index}s`, `${name}.example.org`));
  await world.publish({ name, tag: 'v1.0.0', objects });
  const before = await apiRequestsOf(world);
  await world.install(name, `${world.source(name)}:v1.0.0`, { packageName: name });
  await world.finished(name);
  return (await apiRequestsOf(world)) - before;
}

t.test('an install takes at most 15 requests for each of 100 CRDs, and at most 36 of 10', async (t) => {
  await requestsOf('warm', 1);
  const [few, many] = [await requestsOf('few', 10), await requestsOf('many', 100)];
  t.ok(many <= 15 * 100, `${many} requests for 100 CRDs`);
  t.ok(few <= 36 * 10, `${few} requests for 10 CRDs`);
});
