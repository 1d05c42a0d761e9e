// Answers whose size an aggregated API server decides: the port bounds what they take in memory, before it parses them.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import type { Answer, Identity, Location, Resource, Write } from '../../../hooks/objects/cluster.ts';
import { createAnswerRooms } from '../../../server/kubernetes/answer-room.ts';
import { createCluster, type KubernetesCluster } from '../../../server/kubernetes/cluster.ts';
import { createConnection } from '../../../server/kubernetes/connection.ts';

const mega = 1024 * 1024;
const identity: Identity = { kind: 'serviceAccount', namespace: 'shop', name: 'deployer' };
const kind = { group: 'large.example.org', version: 'v1', plural: 'things', kind: 'Thing', namespaced: true };
const resource: Resource = { ...kind, verbs: [], statusSubresource: false };
const location: Location = { resource, namespace: 'shop', name: 'one' };
const write: Write = { verb: 'create', identity, location, object: { metadata: {} }, fieldManager: 'test' };

/** Two million empty maps: 6 MiB of text, which take 200 MB when they are parsed. */
const bomb = `{"data":[${'{},'.repeat(2 * mega)}{}],"kind":"Status"}`;

const rows: Readonly<Record<string, (cluster: KubernetesCluster) => Promise<Pick<Answer, 'kind'>>>> = {
  'an object': ({ get }) => get(location, identity),
  'metadata of an object': ({ getMetadata }) => getMetadata(location, identity),
  'a dry run': ({ dryRun }) => dryRun(write),
  'a write': ({ send }) => send(write),
  'all kinds': ({ resources }) => resources(),
};

for (const code of [200, 422])
  t.test(`the port parses no answer with code ${code} that would take too much memory`, async (t) => {
    const server = createServer((_, answer) => answer.writeHead(code).end(bomb));
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    t.teardown(() => server.close());
    const url = new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}`);
    const connection = createConnection(() => ({ server: url, read: async () => ({ headers: {}, tls: {} }) }));
    const cluster = createCluster(connection, { writeTimeout: 60_000 });
    t.teardown(() => cluster.close());
    for (const [what, ask] of Object.entries(rows))
      t.match(await ask(cluster), { kind: 'failed', failure: { reason: 'AnswerTooLarge', definitive: false } }, what);
  });

t.test('answers together have a bound, and a small one always has room', async (t) => {
  const open = createAnswerRooms();
  const [first, second, small] = [open(), open(), open()];
  t.ok(first.take(60 * mega), 'an answer that is alone may be larger');
  t.notOk(second.take(3 * mega));
  t.ok(small.take(2 * mega));
  for (const room of [first, second]) room.giveBack();
  t.ok(open().take(3 * mega), 'there is room again');
});
