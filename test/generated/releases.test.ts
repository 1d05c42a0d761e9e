// Generated releases by who may not grant rights: Roles and their bindings, CRDs and their instances, a swap under a full quota, and other
// changes between, in any order that can be applied; each kind of pair once alone. Each is Committed, and its undo leaves all as before.
//
// JANUS_TEST_SEED=<seed of the run> repeats the run.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { at } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { commit, undoAll } from '../support/round-trip.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { change, createConfigMaps, portraits } from '../support/targets.ts';
import { makePair, type Pair, pairs } from './release-pairs.ts';

const seed = Number(process.env.JANUS_TEST_SEED ?? 20_261_122);
const runs = 12;

interface Release {
  readonly pairs: readonly Pair[];
  readonly swaps: boolean;
  readonly between: boolean;
  /** The first of all pairs, then the second of all. */
  readonly woven: boolean;
}

const release: fc.Arbitrary<Release> = fc.record({
  pairs: fc.array(fc.constantFrom(...pairs), { minLength: 1, maxLength: 3 }),
  swaps: fc.boolean(),
  between: fc.boolean(),
  woven: fc.boolean(),
});

async function runRelease(t: Test, stage: Stage, drawn: Release, id: string): Promise<void> {
  const { client, path } = stage;
  const made = await Promise.all(drawn.pairs.map((pair, index) => makePair(t, stage, pair, `${id}-${index}`)));
  await createConfigMaps(stage, [id]);
  const secret = { kind: 'Secret' };
  const swap = drawn.swaps ? [change('Delete', 'kept', undefined, secret), change('Create', `${id}-new`, {}, secret)] : [];
  const other = drawn.between ? [change('Patch', id, { data: { color: 'green' } })] : [];
  const changes = made.map((pair) => pair.changes);
  const ordered = drawn.woven ? [...changes.map(([first]) => first), ...changes.map(([, second]) => second)] : changes.flat();
  const paths = [...made.flatMap((pair) => pair.paths), ...[`configmaps/${id}`, 'secrets/kept', `secrets/${id}-new`].map(path)];
  const show = async (): Promise<string> => JSON.stringify(await portraits(client, paths, true), undefined, 1);
  const before = await show();
  await commit(stage, id, [...swap.slice(0, 1), ...ordered, ...other, ...swap.slice(1)]);
  if ((await show()) === before) throw new Error('the release has changed nothing');
  await undoAll(stage, id);
  const after = await show();
  if (after !== before) throw new Error(`not as before: ${after} was ${before}`);
}

t.test(`releases, JANUS_TEST_SEED=${seed}`, async (t) => {
  const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];
  const stage = await startStage(t, { withoutLoop: true, rules: [{ apiGroups: ['*'], resources: ['*'], verbs }] });
  const { client, path } = stage;
  must(await client.create(path('secrets'), { metadata: { name: 'kept' } }));
  must(await client.create(path('resourcequotas'), { metadata: { name: 'full' }, spec: { hard: { 'count/secrets': '1' } } }));
  const isFull = async (): Promise<boolean> =>
    at(must(await client.get(path('resourcequotas/full'))), 'status', 'used', 'count/secrets') === '1';
  let made = 0;
  const property = fc.asyncProperty(release, async (one) => {
    // Beside other test files the controller counts late.
    await waitFor(isFull, 'the quota to be counted', { timeoutMs: 300_000 });
    made += 1;
    await runRelease(t, stage, one, `release-${made}`);
  });
  const examples = pairs.map((pair): [Release] => [{ pairs: [pair], swaps: false, between: false, woven: false }]);
  const options = { seed, numRuns: runs, examples, endOnFailure: true };
  const { failed, errorInstance, counterexample } = await fc.check(property, options);
  t.notOk(failed, `${String(errorInstance ?? '')}\n${JSON.stringify(counterexample)}`);
  t.equal(made, runs);
});
