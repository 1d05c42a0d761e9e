// A change was made, its answer was lost, and its Lease was deleted by hand. Another Transaction changes the object on top. Whoever is
// undone first, and whenever the first process goes on: no value is lost, and after both undos everything is as before.
import t, { type Test } from 'tap';
import { at, isObject, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { type Engines, openEngines } from '../../support/engine.ts';
import { deleteLeases } from '../../support/leases.ts';
import { commit, itemsOf } from '../../support/round-trip.ts';
import { everyNth } from '../../support/selection.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const shared = { fieldManager: 'releases' };
const request = { 'tx.janus.io/request-rollback': 'yes' };
const retry = { 'tx.janus.io/retry-rollback': 'yes' };

/** How far the second Transaction has come when the first process goes on. */
type Moment = 'between its read and its write' | 'after its commit' | 'after its undo';

interface Story {
  readonly title: string;
  /** Of each target; the second Transaction makes its changes on top. */
  readonly first: (name: string) => JsonObject;
  readonly second: (name: string) => JsonObject;
  readonly spec?: JsonObject;
  /** Targets that are there before; all by default. */
  readonly given?: (name: string) => boolean;
  readonly targets?: number;
  /** Whether the process freezes before its first write. */
  readonly isUnsent?: true;
  /** How the first Transaction ends while the second one stands; with LaterTransaction by default. */
  readonly end?: 'RolledBack';
}

const red = (name: string): JsonObject => change('Patch', name, { data: { color: 'red' } });
const updated = (name: string): JsonObject => change('Update', name, { data: { applied: 'yes' } });
const removed = (name: string): JsonObject => change('Delete', name);
const blue = (name: string): JsonObject => change('Create', name, { data: { color: 'blue' } });
const green = (name: string): JsonObject => change('Patch', name, { data: { color: 'green' } });

const patches: Story = { title: 'a Patch on a Patch', first: red, second: green };
const applies: Story = {
  title: 'an Apply on an Apply, with one shared field manager',
  first: (name) => change('Apply', name, { data: { color: 'red' } }),
  second: (name) => change('Apply', name, { data: { color: 'green' } }),
  spec: shared,
};
const unsent: Story = { ...patches, title: 'a Patch on a Patch that was never sent', isUnsent: true, end: 'RolledBack' };
const deletes: Story = {
  title: 'a Delete of an object that a Create made',
  first: (name) => change('Create', name, { data: { color: 'red' } }),
  second: removed,
  given: () => false,
};

const stories: readonly (readonly [Story, readonly Moment[]])[] = [
  [patches, ['between its read and its write', 'after its commit', 'after its undo']],
  [applies, ['between its read and its write', 'after its commit', 'after its undo']],
  [deletes, ['between its read and its write', 'after its commit', 'after its undo']],
  ...[
    { title: 'a Delete of an object that a Patch changed', first: red },
    { title: 'a Delete of an object that an Update changed', first: updated },
    { title: 'a Delete of an object that an Apply changed under a shared field manager', first: applies.first, spec: shared },
  ].map((story): readonly [Story, readonly Moment[]] => [
    { ...story, second: removed },
    ['between its read and its write', 'after its commit', 'after its undo'],
  ]),
  [unsent, ['after its commit']],
  [{ ...patches, title: 'twenty-eight Patches on Patches', targets: 28 }, ['after its commit']],
  [
    {
      title: 'a Create of an object that a Delete removed',
      first: removed,
      second: (name) =>
        change('Create', name, { data: { color: 'blue', applied: 'yes' }, metadata: { labels: { team: 'shop' } } }),
    },
    ['after its commit', 'after its undo'],
  ],
  [
    {
      title: 'a Delete of an object whose Delete was never sent',
      first: removed,
      second: removed,
      isUnsent: true,
      end: 'RolledBack',
    },
    ['after its commit'],
  ],
  [
    {
      title: 'a Patch that gives back what an Update removed',
      first: updated,
      second: (name) => change('Patch', name, { data: { color: 'blue' } }),
    },
    ['after its commit', 'after its undo'],
  ],
  [
    {
      ...patches,
      title: 'a Patch of other fields',
      second: (name) => change('Patch', name, { data: { other: 'yes' } }),
      end: 'RolledBack',
    },
    ['after its commit'],
  ],
];

interface Play {
  readonly stage: Stage;
  readonly story: Story;
  readonly name: string;
  readonly targets: readonly string[];
  /** The process that stood still, and the one that serves the second Transaction. */
  readonly frozen: Stage;
  readonly other: Stage;
}

t.test('a change on top of an unrecorded change, after the Leases were deleted by hand', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage, { stepDeadline: 20_000, writeTimeout: 10_000, callBudget: 20_000 });
  t.jobs = 4;
  const rows = everyNth(
    3,
    stories.flatMap(([story, moments]) => moments.map((moment) => ({ story, moment }))),
  );
  await Promise.all(
    rows.map(({ story, moment }, index) =>
      t.test(`${story.title}; the first process goes on ${moment}`, async (t) => {
        const play = await begin(stage, engines, story, `row-${index}`);
        await run(t, play, moment);
      }),
    ),
  );
});

async function begin(stage: Stage, engines: Engines, story: Story, name: string): Promise<Play> {
  const targets = Array.from({ length: story.targets ?? 2 }, (_, index) => `${name}-${index}`);
  await createConfigMaps(stage, targets.filter(story.given ?? (() => true)));
  return { stage, story, name, targets, frozen: engines.start(), other: engines.start() };
}

async function run(t: Test, play: Play, moment: Moment): Promise<void> {
  const { story, name, targets, other } = play;
  const [first, second] = [`${name}-first`, `${name}-second`];
  const before = await show(play);
  await stall(play, first);
  const between = await show(play);
  await play.stage.transaction(second, targets.map(story.second), { spec: story.spec ?? {} });
  await goOn(t, play, moment, { first, second });
  if (moment === 'after its undo') t.same(await show(play), between, 'the second one restores what it found');
  const { status } = await stepToEnd(play.frozen, first);
  if (moment !== 'after its undo') {
    if (story.end === undefined) shownAsLater(t, status, second);
    else t.match(status, { phase: story.end });
    await undo(t, other, second, request);
    if (story.end === undefined) {
      await undo(t, other, first, retry);
    }
  }
  t.match((await stepToEnd(other, first)).status, { phase: 'RolledBack' });
  t.same(await show(play), before, 'everything is as before both');
}

/** Makes the changes of the first Transaction, and loses the answer and the Leases. */
async function stall({ stage, story, targets, frozen }: Play, name: string): Promise<void> {
  await stage.transaction(name, targets.map(story.first), { spec: story.spec ?? {} });
  await stepUntil(frozen, name, 'Prepared');
  if (story.isUnsent !== true) {
    const { body } = await frozen.call(name);
    // A loaded machine may not send all of them within one call.
    if (!/^(Committed|Committing)$/.test(textAt(body, 'status', 'phase') ?? ''))
      throw new Error(`nothing was sent: ${JSON.stringify(body)}`);
  }
  await deleteLeases(stage, ...targets);
}

interface Names {
  readonly first: string;
  readonly second: string;
}

async function goOn(t: Test, { frozen, other }: Play, moment: Moment, { first, second }: Names): Promise<void> {
  if (moment === 'between its read and its write') {
    await stepUntil(other, second, 'Prepared');
    await stepUntil(frozen, first, 'RollingBack');
    for (let calls = 0; calls < 4; calls += 1) await step(frozen, first);
  }
  const { phase, status } = await stepToEnd(other, second);
  if (phase !== 'Committed') throw new Error(`expected Committed, found ${JSON.stringify(status)}`);
  if (moment === 'after its undo') await undo(t, other, second, request);
}

async function undo(t: Test, engine: Stage, name: string, annotations: Readonly<Record<string, string>>): Promise<void> {
  await engine.annotate(name, annotations);
  await step(engine, name);
  t.match((await stepToEnd(engine, name)).status, { phase: 'RolledBack' }, `${name} is undone`);
}

function shownAsLater(t: Test, status: JsonObject, second: string): void {
  t.match(status, { phase: 'Failed' });
  const left = itemsOf(status).filter((item) => item.left === true);
  t.ok(left.length > 0);
  for (const item of left) {
    t.match(item, { error: { reason: 'LaterTransaction' } });
    t.match(textAt(item, 'error', 'message') ?? '', second);
  }
}

function show({ stage, targets }: Play): Promise<readonly unknown[]> {
  const isNew = true;
  return portraits(
    stage.client,
    targets.map((target) => stage.path(`configmaps/${target}`)),
    isNew,
  );
}

t.test('a Delete whose object two later Transactions created and deleted again', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage, { stepDeadline: 20_000, writeTimeout: 10_000, callBudget: 20_000 });
  const { client, path } = stage;
  const story = { title: 'a Delete', first: removed, second: blue };

  await t.test('is left while both exist, and is undone after them', async (t) => {
    const play = await begin(stage, engines, story, 'both');
    const before = await show(play);
    await stall(play, 'first');
    await commit(play.other, 'second', play.targets.map(blue));
    await commit(play.other, 'third', play.targets.map(removed));
    await isLeft(t, play, 'first', 'third');
    await undo(t, play.other, 'third', request);
    await undo(t, play.other, 'second', request);
    await undo(t, play.other, 'first', retry);
    t.same(await show(play), before, 'everything is as before all');
  });

  await t.test('is left while the last one exists, if a person created the object', async (t) => {
    const play = await begin(stage, engines, { ...story, targets: 1 }, 'last');
    const before = await show(play);
    await stall(play, 'first-of-last');
    const [target = ''] = play.targets;
    must(await client.create(path('configmaps'), { metadata: { name: target }, data: { color: 'green' } }));
    await commit(play.other, 'last', [removed(target)]);
    await isLeft(t, play, 'first-of-last', 'last');
    await undo(t, play.other, 'last', request);
    must(await client.delete(path(`configmaps/${target}`)));
    await undo(t, play.other, 'first-of-last', retry);
    t.same(await show(play), before, 'everything is as before all');
  });
});

/** The first process goes on, and writes nothing. */
async function isLeft(t: Test, play: Play, name: string, later: string): Promise<void> {
  const between = await show(play);
  shownAsLater(t, (await stepToEnd(play.frozen, name)).status, later);
  t.same(await show(play), between, 'nothing was written');
}

t.test('the engine guesses nothing from a snapshot that was modified', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage, { stepDeadline: 20_000, writeTimeout: 10_000, callBudget: 20_000 });
  const play = await begin(stage, engines, patches, 'forged');
  await stall(play, 'first');
  await stage.transaction('second', play.targets.map(green));
  await stepToEnd(play.other, 'second');
  const name = textAt(await stage.read('second'), 'status', 'rollbackRef', 'name') ?? '';
  const path = stage.path(`configmaps/${name}`);
  const found = must(await stage.client.get(path));
  t.ok(isObject(at(found, 'data')));
  must(await stage.client.patch(path, { metadata: { finalizers: null } }));
  must(await stage.client.delete(path));
  const before = await show(play);
  const { status } = await stepToEnd(play.frozen, 'first');
  const message = /whether Transaction \S+\/second changed ConfigMap .* is unknown \(snapshot ConfigMap .* is gone\)/;
  t.match(status, { phase: 'Failed', items: [{ left: true, error: { reason: 'SnapshotBroken', message } }] });
  t.same(await show(play), before, 'nothing was written');
});
