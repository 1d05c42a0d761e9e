// A GitOps tool that applies all Packages again and again while they are installed, one of which is broken: each of the others is installed
// by one package transaction, and the broken one says why. Two hooks take the calls in turn.
//
// `JANUS_PACKAGES_APPLIED=100 npm test -- test/packages/applied-often.test.ts` applies a hundred.
import t from 'tap';
import { optedIn } from '../../hooks/crossplane/model/own.ts';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startOwnLoops } from '../support/package-loops.ts';
import { packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(3_600_000);

const count = Number(process.env.JANUS_PACKAGES_APPLIED ?? 10);
const world = await startPackageWorld(t, { isBalanced: true, environment: { JANUS_PACKAGES_OWN: 'annotated' } });
const { client, source, address } = world;
await startOwnLoops(t, { kubeconfig: world.plane.kubeconfig, hookUrls: [address] });

const broken = 'broken';
const names = Array.from({ length: count - 1 }, (_, index) => `often${index}`);
for (const [index, name] of names.entries()) {
  const requires = index > 0 && index % 3 === 0 ? { [`often${index - 1}`]: '>=v1.0.0' } : {};
  await world.publish({ name, tag: 'v1.0.0', requires, objects: [definitionOf(`${name}s`, 'often.example.org')] });
}
await world.publish({ name: broken, tag: 'v1.0.0', requires: { often0: '>=v9.0.0' } });

const objectOf = (name: string): JsonObject => ({
  apiVersion: 'pkg.crossplane.io/v1',
  kind: 'Provider',
  metadata: { name, annotations: optedIn },
  spec: { package: `${source(name)}:v1.0.0` },
});

let rounds = 0;
async function applyAll(): Promise<void> {
  for (const name of [...names, broken]) must(await client.apply(packagePath('providers', name), objectOf(name)));
  rounds += 1;
}

const installedIn = async (name: string) => {
  const found = must(await client.get(packagePath('providers', name)));
  return { found, ...conditionIn(statusOf(found), 'Installed') };
};

/** The Packages that are not as they should be in the end, with their conditions. */
async function stillOpen(): Promise<readonly string[]> {
  const conditions = await Promise.all([...names, broken].map(async (name) => ({ name, ...(await installedIn(name)) })));
  const isDone = ({ name, status, message = '' }: (typeof conditions)[number]): boolean =>
    name === broken ? message.includes('it is not tried again') : status === 'True';
  return conditions
    .filter((one) => !isDone(one))
    .map(({ name, status, reason, message }) => `${name} ${status}/${reason} ${message}`);
}

t.test(`${count} Packages that are applied again all the time, one of them broken`, async (t) => {
  const areSettled = async (): Promise<boolean> => {
    await applyAll();
    const open = await stillOpen();
    if (open.length === 0) return true;
    throw new Error(open.join(', '));
  };
  await waitFor(areSettled, 'all but one to be installed', { everyMs: 5_000, timeoutMs: 3_000_000 });
  t.ok(rounds > 3, `${rounds} rounds`);
  const made = (await client.list(ptxPath())).items;
  for (const name of names) {
    const { found } = await installedIn(name);
    t.equal(at(found, 'metadata', 'generation'), 1, 'its spec was never written');
    const own = made.filter(
      (one) => textAt(one, 'metadata', 'labels', 'packages.janus.io/package-uid') === textAt(found, 'metadata', 'uid'),
    );
    t.ok(own.length <= 1, `${name}: ${own.length}`);
    for (const one of own) t.equal(textAt(one, 'status', 'phase'), 'Succeeded');
  }
  t.match(await installedIn(broken), { status: 'False', message: /often0/ });
});
