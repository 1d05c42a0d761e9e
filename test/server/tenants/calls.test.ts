// Calls of the engine at a time: large ones have a limit of their own, which holds until Metacontroller has written their status.
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import t from 'tap';
import type { Call, Reply } from '../../../hooks/transactions/call.ts';
import { admitCalls } from '../../../server/tenants/calls.ts';

// The timers of a turn do not keep the process alive, as the server does.
const server = setInterval(() => undefined, 60_000);
t.teardown(() => clearInterval(server));

const large = 512 * 1024;
const small = 1024;
const before = { phase: 'Preparing' };
const after = { phase: 'Applying' };

const callOf = (name: string, namespace = 'heavy'): Call => ({ namespace, name, uid: name, status: before, children: [] });
const statusReply = (status: typeof before): Reply => {
  return { kind: 'status', status, children: [], resyncAfterSeconds: 1, finalized: false };
};
const names = (count: number): readonly string[] => Array.from({ length: count }, (_, index) => `large-${index}`);

t.test(
  'a namespace has four large calls at a time; small calls, and a large one of another namespace, run beside them',
  async (t) => {
    const ends = new Map<string, () => void>();
    const turns = admitCalls(({ uid }) => new Promise((resolve) => ends.set(uid, () => resolve(statusReply(before)))));
    const calls = names(5).map((name) => turns(callOf(name), large));
    const others = [turns(callOf('small'), small), turns(callOf('other', 'light'), large)];
    t.match(await calls[4], { kind: 'retry', because: /its share of calls/ });
    await setImmediate();
    t.same([...ends.keys()].sort(), ['large-0', 'large-1', 'large-2', 'large-3', 'other', 'small']);
    for (const end of ends.values()) end();
    for (const reply of await Promise.all([...calls.slice(0, 4), ...others])) t.match(reply, statusReply(before));
    const next = turns(callOf('large-4'), large);
    await setImmediate();
    ends.get('large-4')?.();
    t.match(await next, statusReply(before), 'a reply that changes no status has no write');
  },
);

t.test(
  'a large call counts until its status is written: until the next call of the Transaction, or for the longest write',
  async (t) => {
    const turns = admitCalls(async () => statusReply(after), { longestWrite: 2_000 });
    const kinds = async (some: readonly string[]): Promise<readonly string[]> =>
      (await Promise.all(some.map((name) => turns(callOf(name), large)))).map(({ kind }) => kind);
    t.same(await kinds(names(4)), ['status', 'status', 'status', 'status']);
    t.same(await kinds(['late']), ['retry'], 'four statuses are being written');
    t.same(await kinds(['large-0']), ['status'], 'the next call of a Transaction takes its turn again');
    t.same(await kinds(['late']), ['retry']);
    t.match(await turns(callOf('small'), small), { kind: 'status' });
    let kind = 'retry';
    while (kind === 'retry') [kind = ''] = await kinds(['late']);
    t.equal(kind, 'status', 'after the longest write');
  },
);

t.test('refused calls of a namespace come again one after the other, and after eight seconds at the latest', async (t) => {
  const turns = admitCalls(() => new Promise(() => undefined));
  for (const name of names(18)) void turns(callOf(name), small);
  /** The seconds after which each refused call comes again, and the time then, in s. */
  const refused = async (count: number) => {
    const calls = names(count).map(async (name) => {
      const reply = await turns(callOf(name), small);
      const after = reply.kind === 'retry' ? reply.retryAfterSeconds : Number.NaN;
      return { after, time: performance.now() / 1_000 + after };
    });
    return Promise.all(calls);
  };
  const start = performance.now() / 1_000;
  const few = await refused(40);
  const times = few.map(({ time }) => time).toSorted((one, other) => one - other);
  t.ok(
    times.every((time, index) => time > start + 0.01 * (index + 1) - 0.001),
    times.join(),
  );
  t.ok(few.every(({ after }) => after < 1));
  await sleep(3_100);
  const slow = await refused(40);
  t.ok(slow.filter(({ after }) => after > 4).length > 15, 'no call has ended for three seconds');
  const many = await refused(1_000);
  t.ok(many.every(({ after }) => after > 0 && after <= 8));
  t.ok(many.filter(({ after }) => after > 4).length > 400);
});

t.test('a call that throws gives its turn back', async (t) => {
  let isBroken = true;
  const turns = admitCalls(async () => {
    if (isBroken) throw new Error('broken');
    return statusReply(before);
  });
  for (const name of names(5)) await t.rejects(turns(callOf(name), large), /broken/);
  isBroken = false;
  t.match(await turns(callOf('next'), large), { kind: 'status' });
});
