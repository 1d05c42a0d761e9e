// Generated histories of one line of releases, with edits by others in between, and a rollback to any of the releases, or before the first.
// The oracle is a twin: the releases up to that one, and the edits of others. What the rollback leaves equals the twin, managedFields
// included, and its undo leaves what was there. A rollback that is refused writes nothing, and only edits of what a newer release changed are
// in its way: with partial it leaves those objects.
//
// `JANUS_HISTORIES=1000 npm test -- test/generated/rollbacks.test.ts` tries a thousand. JANUS_TEST_SEED=<seed> repeats them.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { at, isObject, type Json, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { share } from '../support/selection.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { portraits } from '../support/targets.ts';
import { patchOf } from './busy.ts';
import { type Data, type Deed, type History, histories, objects } from './histories.ts';
import { changesOf, type Line, pathOf, type State, statesOf } from './line.ts';

const inTheSuite = share(3, 6);
const runs = Number(process.env.JANUS_HISTORIES ?? inTheSuite);
const seed = Number(process.env.JANUS_TEST_SEED ?? 20_261_128);
const lanes = 3;

interface Drawn {
  readonly history: History;
  /** Where to: of the releases that are Committed, and the state before the first. */
  readonly place: number;
}

const drawn: fc.Arbitrary<Drawn> = fc.record({ history: histories, place: fc.nat({ max: 6 }) });

type Edit = Extract<Deed, { readonly kind: 'edit' }> & { readonly after: number };

interface Played extends Line {
  /** By release: whether it is Committed. */
  readonly committed: boolean[];
  /** By release: the objects after it, before the edits that follow. */
  readonly states: (readonly State[])[];
  /** What they have changed: others write the same to the twin. */
  readonly edits: Edit[];
}

async function commit(
  { stage, id }: Line,
  name: string,
  spec: JsonObject,
  changes: readonly JsonObject[] = [],
): Promise<JsonObject> {
  // ReplicaSets go with a Deployment.
  const annotations = { 'tx.janus.io/allow-irreversible': 'true' };
  await stage.transaction(name, changes, { spec: { fieldManager: `line-${id}`, ...spec }, annotations });
  return stage.finished(name);
}

async function releases(line: Line, history: History, at_: number): Promise<boolean> {
  const changes = changesOf(line, history.releases[at_] ?? [], history.releases[at_ - 1]);
  const status = await commit(
    line,
    `${line.id}-r${at_}`,
    {},
    changes.map(([, change]) => change),
  );
  return textAt(status, 'phase') === 'Committed';
}

/** Returns what it has changed. */
async function edits(line: Line, edit: Edit): Promise<readonly Edit[]> {
  const { client } = line.stage;
  const path = pathOf(line, edit.object);
  const now = (await statesOf(line))[edit.object];
  if (now === undefined) return [];
  if (edit.data === undefined) {
    must(await client.delete(path));
    return [edit];
  }
  const data = Object.fromEntries(Object.entries(edit.data).filter(([key, value]) => now[key] !== value)) as Data;
  if (Object.keys(data).length === 0) return [];
  must(await client.patch(path, patchOf(edit.object, data), 'merge', { fieldManager: 'kubectl-edit' }));
  return [{ ...edit, data }];
}

async function plays(line: Line, history: History): Promise<Played> {
  const played: Played = { ...line, committed: [], states: [], edits: [] };
  const deeds = history.deeds.flatMap(({ after, deed }): readonly Edit[] => (deed.kind === 'edit' ? [{ ...deed, after }] : []));
  for (const at_ of history.releases.keys()) {
    played.committed.push(await releases(line, history, at_));
    played.states.push(await statesOf(line));
    for (const deed of deeds.filter(({ after }) => after === at_)) played.edits.push(...(await edits(line, deed)));
  }
  return played;
}

async function playsTwin(line: Line, history: History, { edits: made }: Played, to: number): Promise<void> {
  for (const at_ of history.releases.keys()) {
    if (at_ <= to) await releases(line, history, at_);
    for (const edit of made) if (edit.after === at_) await edits(line, edit);
  }
}

/** Whether somebody has changed what a release after that one has changed, too. */
function isContested({ states, edits: made }: Played, object: number, to: number): boolean {
  const since = made.filter((edit) => edit.object === object && edit.after >= to);
  const there = [...states.map((state) => state[object]).slice(Math.max(to, 0)), ...(to < 0 ? [undefined] : [])];
  const comesOrGoes = there.includes(undefined);
  return since.some(({ data }) => data === undefined || comesOrGoes || 'x' in data || 'y' in data);
}

const assigned = ['clusterIP', 'clusterIPs'];

const uids = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Without the names of the line, uids (that of the Transaction is in its mark), and addresses. */
function alike(portrait: unknown, id: string): unknown {
  if (portrait === undefined) return undefined;
  const object = portrait as JsonObject;
  const spec = at(object, 'spec');
  const kept: Json | undefined = isObject(spec)
    ? Object.fromEntries(Object.entries(spec).filter(([key]) => !assigned.includes(key)))
    : spec;
  const text = JSON.stringify(withPath(object, ['spec'], kept));
  return JSON.parse(text.replaceAll(id, 'line').replaceAll(uids, 'uid'));
}

const show = (line: Line): Promise<readonly unknown[]> =>
  portraits(
    line.stage.client,
    [...objects.keys()].map((object) => pathOf(line, object)),
    true,
  );

async function rollsBack(t: Test, stage: Stage, { history, place }: Drawn, id: string): Promise<'whole' | 'partial'> {
  const played = await plays({ stage, id }, history);
  const newest = played.committed.lastIndexOf(true);
  const places = [-1, ...played.committed.keys()].filter((at_) => at_ < newest && (at_ < 0 || played.committed[at_]));
  const to = places[place % places.length] ?? -1;
  const twin = { stage, id: `${id}t` };
  await playsTwin(twin, history, played, to);
  const [before, wanted] = [await show(played), (await show(twin)).map((one) => alike(one, twin.id))];
  const contested = objects.map((_, object) => isContested(played, object, to));
  const rollback = { to: to < 0 ? '' : `${id}-r${to}` };
  const first = await commit(played, `${id}-back`, { changes: undefined as never, rollback });
  const isWhole = textAt(first, 'phase') === 'Committed';
  if (!isWhole) {
    t.ok(contested.includes(true), `to ${rollback.to}: ${textAt(first, 'message')}`);
    t.same(await show(played), before, 'a refused rollback writes nothing');
    const partial = await commit(played, `${id}-part`, { changes: undefined as never, rollback: { ...rollback, partial: true } });
    t.equal(textAt(partial, 'phase'), 'Committed', `${textAt(partial, 'message')}`);
  }
  const after = await show(played);
  for (const object of objects.keys()) {
    const found = alike(after[object], id);
    if (!contested[object]) t.same(found, wanted[object], `${objects[object]}, back to ${rollback.to}`);
  }
  const name = `${id}-${isWhole ? 'back' : 'part'}`;
  await stage.annotate(name, { 'tx.janus.io/request-rollback': '1' });
  await stage.phase(name, 'RolledBack');
  t.same(await show(played), before, 'the undo brings back what was there');
  return isWhole ? 'whole' : 'partial';
}

t.test(`${runs} histories, seed ${seed}`, async (t) => {
  const stage = await startStage(t);
  const all = fc.sample(drawn, { numRuns: runs, seed }).entries();
  const ended: string[] = [];
  const lane = async (): Promise<void> => {
    for (const [index, one] of all)
      await t.test(`history ${index}: ${JSON.stringify(one)}`, async (t) => {
        ended.push(await rollsBack(t, stage, one, `h${index}x`));
      });
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  t.equal(ended.length, runs);
  t.ok(ended.includes('whole'), 'some rollback was not refused');
});
