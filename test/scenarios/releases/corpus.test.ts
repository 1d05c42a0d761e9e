// Releases as projects publish them (test/corpus), installed, upgraded, and both undone: all is as before, to the last managed field.
// Each by an administrator of the cluster; some of them as plain manifests, others by an administrator of the namespace, who gets
// what has no namespace from the other. Some make their Namespace themselves: then no dry run is possible, and an install that fails must
// leave nothing. `JANUS_CORPUS=all npm test -- test/scenarios/releases/corpus.test.ts` tries each release in each way.
import t, { type Test } from 'tap';
import { expand } from '../../../cli/cluster/inspecting.ts';
import { at, equalJson, type Json, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { groupOf } from '../../../hooks/objects/reference.ts';
import { states } from '../../../hooks/transactions/inspect.ts';
import type { ObjectState } from '../../../hooks/transactions/inspection.ts';
import { must, waitFor } from '../../support/client.ts';
import { appliesBetween, changesBetween, isNamespaced, manifestsOf, referenceOf, releases } from '../../support/corpus.ts';
import { withoutGenerated } from '../../support/generated.ts';
import { planParts } from '../../support/planning.ts';
import { allowIrreversible, itemsOf, undoAll } from '../../support/round-trip.ts';
import { share } from '../../support/selection.ts';
import { account, type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { portraits } from '../../support/targets.ts';

/** As it is shipped: many changes in a call. */
const timing = { callBudget: 5_000 };

function collectionOf(object: JsonObject): string {
  const { apiVersion, kind, namespace } = referenceOf(object);
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const plural = kind.toLowerCase().replace(/(s?)$/, (end) => (end === 's' ? 'ses' : 's'));
  return `${root}/${namespace === undefined ? '' : `namespaces/${namespace}/`}${plural.replace(/ys$/, 'ies')}`;
}

function pathOf(object: JsonObject): string {
  return `${collectionOf(object)}/${referenceOf(object).name}`;
}

/** By path. `renewed`: those that are to come back under another uid. */
async function show(
  { client }: Stage,
  objects: readonly JsonObject[],
  renewed: readonly string[] = [],
): Promise<Readonly<Record<string, unknown>>> {
  const seen = objects.map(pathOf).map(async (path) => {
    const [shown] = await portraits(client, [path], renewed.includes(path));
    return [path, shown === undefined ? undefined : withoutGenerated(shown)] as const;
  });
  return Object.fromEntries(await Promise.all(seen));
}

// Their Pods and ReplicaSets go with them: who drops them says so.
function hasPods(object: JsonObject): boolean {
  return ['Job', 'Deployment'].includes(textAt(object, 'kind') ?? '');
}

// Kubernetes writes once more to what was made a moment ago.
async function settled({ client }: Stage, objects: readonly JsonObject[]): Promise<void> {
  const crds = objects.filter(isCrd);
  const isEstablished = async (path: string): Promise<boolean> =>
    JSON.stringify(at(must(await client.get(path)), 'status', 'conditions') ?? '').includes('"Established"');
  for (const crd of crds) await waitFor(() => isEstablished(pathOf(crd)), `${referenceOf(crd).name} to be established`);
  // With the first write after it the API server forgets who owns a field that has the value of its absence (minReadySeconds: 0).
  const isObserved = async (path: string): Promise<boolean> =>
    at(must(await client.get(path)), 'status', 'observedGeneration') !== undefined;
  for (const one of objects.filter(({ kind }) => kind === 'Deployment'))
    await waitFor(() => isObserved(pathOf(one)), `${referenceOf(one).name} to be observed`);
}

interface How {
  readonly select: (object: JsonObject) => boolean;
  readonly changes: typeof changesBetween;
  readonly spec: JsonObject;
  /** Whether the release makes its Namespace. */
  readonly makesNamespace?: true;
}

const asWritten: How = { select: () => true, changes: changesBetween, spec: {} };
const shared = { changes: appliesBetween, spec: { fieldManager: 'release' } };

async function commit(
  stage: Stage,
  name: string,
  changes: readonly JsonObject[],
  more: Parameters<Stage['transaction']>[2],
): Promise<void> {
  await stage.transaction(name, changes, more);
  const { status, phase } = await stepToEnd(stage, name);
  if (phase !== 'Committed') throw new Error(`expected ${name} to be Committed, it is ${phase}: ${textAt(status, 'message')}`);
}

async function thereAndBack(t: Test, stage: Stage, name: string, how: How): Promise<void> {
  const { select, changes, spec } = how;
  const versionOf = (version: string): readonly JsonObject[] =>
    how.makesNamespace === true
      ? [namespaceOf(inside(stage, name)), ...manifestsOf(name, version, inside(stage, name))]
      : manifestsOf(name, version, stage.namespace).filter(select);
  const [first, second] = [versionOf('v1'), versionOf('v2')];
  const all = [...first, ...second];
  // Leftovers of a failure must not disturb other tests: the rest is deleted with its namespace.
  for (const object of all.filter((one) => !isNamespaced(one))) t.teardown(() => stage.client.delete(pathOf(object)));
  const old = first.filter((object) => !second.map(pathOf).includes(pathOf(object)));
  const dropped = old.map(pathOf);
  t.ok(dropped.length > 0 && second.length > first.length - dropped.length, 'the upgrade drops objects and adds others');
  const nothing = await show(stage, all);
  t.ok(
    Object.values(nothing).every((one) => one === undefined),
    'nothing is there before',
  );
  if (how.makesNamespace === true) {
    await stage.transaction(`${name}-fails`, [...changes([], first), refusedIn(inside(stage, name))], { spec });
    const { status } = await endOfFailed(stage, `${name}-fails`, first);
    t.match(status, { phase: 'RolledBack', message: /Ingress/ }, JSON.stringify(itemsOf(status)));
    t.same(await show(stage, all), nothing, 'an install that fails leaves nothing');
  }
  await commit(stage, `${name}-v1`, changes([], first), { spec });
  await settled(stage, first);
  await showNoDrift(t, stage, `${name}-v1`);
  const installed = await show(stage, all, dropped);
  const annotations = old.some(hasPods) ? allowIrreversible : {};
  await commit(stage, `${name}-v2`, changes(first, second), { spec, annotations });
  await settled(stage, second);
  await showNoDrift(t, stage, `${name}-v2`);
  const upgraded = await show(stage, all);
  await showOneDrift(t, stage, `${name}-v2`, second);
  const same = Object.keys(installed).filter((path) => equalJson(installed[path] as Json, upgraded[path] as Json));
  t.ok(same.length < Object.keys(installed).length / 2, `the upgrade is one: ${same.join(' ')} stay as they are`);
  await undoAll(stage, `${name}-v2`);
  t.same(await show(stage, all, dropped), installed, 'as it was installed');
  if (how.makesNamespace === true) await deleteClaims(stage, first);
  await undoAll(stage, `${name}-v1`);
  t.same(await show(stage, all), nothing, 'nothing is left');
}

async function driftOf(t: Test, stage: Stage, name: string): Promise<readonly ObjectState[]> {
  const { reader } = planParts(t, stage);
  const found = await states({ reader, expand }, await stage.read(name));
  return found.filter(({ state }) => state !== 'asReleased' && state !== 'sealed');
}

async function showNoDrift(t: Test, stage: Stage, name: string): Promise<void> {
  t.same(await driftOf(t, stage, name), [], `nothing has changed since ${name}`);
}

/** An edit of a release is the only difference, with its manager; the object then has its former value. */
async function showOneDrift(t: Test, stage: Stage, release: string, objects: readonly JsonObject[]): Promise<void> {
  const { client, namespace } = stage;
  const edited = objects.find((one) => textAt(one, 'kind') === 'Deployment' && referenceOf(one).namespace === namespace);
  if (edited === undefined) return;
  const path = pathOf(edited);
  const labels = (drift: string | null) =>
    client.patch(path, { metadata: { labels: { drift } } }, 'merge', { fieldManager: 'kubectl-label' });
  must(await labels('yes'));
  t.match(
    await driftOf(t, stage, release),
    [
      {
        state: 'changed',
        fields: [{ path: 'metadata.labels.drift', now: { kind: 'value', value: 'yes' }, by: ['kubectl-label'] }],
      },
    ],
    'one edit, one field',
  );
  must(await labels(null));
}

function inside({ namespace }: Stage, name: string): string {
  return `${namespace}-${name}`;
}

function namespaceOf(name: string): JsonObject {
  return { apiVersion: 'v1', kind: 'Namespace', metadata: { name } };
}

/** What the API server refuses in its turn: no dry run is possible before. */
function refusedIn(namespace: string): JsonObject {
  const backend = { service: { name: 'app', port: { number: 80 } } };
  const rules = [{ host: 'not_a host', http: { paths: [{ path: '/', pathType: 'Prefix', backend }] } }];
  const target = { apiVersion: 'networking.k8s.io/v1', kind: 'Ingress', name: 'refused', namespace };
  return { type: 'Create', target, content: { spec: { rules } } };
}

/** The claims of a StatefulSet may hold data: they stay, and their Namespace with them, until somebody deletes them. */
async function endOfFailed(stage: Stage, name: string, objects: readonly JsonObject[]): ReturnType<typeof stepToEnd> {
  const ended = await stepToEnd(stage, name);
  if (namespacesOfClaims(objects).length === 0) return ended;
  if (!/NotEmpty.*PersistentVolumeClaim|PersistentVolumeClaim.*NotEmpty/.test(JSON.stringify(itemsOf(ended.status))))
    throw new Error(`the claim is not named: ${JSON.stringify(ended.status)}`);
  await deleteClaims(stage, objects);
  await stage.annotate(name, { 'tx.janus.io/retry-rollback': 'claims' });
  return stepToEnd(stage, name);
}

function namespacesOfClaims(objects: readonly JsonObject[]): readonly string[] {
  const withClaims = objects.filter((object) => at(object, 'spec', 'volumeClaimTemplates') !== undefined);
  return withClaims.map((object) => referenceOf(object).namespace ?? '');
}

async function deleteClaims({ client }: Stage, objects: readonly JsonObject[]): Promise<void> {
  for (const namespace of namespacesOfClaims(objects)) {
    const claims = `/api/v1/namespaces/${namespace}/persistentvolumeclaims`;
    for (const { metadata } of (await client.list(claims)).items)
      must(await client.delete(`${claims}/${textAt(metadata ?? {}, 'name')}`));
    await waitFor(async () => (await client.list(claims)).items.length === 0, 'the claims to be gone');
  }
}

t.test('by an administrator of the cluster', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, timing });
  for (const name of releases().filter((_, index) => index % share(6, 1) === 0))
    await t.test(name, (t) => thereAndBack(t, stage, name, asWritten));
});

/** One in four, by its rest (one of all in `npm test`); all of them if JANUS_CORPUS says so. */
const some = (rest: 0 | 1 | 2 | 3): readonly string[] =>
  releases().filter((_, index) => process.env.JANUS_CORPUS === 'all' || index % share(24, 4) === rest);

t.test('as plain manifests, under one field manager', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, timing });
  for (const name of some(0)) await t.test(name, (t) => thereAndBack(t, stage, name, { ...asWritten, ...shared }));
});

t.test('with its Namespace', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, timing });
  for (const name of some(1)) await t.test(name, (t) => thereAndBack(t, stage, name, { ...asWritten, makesNamespace: true }));
});

t.test('with its Namespace, under one field manager', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, timing });
  for (const name of some(2))
    await t.test(name, (t) => thereAndBack(t, stage, name, { ...asWritten, ...shared, makesNamespace: true }));
});

t.test('by an administrator of the namespace', async (t) => {
  const stage = await startStage(t, { withoutLoop: true, timing, rules: [] });
  const { client, namespace, path } = stage;
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'admin' };
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace }];
  must(
    await client.create(path('rbac.authorization.k8s.io/v1/rolebindings'), { metadata: { name: 'admin' }, roleRef, subjects }),
  );
  for (const name of some(3))
    await t.test(name, async (t) => {
      await provide(t, stage, name);
      await thereAndBack(t, stage, name, { ...asWritten, select: isNamespaced });
    });
});

/** What another one makes for the administrator of the namespace: objects without namespace. */
async function provide(t: Test, stage: Stage, name: string): Promise<void> {
  const { client, namespace } = stage;
  const objects = manifestsOf(name, 'v2', namespace);
  for (const object of objects.filter((one) => !isNamespaced(one))) {
    must(await client.create(collectionOf(object), object));
    t.teardown(() => client.delete(pathOf(object)));
    if (isCrd(object)) await waitFor(() => isServed(stage, object), `${referenceOf(object).name} to be served`);
  }
  for (const target of objects.filter(isNamespaced))
    await waitFor(() => mayCreate(stage, target), `the right to create ${pathOf(target)}`);
}

function isCrd(object: JsonObject): boolean {
  return textAt(object, 'kind') === 'CustomResourceDefinition';
}

async function isServed({ client, path }: Stage, crd: JsonObject): Promise<boolean> {
  const [version] = at(crd, 'spec', 'versions') as readonly JsonObject[];
  const plural = textAt(crd, 'spec', 'names', 'plural');
  return (await client.get(path(`${textAt(crd, 'spec', 'group')}/${textAt(version, 'name')}/${plural}`))).code === 200;
}

// Kubernetes adds the rules of a ClusterRole with the label for it to those of `admin`, in a while.
async function mayCreate({ client, namespace }: Stage, object: JsonObject): Promise<boolean> {
  const resource = collectionOf(object).split('/').at(-1) ?? '';
  const resourceAttributes = { namespace, verb: 'create', group: groupOf(textAt(object, 'apiVersion') ?? ''), resource };
  const spec = { user: `system:serviceaccount:${namespace}:${account}`, resourceAttributes };
  const review = await client.create('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec });
  return at(must(review), 'status', 'allowed') === true;
}
