// Events about a Transaction on the real API server: each exists once, in order, and none delays anything.
import t from 'tap';
import { textAt } from '../../../hooks/objects/json.ts';
import { createEventRecorder, type TransactionEvent } from '../../../server/telemetry/events.ts';
import { freeNamespace } from '../../support/client.ts';
import { connectToCluster } from '../../support/install.ts';
import { openCluster } from '../kubernetes/real.ts';

const client = connectToCluster();
const cluster = openCluster();
t.teardown(() => Promise.all([client.close(), cluster.close()]));
const namespace = await freeNamespace(client, 'events', t);
const guard = 30_000;

const event = (parts: Partial<TransactionEvent> = {}): TransactionEvent => ({
  namespace,
  name: 'deploy-v2',
  uid: 'c0ffee',
  type: 'Normal',
  reason: 'Applied',
  message: 'ConfigMap shop/a is updated',
  at: Date.UTC(2026, 0, 1),
  position: [7, 1],
  ...parts,
});

async function eventsAbout(uid: string) {
  return (await client.list(`/api/v1/namespaces/${namespace}/events`, { fieldSelector: `involvedObject.uid=${uid}` })).items;
}

t.test('an Event is about the Transaction, as kubectl describe looks for it', async (t) => {
  const recorder = createEventRecorder(cluster.transport);
  recorder.record(event({ type: 'Warning' }));
  await recorder.flush(guard);
  t.match(await eventsAbout('c0ffee'), [
    {
      involvedObject: { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', namespace, name: 'deploy-v2', uid: 'c0ffee' },
      type: 'Warning',
      reason: 'Applied',
      message: 'ConfigMap shop/a is updated',
      count: 1,
      firstTimestamp: '2026-01-01T00:00:00Z',
      lastTimestamp: '2026-01-01T00:00:00Z',
      source: { component: 'janus' },
    },
  ]);
});

t.test('an Event exists once, however often and by however many replicas it is recorded', async (t) => {
  for (const recorder of [createEventRecorder(cluster.transport), createEventRecorder(cluster.transport)]) {
    for (let time = 0; time < 3; time += 1) recorder.record(event({ uid: 'again' }));
    await recorder.flush(guard);
  }
  const recorder = createEventRecorder(cluster.transport);
  for (const second of ['01', '02']) recorder.record(event({ uid: 'again', message: `until 2026-01-01T00:00:${second}Z` }));
  await recorder.flush(guard);
  t.equal((await eventsAbout('again')).length, 2);
});

t.test('Events within one second are listed in the order in which they happened', async (t) => {
  const recorder = createEventRecorder(cluster.transport);
  const positions = [
    [100, 0],
    [9, 1],
    [9, 0],
    [10, 0],
  ] as const;
  for (const position of positions) recorder.record(event({ uid: 'order', message: position.join('-'), position }));
  await recorder.flush(guard);
  t.same(
    (await eventsAbout('order')).map((event) => textAt(event, 'message')),
    ['9-0', '9-1', '10-0', '100-0'],
  );
});

t.test('an Event that cannot be written is dropped, and the next one is written', async (t) => {
  const recorder = createEventRecorder(cluster.transport);
  recorder.record(event({ namespace: 'there-is-no-such-namespace' }));
  recorder.record(event({ uid: 'next', name: 'a'.repeat(253), message: 'x'.repeat(5000) }));
  await recorder.flush(guard);
  const [written] = await eventsAbout('next');
  t.equal(textAt(written, 'message')?.length, 1000);
});

t.test('a flood is bounded, and a flush waits no longer than its timeout', async (t) => {
  const recorder = createEventRecorder({
    request: () => new Promise(() => undefined),
    close: async () => undefined,
  });
  for (let index = 0; index < 5_000; index += 1) recorder.record(event({ message: String(index) }));
  await recorder.flush(20);
  t.pass('flush came back');
});
