// Which Pods make a gate fail before its timeout: those of the new revision, with a container that does not start.
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { failingPods, hasPods } from '../../../../hooks/transactions/gates/new-pods.ts';
import { json, table } from '../../../support/table.ts';

const begun = Date.parse('2026-01-01T00:00:10Z');
const waits = (reason: string, restartCount = 0) => ({ name: 'c', restartCount, state: { waiting: { reason } } });

function pod(status: JsonObject, metadata: JsonObject = {}): JsonObject {
  return { metadata: { name: 'p', uid: 'u', creationTimestamp: '2026-01-01T00:00:10Z', ...metadata }, status };
}

const job = { resource: { group: 'batch', kind: 'Job' }, object: { kind: 'Job' }, begun, sealed: false };
const failuresOf = (status: JsonObject, metadata: JsonObject = {}): readonly string[] =>
  failingPods({ ...job, pods: [pod(status, metadata)] }).map(({ failure }) => failure);

const rows = table<'waiting' | 'failure'>(`
waiting                    | failure
ErrImagePull 0               | Image
ImagePullBackOff 0           | Image
ErrImageNeverPull 0          | Image
InvalidImageName 0           | Image
CreateContainerConfigError 0 | Container
CreateContainerError 0       | Container
RunContainerError 0          | Container
CrashLoopBackOff 3           | Container
CrashLoopBackOff 2           | 
ContainerCreating 9          | 
PodInitializing 0            | 
`);
for (const { waiting, failure } of rows) {
  const [reason = '', restarts] = waiting.split(' ');
  t.test(`${reason} after ${restarts} restarts: ${failure || 'no failure'}`, async (t) => {
    const expected = failure === '' ? [] : [failure];
    t.same(failuresOf({ containerStatuses: [waits(reason, Number(restarts))] }), expected);
    t.same(failuresOf({ initContainerStatuses: [waits(reason, Number(restarts))] }), expected, 'an init container, too');
  });
}

t.test('a Pod that runs, is deleted, or is older than the Transaction does not count', async (t) => {
  const status = { containerStatuses: [waits('ErrImagePull')] };
  t.same(failuresOf({ containerStatuses: [{ name: 'c', restartCount: 9, state: { running: {} } }] }), []);
  t.same(failuresOf({ containerStatuses: 'none' }), []);
  t.same(failuresOf(status, { deletionTimestamp: '2026-01-01T00:00:20Z' }), []);
  t.same(failuresOf(status, { creationTimestamp: '2026-01-01T00:00:08Z' }), []);
  t.same(failuresOf(status, { creationTimestamp: 'soon' }), []);
  const alone = { ...job, resource: { group: '', kind: 'Pod' } };
  const old = pod(status, { creationTimestamp: '2025-01-01T00:00:00Z' });
  t.match(failingPods({ ...alone, pods: [old] }), [{ uid: 'u' }], 'a Pod that was changed itself does');
  t.same(failingPods({ ...alone, resource: { group: 'example.org', kind: 'Pod' }, pods: [old] }), [], 'only kinds of Kubernetes');
});

t.test('two containers of one Pod may fail in two ways, and the words name the node', async (t) => {
  const status = { containerStatuses: [waits('RunContainerError'), waits('ErrImagePull'), waits('ErrImagePull')] };
  const pods = [{ ...pod(status), spec: { nodeName: 'n1' } }];
  const found = 'RunContainerError (Pod p on node n1, container c)';
  t.same(failingPods({ ...job, pods }), [
    { uid: 'u', failure: 'Container', found },
    { uid: 'u', failure: 'Image', found },
  ]);
  t.match(failingPods({ ...job, pods, sealed: true }), [{ found: 'RunContainerError (Pod, container)' }, {}]);
});

const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'c', image: 'a:2' }] } };
const revisions = table<'what' | 'object' | 'labels' | 'count'>(`
what                                                   | object                                                                                | labels                             | count
StatefulSet: a Pod of the update revision              | {metadata: {generation: 2}, status: {observedGeneration: 2, updateRevision: r2}}      | {controller-revision-hash: r2}     | 1
StatefulSet: a Pod of the former revision              | {metadata: {generation: 2}, status: {observedGeneration: 2, updateRevision: r2}}      | {controller-revision-hash: r1}     | 0
StatefulSet: the controller has not seen the change    | {metadata: {generation: 2}, status: {observedGeneration: 1, updateRevision: r2}}      | {controller-revision-hash: r2}     | 0
StatefulSet: there is no revision                      | {metadata: {generation: 2}, status: {observedGeneration: 2}}                          | {}                                 | 0
DaemonSet: a Pod of this template                      | {metadata: {annotations: {"deprecated.daemonset.template.generation": "2"}}}            | {pod-template-generation: "2"}     | 1
DaemonSet: a Pod of the former template                | {metadata: {annotations: {"deprecated.daemonset.template.generation": "2"}}}            | {pod-template-generation: "1"}     | 0
DaemonSet: there is no number                          | {metadata: {}}                                                                        | {}                                 | 0
ReplicaSet: the controller has seen the change         | {metadata: {generation: 2}, status: {observedGeneration: 2}}                          | {}                                 | 1
ReplicaSet: the controller has not seen the change     | {metadata: {generation: 2}, status: {observedGeneration: 1}}                          | {}                                 | 0
Deployment: there is no ReplicaSet                     | {spec: {template: {}}}                                                                | {}                                 | 0
`);
for (const { what, object, labels, count } of revisions) {
  const [kind = ''] = what.split(':');
  t.test(what, async (t) => {
    const pods = [pod({ containerStatuses: [waits('ErrImagePull')] }, { labels: json(labels) ?? {} })];
    const found = failingPods({
      resource: { group: 'apps', kind },
      object: json(object) as JsonObject,
      pods,
      begun,
      sealed: false,
    });
    t.equal(found.length, Number(count));
    t.ok(hasPods({ group: 'apps', kind }));
  });
}

t.test('Deployment: its newest ReplicaSet counts only if it has the present template', async (t) => {
  const made = { ...template, metadata: { labels: { app: 'web', 'pod-template-hash': '5d' } } };
  const pods = [pod({ containerStatuses: [waits('ErrImagePull')] })];
  const deployment = {
    resource: { group: 'apps', kind: 'Deployment' },
    pods,
    begun,
    sealed: false,
    replicaSet: { spec: { template: made } },
  };
  t.equal(failingPods({ ...deployment, object: { spec: { template } } }).length, 1);
  const later = { ...template, spec: { containers: [{ name: 'c', image: 'a:3' }] } };
  t.equal(failingPods({ ...deployment, object: { spec: { template: later } } }).length, 0);
});
