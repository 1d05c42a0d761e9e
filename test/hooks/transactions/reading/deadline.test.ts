// After the deadline of a call the engine sends nothing: a process that was frozen and wakes up must not go on.
import t from 'tap';
import type { Answer, Cluster, Write } from '../../../../hooks/objects/cluster.ts';
import { type Session, startSession } from '../../../../hooks/transactions/reading/deadline.ts';
import { configMaps, engine } from '../../../../hooks/transactions/writes/resources.ts';

const location = { resource: configMaps, namespace: 'shop', name: 'a' };
const write: Write = { verb: 'delete', identity: engine, location, precondition: { uid: 'u', resourceVersion: '1' } };
const ok: Answer = { kind: 'ok', object: {}, serverTime: 0 };

interface Timed {
  readonly session: Session;
  readonly sent: string[];
  readonly pass: (milliseconds: number) => void;
}

function timed(answer: Answer = ok): Timed {
  let now = 0;
  const sent: string[] = [];
  const note = (name: string) => async (): Promise<never> => {
    sent.push(name);
    return answer as never;
  };
  const names = ['get', 'getMetadata', 'listMetadata', 'resource', 'resources', 'allowed', 'dryRun', 'send'] as const;
  const cluster = Object.fromEntries(names.map((name) => [name, note(name)])) as unknown as Cluster;
  const session = startSession(cluster, { monotonic: () => now }, 20_000);
  return {
    session,
    sent,
    pass: (milliseconds) => {
      now += milliseconds;
    },
  };
}

async function everything({ cluster }: Session): Promise<readonly { readonly kind: string }[]> {
  const question = { verb: 'get', group: '', resource: 'configmaps' };
  return [
    await cluster.get(location, engine),
    await cluster.getMetadata(location, engine),
    await cluster.listMetadata(configMaps, undefined, engine, {}),
    await cluster.resource('v1', 'ConfigMap'),
    await cluster.resources(),
    await cluster.allowed(question, engine),
    await cluster.dryRun(write),
    await cluster.send(write),
  ];
}

t.test('before the deadline all is sent', async (t) => {
  const { session, sent, pass } = timed();
  pass(19_999);
  await everything(session);
  t.equal(sent.length, 8);
});

t.test('from then on nothing is, and that is certain', async (t) => {
  const { session, sent, pass } = timed();
  pass(20_000);
  const failure = { kind: 'transient', reason: 'DeadlineExceeded', definitive: true };
  for (const answer of await everything(session)) t.match(answer, { kind: 'failed', failure });
  t.same(sent, []);
  t.notOk(session.uncertain());
});

t.test('a write without a definitive answer is remembered for the rest of the call', async (t) => {
  const failure = { kind: 'transient', code: 0, reason: 'Timeout', message: '', fields: [], definitive: false } as const;
  const { session } = timed({ kind: 'failed', failure });
  await session.cluster.get(location, engine);
  t.notOk(session.uncertain(), 'a read has no effect');
  await session.cluster.send(write);
  t.notOk(session.uncertain(), 'the engine writes no target as itself');
  await session.cluster.send({ ...write, identity: { kind: 'serviceAccount', namespace: 'shop', name: 'deployer' } });
  t.ok(session.uncertain());
});

t.test('a write may have to be sent earlier than that', async (t) => {
  const { session, sent, pass } = timed();
  const writer = session.writerUntil(5_000);
  pass(4_999);
  t.match(await writer.send(write), { kind: 'ok' });
  pass(1);
  t.match(await writer.send(write), { failure: { reason: 'DeadlineExceeded', definitive: true } });
  t.match(await session.cluster.send(write), { kind: 'ok' }, 'others not');
  t.equal(sent.length, 2);
  t.match(await session.writerUntil(Number.POSITIVE_INFINITY).send(write), { kind: 'ok' });
  pass(15_000);
  t.match(await session.writerUntil(Number.POSITIVE_INFINITY).send(write), { kind: 'failed' }, 'the deadline of the call holds');
});
