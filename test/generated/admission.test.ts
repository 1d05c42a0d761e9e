// Generated releases among whose objects is what admits others (webhooks, policies, quotas, limits, Pod security, classes, schemas of CRDs),
// applied in one or two Transactions, and undone in any order. The oracle: what is admitted in its turn is Committed, and undone exactly;
// whatever else happens, a release or an undo is made as a whole, or nothing is written.
//
// `JANUS_ADMISSION=200 npm test -- test/generated/admission.test.ts` tries two hundred. JANUS_TEST_SEED=<seed> repeats them.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { ownControlPlane } from '../support/own-control-plane.ts';
import { undo } from '../support/round-trip.ts';
import { share } from '../support/selection.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { stepToEnd } from '../support/stepping.ts';
import { change, portraits } from '../support/targets.ts';
import { type Change, isAdmitted, isUndoable, type Release, releases } from './admission.ts';
import { objectOf, type Placed, pathOf, type Scene, scenes } from './admission-objects.ts';

const runs = Number(process.env.JANUS_ADMISSION ?? share(4, 8));
const seed = Number(process.env.JANUS_TEST_SEED ?? 20_261_128);

await ownControlPlane(t);

interface Staged extends Scene {
  readonly place: string;
}

async function write({ client }: Stage, object: Placed, content: JsonObject | undefined): Promise<void> {
  const there = (await client.get(pathOf(object))).code === 200;
  if (content === undefined) must(await client.delete(pathOf(object)));
  else if (there) must(await client.patch(pathOf(object), content));
  else
    await waitFor(async () => (await client.create(object.collection, objectOf(object, content))).code === 201, 'its creation');
}

/** Resolves once the API server judges as the guard says. */
async function inForce({ client }: Stage, { subject, subjectAs }: Scene, isStrict: boolean): Promise<void> {
  const bad = objectOf(subject, subjectAs('bad') ?? {});
  const isRefused = async (): Promise<boolean> =>
    ![201, 409].includes((await client.create(subject.collection, bad, { dryRun: 'All' })).code);
  await waitFor(
    async () => (await isRefused()) === isStrict,
    `the guard of ${subject.collection} to be ${isStrict ? 'strict' : 'lax'}`,
  );
}

/** The objects as they are before the release. */
async function setUp(stage: Stage, { pieces }: Release, id: string): Promise<readonly Staged[]> {
  const { client, namespace } = stage;
  return Promise.all(
    pieces.map(async ({ guard, strict, subject }, index) => {
      const place = `${namespace}-${id}-${index}`;
      const scene = scenes[guard](place);
      must(await client.create('/api/v1/namespaces', { metadata: { name: place } }));
      const account = `/api/v1/namespaces/${place}/serviceaccounts/default`;
      await waitFor(async () => (await client.get(account)).code === 200, 'the usual ServiceAccount');
      for (const [object, content] of scene.frame) await write(stage, object, content);
      const lax = scene.guardAs(false);
      if (lax !== undefined) await write(stage, scene.guard, lax);
      await inForce(stage, scene, false);
      const content = scene.subjectAs(subject.before);
      if (content !== undefined) await write(stage, scene.subject, content);
      if (strict.before) await write(stage, scene.guard, scene.guardAs(true));
      await inForce(stage, scene, strict.before);
      return { ...scene, place };
    }),
  );
}

async function takeAway({ client }: Stage, sets: readonly Staged[]): Promise<void> {
  for (const { guard, frame, subject, place } of sets)
    for (const path of [
      pathOf(guard),
      ...frame.map(([object]) => pathOf(object)),
      pathOf(subject),
      `/api/v1/namespaces/${place}`,
    ])
      await client.delete(path);
}

function changeOf({ pieces }: Release, sets: readonly Staged[], { piece, of }: Change): JsonObject {
  const [one, scene] = [pieces[piece], sets[piece]];
  if (one === undefined || scene === undefined) throw new Error('a change is of a piece');
  const [before, after] =
    of === 'guard'
      ? [scene.guardAs(one.strict.before), scene.guardAs(one.strict.after)]
      : [scene.subjectAs(one.subject.before), scene.subjectAs(one.subject.after)];
  const { name, parts } = scene[of];
  if (after === undefined) return change('Delete', name, undefined, parts);
  if (before === undefined) return change('Create', name, after, parts);
  return change(of === 'guard' ? 'Patch' : 'Update', name, after, parts);
}

/** One Transaction of a release, with the states of its objects before and after it. */
interface Part {
  readonly name: string;
  readonly changes: readonly Change[];
  readonly before: readonly unknown[];
  readonly after: readonly unknown[];
}

interface Played {
  readonly t: Test;
  readonly stage: Stage;
  readonly release: Release;
  readonly sets: readonly Staged[];
  readonly mustPass: boolean;
}

function statesOf({ stage, sets }: Played, changes: readonly Change[]): Promise<readonly unknown[]> {
  const paths = changes.map(({ piece, of }) => pathOf((sets[piece] as Staged)[of]));
  return portraits(stage.client, paths, true);
}

async function plays(t: Test, stage: Stage, release: Release, id: string): Promise<void> {
  const sets = await setUp(stage, release, id);
  const played = { t, stage, release, sets, mustPass: isAdmitted(release) && isUndoable(release) };
  const { changes, first } = release;
  const parts: Part[] = [];
  for (const [index, some] of [changes.slice(0, first), changes.slice(first)].entries())
    if (some.length > 0) parts.push(...(await commits(played, `${id}-${index}`, some)));
  await undoes(played, parts);
  await takeAway(stage, sets);
}

/** The part, if it is Committed. */
async function commits(played: Played, name: string, changes: readonly Change[]): Promise<readonly Part[]> {
  const { t, stage, release, sets, mustPass } = played;
  const before = await statesOf(played, changes);
  const spec = changes.map((one) => changeOf(release, sets, one));
  await stage.transaction(name, spec, { spec: { timeout: '3m' } });
  const { status, phase } = await stepToEnd(stage, name);
  const message = textAt(status, 'message') ?? '';
  if (mustPass) t.equal(phase, 'Committed', message);
  const after = await statesOf(played, changes);
  if (phase !== 'Committed') {
    t.match(phase, /^(Failed|RolledBack)$/, message);
    t.same(after, before, `nothing is left: ${message}`);
    return [];
  }
  for (const { piece, of } of changes)
    if (of === 'guard') await inForce(stage, sets[piece] as Staged, release.pieces[piece]?.strict.after === true);
  return [{ name, changes, before, after }];
}

/** An undo that a guard of the other Transaction refuses is tried again after that one's undo. */
async function undoes(played: Played, parts: readonly Part[]): Promise<void> {
  const { t, release, mustPass } = played;
  const order = release.isFirstUndoneFirst ? parts : parts.toReversed();
  const left = new Set(parts);
  for (const [index, part] of [...order, ...order].entries())
    if (left.has(part) && (await isUndone(played, part, `request ${index}`))) left.delete(part);
  // The first Transaction's guard may refuse for ever what the second would restore.
  if (mustPass && (parts.length < 2 || !release.isFirstUndoneFirst)) t.equal(left.size, 0, 'all is undone');
}

async function isUndone(played: Played, { name, changes, before, after }: Part, request: string): Promise<boolean> {
  const { t, stage, release, sets } = played;
  const status = await undo(stage, name, { 'tx.janus.io/request-rollback': request });
  const phase = textAt(status, 'phase') ?? '';
  const why = textAt(status, 'undo', 'message') ?? textAt(status, 'message') ?? '';
  t.match(phase, /^(Committed|RolledBack)$/, why);
  const isBack = phase === 'RolledBack';
  t.same(await statesOf(played, changes), isBack ? before : after, `an undo is exact, or writes nothing: ${why}`);
  for (const { piece, of } of isBack ? changes : [])
    if (of === 'guard') await inForce(stage, sets[piece] as Staged, release.pieces[piece]?.strict.before === true);
  return isBack;
}

t.test(`${runs} releases, seed ${seed}`, async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const all = fc.sample(releases, { numRuns: runs, seed }).entries();
  let count = 0;
  const lane = async (): Promise<void> => {
    for (const [index, release] of all) {
      await t.test(`release ${index}: ${JSON.stringify(release)}`, (t) => plays(t, stage, release, `r${index}`));
      count += 1;
    }
  };
  await Promise.all(Array.from({ length: 3 }, lane));
  t.equal(count, runs);
});
