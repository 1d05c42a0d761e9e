// What a process remembers: of writes whose fate is not known, of troubles in a row, of what it saw to be there, of snapshots; and
// turns, one call at a time for each key.
import t from 'tap';
import { createMemory, createTurns, type Ended, type Memory } from '../../../hooks/transactions/memory.ts';

interface Remembering {
  readonly memory: Memory;
  /** Lets so many ms pass. */
  readonly pass: (milliseconds: number) => void;
  /** A call ends; the pause before the next, in seconds. */
  readonly ends: (how?: Partial<Ended>) => number;
}

function remembering(): Remembering {
  let now = 1_000;
  const memory = createMemory({ monotonic: () => now }, () => 0.5);
  const usual: Ended = { isTroubled: false, isWaiting: false, stayAway: 0 };
  return {
    memory,
    pass: (milliseconds) => {
      now += milliseconds;
    },
    ends: (how = {}) => memory.remember('u', { ...usual, ...how }),
  };
}

t.test('a process knows the name that it sends under, and whether it may send more', async (t) => {
  const { memory, ends } = remembering();
  t.match(memory.recall('u'), { writer: undefined, isOpen: false, waits: 0 });
  memory.signed('u', 'p/1', undefined);
  ends();
  t.match(memory.recall('u'), { writer: 'p/1', isOpen: true, unsettledAt: undefined });
  memory.settled('u');
  t.match(memory.recall('u'), { writer: 'p/1', isOpen: false });
  memory.signed('u', 'p/2', 5_000);
  t.match(memory.recall('u'), { writer: 'p/2', isOpen: true, unsettledAt: 5_000 });
  memory.forget('u');
  t.match(memory.recall('u'), { writer: undefined, isOpen: false, unsettledAt: undefined });
});

t.test('no later request makes the engine forget a request without an answer', async (t) => {
  const { memory, ends } = remembering();
  memory.unsettled('u', 7_000);
  ends();
  memory.signed('u', 'p/1', undefined);
  memory.settled('u');
  t.equal(memory.recall('u').unsettledAt, 7_000);
});

t.test('the next turn', async (t) => {
  const { memory, ends } = remembering();
  const lease = { metadata: { name: 'l' } };
  t.equal(memory.leaseToFence('u'), undefined, 'nothing is known of it');
  memory.rememberFence('u', { lease, isNext: false });
  t.equal(memory.leaseToFence('u'), undefined, 'no change is next');
  memory.rememberFence('u', { isNext: true });
  ends();
  t.equal(memory.leaseToFence('u'), lease, 'the Lease is the one that was known before');
});

t.test('the engine sends no request before the Retry-After of the API server', async (t) => {
  const { memory, ends, pass } = remembering();
  t.equal(ends({ isTroubled: true, stayAway: 7_000 }), 7, 'longer than the pause would be');
  t.equal(memory.pauseLeft('u'), 7_000);
  pass(6_999);
  t.equal(memory.pauseLeft('u'), 1);
  pass(2);
  t.equal(memory.pauseLeft('u'), 0);
  t.equal(ends({ isTroubled: true, stayAway: 100 }), 0.4, 'shorter than the pause');
  ends();
  t.equal(memory.pauseLeft('u'), 0, 'it has been there since');
});

t.test('calls in a row that only waited are counted', async (t) => {
  const { memory, ends } = remembering();
  ends({ isWaiting: true });
  ends({ isTroubled: true });
  t.equal(memory.recall('u').waits, 2);
  ends();
  t.equal(memory.recall('u').waits, 0);
});

t.test('since when calls are refused is known, whatever trouble lies between', async (t) => {
  const { memory, ends, pass } = remembering();
  ends({ isRefused: true });
  pass(400);
  ends({ isTroubled: true });
  pass(600);
  t.equal(memory.recall('u').refusedFor, 1_000);
  ends({ isRefused: true });
  t.equal(memory.recall('u').refusedFor, 1_000, 'the first one counts');
  ends();
  ends({ isTroubled: true });
  pass(400);
  t.equal(memory.recall('u').refusedFor, 0, 'a call that was not refused ends it');
});

t.test('pauses double with each trouble in a row, up to a bound, and begin anew after it', async (t) => {
  const { ends } = remembering();
  const pauses = Array.from({ length: 10 }, () => ends({ isTroubled: true }));
  t.same(pauses, [0.2, 0.4, 0.8, 1.6, 3.2, 6.4, 12.8, 25.6, 30, 30]);
  ends();
  t.equal(ends({ isTroubled: true }), 0.2);
});

t.test('turns', async (t) => {
  const inTurn = createTurns();
  const log: string[] = [];
  const held = Promise.withResolvers<void>();
  const call = (key: string, name: string, until: Promise<void> = Promise.resolve()): Promise<void> =>
    inTurn(key, async () => {
      log.push(`${name} begins`);
      await until;
      log.push(`${name} ends`);
    });
  const first = call('a', 'first', held.promise);
  const second = call('a', 'second');
  await call('b', 'other');
  t.same(log, ['first begins', 'other begins', 'other ends'], 'one key waits for itself alone');
  held.resolve();
  await Promise.all([first, second]);
  t.same(log.slice(3), ['first ends', 'second begins', 'second ends']);
  await t.rejects(inTurn('a', () => Promise.reject(new Error('a bug'))));
  t.equal(await inTurn('a', async () => 'goes on'), 'goes on', 'a call that failed holds nobody up');
});

const now = 0;
const clock = { monotonic: () => now };

t.test('of the snapshots those that were used last are kept, up to a size in all', async (t) => {
  const { snapshots } = createMemory(clock, () => 0.5);
  const half = { digest: '', versions: [], entries: [], order: new Map(), memory: 24 * 1024 * 1024 };
  const kept = () => ['a', 'b', 'c', 'large'].filter((uid) => snapshots.get(uid) !== undefined).join(' ');
  snapshots.set('a', half);
  snapshots.set('b', half);
  t.equal(kept(), 'a b');
  snapshots.get('a');
  snapshots.set('c', half);
  t.equal(kept(), 'a c', 'b was not used for the longest time');
  snapshots.set('c', { ...half, memory: 1 });
  snapshots.set('b', { ...half, memory: 24 * 1024 * 1024 - 1 });
  t.equal(kept(), 'a b c', 'what takes the place of another counts once');
  snapshots.set('large', { ...half, memory: 48 * 1024 * 1024 + 1 });
  t.equal(kept(), 'a b c', 'one that is too large is not kept, and costs the others nothing');
});
