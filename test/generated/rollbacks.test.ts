// Generated histories of one line of 2 to 12 releases (rollback-histories.ts), and a rollback to any of the releases, or before the first.
// Between the releases, others edit objects, take fields over, and delete or recreate objects; releases are undone, and records deleted.
// The oracle is a twin: the releases up to that one, and the work of others. What the rollback leaves equals the twin, managedFields
// included, and its undo leaves what was there. A rollback that is refused writes nothing, and only what others have changed over a newer
// release is in its way: with partial it leaves those objects.
//
// `JANUS_HISTORIES=1000 npm test -- test/generated/rollbacks.test.ts` tries a thousand. JANUS_TEST_SEED=<seed> repeats them.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { at, isObject, type Json, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { share } from '../support/selection.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { portraits } from '../support/targets.ts';
import { objects } from './histories.ts';
import { type Line, pathOf } from './line.ts';
import { type RollbackHistory, rollbackHistories } from './rollback-histories.ts';
import {
  commits,
  isOfOthers,
  isStanding,
  isUndoneBetween,
  type Played,
  playsHistory,
  playsTwin,
  releaseName,
} from './rollback-line.ts';

const inTheSuite = share(3, 6);
const runs = Number(process.env.JANUS_HISTORIES ?? inTheSuite);
const seed = Number(process.env.JANUS_TEST_SEED ?? 20_261_128);
const lanes = 3;

/** Whether others have changed what a newer release that is to be undone has changed before, so that their work may be in the way. */
function isContested({ releases, states, turns }: Played, object: number, to: number): boolean {
  return turns.some(({ after, turn }) => {
    if (!isOfOthers(turn) || !('object' in turn) || turn.object !== object || after < to) return false;
    if (!isUndoneBetween(releases, object, { from: to, until: after })) return false;
    const there = [...(to < 0 ? [undefined] : []), ...states.slice(Math.max(to, 0), after + 1).map((state) => state[object])];
    return turn.kind !== 'edit' || turn.data === undefined || there.includes(undefined) || 'x' in turn.data || 'y' in turn.data;
  });
}

/** Whether the twin does not show what the rollback makes of it: of a deleted record over a release that is undone, or a kept object. */
function isUnknown({ releases }: Played, object: number, to: number): boolean {
  return releases.some(({ touched, undone, isForgotten }, at_) => {
    if (at_ <= to || !touched.includes(object)) return false;
    if (undone !== undefined) return undone.kept === object;
    return isForgotten === true && isUndoneBetween(releases, object, { from: to, until: at_ });
  });
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

/** Where the rollback goes to; undefined if nothing can be undone. */
function placeOf({ releases }: Played, place: number): number | undefined {
  const newest = releases.findLastIndex(isStanding);
  const places = [-1, ...releases.keys()].filter((at_) => at_ < newest && (at_ < 0 || isStanding(releases[at_] as never)));
  return places[place % places.length];
}

type Ended = 'whole' | 'partial' | 'nothing';

/** What the rollback may leave or meet, by object. */
interface Expected {
  /** As in the twin; undefined where the twin does not show it. */
  readonly wanted: readonly (readonly [unknown] | undefined)[];
  readonly mayBeRefused: boolean;
}

async function expectedOf(played: Played, to: number): Promise<Expected> {
  const twin = { stage: played.stage, id: `${played.id}t` };
  await playsTwin(twin, played, to);
  const shown = await show(twin);
  const isOpen = objects.map((_, object) => isContested(played, object, to) || isUnknown(played, object, to));
  const wanted = shown.map((one, object) => (isOpen[object] === true ? undefined : ([alike(one, twin.id)] as const)));
  return { wanted, mayBeRefused: isOpen.includes(true) };
}

const back = (line: Line, name: string, rollback: JsonObject): Promise<JsonObject> =>
  commits(line, name, [], { changes: undefined as never, rollback });

/** Gives the name of the rollback that is Committed. */
async function commitsBack(t: Test, played: Played, to: string, mayBeRefused: boolean): Promise<string> {
  const { id } = played;
  const before = await show(played);
  const first = await back(played, `${id}-back`, { to });
  if (textAt(first, 'phase') === 'Committed') return `${id}-back`;
  t.ok(mayBeRefused, `to ${to}: ${textAt(first, 'message')}`);
  t.same(await show(played), before, 'a refused rollback writes nothing');
  const partial = await back(played, `${id}-part`, { to, partial: true });
  t.equal(textAt(partial, 'phase'), 'Committed', `${textAt(partial, 'message')}`);
  return `${id}-part`;
}

async function rollsBack(t: Test, stage: Stage, history: RollbackHistory, id: string): Promise<Ended> {
  const played = await playsHistory({ stage, id }, history);
  const to = placeOf(played, history.place);
  if (to === undefined) return 'nothing';
  const { wanted, mayBeRefused } = await expectedOf(played, to);
  const before = await show(played);
  const name = await commitsBack(t, played, to < 0 ? '' : releaseName(played, to), mayBeRefused);
  for (const [object, found] of (await show(played)).entries())
    if (wanted[object] !== undefined) t.same(alike(found, id), wanted[object][0], `${objects[object]}, back to ${to}`);
  await stage.annotate(name, { 'tx.janus.io/request-rollback': '1' });
  await stage.phase(name, 'RolledBack');
  t.same(await show(played), before, 'the undo brings back what was there');
  return name.endsWith('-part') ? 'partial' : 'whole';
}

t.test(`${runs} histories, seed ${seed}`, async (t) => {
  const stage = await startStage(t);
  const all = fc.sample(rollbackHistories, { numRuns: runs, seed }).entries();
  const ended: Ended[] = [];
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
