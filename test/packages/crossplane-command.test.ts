// The command line of Crossplane against package transactions: what a user of Crossplane types installs, updates and shows a package.
// `JANUS_CROSSPLANE_COMMAND` names the program `crossplane` of github.com/crossplane/cli.
import t from 'tap';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { type } from '../support/kubectl.ts';
import { startOwnLoops } from '../support/package-loops.ts';
import { definitionPath, packagePath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(900_000);

const program = process.env.JANUS_CROSSPLANE_COMMAND;
const skip = program === undefined ? 'JANUS_CROSSPLANE_COMMAND names no command of Crossplane' : false;

t.test('crossplane xpkg install and update, and crossplane resource trace', { skip }, async (t) => {
  const world = await startPackageWorld(t, { isBalanced: true, environment: { JANUS_PACKAGES_OWN: 'all' } });
  const { client, source } = world;
  const { kubeconfig } = world.plane;
  await startOwnLoops(t, { kubeconfig, hookUrls: [world.address], annotations: {} });
  const typed = async (command: string): Promise<string> => {
    const { code, output } = await type(`'${program}' ${command}`, '.', { KUBECONFIG: kubeconfig });
    t.equal(code, 0, `${command}: ${output}`);
    return output;
  };
  const provider = async (name: string): Promise<JsonObject> => must(await client.get(packagePath('providers', name)));
  const installed = (name: string, tag: string): Promise<boolean> =>
    waitFor(
      async () => {
        const found = await provider(name);
        const revision = textAt(found, 'status', 'currentIdentifier') ?? '';
        if (conditionIn(statusOf(found), 'Installed')?.status === 'True' && revision.endsWith(`:${tag}`)) return true;
        throw new Error(JSON.stringify(statusOf(found)));
      },
      `${name} to be installed as ${tag}`,
      { timeoutMs: 300_000 },
    );
  await world.publish({ name: 'family', tag: 'v1.0.0', objects: [definitionOf('ones', 'command.example.org')] });
  await world.publish({ name: 'core', tag: 'v1.0.0' });
  for (const [tag, plurals] of [
    ['v1.0.0', ['twos']],
    ['v1.1.0', ['twos', 'threes']],
  ] as const)
    await world.publish({
      ...{ name: 'storage', tag, requires: { family: '>=v1.0.0', core: '>=v1.0.0' } },
      objects: plurals.map((plural) => definitionOf(plural, 'command.example.org')),
    });

  await t.test('xpkg install creates a Package, under a chosen name or that of its repository', async (t) => {
    await typed(`xpkg install provider ${source('family')}:v1.0.0 alias`);
    await installed('alias', 'v1.0.0');
    await typed(`xpkg install provider ${source('storage')}:v1.0.0`);
    await installed('acme-storage', 'v1.0.0');
    for (const plural of ['ones', 'twos'])
      t.equal((await client.get(definitionPath(`${plural}.command.example.org`))).code, 200, plural);
  });

  await t.test('xpkg update moves it to another version', async (t) => {
    await typed(`xpkg update provider ${source('storage')}:v1.1.0 acme-storage`);
    await installed('acme-storage', 'v1.1.0');
    t.equal((await client.get(definitionPath('threes.command.example.org'))).code, 200);
  });

  await t.test('resource trace shows the package, its revision and what it requires', async (t) => {
    const shown = await typed('resource trace provider.pkg.crossplane.io acme-storage -o wide');
    for (const row of [
      /^Provider\/acme-storage .* v1\.1\.0 +True /m,
      /^├─ ProviderRevision\/acme-storage-[0-9a-f]{12} .* Active/m,
      /^.─ Provider\/acme-core .* v1\.0\.0 +True /m,
      /─ ProviderRevision\/acme-core-[0-9a-f]{12} .* Active/m,
    ])
      t.match(shown, row);
    // The command follows the controller of a revision, and has the name of the repository if there is none (docs/packages.md).
    t.match(shown, /Provider\/acme-family .*"acme-family" not found/);
    t.match(await typed('resource trace provider.pkg.crossplane.io alias -o wide'), /^Provider\/alias .* v1\.0\.0 +True /m);
  });
});
