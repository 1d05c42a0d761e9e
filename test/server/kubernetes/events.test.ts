// The story of a Transaction on the real API server: each sentence there once, in order, never in the way.
import t from 'tap';
import { textAt } from '../../../hooks/model/json.ts';
import { createStoryteller, type Sentence } from '../../../server/kubernetes/events.ts';
import { freeNamespace } from '../../support/client.ts';
import { connectToCluster } from '../../support/install.ts';
import { openCluster } from './real.ts';

const client = connectToCluster();
const cluster = openCluster();
t.teardown(() => Promise.all([client.close(), cluster.close()]));
const namespace = await freeNamespace(client, 'events', t);
const guard = 30_000;

const sentence = (parts: Partial<Sentence> = {}): Sentence => ({
  namespace,
  name: 'deploy-v2',
  uid: 'c0ffee',
  type: 'Normal',
  reason: 'Applied',
  message: 'ConfigMap shop/a is updated',
  at: Date.UTC(2026, 0, 1),
  place: [7, 1],
  ...parts,
});

async function eventsAbout(uid: string) {
  return (await client.list(`/api/v1/namespaces/${namespace}/events`, { fieldSelector: `involvedObject.uid=${uid}` })).items;
}

t.test('an Event is about the Transaction, as kubectl describe looks for it', async (t) => {
  const story = createStoryteller(cluster.transport);
  story.tell(sentence({ type: 'Warning' }));
  await story.flush(guard);
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

t.test('a sentence is there once, whoever tells it and how often', async (t) => {
  for (const story of [createStoryteller(cluster.transport), createStoryteller(cluster.transport)]) {
    for (let time = 0; time < 3; time += 1) story.tell(sentence({ uid: 'again' }));
    await story.flush(guard);
  }
  const story = createStoryteller(cluster.transport);
  story.tell(sentence({ uid: 'again', message: 'another' }));
  await story.flush(guard);
  t.equal((await eventsAbout('again')).length, 2);
});

t.test('within a second the Events are listed in the order of the story', async (t) => {
  const story = createStoryteller(cluster.transport);
  const places = [
    [100, 0],
    [9, 1],
    [9, 0],
    [10, 0],
  ] as const;
  for (const place of places) story.tell(sentence({ uid: 'order', message: place.join('-'), place }));
  await story.flush(guard);
  t.same(
    (await eventsAbout('order')).map((event) => textAt(event, 'message')),
    ['9-0', '9-1', '10-0', '100-0'],
  );
});

t.test('what cannot be told is dropped, and what follows is told', async (t) => {
  const story = createStoryteller(cluster.transport);
  story.tell(sentence({ namespace: 'there-is-no-such-namespace' }));
  story.tell(sentence({ uid: 'next', name: 'a'.repeat(253), message: 'x'.repeat(5000) }));
  await story.flush(guard);
  const [event] = await eventsAbout('next');
  t.equal(textAt(event, 'message')?.length, 1000);
});

t.test('a flood is bounded, and a flush does not wait for it longer than it is told to', async (t) => {
  const story = createStoryteller({
    request: () => new Promise(() => undefined),
    close: async () => undefined,
  });
  for (let index = 0; index < 5_000; index += 1) story.tell(sentence({ message: String(index) }));
  await story.flush(20);
  t.pass('flush came back');
});
