// Each pair of changes of one package, by hand and by the Package itself: the second change begins while the first is in each of its
// phases. No try fails, unless the two changes contradict each other, and none waits for its own waiter. Two hooks serve all calls in turn.
//
// `JANUS_PACKAGES_PAIRS=1 npm test -- test/packages/pairs.test.ts` tries each pair; a number n tries each n-th, and n:i the i-th of each n.
import t from 'tap';
import { optedIn, packageUidLabel } from '../../hooks/crossplane/model/own.ts';
import { at, type JsonObject, objectAt, objectsAt, parseJson, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { startInTurn } from '../support/in-turn.ts';
import { startOwnLoops } from '../support/package-loops.ts';
import { definitionPath, lockPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { replaceOf, watchAll } from '../support/replacing.ts';

t.setTimeout(10_800_000);

const [nth = 1, from = 0] = (process.env.JANUS_PACKAGES_PAIRS ?? '29').split(':').map(Number);

const world = await startPackageWorld(t, { isByHand: true, environment: { JANUS_PACKAGES_OWN: 'annotated' } });
const { client } = world;
const second = await world.startHook();

/** What happens before a call reaches a hook. */
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

/** The reasons of the failed tries so far, by the names of package transactions. */
const failures = new Map<string, string>();
const stopWatch = await watchAll(world, ptxPath(), (_, one) => {
  if (Number(at(one, 'status', 'failures') ?? 0) === 0) return;
  const reason = textAt(one, 'status', 'outcome', 'reason');
  if (reason !== undefined)
    failures.set(textAt(one, 'metadata', 'name') ?? '', `${reason} ${textAt(one, 'status', 'outcome', 'message')}`);
});
t.teardown(stopWatch);

/** The names of a case: those of its package, which is installed or not when the case begins, and of its successor. */
interface Names {
  readonly id: string;
  readonly source: string;
  readonly successor: string;
}

type Kind = 'install' | 'update' | 'delete' | 'replace' | 'history';
type Way = 'by hand' | 'by the Package';

interface Change {
  readonly kind: Kind;
  readonly way: Way;
}

const providerPath = (name: string): string => packagePath('providers', name);

async function byPackage({ id, source }: Names, tag: string): Promise<void> {
  const metadata = { name: id, annotations: optedIn };
  const object = { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata, spec: { package: `${source}:${tag}` } };
  must(await client.apply(providerPath(id), object));
}

const byHand = ({ id, source }: Names, which: string, tag: string): Promise<JsonObject> =>
  world.install(`${id}-${which}`, `${source}:${tag}`, { packageName: id, retryLimit: 1 });

async function ofCase({ id }: Names): Promise<readonly JsonObject[]> {
  const { items } = await client.list(ptxPath());
  return items.filter((one) => new RegExp(`^(tx-)?${id}-`).test(textAt(one, 'metadata', 'name') ?? ''));
}

const phaseOf = (one: JsonObject): string => textAt(one, 'status', 'phase') ?? 'Waiting';
/** The Package has another version since, which installs itself. */
const isAbandoned = (one: JsonObject): boolean => textAt(one, 'status', 'outcome', 'kind') === 'Abandoned';
const isOver = (one: JsonObject): boolean => ['Succeeded', 'Failed'].includes(phaseOf(one));

const changes: { readonly [key in Kind]: (names: Names, way: Way, which: string) => Promise<unknown> } = {
  install: (names, way, which) => (way === 'by hand' ? byHand(names, which, 'v1.0.0') : byPackage(names, 'v1.0.0')),
  update: (names, way, which) => (way === 'by hand' ? byHand(names, which, 'v1.1.0') : byPackage(names, 'v1.1.0')),
  async delete({ id, source }, way, which) {
    if (way === 'by the Package') return client.delete(providerPath(id), { propagationPolicy: 'Background' });
    const spec = { change: 'Delete', delete: { source }, retryLimit: 1 };
    const object = { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata: { name: `${id}-${which}` }, spec };
    return must(await client.create(ptxPath(), object));
  },
  replace: async ({ id, source, successor }, _, which) =>
    must(
      await client.create(
        ptxPath(),
        replaceOf(`${id}-${which}`, { from: source, to: `${successor}:v1.0.0`, packageName: `${id}-new` }),
      ),
    ),
  async history(names) {
    for (const one of (await ofCase(names)).filter(isOver)) await client.delete(ptxPath(textAt(one, 'metadata', 'name')));
  },
};

const ways: readonly Way[] = ['by hand', 'by the Package'];
const both = (kind: Kind): readonly Change[] => ways.map((way) => ({ kind, way }));
const replaceChange: Change = { kind: 'replace', way: 'by hand' };
const firsts: readonly Change[] = [...both('install'), ...both('update'), ...both('delete'), replaceChange];
const seconds: readonly Change[] = [...firsts, { kind: 'history', way: 'by hand' }];

const before = ['Waiting', 'Validating', 'Preparing', 'Installing'];
const phasesOf: Readonly<Record<Kind, readonly string[]>> = {
  install: [...before, 'Verifying', 'Releasing'],
  update: [...before, 'Verifying', 'Releasing'],
  delete: [...before, 'Deleting', 'Releasing'],
  replace: [...before, 'Verifying', 'Deleting', 'Releasing'],
  history: [],
};

const pairs = firsts.flatMap((first) =>
  phasesOf[first.kind].flatMap((phase) => seconds.map((other) => ({ first, phase, other }))),
);

/** Whether the package transaction is what the first change has made. */
function isFirst({ id }: Names, { kind, way }: Change, parent: JsonObject, uid: string | undefined): boolean {
  if (way === 'by hand') return textAt(parent, 'metadata', 'name') === `${id}-first`;
  const isDelete = at(parent, 'spec', 'change') === 'Delete';
  const isOfVersion = textAt(parent, 'spec', 'install', 'package', 'spec', 'package')?.endsWith(
    kind === 'update' ? 'v1.1.0' : 'v1.0.0',
  );
  const isMeant = kind === 'delete' ? isDelete : isOfVersion === true;
  const label = textAt(parent, 'metadata', 'labels', packageUidLabel);
  return (
    isMeant &&
    label !== undefined &&
    textAt(parent, 'metadata', 'name')?.startsWith(`tx-${id}-`) === true &&
    (uid === undefined || uid === label)
  );
}

async function publishCase(index: number): Promise<Names> {
  const id = `p${index}`;
  const field = (count: number): object => ({
    type: 'object',
    properties: Object.fromEntries(Array.from({ length: count }, (_, one) => [`field${one}`, { type: 'string' }])),
  });
  const group = `${id}.example.org`;
  await world.publish({ name: id, tag: 'v1.0.0', objects: [definitionOf('things', group, field(1))] });
  await world.publish({ name: id, tag: 'v1.1.0', objects: [definitionOf('things', group, field(2))] });
  await world.publish({ name: `${id}-new`, tag: 'v1.0.0', objects: [definitionOf('things', group, field(2))] });
  return { id, source: world.source(id), successor: world.source(`${id}-new`) };
}

/** What goes on, in words. */
async function underWay(names: Names): Promise<readonly string[]> {
  const running = (await ofCase(names)).filter((one) => !isOver(one) || at(one, 'metadata', 'deletionTimestamp') !== undefined);
  const packages = await Promise.all([names.id, `${names.id}-new`].map((name) => client.get(providerPath(name))));
  const busy = packages.filter(({ code, body }) => code === 200 && isBusy(body));
  return [
    ...running.map((one) => `${textAt(one, 'metadata', 'name')} ${JSON.stringify(statusOf(one))}`),
    ...busy.map(
      ({ body }) =>
        `${textAt(body, 'metadata', 'name')} ${JSON.stringify(objectAt(body, 'metadata'))} ${JSON.stringify(statusOf(body))}`,
    ),
  ];
}

function isBusy(pkg: JsonObject): boolean {
  if (at(pkg, 'metadata', 'deletionTimestamp') !== undefined) return true;
  if (textAt(pkg, 'metadata', 'annotations', Object.keys(optedIn)[0] ?? '') === undefined) return false;
  const condition = objectsAt(pkg, 'status', 'conditions').find(({ type }) => type === 'Installed');
  return condition?.observedGeneration !== at(pkg, 'metadata', 'generation') || condition?.status === 'Unknown';
}

async function settled(names: Names): Promise<void> {
  const isSettled = async (): Promise<boolean> => {
    const busy = await underWay(names);
    if (busy.length > 0) throw new Error(busy.join('; '));
    return true;
  };
  // A try that waits for its own waiter fails after ten minutes.
  await waitFor(isSettled, 'nothing to be under way', { timeoutMs: 900_000 });
}

/**
 * Reasons that one of the changes may give, because the other leaves it nothing to do, or has what it needs. `CRDConflict`: the successor
 * has the CRDs. `InvalidPackage`: nothing is installed that could be replaced, or a later Package has the name.
 */
function contradictions({ kind, way }: Change, { kind: other }: Change, phase: string): readonly RegExp[] {
  const [of, has] = [new Set([kind, other]), (...some: readonly Kind[]) => some.some((one) => kind === one || other === one)];
  // It may come to the Lock before the install, because it reads no registry.
  if (phase === 'Waiting' && kind === 'install' && has('delete', 'replace')) return [/^InvalidPackage/];
  // The user deletes the Package that an update by hand is about to write.
  if (kind === 'update' && way === 'by hand' && other === 'delete')
    return [/^InstallationFailed .* is being deleted: wait until it is gone/];
  if (!of.has('replace')) return [];
  return has('install', 'update') ? [/^CRDConflict/, /^InvalidPackage/] : [/^InvalidPackage/];
}

for (const [index, { first, phase, other }] of pairs.entries()) {
  const title = `${other.kind} ${other.way}, while ${first.kind} ${first.way} is ${phase}`;
  if (index % nth !== from) continue;
  t.test(`${index}: ${title}`, async (t) => {
    const names = await publishCase(index);
    if (first.kind !== 'install') {
      await byPackage(names, 'v1.0.0');
      await settled(names);
    }
    const uid = textAt((await client.get(providerPath(names.id))).body, 'metadata', 'uid');
    let state: 'before' | 'done' = 'before';
    onCall = async (parent) => {
      if (state === 'done' || !isFirst(names, first, parent, uid)) return;
      // The call may have an older status than the hook will read.
      const live = await client.get(ptxPath(textAt(parent, 'metadata', 'name')));
      if (live.code !== 200 || phaseOf(live.body) !== phase) return;
      state = 'done';
      await changes[other.kind](names, other.way, 'second');
    };
    await changes[first.kind](names, first.way, 'first');
    await waitFor(async () => state === 'done', `${first.kind} to be ${phase}`, { timeoutMs: 300_000 });
    await settled(names);
    onCall = async () => undefined;
    const made = await ofCase(names);
    const allowed = contradictions(first, other, phase);
    const failed = [...failures].filter(([name]) => new RegExp(`^(tx-)?${names.id}-`).test(name));
    for (const [name, why] of failed)
      t.ok(
        allowed.some((reason) => reason.test(why)),
        `${name}: ${why}`,
      );
    for (const one of made)
      t.ok(
        phaseOf(one) === 'Succeeded' || failures.has(textAt(one, 'metadata', 'name') ?? '') || isAbandoned(one),
        `${textAt(one, 'metadata', 'name')}: ${JSON.stringify(statusOf(one))}`,
      );
    await t.resolves(inOrder(names));
  });
}

/** What the Lock has is what the cluster has: the CRD is there if one of the packages is installed, and controlled by its revision. */
async function inOrder({ id, source, successor }: Names): Promise<void> {
  const lock = must(await client.get(lockPath));
  const installed = objectsAt(lock, 'packages').filter((one) => one.source === source || one.source === successor);
  const { body } = await client.get(definitionPath(`things.${id}.example.org`));
  const controllers = objectsAt(body, 'metadata', 'ownerReferences').filter((one) => one.controller === true);
  const packages = await Promise.all([id, `${id}-new`].map((name) => client.get(providerPath(name))));
  const active = packages.filter(({ body: pkg }) => conditionIn(statusOf(pkg), 'Installed')?.status === 'True');
  const holder = textAt(lock, 'metadata', 'annotations', 'pkg.crossplane.io/current-transaction') ?? '';
  const found = {
    holder,
    entries: installed.map(({ name }) => name),
    definition: textAt(body, 'kind') === 'CustomResourceDefinition',
    controllers: controllers.map(({ name }) => name),
    active: active.map(({ body: pkg }) => `${textAt(pkg, 'spec', 'package')?.split('/').at(-1)?.split(':')[0]}`),
  };
  const [entry] = installed;
  const sources = entry === undefined ? [] : [entry.source];
  const expected = { holder: '', entries: installed.slice(0, 1).map(({ name }) => name), definition: entry !== undefined };
  const owners = { controllers: expected.entries, active: sources.map((one) => String(one).split('/').at(-1)) };
  if (JSON.stringify(found) !== JSON.stringify({ ...expected, ...owners }))
    throw new Error(`expected ${JSON.stringify({ ...expected, ...owners })}, found ${JSON.stringify(found)}`);
}
