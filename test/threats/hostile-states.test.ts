// Whatever the CRD admits in a stored status, in annotations and among children: every call is answered without a fault of the engine,
// and a Transaction that is deleted goes. `JANUS_FUZZ_STATES=1000 npm test -- test/threats/hostile-states.test.ts` tries a thousand,
// JANUS_TEST_SEED others.
import fc from 'fast-check';
import t from 'tap';
import { at, isList, isObject, type Json, type JsonObject } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { callHook, type Stage, startStage, statusOf } from '../support/stage.ts';
import { step, stepUntil, stepUntilGone, storeStatus } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

const count = Number(process.env.JANUS_FUZZ_STATES ?? 20);
const seed = Number(process.env.JANUS_TEST_SEED ?? 1);

const phases = ['Pending', 'Preparing', 'Prepared', 'Committing', 'RollingBack', 'Committed', 'RolledBack', 'Failed'];
const times = ['9999-12-31T23:59:59-23:59', '0000-01-01T00:00:00Z', '9999-12-31T23:59:59Z', '1970-01-01T00:00:00Z'];
const texts = ['', 'x'.repeat(300), '\u202e', '../../x', 'other'];
const numbers = [0, -1, 1, 2 ** 31, 2 ** 53 - 1, 1e15, 0.5];
const anything: readonly Json[] = [...phases, ...times, ...texts, ...numbers, null, true, false, [], {}];

/** One place of a status, by the numbers of its members, and which of the odd values of its kind is there instead, or none. */
interface Edit {
  readonly path: readonly number[];
  readonly which: number;
  readonly isKindred: boolean;
  readonly isGone: boolean;
}

const edit: fc.Arbitrary<Edit> = fc.record({
  path: fc.array(fc.nat(30), { minLength: 1, maxLength: 4 }),
  which: fc.nat(30),
  isKindred: fc.integer({ min: 0, max: 9 }).map((chance) => chance > 0),
  isGone: fc.integer({ min: 0, max: 3 }).map((chance) => chance === 0),
});

/** Most are of the kind of what was there: the CRD refuses others. */
function oddFor(found: Json, { which, isKindred }: Edit): Json {
  const kindred = isKindred ? kindredOf(found) : anything;
  return kindred[which % kindred.length] ?? null;
}

function kindredOf(found: Json): readonly Json[] {
  if (typeof found === 'number') return numbers;
  if (typeof found === 'boolean') return [!found];
  if (isList(found)) return [[], [...found, ...found], found.slice(1)];
  if (typeof found !== 'string') return [{}];
  if (phases.includes(found)) return phases;
  return Number.isNaN(Date.parse(found)) ? texts : times;
}

const state = fc.record({
  phase: fc.constantFrom('Preparing', 'Prepared', 'Committing', 'RollingBack', 'Committed'),
  edits: fc.array(edit, { minLength: 1, maxLength: 2 }),
  annotation: fc.constantFrom('request-rollback', 'retry-rollback', 'automatic-rollback', 'allow-irreversible'),
  text: fc.constantFrom('true', '', 'x'.repeat(1_000), '\u202e\u0007', '{"a":1}'),
  child: fc.constantFrom(...anything),
});

function edited(value: Json, edit: Edit): Json {
  const [first = 0, ...rest] = edit.path;
  const members = membersOf(value);
  const [key, found] = members[first % Math.max(1, members.length)] ?? [];
  if (key === undefined || found === undefined) return oddFor(value, edit);
  const deeper = rest.length > 0 ? edited(found, { ...edit, path: rest }) : edit.isGone ? undefined : oddFor(found, edit);
  const changed = members.flatMap(([name, one]) => {
    const next = name === key ? deeper : one;
    return next === undefined ? [] : [[name, next] as const];
  });
  return isList(value) ? changed.map(([, one]) => one) : Object.fromEntries(changed);
}

function membersOf(value: Json): readonly (readonly [string, Json])[] {
  if (isList(value)) return value.map((one, index) => [String(index), one]);
  return isObject(value) ? Object.entries(value) : [];
}

/** Later than the stored status, as the CRD requires; undefined if nothing remains to store. */
function hostile(status: JsonObject, edits: readonly Edit[]): JsonObject | undefined {
  const odd = edits.reduce<Json>(edited, status);
  if (!isObject(odd)) return undefined;
  const isKept = at(odd, 'version') === at(status, 'version');
  return isKept ? { ...odd, version: Number(at(status, 'version')) + 1 } : odd;
}

async function reach(stage: Stage, name: string, phase: string): Promise<void> {
  await createConfigMaps(stage, [`${name}-a`, `${name}-b`]);
  const changes = [change('Patch', `${name}-a`, { data: { color: 'green' } }), change('Delete', `${name}-b`)];
  await stage.transaction(name, changes, { spec: { timeout: '30s' } });
  await stepUntil(stage, name, phase === 'RollingBack' ? 'Committing' : phase);
  if (phase !== 'RollingBack') return;
  await stage.annotate(name, { 'tx.janus.io/request-rollback': 'first' });
  await stepUntil(stage, name, phase);
}

t.test('the engine survives states that no code foresees', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  let stored = 0;
  for (const [index, { phase, edits, annotation, text, child }] of fc.sample(state, { numRuns: count, seed }).entries()) {
    const name = `odd-${index}`;
    await reach(stage, name, phase);
    const status = statusOf(await stage.read(name));
    const wanted = hostile(status, edits);
    const answer = wanted === undefined ? { code: 422 } : await storeStatus(stage, name, { status: wanted });
    stored += answer.code === 200 ? 1 : 0;
    await stage.annotate(name, { [`tx.janus.io/${annotation}`]: text });
    const parent = await stage.read(name);
    const children = { 'ConfigMap.v1': { one: { metadata: { name: 'one' }, odd: child } } };
    const body = { controller: {}, parent, children, related: {}, finalizing: false };
    const said = `${name}: ${JSON.stringify({ phase, edits, annotation })}`;
    t.ok([200, 429].includes((await callHook(stage.hookUrl, '/sync', body)).code), said);
    t.ok([200, 429].includes((await step(stage, name)).code), said);
    must(await stage.client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${name}`));
    t.ok((await stepUntilGone(stage, name)).gone, said);
  }
  t.ok(stored > count / 4, `the API server has admitted ${stored} of ${count}`);
});
