// What holds of the merge for any values. A failure prints the seed and the smallest case: replay it with JANUS_TEST_SEED.
import fc from 'fast-check';
import t from 'tap';
import { type ListKinds, listKindsOf } from '../../../../hooks/objects/content/lists.ts';
import { differences, merge } from '../../../../hooks/objects/content/merge.ts';
import { restoredManagers } from '../../../../hooks/objects/content/ownership.ts';
import { type Path, pathText } from '../../../../hooks/objects/content/path.ts';
import {
  canonicalJson,
  equalJson,
  isList,
  isObject,
  type Json,
  type JsonObject,
  parseJson,
} from '../../../../hooks/objects/json.ts';
import { entry, fieldsOf, managed } from '../../../support/managed-fields.ts';

const seed = process.env.JANUS_TEST_SEED;
const runs = { numRuns: Number(process.env.JANUS_TEST_RUNS ?? 250), ...(seed === undefined ? {} : { seed: Number(seed) }) };

const scalar: fc.Arbitrary<Json> = fc.constantFrom<Json>(0, 1, '', 'x', null, true, parseJson('9007199254740993'));
const names = ['a', 'b', 'c', '__proto__', 'constructor'] as const;

function mapOf(values: fc.Arbitrary<Json>): fc.Arbitrary<JsonObject> {
  return fc.array(fc.tuple(fc.constantFrom(...names), values), { maxLength: 3 }).map((entries) => Object.fromEntries(entries));
}

const item = fc.tuple(fc.constantFrom('x', 'y', 'z'), mapOf(scalar)).map(([name, rest]): JsonObject => ({ ...rest, name }));
const lists = fc.record(
  {
    items: fc.array(item, { maxLength: 4 }),
    set: fc.array(fc.constantFrom<Json>('p', 'q', 1), { maxLength: 3 }),
    whole: fc.array(scalar, { maxLength: 3 }),
  },
  { requiredKeys: [] },
);

/** Values with a list with keys, a set and a list without keys in every map; some hold duplicates. */
const { value } = fc.letrec<{ value: JsonObject }>((tie) => ({
  value: fc
    .tuple(mapOf(fc.oneof({ maxDepth: 3 }, scalar, tie('value'))), lists)
    .map(([map, some]) => Object.fromEntries([...Object.entries(map), ...Object.entries(some)])),
}));

/** A list has its kind by its own name, wherever it is. */
class ByName extends Map<string, readonly string[] | 'set'> {
  override get(schemaPath: string): readonly string[] | 'set' | undefined {
    if (schemaPath.endsWith('"f:items"]')) return ['name'];
    return schemaPath.endsWith('"f:set"]') ? 'set' : undefined;
  }
}

const kinds: ListKinds = new ByName();

t.test('the undo of a change restores the former content', async () => {
  fc.assert(
    fc.property(value, value, (prior, expected) => {
      const { restored, ours, theirs } = merge({ prior, expected, live: expected }, kinds);
      return equalJson(restored, prior) && theirs.length === 0 && ours.every(({ state }) => state === 'applied');
    }),
    runs,
  );
});

t.test('before it is made, a change is untouched', async () => {
  fc.assert(
    fc.property(value, value, (prior, expected) => {
      const { restored, ours, theirs } = merge({ prior, expected, live: prior }, kinds);
      return equalJson(restored, prior) && theirs.length === 0 && ours.every(({ state }) => state === 'untouched');
    }),
    runs,
  );
});

t.test('a change has no paths exactly if nothing differs', async () => {
  fc.assert(
    fc.property(value, value, (before, after) => equalJson(before, after) === (differences(before, after, kinds).length === 0)),
    runs,
  );
});

t.test('without a change of ours, all of theirs stays', async () => {
  fc.assert(
    fc.property(value, value, (prior, live) => {
      const { restored, ours } = merge({ prior, expected: prior, live }, kinds);
      return equalJson(restored, live) && ours.length === 0;
    }),
    runs,
  );
});

/** Where others have reordered a list as well, its order may be read either way the second time. */
function sorted(json: Json | undefined): Json {
  if (isList(json)) return json.map(sorted).sort((left, right) => (canonicalJson(left) < canonicalJson(right) ? -1 : 1));
  return isObject(json) ? Object.fromEntries(Object.entries(json).map(([key, child]) => [key, sorted(child)])) : (json ?? null);
}

t.test('undone twice is undone once, but for the order of lists', async () => {
  fc.assert(
    fc.property(value, value, value, (prior, expected, live) => {
      const first = merge({ prior, expected, live }, kinds);
      fc.pre(first.ours.every(({ state }) => state !== 'foreign'));
      const again = merge({ prior, expected, live: first.restored }, kinds);
      return equalJson(sorted(again.restored), sorted(first.restored)) && again.ours.every(({ state }) => state === 'untouched');
    }),
    { ...runs, maxSkipsPerRun: 1_000 },
  );
});

interface Parties {
  readonly before: JsonObject;
  readonly after: JsonObject;
  readonly theirsAfter: JsonObject;
  readonly undone: JsonObject;
}

/** Maps in maps, where keys that begin with `o` are written by us alone, and with `t` by them alone. */
const { parties } = fc.letrec<{ parties: Parties }>((tie) => ({
  parties: fc
    .record({
      ours: fc.array(fc.tuple(fc.constantFrom('o1', 'o2'), scalar, scalar), { maxLength: 2 }),
      theirs: fc.array(fc.tuple(fc.constantFrom('t1', 't2'), scalar, scalar), { maxLength: 2 }),
      shared: fc.oneof({ maxDepth: 3 }, fc.constant(undefined), tie('parties')),
    })
    .map(({ ours, theirs, shared }) => {
      const own = (index: 1 | 2): JsonObject => Object.fromEntries(ours.map((one) => [one[0], one[index]]));
      const other = (index: 1 | 2): JsonObject => Object.fromEntries(theirs.map((one) => [one[0], one[index]]));
      const below = (version: keyof Parties): JsonObject => (shared === undefined ? {} : { m: (shared as Parties)[version] });
      return {
        before: { fixed: 1, ...own(1), ...other(1), ...below('before') },
        after: { fixed: 1, ...own(2), ...other(1), ...below('after') },
        theirsAfter: { fixed: 1, ...own(2), ...other(2), ...below('theirsAfter') },
        undone: { fixed: 1, ...own(1), ...other(2), ...below('undone') },
      };
    }),
}));

t.test('foreign edits on other paths survive, and ours is gone', async () => {
  fc.assert(
    fc.property(parties, ({ before, after, theirsAfter, undone }) => {
      const { restored, ours } = merge({ prior: before, expected: after, live: theirsAfter }, new Map());
      return equalJson(restored, undone) && ours.every(({ state }) => state === 'applied');
    }),
    runs,
  );
});

t.test('a merge loses no change of another writer without a conflict', async () => {
  const text = (path: Path): string => pathText(path).slice(0, -1);
  fc.assert(
    fc.property(value, value, value, (prior, expected, live) => {
      const { restored, ours } = merge({ prior, expected, live }, kinds);
      const isOurs = (path: Path): boolean =>
        ours.some((own) => text(path).startsWith(text(own.path)) || text(own.path).startsWith(text(path)));
      return ours.some(({ state }) => state === 'foreign') || differences(restored, live, kinds).every(isOurs);
    }),
    runs,
  );
});

t.test('fields that no manager has written since return to their owner', async () => {
  const content = mapOf(scalar);
  fc.assert(
    fc.property(content, content, (before, after) => {
      const owner = (data: JsonObject, manager: string): JsonObject => entry(manager, fieldsOf({ data }));
      const prior = managed({ data: before }, owner(before, 'kubectl'));
      const expected = managed({ data: after }, owner(after, 'janus-one'));
      const live = managed({ data: before }, owner(after, 'janus-one'), owner(before, 'janus-restore-one'));
      const owners = restoredManagers({ prior, expected, live }, listKindsOf(prior), ['janus-one', 'janus-restore-one']);
      return equalJson(owners, [owner(before, 'kubectl')]);
    }),
    runs,
  );
});
