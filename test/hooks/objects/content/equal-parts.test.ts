// Two versions of an object in memory: their equal texts and owned fields are there once, and no value changes.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { sharing } from '../../../../hooks/objects/content/equal-parts.ts';
import { at, type JsonObject, parseJson } from '../../../../hooks/objects/json.ts';
import { measureOfText, remember, weightOf } from '../../../../hooks/objects/measure.ts';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

function read(text: string): JsonObject {
  const object = parseJson(text) as JsonObject;
  remember(object, measureOfText(text));
  return object;
}

const long = (letter: string): string => letter.repeat(1_000_000);

function versionOf(color: string, ...managers: readonly string[]): string {
  const managedFields = managers.map((manager) => ({ manager, fieldsV1: { 'f:data': { 'f:big': {}, [`f:${manager}`]: {} } } }));
  const data = { big: long('x'), short: 'x', color, map: { big: long('y'), __proto__: null } };
  return JSON.stringify({ metadata: { name: 'a', managedFields }, data, list: [{ big: long('z') }] });
}

t.test('the object stays equal, with its measure', async (t) => {
  const text = versionOf('green', 'one', 'two');
  const [object, before] = [read(text), weightOf(read(text))];
  const shared = sharing(object, read(versionOf('blue', 'one')));
  t.equal(JSON.stringify(shared), text);
  t.same(weightOf(shared), before);
});

t.test('equal owned fields are one tree, and others stay their own', async (t) => {
  const [object, other] = [read(versionOf('green', 'two', 'one')), read(versionOf('blue', 'one'))];
  const treeOf = (one: JsonObject, index: number) =>
    (at(one, 'metadata', 'managedFields') as readonly JsonObject[])[index]?.fieldsV1;
  const shared = sharing(object, other);
  t.equal(treeOf(shared, 1), treeOf(other, 0));
  t.equal(treeOf(shared, 0), treeOf(object, 0));
});

t.test('a map without long texts is not copied', async (t) => {
  const text = JSON.stringify({ data: Object.fromEntries(Array.from({ length: 1_000 }, (_, index) => [`k${index}`, ''])) });
  const object = read(text);
  t.equal(sharing(object, read(text)), object);
});

t.test('the equal texts of two versions are in memory once', async (t) => {
  const pairs: JsonObject[][] = [];
  collect();
  const before = process.memoryUsage().heapUsed;
  for (let index = 0; index < 20; index += 1) {
    const [prior, after] = [read(versionOf('blue')), read(versionOf('green'))];
    pairs.push([prior, sharing(after, prior)]);
  }
  collect();
  const taken = (process.memoryUsage().heapUsed - before) / 1_000_000;
  // Each version has three texts of 1 MB; the text in a list is not shared.
  t.ok(taken < 20 * 4 + 10, `${Math.round(taken)} MB for ${pairs.length} pairs`);
  t.ok(taken > 20 * 4 - 10);
});
