// The Pod of a diagnosis, and its message for an object that readers may see, and for a sealed object.
import t from 'tap';
import type { Json, JsonObject } from '../../../../hooks/objects/json.ts';
import { describeDiagnosis, type Evidence, longestDiagnosis } from '../../../../hooks/transactions/gates/diagnosis.ts';
import { json, table } from '../../../support/table.ts';

const deployment: JsonObject = { kind: 'Deployment', metadata: { name: 'web', uid: 'd' } };

function words(evidence: Partial<Evidence>): string {
  return describeDiagnosis({ object: deployment, events: [], unread: [], sealed: false, ...evidence });
}

function pod(name: string, status: Json | undefined, metadata: JsonObject = {}): JsonObject {
  return { metadata: { name, uid: name, creationTimestamp: '2026-01-01T00:00:00Z', ...metadata }, status: status ?? {} };
}

// What a kubelet writes, less what is not looked at.
const rows = table<'reason' | 'status' | 'open' | 'sealed'>(`
reason                                     | status                                                                                                                                                     | open                                                                              | sealed
nothing is known of it yet                 | {}                                                                                                                                                         | Pod p is not ready.                                                               | Pod is not ready.
it is ready                                | {phase: Running, conditions: [{type: Ready, status: "True"}], containerStatuses: [{name: app, ready: true, lastState: {terminated: {exitCode: 1}}}]}        |                                                                                   |
it has done its work                       | {phase: Succeeded, conditions: [{type: Ready, status: "False", reason: PodCompleted}]}                                                                     |                                                                                   |
a container cannot start                   | {containerStatuses: [{name: a, ready: true}, {name: b, ready: false, state: {waiting: {reason: ErrImagePull, message: "no such image."}}}]}                | Pod p: container b is waiting (ErrImagePull): no such image.                      | Pod: container is waiting (ErrImagePull).
it ended before                            | {containerStatuses: [{name: a, state: {waiting: {reason: CrashLoopBackOff, message: m}}, lastState: {terminated: {exitCode: 137, reason: OOMKilled}}}]}     | Pod p: container a is waiting (CrashLoopBackOff), ended before with exit code 137 (OOMKilled). | Pod: container is waiting (CrashLoopBackOff), ended before (OOMKilled).
an init container holds up the others      | {initContainerStatuses: [{name: i, state: {waiting: {reason: CreateContainerConfigError}}}], containerStatuses: [{name: a, state: {waiting: {reason: PodInitializing}}}]} | Pod p: init container i is waiting (CreateContainerConfigError).                  | Pod: init container is waiting (CreateContainerConfigError).
it is on its way to its start              | {containerStatuses: [{name: a, ready: false, state: {waiting: {reason: ContainerCreating}}}], conditions: [{type: Ready, status: "False", reason: ContainersNotReady}]} | Pod p: container a is not ready (ContainerCreating).                              | Pod: container is not ready (ContainerCreating).
a container has ended                      | {containerStatuses: [{name: a, state: {terminated: {exitCode: 3, reason: Error, message: printed}}}]}                                                       | Pod p: container a ended with exit code 3 (Error).                                | Pod: container ended (Error).
a container has been started again         | {containerStatuses: [{name: a, ready: false, state: {running: {}}, lastState: {terminated: {exitCode: 2, message: printed}}}]}                             | Pod p: container a ended with exit code 2.                                        | Pod: container ended.
an init container has done its work        | {initContainerStatuses: [{name: i, ready: true, state: {terminated: {exitCode: 0, reason: Completed}}}], containerStatuses: [{name: a, ready: false}]}      | Pod p: container a is not ready.                                                  | Pod: container is not ready.
it was evicted                             | {phase: Failed, reason: Evicted, message: "The node was low on memory"}                                                                                    | Pod p has failed (Evicted): The node was low on memory.                           | Pod has failed (Evicted).
no node has room                           | {phase: Pending, conditions: [{type: PodScheduled, status: "False", reason: Unschedulable, message: "0/3 nodes"}]}                                          | Pod p is not scheduled (Unschedulable): 0/3 nodes.                                | Pod is not scheduled (Unschedulable).
its reason is none                         | {containerStatuses: [{name: a, state: {waiting: {reason: "my secret", message: m}}}]}                                                                       | Pod p: container a is waiting: m.                                                 | Pod: container is waiting.
it is nothing that a kubelet writes        | {phase: 7, conditions: no, containerStatuses: [1, null, {ready: "true", state: [], lastState: {terminated: {exitCode: "1"}}}]}                              | Pod p: container is not ready.                                                    | Pod: container is not ready.
`);

for (const { reason, status, open, sealed } of rows) {
  t.test(reason, async (t) => {
    t.equal(words({ pods: [pod('p', json(status))] }), open);
    t.equal(words({ pods: [pod('p', json(status))], sealed: true }), sealed);
  });
}

const states = {
  waiting: { containerStatuses: [{ name: 'a', state: { waiting: { reason: 'ErrImagePull' } } }] },
  terminated: { containerStatuses: [{ name: 'a', state: { terminated: { exitCode: 1 } } }] },
  unscheduled: { conditions: [{ type: 'PodScheduled', status: 'False' }] },
  unready: {},
};

t.test('the worst Pod, and of equally bad ones the newest', async (t) => {
  const named = Object.entries(states).map(([name, status]) => pod(name, status));
  const order = Object.keys(states);
  for (const [index, worst] of order.entries()) {
    t.match(words({ pods: named.slice(index).toReversed() }), new RegExp(`^Pod ${worst}\\b`));
  }
  const newer = pod('b', states.waiting, { creationTimestamp: '2026-01-02T00:00:00Z' });
  t.match(words({ pods: [pod('c', states.waiting), newer, pod('a', states.waiting)] }), /^Pod b:/);
  t.match(words({ pods: [pod('a', states.waiting), pod('c', states.waiting)] }), /^Pod c:/, 'the name, where both are as old');
  const leaving = pod('gone', states.waiting, { deletionTimestamp: '2026-01-02T00:00:00Z' });
  t.match(words({ pods: [leaving, pod('stays', states.unready)] }), /^Pod stays/);
  t.equal(words({ pods: [leaving] }), '', 'it is being deleted');
});

t.test('the diagnosis says that there is no Pod if the engine has listed Pods', async (t) => {
  t.equal(words({ pods: [] }), 'There is no Pod.');
  t.equal(words({}), '');
});

const failure = (message: string) => ({
  status: { conditions: [{ type: 'ReplicaFailure', status: 'True', reason: 'FailedCreate', message }] },
});

t.test('conditions: of the ReplicaSet in its place, else of the object; those of other kinds mean other things', async (t) => {
  const replicaSet = { metadata: { name: 'web-1' }, ...failure('no quota') };
  const object = { ...deployment, ...failure('no quota') };
  t.equal(words({ object, replicaSet }), 'ReplicaSet web-1: ReplicaFailure=True (FailedCreate): no quota.');
  t.equal(words({ object }), 'ReplicaFailure=True (FailedCreate): no quota.');
  t.equal(words({ object, replicaSet, sealed: true }), 'ReplicaSet: ReplicaFailure=True (FailedCreate).');
  const ended = (kind: string) => ({
    kind,
    status: {
      conditions: [
        { type: 'Progressing', status: 'False', reason: 'ProgressDeadlineExceeded' },
        { type: 'Failed', status: 'True', reason: 'BackoffLimitExceeded' },
      ],
    },
  });
  t.equal(words({ object: ended('Deployment') }), 'Progressing=False (ProgressDeadlineExceeded).');
  t.equal(words({ object: ended('Job') }), 'Failed=True (BackoffLimitExceeded).');
  t.equal(words({ object: ended('Operator') }), '');
});

const event = (reason: string, uid: string, times: JsonObject): JsonObject => ({
  ...{
    reason,
    message: `about ${reason}`,
    involvedObject: { uid, kind: 'Lie' },
    metadata: { creationTimestamp: '2026-01-01T00:00:00Z' },
  },
  ...times,
});

t.test('the last three Events of all together, whichever field has their time', async (t) => {
  const events = [
    event('Oldest', 'd', { lastTimestamp: '2026-01-01T00:00:01Z' }),
    event('Series', 'r', { lastTimestamp: null, series: { lastObservedTime: '2026-01-01T00:00:04.000000Z' } }),
    event('Micro', 'p', { lastTimestamp: null, eventTime: '2026-01-01T00:00:03.500000Z' }),
    event('Old', 'd', { lastTimestamp: '2026-01-01T00:00:03Z' }),
    event('Untimed', 'd', {}),
  ];
  const evidence = { events, replicaSet: { metadata: { uid: 'r' } }, pods: [pod('p', { phase: 'Succeeded' })] };
  const last = 'ReplicaSet (Series): about Series; Pod (Micro): about Micro; Deployment (Old): about Old';
  t.equal(words(evidence), `Last Warning Events: ${last}.`);
  t.equal(words({ ...evidence, sealed: true }), 'Last Warning Events: ReplicaSet (Series); Pod (Micro); Deployment (Old).');
});

t.test('the diagnosis names each unreadable kind once', async (t) => {
  const unread = ['Pods', 'Events', 'Events'].map((what) => ({ what, reason: 'Forbidden' as const }));
  t.equal(words({ unread }), 'Pods could not be read (Forbidden). Events could not be read (Forbidden).');
});

t.test('a message of a stranger is on one line, visible and bounded', async (t) => {
  const nasty = `\u202e\n${'x'.repeat(100_000)}`;
  const status = { containerStatuses: [{ name: nasty, state: { waiting: { reason: 'ErrImagePull', message: nasty } } }] };
  const events = ['A', 'B', 'C'].map((reason) => event(reason, 'd', { message: nasty }));
  const unread = [{ what: 'Pods', reason: 'Forbidden' as const }];
  const said = words({ pods: [pod('web-1', status)], events, unread });
  t.equal(said.length, longestDiagnosis);
  t.match(said, /^Pod web-1: container \\u\{202e\} x+… is waiting \(ErrImagePull\): \\u\{202e\} x+…\. Pods could not be read/);
  t.notMatch(said, /[\n\u202e]/);
});
