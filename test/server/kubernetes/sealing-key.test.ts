// The Secret with the sealing keys on the real API server: made once, read ever after, refused when it is unusable.
import t from 'tap';
import { at, isObject, withPath } from '../../../hooks/objects/json.ts';
import { createSealer } from '../../../server/kubernetes/sealer.ts';
import { ensureSealingKeys, readSealingKeys, sealingKeyName } from '../../../server/kubernetes/sealing-key.ts';
import { freeNamespace, must } from '../../support/client.ts';
import { connectToCluster } from '../../support/install.ts';
import { failureOf, openCluster } from './real.ts';

const client = connectToCluster();
const cluster = openCluster();
t.teardown(() => Promise.all([client.close(), cluster.close()]));

async function keyRingIn(namespace: string) {
  const answer = await ensureSealingKeys(cluster, namespace);
  if (answer.kind === 'failed') throw new Error(answer.failure.message);
  return answer.keyRing;
}

t.test('processes that start at once create one key', async (t) => {
  const namespace = await freeNamespace(client, 'keys', t);
  const rings = await Promise.all(Array.from({ length: 8 }, () => keyRingIn(namespace)));
  const [first] = rings;
  if (first === undefined) throw new Error('no ring');
  t.equal(first.keys.size, 1);
  t.equal(first.keys.get(first.current)?.length, 32);
  const sealed = createSealer(() => first).seal('text', 'c');
  for (const ring of rings) t.equal(createSealer(() => ring).open(sealed, 'c', 1_000), 'text');
  t.match(await readSealingKeys(cluster, namespace), { kind: 'ok', keyRing: { current: first.current } });
});

t.test('an added key opens at once, and seals after it becomes the current one', async (t) => {
  const namespace = await freeNamespace(client, 'keys', t);
  const before = await keyRingIn(namespace);
  const path = `/api/v1/namespaces/${namespace}/secrets/${sealingKeyName}`;
  must(await client.patch(path, { data: { added: Buffer.alloc(32, 7).toString('base64') } }));
  const added = await keyRingIn(namespace);
  t.same([added.current, [...added.keys.keys()].sort()], [before.current, ['added', before.current].sort()]);
  must(await client.patch(path, { data: { current: Buffer.from('added').toString('base64') } }));
  const changed = await keyRingIn(namespace);
  t.same([changed.current, changed.keys.size], ['added', 2]);
});

t.test('reading creates no key', async (t) => {
  const namespace = await freeNamespace(client, 'keys', t);
  t.match(failureOf(await readSealingKeys(cluster, namespace)), { kind: 'absent' });
  t.match((await client.get(`/api/v1/namespaces/${namespace}/secrets/${sealingKeyName}`)).code, 404);
});

t.test('the hook has no key without its namespace', async (t) => {
  t.match(failureOf(await ensureSealingKeys(cluster, 'there-is-no-such-namespace')), { kind: 'absent' });
});

const tampered: readonly (readonly [because: string, data: Readonly<Record<string, string | null>>])[] = [
  ['no entry is the current one', { current: null }],
  ['the current one is not there', { current: Buffer.from('gone').toString('base64') }],
  [
    'the current one is too short',
    { short: Buffer.alloc(16).toString('base64'), current: Buffer.from('short').toString('base64') },
  ],
];

for (const [because, data] of tampered)
  t.test(`the hook refuses the key and leaves it: ${because}`, async (t) => {
    const namespace = await freeNamespace(client, 'keys', t);
    await keyRingIn(namespace);
    const path = `/api/v1/namespaces/${namespace}/secrets/${sealingKeyName}`;
    const edited = must(await client.patch(path, { data }));
    const failure = failureOf(await ensureSealingKeys(cluster, namespace));
    t.match(failure, { kind: 'refused', reason: 'UnusableKey' });
    t.match(failure.message, `Secret ${namespace}/${sealingKeyName}`);
    t.same(must(await client.get(path)), edited);
    const stored = at(edited, 'data');
    const values = isObject(stored) ? Object.values(withPath(stored, ['current'], undefined)) : [];
    for (const value of values) t.notMatch(failure.message, String(value), 'no key is quoted');
  });
