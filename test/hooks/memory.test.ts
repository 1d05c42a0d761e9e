// What a process remembers: of writes whose fate is not known, of troubles in a row, of what it saw to be there, of snapshots; and
// turns, one call at a time for each key.
import t from 'tap';
import { createMemory, createTurns, type Ended, type Found, type Memory } from '../../hooks/memory.ts';
import type { Presence } from '../../hooks/observe/observation.ts';

const lateWindow = 30_000;

const fresh: Found = { isNew: true, isBeingUndone: false };
const running: Found = { isNew: false, isBeingUndone: false };
const undone: Found = { isNew: false, isBeingUndone: true };

interface Remembering {
  readonly memory: Memory;
  /** Lets so many ms pass. */
  readonly pass: (milliseconds: number) => void;
  readonly ends: (how?: Partial<Ended>) => number;
  readonly isSettled: (found?: Found) => boolean;
}

function remembering(): Remembering {
  let now = 1_000;
  const memory = createMemory({ monotonic: () => now }, () => 0.5, { lateWindow, sighting: 0 });
  return {
    memory,
    pass: (milliseconds) => {
      now += milliseconds;
    },
    ends: (how = {}) => memory.remember('u', { isUncertain: false, isTroubled: false, nextLock: undefined, ...how }),
    isSettled: (found = running) => memory.recall('u', found).isSettled,
  };
}

t.test('a Transaction that is new has nothing under way', async (t) => {
  const { isSettled, ends } = remembering();
  t.ok(isSettled(fresh));
  ends();
  t.ok(isSettled(), 'and so it is once it is served');
});

t.test('a write without an answer may land until its time is over', async (t) => {
  const { isSettled, ends, pass } = remembering();
  isSettled(fresh);
  ends({ isUncertain: true });
  t.notOk(isSettled());
  pass(lateWindow / 2);
  ends();
  t.notOk(isSettled(), 'also after a call that went well');
  pass(lateWindow / 2 + 1);
  t.ok(isSettled());
});

t.test('what is not remembered may have been served by another process', async (t) => {
  const { memory, isSettled, ends, pass } = remembering();
  t.notOk(isSettled(), 'never seen');
  pass(lateWindow);
  ends();
  t.notOk(isSettled());
  pass(1);
  t.ok(isSettled(), 'since then this one has');
  memory.forget('u');
  t.notOk(isSettled(), 'forgotten');
});

t.test('others may have sent writes until this process took their place', async (t) => {
  const { memory, isSettled, pass } = remembering();
  isSettled(fresh);
  memory.doubt('u');
  t.notOk(isSettled());
  pass(lateWindow + 1);
  t.ok(isSettled());
});

t.test('a Transaction that this process has served alone to its end stays so', async (t) => {
  const { memory, isSettled, ends } = remembering();
  isSettled(fresh);
  memory.trust('u');
  memory.doubt('u');
  t.ok(isSettled(), 'nobody changes anything after the end');
  ends({ isUncertain: true });
  t.notOk(isSettled(), 'its own writes count');
});

t.test('an undo that was seen long ago', async (t) => {
  const { memory, pass } = remembering();
  const isOld = (found: Found): boolean => memory.recall('u', found).isUndoOld;
  isOld(running);
  pass(lateWindow * 2);
  t.notOk(isOld(undone), 'seen for the first time');
  pass(lateWindow);
  memory.doubt('u');
  t.notOk(isOld(undone));
  pass(1);
  t.ok(isOld(undone), 'whatever others did before they saw it has landed');
});

t.test('pauses double with each trouble in a row, up to a bound, and begin anew after it', async (t) => {
  const { ends } = remembering();
  const pauses = Array.from({ length: 8 }, () => ends({ isTroubled: true }));
  t.same(pauses, [1, 2, 4, 8, 16, 30, 30, 30]);
  ends();
  t.equal(ends({ isTroubled: true }), 1);
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
