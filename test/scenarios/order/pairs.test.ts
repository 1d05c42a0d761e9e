// Two Transactions over one object: every pair of types, with values that meet in every way, undone in both orders. The suite tries
// the ways that differ most; `JANUS_ORDERS=all npm test -- test/scenarios/order/pairs.test.ts` tries all.
import t from 'tap';
import type { JsonObject } from '../../../hooks/model/json.ts';
import type { ChangeType } from '../../generated/arbitraries.ts';
import { openEngines } from '../../support/engine.ts';
import { startStage } from '../../support/stage.ts';
import { runOrders } from './run.ts';
import type { Orders, PlannedChange } from './story.ts';

const origin: JsonObject = { data: { a: '0', b: '0', c: '0' } };

const pairs: readonly (readonly [ChangeType, ChangeType])[] = [
  ['Update', 'Update'],
  ['Update', 'Patch'],
  ['Update', 'Delete'],
  ['Patch', 'Update'],
  ['Patch', 'Patch'],
  ['Patch', 'Delete'],
  ['Delete', 'Create'],
  ['Create', 'Update'],
  ['Create', 'Patch'],
  ['Create', 'Delete'],
];

const data = (values: JsonObject): JsonObject => ({ data: values });

/** What the two write: the values of the first, of the second. */
const meetings: Readonly<Record<string, readonly [JsonObject, JsonObject]>> = {
  'another field': [data({ a: '1' }), data({ b: '2' })],
  'the same field': [data({ a: '1' }), data({ a: '2' })],
  'the same value': [data({ a: '1' }), data({ a: '1' })],
  'the same value and more': [data({ a: '1', b: '1' }), data({ a: '1', b: '2' })],
  'the value from before': [data({ a: '1', b: '1' }), data({ a: '0', c: '2' })],
  'the object from before': [data({ a: '1' }), origin],
  'a field more': [data({ a: '1', d: '1' }), data({ d: '2' })],
  'an unchanged field overwritten': [data({ a: '0', b: '1' }), data({ a: '2' })],
  annotations: [data({ a: '1' }), { metadata: { annotations: { note: 'second' } } }],
  'nothing removed, nothing set': [data({ a: '0', b: '0', c: '0' }), data({ a: '0', b: '0', c: '0' })],
  'a field removed': [data({ a: '0', b: '0' }), data({ a: '0', b: '0', c: '0' })],
};

const inTheSuite = ['the value from before', 'an unchanged field overwritten'];
const tried = Object.entries(meetings).filter(
  ([meeting]) => process.env.JANUS_ORDERS !== undefined || inTheSuite.includes(meeting),
);

interface Row {
  readonly title: string;
  readonly orders: Orders;
}

const rows: readonly Row[] = pairs.flatMap(([first, second]) =>
  tried
    .filter((_, number) => number === 0 || second !== 'Delete' || first === 'Update')
    .flatMap(([meeting, [one, two]]) =>
      [
        [0, 1],
        [1, 0],
      ].map((undos) => ({
        title: `${first}, ${second}, ${meeting}, undone ${undos.map((number) => number + 1)}`,
        orders: {
          undos,
          subjects: [
            {
              kind: 'ConfigMap',
              origin: first === 'Create' ? undefined : origin,
              history: [{ how: 'apply', content: { data: { b: '0' } } }],
              changes: [planned(first, one), planned(second, two)],
            },
          ],
        } as const,
      })),
    ),
);

function planned(type: ChangeType, content: JsonObject): PlannedChange {
  return { type, content };
}

t.test('two Transactions over one object', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage, { stepDeadline: 3_000, writeTimeout: 3_000 });
  const served = engines.start();
  t.jobs = 6;
  await Promise.all(
    rows.map(({ title, orders }, number) =>
      t.test(title, async (t) => {
        await runOrders(served, orders, `two-${number}`);
        t.pass('as if the undone ones had never been, or the one in the way is named');
      }),
    ),
  );
});
