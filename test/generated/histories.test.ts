// Generated histories of one line of releases, with edits by others and deleted Transactions in between, undone in any order, with keep
// and overwrite, while controllers write (busy.ts). The oracle knows three states of each object: before its release, as released, and at the
// undo. Each undo changes nothing, or exactly what its plan said and the oracle allows; none ends half way. The number that the autoscaler has
// set last stays in every release and every undo.
//
// `JANUS_HISTORIES=1000 npm test -- test/generated/histories.test.ts` tries a thousand. JANUS_TEST_SEED=<seed> repeats them.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { share } from '../support/selection.ts';
import { comparable, type Stage, startStage } from '../support/stage.ts';
import { busyControllers, createAutoscaler, kinds, patchOf, scaledObject } from './busy.ts';
import { type Data, type Deed, type History, histories, objects, type Undo } from './histories.ts';
import { changesOf, type Line, nameOf, pathOf, type State, statesOf } from './line.ts';

const inTheSuite = share(6, 12);
const runs = Number(process.env.JANUS_HISTORIES ?? inTheSuite);
const seed = Number(process.env.JANUS_TEST_SEED ?? 20_261_125);
const lanes = 3;
const busy = busyControllers();

interface Released {
  readonly name: string;
  /** In the order of its changes: the object of each. */
  readonly changed: readonly number[];
  readonly before: readonly State[];
  readonly after: readonly State[];
}

interface Running extends Line {
  readonly t: Test;
  readonly released: (Released | undefined)[];
  /** Whether anybody but the releases has changed anything. */
  others: boolean;
}

/** The objects, with their managedFields if no controller writes them. */
function portraitsOf(run: Running): Promise<readonly unknown[]> {
  return Promise.all(
    objects.map(async (_, object) => {
      const answer = await run.stage.client.get(pathOf(run, object));
      if (answer.code === 404) return null;
      return kinds[object]?.place === 'configmaps' ? comparable(must(answer), false) : kinds[object]?.dataOf(must(answer));
    }),
  );
}

/** Runs what a release or an undo does, while the autoscaler is busy: its last number stays in the object. */
async function whileBusy<Result>(run: Running, what: () => Promise<Result>): Promise<Result> {
  const { t, stage, id } = run;
  const scaled = async () => {
    const { body } = await stage.client.get(pathOf(run, scaledObject));
    return { uid: at(body, 'metadata', 'uid'), number: at(body, 'spec', 'replicas') };
  };
  const name = nameOf(id, scaledObject);
  const before = await scaled();
  busy.begin(stage.client, name);
  const result = await what();
  const after = await scaled();
  if (after.uid !== undefined && after.uid === before.uid)
    t.equal(after.number, busy.scaledTo(name) ?? before.number, 'the number of the autoscaler stays');
  return result;
}

async function release(run: Running, at_: number, history: History): Promise<void> {
  const { stage, id } = run;
  const name = `${id}-r${at_}`;
  const changes = changesOf(run, history.releases[at_] ?? [], history.releases[at_ - 1]);
  const before = await statesOf(run);
  const status = await whileBusy(run, async () => {
    const spec = { fieldManager: `line-${id}` };
    await stage.transaction(
      name,
      changes.map(([, change]) => change),
      { spec },
    );
    return stage.finished(name);
  });
  const isCommitted = textAt(status, 'phase') === 'Committed';
  run.released[at_] = isCommitted
    ? { name, changed: changes.map(([object]) => object), before, after: await statesOf(run) }
    : undefined;
}

async function does(run: Running, deed: Deed): Promise<void> {
  const { stage } = run;
  run.others = true;
  if (deed.kind === 'forget') {
    const name = run.released[deed.release]?.name;
    if (name === undefined) return;
    const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${name}`;
    must(await stage.client.delete(path));
    await waitFor(async () => ((await stage.client.get(path)).code === 404 ? true : undefined), `${name} to go`);
    run.released[deed.release] = undefined;
    return;
  }
  const path = pathOf(run, deed.object);
  const answer =
    deed.data === undefined
      ? await stage.client.delete(path)
      : await stage.client.patch(path, patchOf(deed.object, deed.data), 'merge', { fieldManager: 'kubectl-edit' });
  if (answer.code !== 404) must(answer);
}

const request = 'tx.janus.io/request-rollback';
let nonces = 0;

async function planOf({ stage }: Running, name: string, choices: Readonly<Record<string, string>>): Promise<JsonObject> {
  nonces += 1;
  const nonce = `plan-${nonces}`;
  await stage.annotate(name, { ...choices, 'tx.janus.io/plan-undo': nonce });
  return waitFor(async () => {
    const undo = at(await stage.read(name), 'status', 'undo');
    return textAt(undo, 'request', 'value') === nonce ? (undo as JsonObject) : undefined;
  }, `the plan ${nonce}`);
}

interface Undone {
  readonly release: Released;
  readonly undo: Undo;
  readonly now: readonly State[];
  readonly left: readonly State[];
  readonly plan: JsonObject;
}

/** The annotations that keep or overwrite an object of the release. */
function choicesOf({ id }: Running, { choice, object }: Undo, { changed }: Released): Readonly<Record<string, string>> {
  const chosen = changed.includes(object) ? `${textAt(kinds[object]?.type, 'kind')}/${nameOf(id, object)}` : '';
  return {
    'tx.janus.io/undo-keep': choice === 'keep' ? chosen : '',
    'tx.janus.io/undo-overwrite': choice === 'overwrite' ? chosen : '',
  };
}

/** Asks for the planned undo; returns the status with the answer. */
async function askFor({ stage }: Running, name: string, plan: JsonObject): Promise<JsonObject> {
  nonces += 1;
  const value = `undo-${nonces}`;
  await stage.annotate(name, { [request]: value, 'tx.janus.io/undo-digest': textAt(plan, 'digest') ?? '' });
  return waitFor(async () => {
    const found = at(await stage.read(name), 'status');
    const isAnswered = textAt(found, 'handledAnnotations', request) === value && textAt(found, 'phase') !== 'RollingBack';
    return isAnswered ? (found as JsonObject) : undefined;
  }, `the answer to ${value}`);
}

async function undoes(run: Running, undo: Undo): Promise<void> {
  const { t } = run;
  const known = run.released[undo.release];
  if (known === undefined) return;
  const [portraits, now] = [await portraitsOf(run), await statesOf(run)];
  const plan = await whileBusy(run, () => planOf(run, known.name, choicesOf(run, undo, known)));
  t.same(await portraitsOf(run), portraits, 'a plan writes nothing');
  const status = await whileBusy(run, () => askFor(run, known.name, plan));
  if (Number(at(plan, 'counts', 'blocked') ?? 0) > 0) {
    t.match(status, { phase: 'Committed', undo: { reason: 'UndoRefused' } }, 'a blocked undo is refused');
    t.same(await portraitsOf(run), portraits, 'a refused undo writes nothing');
    t.ok(
      run.others || isLaterThere(run, undo.release),
      'the engine refuses an undo only because of other writers, or of a later release',
    );
    return;
  }
  t.equal(textAt(status, 'phase'), 'RolledBack', `${textAt(status, 'message')} ${JSON.stringify(plan)}`);
  showsUndone(t, { release: known, undo, now, left: await statesOf(run), plan });
  run.released[undo.release] = undefined;
  if (undo.choice !== 'plain') run.others = true;
}

function isLaterThere({ released }: Running, release: number): boolean {
  return released.some((one, index) => one !== undefined && index > release);
}

function showsUndone(t: Test, { release, undo, now, left, plan }: Undone): void {
  const { changed, before, after } = release;
  for (const object of objects.keys()) {
    const index = changed.indexOf(object);
    const isKept = undo.choice === 'keep' && undo.object === object;
    const stays = index < 0 || isKept || verdictOf(plan, index) === 'Nothing';
    const [was, made, found] = [before[object], after[object], now[object]];
    const what = `${objects[object]}: ${JSON.stringify({ was, made, found, plan })}`;
    t.same(left[object], stays ? found : undone({ was, made, found }), what);
  }
}

function verdictOf(plan: JsonObject, index: number): string | undefined {
  const items = at(plan, 'items');
  return textAt(isList(items) ? items.find((item) => at(item, 'index') === index) : undefined, 'verdict');
}

/** The oracle: values that the release changed are as before, all others as somebody has written them since. */
function undone({ was, made, found }: Readonly<Record<'was' | 'made' | 'found', State>>): State {
  if (was === undefined || made === undefined) return was;
  const values = ['x', 'y', 'z'].map((key) => [key, was[key] === made[key] ? found?.[key] : was[key]] as const);
  return Object.fromEntries(values.filter(([, value]) => value !== undefined)) as Data;
}

async function plays(t: Test, stage: Stage, history: History, id: string): Promise<void> {
  const run: Running = { t, stage, id, released: [], others: false };
  must(await createAutoscaler(stage, nameOf(id, scaledObject)));
  for (const at_ of history.releases.keys()) {
    await release(run, at_, history);
    for (const { after, deed } of history.deeds) if (after === at_) await does(run, deed);
  }
  for (const undo of history.undos) await undoes(run, undo);
}

t.test(`${runs} histories, seed ${seed}`, async (t) => {
  const stage = await startStage(t, { wrap: busy.wrap });
  const all = fc.sample(histories, { numRuns: runs, seed }).entries();
  let count = 0;
  const lane = async (): Promise<void> => {
    for (const [index, history] of all) {
      await t.test(`history ${index}: ${JSON.stringify(history)}`, (t) => plays(t, stage, history, `h${index}`));
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: lanes }, lane));
  t.equal(count, runs);
  t.ok(busy.writes() > runs, 'the autoscaler was busy');
});
