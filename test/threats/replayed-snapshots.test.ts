// Somebody with all rights on ConfigMaps keeps what one try has stored, and puts it back in place of what a later one stores, whole or
// in part. All of it is authentic. Nothing was applied yet: parts of two tries are never taken for one snapshot, and whatever is
// adopted or stored again, an undo restores the former state.
import { randomBytes } from 'node:crypto';
import t, { type Test } from 'tap';
import { at, isObject, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { openEngines } from '../support/engine.ts';
import { snapshotParts } from '../support/snapshots.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { stepToEnd, stepUntil } from '../support/stepping.ts';
import { change } from '../support/targets.ts';

/** 270 kB that no compression makes small: three entries fill a ConfigMap, and none goes on in the next one. */
const noise = (): string => randomBytes(200_000).toString('base64');
const letters = ['a', 'b', 'c', 'd'];

/** Takes the snapshot away, as somebody may who may delete ConfigMaps; gives it. */
async function take(stage: Stage, name: string): Promise<readonly JsonObject[]> {
  const parts = await snapshotParts(stage, name);
  for (const part of parts) {
    const path = stage.path(`configmaps/${textAt(part, 'metadata', 'name')}`);
    must(await stage.client.patch(path, { metadata: { finalizers: null } }));
    await stage.client.delete(path);
  }
  return parts;
}

async function put(stage: Stage, part: JsonObject | undefined): Promise<void> {
  const metadata = at(part, 'metadata');
  if (part === undefined || !isObject(metadata)) throw new Error('there is no such part');
  const stamped = ['uid', 'resourceVersion', 'managedFields', 'creationTimestamp'];
  const fresh = stamped.reduce((object, key) => withPath(object, ['metadata', key], undefined), part);
  must(await stage.client.create(stage.path('configmaps'), fresh));
}

interface Tries {
  readonly first: readonly JsonObject[];
  readonly second: readonly JsonObject[];
}

interface Replay {
  readonly name: string;
  readonly puts: (tries: Tries) => readonly (JsonObject | undefined)[];
}

const replays: readonly Replay[] = [
  { name: 'the whole first try', puts: ({ first }) => first },
  { name: 'the head of the first, the rest of the second', puts: ({ first, second }) => [first[0], ...second.slice(1)] },
  { name: 'the head of the second, the rest of the first', puts: ({ first, second }) => [second[0], ...first.slice(1)] },
  { name: 'the head of the first alone', puts: ({ first }) => [first[0]] },
  { name: 'the rest of the first without its head', puts: ({ first }) => first.slice(1) },
  {
    name: 'the head of the second with the data of the first',
    puts: ({ first, second }) => [{ ...second[0], data: first[0]?.data ?? {} }, ...second.slice(1)],
  },
  {
    name: 'the second, its number of parts edited',
    puts: ({ second }) => [withPath(second[0] ?? {}, ['metadata', 'annotations', 'tx.janus.io/parts'], '1'), ...second.slice(1)],
  },
  {
    name: 'the second, one entry edited and its digest left',
    puts: ({ second }) => [...second.slice(0, -1), edited(second.at(-1) ?? {})],
  },
];

function edited(part: JsonObject): JsonObject {
  const data = part.data as Readonly<Record<string, string>>;
  return { ...part, data: Object.fromEntries(Object.entries(data).map(([key, text]) => [key, `${text.slice(0, -4)}AAAA`])) };
}

async function run(t: Test, [stage, restarted]: readonly [Stage, () => Stage], { puts }: Replay, name: string): Promise<void> {
  const paths = letters.map((letter) => stage.path(`configmaps/${name}-${letter}`));
  for (const letter of letters) {
    const data = { noise: noise(), color: 'blue' };
    must(await stage.client.create(stage.path('configmaps'), { metadata: { name: `${name}-${letter}` }, data }));
  }
  await stage.transaction(
    name,
    letters.map((letter) => change('Patch', `${name}-${letter}`, { data: { color: 'green' } })),
  );
  await stepUntil(stage, name, 'Preparing');
  // Each of these answers is lost.
  t.match((await restarted().call(name)).body, { status: { phase: 'Prepared' } });
  const first = await take(stage, name);
  for (const path of paths) must(await stage.client.patch(path, { data: { theirs: 'yes' } }));
  t.match((await restarted().call(name)).body, { status: { phase: 'Prepared' } });
  const second = await take(stage, name);
  t.ok(first.length > 1 && second.length === first.length, `${first.length} parts`);
  for (const part of puts({ first, second })) await put(stage, part);

  const engine = restarted();
  t.match((await stepUntil(engine, name, 'Prepared')).status, { phase: 'Prepared' });
  t.match((await stepToEnd(engine, name)).status, { phase: 'Committed' });
  await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes' });
  t.match((await stepUntil(restarted(), name, 'RolledBack')).status, { phase: 'RolledBack' });
  await stepToEnd(stage, name);
  for (const path of paths) t.match(must(await stage.client.get(path)), { data: { color: 'blue', theirs: 'yes' } });
}

t.test('the engine does not adopt snapshot parts of an earlier try', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  for (const [index, replay] of replays.entries())
    await t.test(replay.name, (t) => run(t, [stage, () => engines.start()], replay, `replay-${index}`));
});
