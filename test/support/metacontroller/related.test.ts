// The recorded calls of Metacontroller 4.17.2 for a cluster-scoped parent with related objects: a loop makes the same ones. An object
// of the cluster is related by its name, objects of a namespace are by their label; a change of either causes a call.
import { readdirSync, readFileSync } from 'node:fs';
import t from 'tap';
import { at, isList, isObject, type JsonObject, parseJson, textAt } from '../../../hooks/objects/json.ts';
import { connect, freeNamespace, must, waitFor } from '../client.ts';
import { startLoop } from './loop.ts';
import { listPath } from './parents.ts';
import { installParentKind, kubeconfigOfTests, loopKinds, startScriptedHook } from './scripted-hook.ts';

const kubeconfig = kubeconfigOfTests();
const client = connect(kubeconfig);
t.teardown(() => client.close());
const folder = new URL('../../fixtures/metacontroller-packages/', import.meta.url);
const recorded = readdirSync(folder)
  .sort()
  .map((file) => parseJson(readFileSync(new URL(file, folder), 'utf8')) as JsonObject);
const recordedNames = ['Lock.pkg.crossplane.io/v1beta1', 'Transaction.tx.janus.io/v1alpha1', 'janus-packages/t1-1-1', 'lock'];

interface Call {
  readonly path: string;
  readonly request: JsonObject;
}

/** What does not depend on names and times. `names`: the four that are in `related`. */
function shapeOf({ path, request }: Call, names: readonly string[]): object {
  const [parent, related, finalizers] = [
    at(request, 'parent'),
    at(request, 'related'),
    at(request, 'parent', 'metadata', 'finalizers'),
  ];
  const general = (name: string): string => recordedNames[names.indexOf(name)] ?? name;
  const groups = isObject(related) ? Object.entries(related) : [];
  return {
    path: path.replace(/^.*\//, ''),
    keys: Object.keys(request).toSorted(),
    namespace: textAt(parent, 'metadata', 'namespace'),
    generation: at(parent, 'metadata', 'generation'),
    finalizers: isList(finalizers) ? finalizers.length : 0,
    seen: isObject(at(parent, 'status')),
    children: at(request, 'children'),
    finalizing: at(request, 'finalizing'),
    related: groups.map(([kind, objects]) => [general(kind), Object.keys(objects as JsonObject).map(general)]).toSorted(),
  };
}

/** Without those that repeat the one before: a late cache, and a write that changes nothing of this. */
const distinct = (shapes: readonly object[]): readonly object[] =>
  shapes.filter((shape, index) => JSON.stringify(shape) !== JSON.stringify(shapes[index - 1]));

for (const kind of loopKinds) {
  t.test(`related objects through the ${kind}`, { timeout: 120_000 }, async (t) => {
    const resource = await installParentKind(client, t, 'Cluster');
    const namespace = await freeNamespace(client, 'related', t);
    const [classes, leases] = [
      '/apis/scheduling.k8s.io/v1/priorityclasses',
      `/apis/coordination.k8s.io/v1/namespaces/${namespace}/leases`,
    ];
    const names = ['PriorityClass.scheduling.k8s.io/v1', 'Lease.coordination.k8s.io/v1', `${namespace}/stage`, namespace];
    const labels = { 'related.tx.janus.io/of': namespace };
    must(await client.create(classes, { metadata: { name: namespace }, value: 1 }));
    t.teardown(() => client.delete(`${classes}/${namespace}`));
    const relatedResources = [
      { apiVersion: 'scheduling.k8s.io/v1', resource: 'priorityclasses', names: [namespace] },
      { apiVersion: 'coordination.k8s.io/v1', resource: 'leases', namespace, labelSelector: { matchLabels: labels } },
    ];
    const hook = await startScriptedHook(({ path }) => ({
      body: path === '/customize' ? { relatedResources } : { status: { phase: 'Seen', version: 1 }, children: [] },
    }));
    t.teardown(() => hook.stop());
    const common = { kubeconfig, hookUrl: hook.url, name: `janus-${namespace}`, kind, parentResource: resource };
    const loop = await startLoop({ ...common, matchLabels: {}, customize: true });
    t.teardown(() => loop.stop());
    const shapes = (): readonly object[] => distinct(hook.received.map((call) => shapeOf(call, names)));
    const calls = (): number => hook.received.length;

    must(
      await client.create(listPath(resource), { apiVersion: resource.apiVersion, kind: 'Transaction', metadata: { name: 't1' } }),
    );
    await waitFor(() => shapes().length === 3, 'the calls up to that by its own status');
    const before = calls();
    must(await client.patch(`${classes}/${namespace}`, { metadata: { annotations: { changed: 'yes' } } }));
    await waitFor(() => calls() > before, 'a call because the related object of the cluster has changed');
    must(await client.create(leases, { metadata: { name: 'stranger' } }));
    must(await client.create(leases, { metadata: { name: 'stage', labels } }));
    await waitFor(() => shapes().length === 4, 'a call with the new object of the namespace');
    await loop.stop();

    const expected = recorded.map((call) => ({ path: textAt(call, 'url') ?? '', request: at(call, 'request') as JsonObject }));
    t.same(shapes(), distinct(expected.map((call) => shapeOf(call, recordedNames))));
    t.equal(shapes().length, 4);
  });
}
