// What a process has just seen is not read again (P2).
import t from 'tap';
import type { Answer, Identity, Reader, Resource } from '../../../../hooks/objects/cluster.ts';
import { createCachedReader } from '../../../../hooks/transactions/reading/cached-reader.ts';
import { configMaps, leases, serviceAccounts, transactions } from '../../../../hooks/transactions/writes/resources.ts';

let now = 0;
const clock = { monotonic: () => now };

/** A reader that answers as `answers` says, one after the other, and counts. */
function readerOf(...answers: readonly ('there' | 'absent')[]) {
  const waiting = [...answers];
  let asked = 0;
  const answer = async (): Promise<Answer> => {
    asked += 1;
    if (waiting.shift() !== 'there') return { kind: 'failed', failure: { kind: 'absent', message: '' } } as unknown as Answer;
    return { kind: 'ok', object: { metadata: { uid: 'u', resourceVersion: `${asked}` }, data: { a: 'b' } }, serverTime: 0 };
  };
  const allowed = async () => ({ kind: 'ok', allowed: (await answer()).kind === 'ok' }) as const;
  return { reader: { get: answer, getMetadata: answer, allowed } as unknown as Reader, asked: () => asked };
}

const engine: Identity = { kind: 'engine' };
const user: Identity = { kind: 'serviceAccount', namespace: 'n', name: 'deployer' };
const place = (resource: Resource, name = 'x') => ({ resource, namespace: 'n', name });

t.test('the engine does not read an object that it has just seen', async (t) => {
  const { reader, asked } = readerOf('there', 'absent', 'absent', 'there', 'there');
  const { get } = createCachedReader({ clock, span: 1000, most: 100 })(reader);
  const look = async (time: number, name?: string) => {
    now = time;
    const before = asked();
    const { kind } = await get(place(serviceAccounts, name), engine);
    return `${kind}${asked() > before ? ', asked' : ''}`;
  };
  t.equal(await look(0), 'ok, asked');
  t.equal(await look(999), 'ok');
  t.equal(await look(999, 'another'), 'failed, asked', 'each for itself');
  t.equal(await look(1000), 'failed, asked', 'counted from when it was read');
  t.equal(await look(1001), 'ok, asked', 'what is not there is read each time');
  t.equal(await look(2000), 'ok');
  t.equal(await look(2001), 'ok, asked');
});

t.test('of an object that was just seen only uid and version are known', async (t) => {
  now = 0;
  const { reader } = readerOf('there');
  const { getMetadata } = createCachedReader({ clock, span: 1000, most: 100 })(reader);
  await getMetadata(place(configMaps), engine);
  t.match(await getMetadata(place(configMaps), engine), {
    kind: 'ok',
    object: { metadata: { uid: 'u', resourceVersion: '1' }, data: undefined },
  });
});

t.test('a permission counts for a moment, for one user and one question; a denial does not', async (t) => {
  now = 0;
  const { reader, asked } = readerOf('there', 'there', 'there', 'absent', 'absent');
  const { allowed } = createCachedReader({ clock, span: 1000, most: 100 })(reader);
  const question = (verb: string) => ({ verb, group: '', resource: 'configmaps' });
  for (const [verb, identity, count] of [
    ['get', user, 1],
    ['get', user, 1],
    ['patch', user, 2],
    ['get', { ...user, name: 'another' }, 3],
    ['delete', user, 4],
    ['delete', user, 5],
  ] as const) {
    await allowed(question(verb), identity);
    t.equal(asked(), count);
  }
});

t.test('the engine always reads targets, Leases and Transactions, and reads everything if no time is set', async (t) => {
  now = 0;
  const always = readerOf(...Array.from({ length: 20 }, () => 'there' as const));
  const { get, getMetadata } = createCachedReader({ clock, span: 1000, most: 100 })(always.reader);
  for (const [resource, identity] of [
    [configMaps, user],
    [serviceAccounts, user],
    [leases, engine],
    [transactions, engine],
    [configMaps, engine],
  ] as const) {
    const before = always.asked();
    await get(place(resource), identity);
    await get(place(resource), identity);
    t.equal(always.asked(), before + 2, `${resource.kind} as ${identity.kind}`);
  }
  await getMetadata(place(configMaps), user);
  await getMetadata(place(configMaps), user);
  t.equal(always.asked(), 12);
  const none = readerOf('there', 'there');
  const plain = createCachedReader({ clock, span: 0, most: 100 })(none.reader);
  await plain.get(place(serviceAccounts), engine);
  await plain.get(place(serviceAccounts), engine);
  t.equal(none.asked(), 2, 'without a span');
});
