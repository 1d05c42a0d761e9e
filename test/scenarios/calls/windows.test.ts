// Many changes in one call: what the status says of them, what stops a window, and two engines in one.
import t, { type Test } from 'tap';
import type { Cluster, Write } from '../../../hooks/objects/cluster.ts';
import { at, isList, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { serverTimeResolution } from '../../../hooks/objects/time.ts';
import { clock as realClock } from '../../../server/clock.ts';
import { must } from '../../support/client.ts';
import { type EngineOptions, type Engines, openEngines } from '../../support/engine.ts';
import { engineNamespace } from '../../support/install.ts';
import { share } from '../../support/selection.ts';
import { conditionOf, type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil, stepUntilGone, storeStatus } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const green = { data: { color: 'green' } };
const request = { 'tx.janus.io/request-rollback': 'yes' };
/** Short, so that what may still land is waited out soon. */
const timing = { stepDeadline: 3_000, writeTimeout: 2_000, callBudget: 2_000, readAge: 1_000 };

const stage = await startStage(t, { withoutLoop: true });
const engines = await openEngines(t, stage, timing);
/** For what takes a while on a machine that is at work. */
const patient = await openEngines(t, stage, { stepDeadline: 120_000, writeTimeout: 60_000, callBudget: 60_000, readAge: 1_000 });

interface Story {
  readonly name: string;
  readonly targets: readonly string[];
  /** The targets as they are, but for what no undo brings back. */
  readonly look: () => Promise<readonly unknown[]>;
}

async function begin(name: string, count: number, types: readonly ('Patch' | 'Delete')[] = ['Patch']): Promise<Story> {
  const targets = Array.from({ length: count }, (_, index) => `${name}-${index}`);
  await createConfigMaps(stage, targets);
  const changes = targets.map((target, index) => {
    const type = types[index % types.length] ?? 'Patch';
    return change(type, target, type === 'Patch' ? green : undefined);
  });
  await stage.transaction(name, changes);
  const paths = targets.map((target) => stage.path(`configmaps/${target}`));
  return { name, targets, look: () => portraits(stage.client, paths, true) };
}

/** As where a quota or a policy is in the way, or has not been heard of yet. */
const exceeded = {
  kind: 'refused',
  code: 403,
  reason: 'Forbidden',
  message: 'exceeded quota',
  fields: [],
  definitive: true,
} as const;

const isToTarget = (write: Write): boolean => write.identity.kind === 'serviceAccount';
const isToLease = ({ location }: Write): boolean => location.resource.kind === 'Lease';

/** An engine that runs `act` before its write number `number` to a target, counted from 1. */
function acting(options: EngineOptions, number: number, act: () => Promise<unknown>, from: Engines = engines): Stage {
  let writes = 0;
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    send: async (write, isLate) => {
      if (isToTarget(write)) writes += 1;
      if (isToTarget(write) && writes === number) await act();
      return cluster.send(write, isLate);
    },
  });
  return from.start({ ...options, wrap });
}

function itemsOf(status: JsonObject): readonly JsonObject[] {
  const items = at(status, 'items');
  return isList(items) ? (items as readonly JsonObject[]) : [];
}

const count = (status: JsonObject, flag: string): number => itemsOf(status).filter((item) => item[flag] === true).length;

async function colors({ targets }: Story): Promise<readonly (string | undefined)[]> {
  return Promise.all(
    targets.map(async (target) => textAt((await stage.client.get(stage.path(`configmaps/${target}`))).body, 'data', 'color')),
  );
}

t.test('many changes take three calls, and their undo takes three too', async (t) => {
  const engine = patient.start();
  const most = share(20, 100);
  const story = await begin('hundred', most);
  const before = await story.look();
  const forth = [await step(engine, 'hundred'), await step(engine, 'hundred'), await step(engine, 'hundred')];
  t.same(
    forth.map(({ phase }) => phase),
    ['Prepared', 'Committed', 'Committed'],
  );
  t.equal(count(forth[0]?.status ?? {}, 'announced'), most, 'all are announced before the first is made');
  t.equal(conditionOf(forth[2]?.status ?? {}, 'Finished'), 'True');
  t.ok((await colors(story)).every((color) => color === 'green'));
  await stage.annotate('hundred', request);
  const back = [await step(engine, 'hundred'), await step(engine, 'hundred'), await step(engine, 'hundred')];
  t.same(
    back.map(({ phase }) => phase),
    ['RollingBack', 'RolledBack', 'RolledBack'],
  );
  t.equal(conditionOf(back[2]?.status ?? {}, 'Finished'), 'True');
  t.same(await story.look(), before);
});

t.test('the engine announces eight Deletes at once', async (t) => {
  const engine = patient.start();
  const story = await begin('deletes', 20, ['Delete']);
  const before = await story.look();
  t.equal(count((await stepUntil(engine, 'deletes', 'Prepared')).status, 'announced'), 8);
  const next = await step(engine, 'deletes');
  t.same([next.phase, count(next.status, 'committed'), count(next.status, 'announced')], ['Committing', 8, 16]);
  t.match(await stepUntil(engine, 'deletes', 'Committed'), {});
  await stepToEnd(engine, 'deletes');
  await stage.annotate('deletes', request);
  await stepUntil(engine, 'deletes', 'RolledBack');
  t.same(await story.look(), before);
});

t.test('a process that shuts down starts no further target', async (t) => {
  let isEnding = false;
  const engine = acting({ isEnding: () => isEnding }, 2, async () => {
    isEnding = true;
  });
  const story = await begin('ending', 4);
  await stepUntil(engine, 'ending', 'Prepared');
  const { phase, status } = await step(engine, 'ending');
  t.same([phase, textAt(status, 'progress')], ['Committing', '2/4']);
  t.same(await colors(story), ['green', 'green', 'blue', 'blue']);
  t.match(await stepToEnd(engines.start(), 'ending'), { phase: 'Committed' });
});

t.test('a request stops a window at the next read of the Transaction', async (t) => {
  const story = await begin('stopped', 5);
  const before = await story.look();
  const engine = acting({ timing: { readAge: 0 } }, 3, () => stage.annotate('stopped', request));
  await stepUntil(engine, 'stopped', 'Prepared');
  const { phase, status } = await step(engine, 'stopped');
  t.same([phase, count(status, 'committed')], ['RollingBack', 3]);
  t.same(await colors(story), ['green', 'green', 'green', 'blue', 'blue'], 'the write under way is the last one');
  t.equal(count(status, 'announced'), 5, 'no announcement is taken back by the status that begins the undo');
  t.match(await stepToEnd(engine, 'stopped'), { phase: 'RolledBack' });
  t.same(await story.look(), before);
});

t.test('a request stops a Delete while the engine still searches for dependents', async (t) => {
  const readAge = 200; // ms
  await begin('long-look', 1, ['Delete']);
  const target = stage.path('configmaps/long-look-0');
  const uid = textAt((await stage.client.get(target)).body, 'metadata', 'uid');
  let isArmed = false;
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    listMetadata: async (...args) => {
      const answer = await cluster.listMetadata(...args);
      if (!isArmed || args[2].kind !== 'serviceAccount') return answer;
      isArmed = false;
      await stage.annotate('long-look', request);
      await new Promise((resolve) => setTimeout(resolve, 2 * readAge));
      return answer;
    },
  });
  const engine = patient.start({ wrap, timing: { readAge } });
  await stepUntil(engine, 'long-look', 'Prepared');
  isArmed = true;
  t.equal((await step(engine, 'long-look')).phase, 'RollingBack');
  t.equal(isArmed, false, 'the engine searched for dependents');
  t.match(await stepToEnd(engine, 'long-look'), { phase: 'RolledBack' });
  t.equal(textAt((await stage.client.get(target)).body, 'metadata', 'uid'), uid, 'it was not deleted');
});

t.test('the engine records the changes it made if it cannot read the Transaction again', async (t) => {
  let isAway = false;
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    get: async (location, identity) => {
      if (!isAway || location.resource.kind !== 'Transaction') return cluster.get(location, identity);
      const failure = { kind: 'transient', code: 503, reason: 'ServiceUnavailable', message: '', fields: [] } as const;
      return { kind: 'failed', failure: { ...failure, definitive: true } };
    },
    send: async (write, isLate) => {
      const answer = await cluster.send(write, isLate);
      isAway ||= isToTarget(write);
      return answer;
    },
  });
  const story = await begin('unread', 3);
  const engine = engines.start({ wrap, timing: { readAge: 0 } });
  await stepUntil(engine, 'unread', 'Prepared');
  const { phase, status, code } = await step(engine, 'unread');
  t.same([code, phase, textAt(status, 'progress')], [200, 'Committing', '1/3']);
  isAway = false;
  t.match(await stepToEnd(engines.start(), 'unread'), { phase: 'Committed' });
  t.same(await colors(story), ['green', 'green', 'green']);
});

t.test('two engines in one window: each target is written once, and the slower one stops', async (t) => {
  const story = await begin('both', 4, ['Patch', 'Delete']);
  const second = engines.start();
  const first = acting({}, 2, () => step(second, 'both'));
  await stepUntil(first, 'both', 'Prepared');
  const answer = await first.call('both');
  t.equal(textAt(await stage.read('both'), 'status', 'phase'), 'Committed', 'the one in between has stored its end');
  t.equal(textAt(answer.body, 'status', 'phase'), 'Committed', 'what the slower one has to say is no more than that');
  await storeStatus(stage, 'both', answer.body);
  t.match(await stepToEnd(second, 'both'), { phase: 'Committed' });
  t.same(await colors(story), ['green', undefined, 'green', undefined]);
});

/** One engine is held before its first write; meanwhile an undo begins, and is stored, by another one. */
async function undoneMeanwhile(t: Test, name: string, types: readonly ('Patch' | 'Delete')[]): Promise<void> {
  const story = await begin(name, 3, types);
  const before = await story.look();
  const other = engines.start();
  const held = acting({}, 1, async () => {
    await stage.annotate(name, request);
    t.equal((await step(other, name)).phase, 'RollingBack');
  });
  await stepUntil(other, name, 'Prepared');
  t.equal((await held.call(name)).code, 200);
  t.match(await stepToEnd(other, name), { phase: 'RolledBack' });
  t.same(await story.look(), before, 'what was sent after the undo had begun is taken back');
}

// An engine whose write is refused knows only its own write. Another replica may have made this change since.
t.test('the engine undoes a change that was refused here and made by another replica', async (t) => {
  const story = await begin('made-elsewhere', 2);
  const before = await story.look();
  const other = engines.start();
  let isRefused = false;
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    send: async (write, isLate) => {
      if (isRefused || !isToTarget(write)) return cluster.send(write, isLate);
      isRefused = true;
      t.match((await other.call('made-elsewhere')).body, { status: { phase: 'Committed' } }, 'this answer is lost');
      return { kind: 'failed', failure: exceeded };
    },
  });
  const engine = engines.start({ wrap });
  await stepUntil(engine, 'made-elsewhere', 'Prepared');
  const { phase, status } = await step(engine, 'made-elsewhere');
  t.same([phase, at(itemsOf(status)[0] ?? {}, 'error', 'reason')], ['RollingBack', 'Forbidden']);
  t.same(await colors(story), ['green', 'green'], 'both are made');
  t.match(await stepToEnd(engine, 'made-elsewhere'), { phase: 'RolledBack' });
  t.same(await story.look(), before);
});

/** An engine whose time does not advance until `pass`: the time of the API server and the time of its own clock. */
function timed(act: () => Promise<unknown>): {
  readonly engine: Stage;
  readonly pass: (elsewhere: number, here: number) => void;
} {
  let [now, monotonic, hasActed] = [undefined as number | undefined, 0, false];
  const reads = new Set<Promise<unknown>>();
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    get: async (location, identity) => {
      const reading = cluster.get(location, identity);
      reads.add(reading);
      const answer = await reading.finally(() => reads.delete(reading));
      if (location.resource.kind !== 'Transaction' || answer.kind !== 'ok') return answer;
      now ??= answer.serverTime;
      return { ...answer, serverTime: now };
    },
    send: async (write, isLate) => {
      if (isToTarget(write) && !hasActed) {
        hasActed = true;
        await Promise.all(reads);
        await act();
      }
      return cluster.send(write, isLate);
    },
  });
  const clock = { ...realClock, monotonic: () => monotonic };
  const engine = engines.start({ wrap, clock, timing: { callBudget: 60_000, readAge: 60_000 } });
  return {
    engine,
    pass: (elsewhere, here) => {
      now = (now ?? 0) + elsewhere;
      monotonic += here;
    },
  };
}

// The Create lands in the last moment in which it may, after the call of the undo has begun, and before that change has its turn.
t.test('an undo reads nothing ahead while a write may land', async (t) => {
  const [name, target] = ['ahead', stage.path('configmaps/ahead-created')];
  await createConfigMaps(stage, ['ahead-0', 'ahead-1']);
  await stage.transaction(name, [
    change('Create', 'ahead-created', green),
    ...['ahead-0', 'ahead-1'].map((patched) => change('Patch', patched, green)),
  ]);
  const [underWay, landing] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const first = engines.start({
    isEnding: () => true,
    wrap: (cluster) => ({
      ...cluster,
      send: async (write, isLate) => {
        if (!isToTarget(write)) return cluster.send(write, isLate);
        underWay.resolve();
        await landing.promise;
        return cluster.send(write);
      },
    }),
  });
  const { engine, pass } = timed(async () => {
    landing.resolve();
    await lost;
    t.equal((await stage.client.get(target)).code, 200, 'it has landed');
    pass(2_000, 2_000);
  });
  await stepUntil(first, name, 'Prepared');
  const lost = first.call(name);
  await underWay.promise;
  await stage.annotate(name, request);
  await stepUntil(engine, name, 'RollingBack');
  t.match((await step(engine, name)).status, { rollbackObservedAt: String }, 'a write may be under way');
  // A second before it can land no more.
  pass(timing.stepDeadline + timing.writeTimeout + serverTimeResolution - 1_000, 0);
  t.match(await stepToEnd(engine, name), { phase: 'RolledBack' });
  t.equal((await stage.client.get(target)).code, 404, 'nothing of it is left');
});

t.test('the undo takes back a window that is running when the undo begins', async (t) => {
  await undoneMeanwhile(t, 'patches', ['Patch']);
  await undoneMeanwhile(t, 'mixed', ['Delete', 'Patch']);
});

/** An engine whose writes to that target are refused so often, as where a quota or a policy has not been heard of yet. */
function refused(target: string, times: number): { readonly engine: Stage; readonly tries: () => number } {
  let tries = 0;
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    send: async (write, isLate) => {
      if (!isToTarget(write) || write.location.name !== target) return cluster.send(write, isLate);
      tries += 1;
      return tries <= times ? { kind: 'failed', failure: exceeded } : cluster.send(write, isLate);
    },
  });
  return { engine: engines.start({ wrap }), tries: () => tries };
}

t.test('the engine retries a refusal after another change briefly before the refusal is final', async (t) => {
  const story = await begin('lagging', 3);
  const passing = refused('lagging-1', 2);
  await stepUntil(passing.engine, 'lagging', 'Prepared');
  t.equal((await step(passing.engine, 'lagging')).phase, 'Committed');
  t.same([passing.tries(), await colors(story)], [3, ['green', 'green', 'green']]);

  const denied = await begin('denied', 3);
  const before = await denied.look();
  const lasting = refused('denied-1', 100);
  await stepUntil(lasting.engine, 'denied', 'Prepared');
  const { phase, status } = await step(lasting.engine, 'denied');
  t.same([phase, lasting.tries(), at(itemsOf(status)[1] ?? {}, 'error', 'reason')], ['RollingBack', 5, 'Forbidden']);
  t.match(await stepToEnd(lasting.engine, 'denied'), { phase: 'RolledBack' });
  t.same(await denied.look(), before);

  await begin('first', 2);
  const first = refused('first-0', 100);
  await stepUntil(first.engine, 'first', 'Prepared');
  t.equal((await step(first.engine, 'first')).phase, 'RollingBack');
  t.equal(first.tries(), 1, 'there is nothing that it could depend on');
});

t.test('the engine reads the Transaction of a window again after readAge, and not before', async (t) => {
  let looks = 0;
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    get: async (location, identity) => {
      if (location.resource.kind === 'Transaction') looks += 1;
      return cluster.get(location, identity);
    },
  });
  for (const [name, readAge, most] of [
    ['seldom', 60_000, 2],
    // Once before the reads for a change, and once before the change is sent.
    ['often', 0, 22],
  ] as const) {
    await begin(name, 10);
    // One call makes all changes, however slow the machine is.
    const engine = engines.start({ wrap, timing: { readAge, callBudget: 60_000, stepDeadline: 60_000 } });
    await stepUntil(engine, name, 'Prepared');
    looks = 0;
    t.equal((await step(engine, name)).phase, 'Committed');
    t.equal(looks <= most && looks > (readAge === 0 ? 9 : 0), true, `${looks} looks at ten changes`);
  }
});

/** ms that each write to a target takes. A look counts for a second: four writes. */
const perWrite = 300;

interface Paced {
  readonly engine: Stage;
  /** What was requested: each look at the Transaction, each write to a target by its number, and each write to a Lease. */
  readonly trace: string[];
  readonly pass: (time: number) => void;
  /** From now on it counts the writes. */
  readonly arm: () => void;
}

/** An engine for which time passes only by its writes to targets; `act` comes just before the second of them is sent. */
function paced(act: () => Promise<unknown>): Paced {
  const trace: string[] = [];
  let [now, monotonic, writes] = [undefined as number | undefined, 0, Number.NEGATIVE_INFINITY];
  const pass = (time: number): void => {
    now = (now ?? 0) + time;
    monotonic += time;
  };
  const count = async (): Promise<void> => {
    writes += 1;
    trace.push(`${writes}`);
    if (writes === 2) await act();
  };
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    get: async (location, identity) => {
      const answer = await cluster.get(location, identity);
      if (location.resource.kind !== 'Transaction' || answer.kind !== 'ok') return answer;
      trace.push('look');
      now ??= answer.serverTime;
      return { ...answer, serverTime: now };
    },
    send: async (write, isLate) => {
      if (isToLease(write)) trace.push('lease');
      const target = isToTarget(write);
      if (target) await count();
      return cluster.send(write, isLate).finally(() => pass(target ? perWrite : 0));
    },
  });
  const clock = { ...realClock, monotonic: () => monotonic };
  const engine = engines.start({ wrap, clock, timing: { callBudget: 60_000, stepDeadline: 60_000, readAge: 1_000 } });
  const arm = (): void => {
    writes = 0;
    trace.length = 0;
  };
  return { engine, trace, pass, arm };
}

/** What comes in the middle of a window of eight changes, and what the call requests from its first write on. */
interface Happening {
  readonly title: string;
  readonly spec?: JsonObject;
  readonly annotations?: Readonly<Record<string, string>>;
  /** ms that have passed when the window begins. */
  readonly earlier?: number;
  readonly act?: (name: string, other: Stage) => Promise<unknown>;
  readonly trace: string;
  readonly phase: string;
  /** Why it is undone. */
  readonly reason?: string;
  /** It comes in the undo of the Transaction. */
  readonly inUndo?: true;
  readonly end: 'RolledBack' | 'Committed' | 'Failed' | 'gone';
  /** How many changes stay; none without it. */
  readonly stay?: number;
}

const transactions = (): string => `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions`;
const deleteIt = (name: string): Promise<unknown> => stage.client.delete(`${transactions()}/${name}`);

async function deleteLock(name: string, index: number): Promise<unknown> {
  const lease = textAt(itemsOf(at(await stage.read(name), 'status') as JsonObject)[index], 'lockLease');
  return must(await stage.client.delete(`/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases/${lease}`));
}

const leases = (count: number): string => Array.from({ length: count }, () => 'lease').join(' ');

const happenings: readonly Happening[] = [
  {
    title: 'a request',
    act: (name) => stage.annotate(name, request),
    ...{ trace: '1 2 3 4 look', phase: 'RollingBack', reason: 'RollbackRequested', end: 'RolledBack' },
  },
  {
    title: 'a deletion, to be undone',
    annotations: { 'tx.janus.io/automatic-rollback': 'true' },
    act: deleteIt,
    ...{ trace: '1 2 3 4 look', phase: 'RollingBack', reason: 'Deleted', end: 'gone' },
  },
  {
    title: 'a deletion',
    act: deleteIt,
    ...{ trace: '1 2 3 4 look', phase: 'Committing', end: 'gone', stay: 4 },
  },
  {
    title: 'the lock of the next change is deleted',
    act: (name) => deleteLock(name, 4),
    ...{ trace: '1 2 3 4 look', phase: 'RollingBack', reason: 'LockLost', end: 'RolledBack' },
  },
  {
    title: 'another hook begins the undo',
    act: async (name, other) => {
      await stage.annotate(name, request);
      t.equal((await step(other, name)).phase, 'RollingBack');
    },
    ...{ trace: '1 2 3 4 look', phase: 'RollingBack', reason: 'RollbackRequested', end: 'RolledBack' },
  },
  {
    // The engine knows its time without a read.
    title: 'spec.timeout is over',
    spec: { timeout: '20s' },
    earlier: 20_000 - 3 * perWrite + 1,
    ...{ trace: '1 2 3', phase: 'RollingBack', reason: 'Timeout', end: 'RolledBack' },
  },
  {
    // So is that of the locks.
    title: 'half of spec.lockTimeout is over',
    spec: { lockTimeout: '30s' },
    earlier: 15_000 - 3 * perWrite + 1,
    ...{ trace: `1 2 3 ${leases(8)} look 4 5 6 7 look 8`, phase: 'Committed', end: 'Committed', stay: 8 },
  },
  {
    // It begins at the end.
    title: 'spec.ttlSecondsAfterFinished is over',
    spec: { ttlSecondsAfterFinished: 0 },
    earlier: 60_000,
    ...{ trace: '1 2 3 4 look 5 6 7 8', phase: 'Committed', end: 'gone', stay: 8 },
  },
  {
    title: 'another hook undoes it',
    inUndo: true,
    act: async (name, other) => t.equal((await step(other, name)).phase, 'RolledBack'),
    // The end is stored: the locks are released.
    ...{ trace: `1 2 look ${leases(8)}`, phase: 'RolledBack', end: 'RolledBack' },
  },
  {
    // An undo finishes before the Transaction goes. It writes to each object twice.
    title: 'a deletion in the undo',
    inUndo: true,
    act: deleteIt,
    ...{ trace: '1 2 3 4 look 5 6 7 8 look 9 10 11 12 look 13 14 15 16', phase: 'RolledBack', end: 'gone' },
  },
  {
    title: 'spec.timeout of the undo is over',
    inUndo: true,
    spec: { timeout: '20s' },
    earlier: 20_000 - 2 * perWrite + 1,
    ...{ trace: '1 2', phase: 'Failed', reason: 'RollbackTimeout', end: 'Failed', stay: 7 },
  },
];

t.test('the engine sees a change of the Transaction inside a window within a second', async (t) => {
  for (const [index, happening] of happenings.entries())
    await t.test(happening.title, (t) => showItIsSeen(t, happening, `within-${index}`));
});

async function beginUndo(engine: Stage, name: string): Promise<void> {
  await stepToEnd(engine, name);
  await stage.annotate(name, request);
  await stepUntil(engine, name, 'RollingBack');
}

async function showItIsSeen(t: Test, happening: Happening, name: string): Promise<void> {
  const { spec = {}, annotations = {}, earlier = 0, act, stay = 0 } = happening;
  const targets = Array.from({ length: 8 }, (_, index) => `${name}-${index}`);
  await createConfigMaps(stage, targets);
  const look = () =>
    portraits(
      stage.client,
      targets.map((target) => stage.path(`configmaps/${target}`)),
      true,
    );
  const before = await look();
  const changes = targets.map((target) => change('Patch', target, green));
  await stage.transaction(name, changes, { spec, annotations });
  const { engine, trace, pass, arm } = paced(async () => act?.(name, engines.start()));
  t.equal(count((await stepUntil(engine, name, 'Prepared')).status, 'announced'), 8);
  if (happening.inUndo === true) await beginUndo(engine, name);
  pass(earlier);
  arm();
  const { phase, status } = await step(engine, name);
  t.same([phase, trace.slice(trace.indexOf('1')).join(' ')], [happening.phase, happening.trace]);
  if (happening.reason !== undefined) t.match(JSON.stringify(status), `"${happening.reason}"`);
  if (happening.end === 'gone') await stepUntilGone(engine, name);
  else t.equal((await stepToEnd(engine, name)).phase, happening.end);
  if (stay === 0) t.same(await look(), before);
  const expected = targets.map((_, index) => (index < stay ? 'green' : 'blue'));
  t.same(await colors({ name, targets, look }), expected);
}

/** Calls go to the one and the other, so many times or until the Transaction is undone. */
async function inTurn(order: readonly Stage[], name: string, most: number): Promise<void> {
  for (let calls = 0; calls < most; calls += 1) {
    const { status, phase } = await step(order[calls % order.length] ?? stage, name);
    if (phase === 'RolledBack' && conditionOf(status, 'Finished') === 'True') return;
  }
}

t.test('an engine that makes one change a call and one that makes many take turns', async (t) => {
  const [one, many] = [engines.start({ timing: { callBudget: 0 } }), engines.start()];
  const orders = { 'one-first': [one, many], 'many-first': [many, one] };
  for (const [name, order] of Object.entries(orders)) {
    const story = await begin(name, 6, ['Patch', 'Delete']);
    const before = await story.look();
    await inTurn(order, name, 4);
    await stage.annotate(name, request);
    await inTurn(order, name, 40);
    t.match(await stage.read(name), { status: { phase: 'RolledBack' } });
    t.same(await story.look(), before, name);
  }
});
