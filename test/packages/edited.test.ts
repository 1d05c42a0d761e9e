// A Package that makes its own package transactions is edited while one of them runs: whenever that is, the try is abandoned and not failed, and
// the new version is tried at once. Two hooks serve all calls in turn.
import t from 'tap';
import { optedIn } from '../../hooks/crossplane/model/own.ts';
import { at, type JsonObject, objectAt, parseJson, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startInTurn } from '../support/in-turn.ts';
import { startOwnLoops } from '../support/package-loops.ts';
import { definitionPath, packagePath, ptxPath, stagesPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { watchAll } from '../support/replacing.ts';

t.setTimeout(900_000);

const world = await startPackageWorld(t, { isByHand: true, environment: { JANUS_PACKAGES_OWN: 'annotated' } });
const { client, source } = world;
const second = await world.startHook();

/** What happens before a call about a package transaction reaches a hook. */
let onCall: (parent: JsonObject) => Promise<void> = async () => undefined;
const front = await startInTurn(
  () => [world.hook.url, second.url],
  undefined,
  0,
  (path, body) => (path.endsWith('/packages/sync') ? onCall(objectAt(parseJson(body.toString()), 'parent')) : undefined),
);
t.teardown(() => front.close());
await world.startPackageLoop(front.address);
await startOwnLoops(t, { kubeconfig: world.plane.kubeconfig, hookUrls: [front.address] });

/** Each status of each package transaction, by the name of its Package. */
const seen: { readonly of: string; readonly version: string; readonly status: JsonObject }[] = [];
t.teardown(
  await watchAll(world, ptxPath(), (_, one) => {
    const snapshot = objectAt(one, 'spec', 'install', 'package');
    const [of = '', version = ''] = [
      textAt(snapshot, 'metadata', 'name'),
      textAt(snapshot, 'spec', 'package')?.split(':').at(-1),
    ];
    seen.push({ of, version, status: statusOf(one) });
  }),
);

async function apply(name: string, version: string): Promise<void> {
  const metadata = { name, annotations: optedIn };
  const object = {
    apiVersion: 'pkg.crossplane.io/v1',
    kind: 'Provider',
    metadata,
    spec: { package: `${source(name)}:${version}` },
  };
  must(await client.apply(packagePath('providers', name), object));
}

async function publish(name: string): Promise<void> {
  const group = `${name}.example.org`;
  await world.publish({ name, tag: 'v1.0.0', objects: [definitionOf('olds', group)] });
  await world.publish({ name, tag: 'v2.0.0', objects: [definitionOf('news', group)] });
}

async function installed(name: string): Promise<void> {
  const isInstalled = async (): Promise<boolean> => {
    const found = must(await client.get(packagePath('providers', name)));
    const condition = conditionIn(statusOf(found), 'Installed');
    if (condition?.status === 'True' && (await client.get(definitionPath(`news.${name}.example.org`))).code === 200) return true;
    throw new Error(JSON.stringify(statusOf(found)));
  };
  await waitFor(isInstalled, `${name} to be installed`, { timeoutMs: 300_000 });
}

type Moment = (parent: JsonObject, phase: string | undefined) => boolean | Promise<boolean>;

const hasStage = async (parent: JsonObject): Promise<boolean> => {
  const selector = `pkg.crossplane.io/transaction=${textAt(parent, 'metadata', 'name')}`;
  return (await client.list(`${stagesPath}?labelSelector=${encodeURIComponent(selector)}`)).items.length > 0;
};

const moments: Readonly<Record<string, Moment>> = {
  unresolved: (_, phase) => phase === 'Validating',
  unmade: async (parent, phase) => phase === 'Installing' && !(await hasStage(parent)),
  made: async (parent, phase) => phase === 'Installing' && (await hasStage(parent)),
  verified: (_, phase) => phase === 'Verifying',
};

for (const [name, isMoment] of Object.entries(moments))
  t.test(`edited when the install is ${name}`, async (t) => {
    await publish(name);
    let isEdited = false;
    onCall = async (parent) => {
      if (isEdited) return;
      const live = await client.get(ptxPath(textAt(parent, 'metadata', 'name')));
      if (live.code !== 200 || !(await isMoment(live.body, textAt(live.body, 'status', 'phase')))) return;
      isEdited = true;
      await apply(name, 'v2.0.0');
    };
    await apply(name, 'v1.0.0');
    await waitFor(() => isEdited, 'the moment', { timeoutMs: 120_000 });
    await installed(name);
    onCall = async () => undefined;
    const own = seen.filter(({ of }) => of === name);
    t.ok(own.length > 0);
    for (const { version, status } of own) t.equal(at(status, 'failures') ?? 0, 0, `${version} ${JSON.stringify(status)}`);
    const ends = own.flatMap(({ version, status }) => {
      const end = textAt(status, 'outcome', 'kind');
      return end === undefined ? [] : [`${version} ${end}`];
    });
    t.same([...new Set(ends)], ['v1.0.0 Abandoned', 'v2.0.0 Succeeded']);
    t.equal((await client.get(definitionPath(`olds.${name}.example.org`))).code, 404, 'what the first one made is undone');
  });

t.test(
  'a package transaction by hand is abandoned, too, if a user writes another version to a Package that installs itself',
  async (t) => {
    const name = 'rewritten';
    await publish(name);
    await apply(name, 'v2.0.0');
    await installed(name);
    let isEdited = false;
    onCall = async (parent) => {
      if (isEdited || textAt(parent, 'metadata', 'name') !== 'by-hand') return;
      if (textAt(statusOf(await world.read('by-hand')), 'phase') !== 'Verifying') return;
      isEdited = true;
      await apply(name, 'v2.0.0');
    };
    await world.install('by-hand', `${source(name)}:v1.0.0`, { packageName: name });
    const status = await world.finished('by-hand');
    onCall = async () => undefined;
    t.match(status, {
      phase: 'Failed',
      outcome: { kind: 'Abandoned', message: /^Provider rewritten was changed or deleted since/ },
    });
    t.equal(at(status, 'failures') ?? 0, 0);
    await installed(name);
    t.equal((await client.get(definitionPath(`olds.${name}.example.org`))).code, 404);
  },
);
