// The results of expressions over an object.
import t from 'tap';
import type { ExpressionResult } from '../../../hooks/objects/cluster.ts';
import { type JsonObject, parseJson } from '../../../hooks/objects/json.ts';
import { open, patient, yes } from './opened.ts';

const object = parseJson(
  JSON.stringify({
    apiVersion: 'shop.example/v1',
    metadata: { name: 'web', annotations: { 'shop.example/tier': 'gold', constructor: 'built', '3': 'three' } },
    spec: { replicas: 3, weight: 0.5, huge: 'HUGE', over: 'OVER', paused: false, none: null },
    status: { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }, { type: 'Stalled' }], counts: [1, 2, 3] },
  })
    .replace('"HUGE"', '9007199254740993')
    .replace('"OVER"', '92233720368547758080'),
) as JsonObject;

const no: ExpressionResult = { kind: 'value', value: false };
const unset: ExpressionResult = { kind: 'unset' };

const rows: readonly (readonly [expression: string, comesTo: ExpressionResult])[] = [
  ['object.status.phase == "Running"', yes],
  ['object.status.phase == "Pending"', no],
  ['object["status"]["phase"].startsWith("Run")', yes],
  ['object.metadata.annotations["shop.example/tier"] == "gold"', yes],
  ['object.metadata.annotations.constructor == "built"', yes],
  ['object.status.conditions.exists(c, c.type == "Ready" && c.status == "True")', yes],
  ['object.status.conditions[0].status == "True"', yes],
  ['object.status.conditions.all(object, object.type != "")', yes],
  ['object.metadata.annotations.exists(key, key == "3")', yes],
  ['object == object && object.status == object["status"]', yes],
  ['object.spec.none == null', yes],
  ['(object.spec.paused ? object.status : object.spec).replicas == 3', yes],
  // Integers are int, decimals double.
  ['object.spec.replicas == 3 && object.spec.replicas > 2 && object.spec.replicas - 1 == 2', yes],
  ['object.status.counts.all(count, count % 4 != 0)', yes],
  ['object.spec.huge == 9007199254740993', yes],
  ['object.spec.huge == 9007199254740992', no],
  ['object.spec.huge + 1 == 9007199254740994', yes],
  ['type(object.spec.replicas) == int && type(object.spec.weight) == double && type(object.spec.over) == double', yes],
  ['double(object.spec.replicas) * object.spec.weight == 1.5', yes],
  // The string functions.
  ['object.metadata.name.upperAscii() == "WEB" && object.apiVersion.split("/")[1] == "v1"', yes],
  ['strings.quote(object.metadata.name) == "\\"web\\""', yes],
  ['object.metadata.name.matches("^[a-z]+$")', yes],
  // An unset field is not there yet.
  ['object.status.ready == true', unset],
  ['object.nothing.at.all', unset],
  ['object["status"]["ready"]', unset],
  ['object.spec.none.ready', unset],
  ['object.status.conditions[2].status == "True"', unset],
  ['object.status.conditions.filter(c, c.type == "Synced")[0].status == "True"', unset],
  ['object.status.conditions[1].status.startsWith("T")', unset],
  ['object.metadata.annotations[3] == "three"', unset],
  ['size(object.status.replicas) > 0', unset],
  ['object.status.conditions.all(c, c.status == "True")', unset],
  ['object.status.ready || object.spec.replicas == 3', yes],
  ['object.spec.replicas == 3 || object.status.ready', yes],
  ['object.status.ready && object.spec.replicas == 4', no],
  ['object.status.ready && object.spec.replicas == 3', unset],
  ['object.status.ready || 1 / (object.spec.replicas - 3) == 1', unset],
  ['1 / (object.spec.replicas - 3) == 1 || object.status.ready', unset],
  ['has(object.status.ready)', no],
  ['has(object.status.phase) && !has(object.spec.none)', yes],
  ['has(object.other.ready)', unset],
];

t.test('an expression gives a bool, or unset', async (t) => {
  const { expressions } = open(t, patient);
  for (const [expression, comesTo] of rows) {
    t.equal(await expressions.compile(expression), undefined, `${expression} is one`);
    t.same(await expressions.evaluate(expression, object), comesTo, expression);
  }
  t.same(await expressions.evaluate('object.status.ready == true', {}), unset, 'without a status');
});

const noBools: readonly (readonly [expression: string, message: string])[] = [
  ['object.status.phase', 'the expression gives a string, not a bool'],
  ['object.spec.replicas', 'the expression gives an int, not a bool'],
  ['object.spec.weight', 'the expression gives a double, not a bool'],
  ['object.status.conditions', 'the expression gives a list, not a bool'],
  ['object.status', 'the expression gives a map, not a bool'],
  ['object.spec.none', 'the expression gives null, not a bool'],
  ['object', 'the expression gives a map, not a bool'],
];

t.test('an expression without a bool is broken, and the message names its type', async (t) => {
  const { expressions } = open(t, patient);
  for (const [expression, message] of noBools)
    t.same(await expressions.evaluate(expression, object), { kind: 'broken', message }, expression);
});

const misfits: readonly (readonly [expression: string, place: string])[] = [
  ['int(object.metadata.secret) == 1', 'character 1, from "int('],
  ['object.metadata.secret + 1 == 2', 'character 24, from "+ 1 == 2"'],
  ['object.metadata.secret.field == 1', 'character 23, from ".field == 1"'],
  ['true && object.metadata.secret[0] == "c"', 'character 31, from "[0] == "c""'],
  ['[1].all(x, x.matches(object.metadata.secret))', 'character 13, from ".matches('],
  ['timestamp(object.metadata.secret) > timestamp(0)', 'character 1, from "timestamp('],
  ['bool(object.metadata.secret)', 'character 1, from "bool('],
];

t.test('the message of a failed expression gives the place, and repeats no value of the object', async (t) => {
  const { expressions } = open(t, patient);
  for (const [expression, place] of misfits) {
    const evaluated = await expressions.evaluate(expression, { metadata: { secret: 'canary-(7' } });
    const message = evaluated !== 'late' && evaluated.kind === 'broken' ? evaluated.message : JSON.stringify(evaluated);
    t.match(message, 'the expression fails at', expression);
    t.match(message, place);
    t.notMatch(message, 'canary');
  }
});
