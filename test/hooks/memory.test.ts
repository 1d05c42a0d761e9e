// What a process remembers: of writes whose fate is not known, of troubles in a row, of what it saw to be there, of snapshots; and
// turns, one call at a time for each key.
import t from 'tap';
import { createMemory, createTurns, type Ended, type Memory } from '../../hooks/memory.ts';
import type { Presence } from '../../hooks/observe/observation.ts';

const lateWindow = 30_000;

interface Remembering {
  readonly memory: Memory;
  /** Lets so many ms pass. */
  readonly pass: (milliseconds: number) => void;
  readonly ends: (from: number, to: number, more?: Partial<Ended>) => number;
}

function remembering(): Remembering {
  let now = 1_000;
  const memory = createMemory({ monotonic: () => now }, () => 0.5, { lateWindow, sighting: 0 });
  return {
    memory,
    pass: (milliseconds) => {
      now += milliseconds;
    },
    ends: (from, to, more = {}) => memory.remember('u', { versions: [from, to], isUncertain: false, isTroubled: false, ...more }),
  };
}

t.test('a Transaction that is new has nothing under way', async (t) => {
  t.ok(remembering().memory.recall('u', 0).isSettled);
});

t.test('what this process has answered, and knows the end of, is settled', async (t) => {
  const { memory, ends } = remembering();
  ends(0, 1);
  t.ok(memory.recall('u', 1).isSettled, 'stored as answered');
  t.ok(memory.recall('u', 0).isSettled, 'not stored yet');
});

t.test('a write without an answer may land until its time is over', async (t) => {
  const { memory, ends, pass } = remembering();
  ends(0, 1, { isUncertain: true });
  t.notOk(memory.recall('u', 1).isSettled);
  pass(lateWindow / 2);
  ends(1, 2);
  t.notOk(memory.recall('u', 2).isSettled, 'also after a call that went well');
  pass(lateWindow / 2 + 1);
  t.ok(memory.recall('u', 2).isSettled);
});

t.test('what another process has done is not known here', async (t) => {
  const { memory, ends, pass } = remembering();
  t.notOk(memory.recall('u', 3).isSettled, 'never seen');
  ends(0, 1);
  t.notOk(memory.recall('u', 5).isSettled, 'stored by another one since');
  ends(5, 6);
  t.notOk(memory.recall('u', 6).isSettled, 'and its writes may still be under way');
  pass(lateWindow + 1);
  t.ok(memory.recall('u', 6).isSettled);
});

t.test('what is forgotten is not known any more', async (t) => {
  const { memory, ends } = remembering();
  ends(0, 1);
  memory.forget('u');
  t.notOk(memory.recall('u', 1).isSettled);
});

t.test('pauses double with each trouble in a row, up to a bound, and begin anew after it', async (t) => {
  const { ends } = remembering();
  const pauses = Array.from({ length: 8 }, () => ends(1, 1, { isTroubled: true }));
  t.same(pauses, [1, 2, 4, 8, 16, 30, 30, 30]);
  ends(1, 2);
  t.equal(ends(2, 2, { isTroubled: true }), 1);
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

let now = 0;
const memoryOf = (sighting: number) => createMemory({ monotonic: () => now }, () => 0.5, { lateWindow, sighting });

const present: Presence = { kind: 'present', object: {} };
const absent: Presence = { kind: 'absent' };

t.test('what was seen to be there is not asked for again for a moment', async (t) => {
  const answers: Presence[] = [present, absent, absent, present, present];
  const { sightings } = memoryOf(1000);
  const look = async (at: number, key = 'account') => {
    now = at;
    const left = answers.length;
    const found = await sightings.look(key, async () => answers.shift() ?? absent);
    return `${found.kind}${answers.length < left ? ', asked' : ''}`;
  };
  t.equal(await look(0), 'present, asked');
  t.equal(await look(999), 'present');
  t.equal(await look(999, 'another'), 'absent, asked', 'each for itself');
  t.equal(await look(1000), 'absent, asked', 'counted from when it was asked for');
  t.equal(await look(1001), 'present, asked', 'what is not there is asked for each time');
  t.equal(await look(2000), 'present');
  t.equal(await look(2001), 'present, asked');
});

t.test('without a span it is asked for each time', async (t) => {
  const { sightings } = memoryOf(0);
  let asked = 0;
  const ask = async () => {
    asked += 1;
    return present;
  };
  await sightings.look('account', ask);
  await sightings.look('account', ask);
  t.equal(asked, 2);
});

t.test('of the snapshots those that were used last are kept, up to a size in all', async (t) => {
  const { snapshots } = memoryOf(0);
  const half = { digest: '', versions: [], entries: [], size: 4_000_000 };
  const kept = () => ['a', 'b', 'c', 'large'].filter((uid) => snapshots.get(uid) !== undefined).join(' ');
  snapshots.set('a', half);
  snapshots.set('b', half);
  t.equal(kept(), 'a b');
  snapshots.get('a');
  snapshots.set('c', half);
  t.equal(kept(), 'a c', 'b was not used for the longest time');
  snapshots.set('c', { ...half, size: 1 });
  snapshots.set('b', { ...half, size: 3_999_999 });
  t.equal(kept(), 'a b c', 'what takes the place of another counts once');
  snapshots.set('large', { ...half, size: 8_000_001 });
  t.equal(kept(), 'a b c', 'one that is too large is not kept, and costs the others nothing');
});
