// A rolling update from the version that made one change a call (decision 28): what it stored, a window goes on from; and a window stores
// nothing that it could not read. `test/fixtures/one-change-a-call.json` holds what it stored of a Patch, a Delete and a Patch that were
// committed and undone.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { at, isObject, type JsonObject, parseJson, textAt } from '../../../hooks/model/json.ts';
import { decodeStatus, encodeStatus } from '../../../hooks/model/status.ts';
import { bounded } from '../../../hooks/outcome/bounded.ts';
import { must } from '../../support/client.ts';
import { openEngines } from '../../support/engine.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil, stepUntilGone } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

/** What versions since then store beside. */
const added: Readonly<Record<'status' | 'item', readonly string[]>> = {
  status: ['startTime', 'completionTime', 'current', 'duration', 'waitingUntil'],
  item: ['target', 'state'],
};

const file = join(import.meta.dirname, '..', '..', 'fixtures', 'one-change-a-call.json');
const before = parseJson(readFileSync(file, 'utf8')) as unknown as readonly JsonObject[];
const green = { data: { color: 'green' } };
const request = { 'tx.janus.io/request-rollback': 'yes' };

const stage = await startStage(t, { withoutLoop: true });
const engines = await openEngines(t, stage, { stepDeadline: 60_000, writeTimeout: 30_000, callBudget: 60_000, lookAge: 1_000 });
const many = engines.start();
const one = versionBefore(engines.start({ timing: { callBudget: 0 } }));

function items(status: JsonObject): readonly JsonObject[] {
  return (at(status, 'items') ?? []) as readonly JsonObject[];
}

/** What a version without them answers: it reads no member that it does not know, so it writes none. */
function versionBefore(stage: Stage): Stage {
  return {
    ...stage,
    call: async (...parts) => {
      const answer = await stage.call(...parts);
      const status = at(answer.body, 'status');
      return isObject(status) ? { ...answer, body: { ...answer.body, status: withoutDisplay(status) } } : answer;
    },
  };
}

function withoutDisplay(status: JsonObject): JsonObject {
  const known = Object.entries(status).filter(([name]) => !added.status.includes(name));
  const bare = items(status).map((item) =>
    Object.fromEntries(Object.entries(item).filter(([name]) => !added.item.includes(name))),
  );
  return { ...Object.fromEntries(known), ...('items' in status ? { items: bare } : {}) };
}

async function begin(name: string): Promise<() => Promise<readonly unknown[]>> {
  const targets = [0, 1, 2].map((index) => `${name}-${index}`);
  await createConfigMaps(stage, targets);
  const [first = '', second = '', third = ''] = targets;
  await stage.transaction(name, [change('Patch', first, green), change('Delete', second), change('Patch', third, green)]);
  return () =>
    portraits(
      stage.client,
      targets.map((target) => stage.path(`configmaps/${target}`)),
      true,
    );
}

const flagsOf = (item: JsonObject): string =>
  Object.keys(item)
    .filter((key) => item[key] === true)
    .join(' ');

/** How far it is: the phase, and the flags of each change. */
function placeOf(status: JsonObject): readonly (string | undefined)[] {
  return [textAt(status, 'phase'), ...items(status).map(flagsOf)];
}

t.test('what the version before stored is read, and written back, as it is', async (t) => {
  for (const { observedGeneration: _metacontrollers, ...stored } of before) {
    const status = decodeStatus(stored, 3);
    const written = status && encodeStatus(bounded(status));
    t.same(written, stored, `${stored.phase}, version ${stored.version}`);
  }
});

// One change a call stores the same places today, so that it can stand for that version from there on.
for (const [index, place] of before.entries()) {
  const name = `from-${index}`;
  if (at(place, 'completedAt') !== undefined) continue;
  t.test(`${place.phase}, ${place.progress}: a window follows`, async (t) => {
    const look = await begin(name);
    const objects = await look();
    const isUndo = place.phase === 'RollingBack';
    if (isUndo) {
      await stepUntil(one, name, 'Committed');
      await stage.annotate(name, request);
    }
    const found = await untilAt(name, place);
    t.same(Object.keys(found).sort(), Object.keys(place).sort(), 'with the same fields');
    t.match(await stepUntil(many, name, isUndo ? 'RolledBack' : 'Committed'), {});
    if (!isUndo) await stage.annotate(name, request);
    await stepUntil(many, name, 'RolledBack');
    t.same(await look(), objects);
  });
}

async function untilAt(name: string, place: JsonObject): Promise<JsonObject> {
  const wanted = JSON.stringify(placeOf(place));
  for (let calls = 0; calls < 12; calls += 1) {
    const { status } = await step(one, name);
    if (JSON.stringify(placeOf(status)) === wanted) return status;
  }
  throw new Error(`expected ${name} to come by ${wanted}`);
}

t.test('a window stores no field, and no flags of a change, that the version before did not store', async (t) => {
  await begin('window');
  const stored: JsonObject[] = [];
  const keep = async (calls: number): Promise<void> => {
    for (let call = 0; call < calls; call += 1) stored.push((await step(many, 'window')).status);
  };
  await keep(3);
  await stage.annotate('window', request);
  await keep(3);
  t.same(
    stored.map(({ phase }) => phase),
    ['Prepared', 'Committed', 'Committed', 'RollingBack', 'RolledBack', 'RolledBack'],
  );
  const known = (of: (status: JsonObject) => readonly string[]): ReadonlySet<string> =>
    new Set([...before.flatMap(of), ...added.status, ...added.item]);
  const words: readonly ((status: JsonObject) => readonly string[])[] = [
    (status) => Object.keys(status),
    (status) => items(status).flatMap((item) => Object.keys(item)),
    (status) => items(status).map(flagsOf),
    ({ phase }) => [`${phase}`],
  ];
  for (const of of words)
    t.same(
      stored.flatMap(of).filter((word) => !known(of).has(word)),
      [],
    );
});

const states = (status: JsonObject): readonly unknown[] => items(status).map((item) => item.state);

/** The version of the object after each of these calls, one after the other. */
async function versionsAfter(name: string, turns: readonly Stage[]): Promise<readonly (string | undefined)[]> {
  const versions: (string | undefined)[] = [];
  for (const turn of turns) {
    await step(turn, name);
    versions.push(textAt(await stage.read(name), 'metadata', 'resourceVersion'));
  }
  return versions;
}

t.test('what the version before has stored is shown from the next move on, and left as it is till then', async (t) => {
  await begin('from-before');
  await stepUntil(one, 'from-before', 'Prepared');
  const moved = await stepUntil(many, 'from-before', 'Committed');
  t.same(states(moved.status), ['Applied', 'Applied', 'Applied']);
  t.equal(items(moved.status)[0]?.target, 'ConfigMap from-before-0');
  await begin('ended-before');
  await stepUntil(one, 'ended-before', 'Committed');
  await stepToEnd(one, 'ended-before');
  const ended = await stage.read('ended-before');
  await step(many, 'ended-before');
  t.same(await stage.read('ended-before'), ended, 'nothing is written while nothing moves');
});

t.test('two versions in turn commit, undo, and write nothing once it has ended', async (t) => {
  const look = await begin('in-turn');
  const objects = await look();
  await inTurnUntil('in-turn', 'Committed');
  await stage.annotate('in-turn', request);
  await inTurnUntil('in-turn', 'RolledBack');
  t.same(await look(), objects);
  await versionsAfter('in-turn', [one, many, one, many]);
  const versions = await versionsAfter('in-turn', [one, many, one, many, many, one]);
  t.equal(new Set(versions).size, 1, versions.join(' '));
});

async function inTurnUntil(name: string, phase: string): Promise<void> {
  for (let calls = 0; calls < 40; calls += 1) {
    const now = await step(calls % 2 === 0 ? one : many, name);
    if (now.phase === phase) return;
  }
  throw new Error(`expected ${name} to become ${phase}`);
}

t.test('back again: the version before serves what the newer one has begun and ended', async (t) => {
  const look = await begin('back');
  const objects = await look();
  const announced = await stepUntil(many, 'back', 'Prepared');
  t.match(states(announced.status), ['Applying', 'Applying', 'Applying']);
  t.notMatch(states((await stepUntil(one, 'back', 'Committing')).status), ['Applying'], 'and drops what it does not know');
  await stepUntil(many, 'back', 'Committed');
  await stepToEnd(many, 'back');
  const versions = await versionsAfter('back', [one, one, many, one]);
  t.equal(new Set(versions).size, 1, 'it drops it from what has ended too, and then all is still');
  await stage.annotate('back', request);
  await stepUntil(one, 'back', 'RolledBack');
  t.same(await look(), objects);
  must(await stage.client.delete(stage.path('tx.janus.io/v1alpha1/transactions/back')));
  await stepUntilGone(one, 'back');
});
