// Two Transactions over one object: every pair of types, with values that meet in every way, undone in both orders. The suite tries
// the ways that differ most; `JANUS_ORDERS=all npm test -- test/scenarios/order/pairs.test.ts` tries all.
import t from 'tap';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { type ChangeType, releases } from '../../generated/arbitraries.ts';
import { installWidgets } from '../../generated/world.ts';
import { openEngines } from '../../support/engine.ts';
import { startStage } from '../../support/stage.ts';
import { runOrders } from './run.ts';
import type { Orders, Subject } from './story.ts';

const origin: JsonObject = { data: { a: '0', b: '0', c: '0' } };

/** Beside the types: an Apply under the manager that both releases share, and changes that recreate their object. */
type Way = ChangeType | 'Apply under a shared manager' | 'Update that recreates' | 'Apply that recreates';

const pairs: readonly (readonly [Way, Way])[] = [
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
  ['Apply', 'Apply'],
  ['Apply', 'Update'],
  ['Apply', 'Patch'],
  ['Apply', 'Delete'],
  ['Update', 'Apply'],
  ['Patch', 'Apply'],
  ['Create', 'Apply'],
  ['Delete', 'Apply'],
  ['Apply under a shared manager', 'Apply under a shared manager'],
  ['Apply under a shared manager', 'Apply'],
  ['Apply', 'Apply under a shared manager'],
  ['Patch', 'Apply under a shared manager'],
  ['Apply under a shared manager', 'Patch'],
  ['Delete', 'Apply under a shared manager'],
  ['Update that recreates', 'Patch'],
  ['Patch', 'Update that recreates'],
  ['Update that recreates', 'Update that recreates'],
  ['Update that recreates', 'Delete'],
  ['Apply', 'Update that recreates'],
  ['Apply that recreates', 'Update'],
  ['Apply that recreates', 'Apply that recreates'],
  ['Apply under a shared manager', 'Apply that recreates'],
];

const data = (values: JsonObject): JsonObject => ({ data: values });

/** What the two write: the values of the first, of the second. */
const meetings: Readonly<Record<string, readonly [JsonObject, JsonObject]>> = {
  'another field': [data({ a: '1' }), data({ b: '2' })],
  'one field, two values': [data({ a: '1' }), data({ a: '2' })],
  'one value': [data({ a: '1' }), data({ a: '1' })],
  'one value and more': [data({ a: '1', b: '1' }), data({ a: '1', b: '2' })],
  'the value from before': [data({ a: '1', b: '1' }), data({ a: '0', c: '2' })],
  'the object from before': [data({ a: '1' }), origin],
  'a field more': [data({ a: '1', d: '1' }), data({ d: '2' })],
  'an unchanged field overwritten': [data({ a: '0', b: '1' }), data({ a: '2' })],
  annotations: [data({ a: '1' }), { metadata: { annotations: { note: 'second' } } }],
  'nothing removed, nothing set': [data({ a: '0', b: '0', c: '0' }), data({ a: '0', b: '0', c: '0' })],
  'a field removed': [data({ a: '0', b: '0' }), data({ a: '0', b: '0', c: '0' })],
};

/** That which the suite tries: the ones that have found most. */
function inTheSuite(ways: readonly Way[]): string {
  if (ways.some((way) => way.includes('recreates'))) return 'one value';
  return ways.every((way) => way === 'Update') ? 'the value from before' : 'an unchanged field overwritten';
}

function tried(ways: readonly Way[]): readonly (readonly [string, readonly [JsonObject, JsonObject]])[] {
  return Object.entries(meetings).filter(([meeting]) => process.env.JANUS_ORDERS !== undefined || inTheSuite(ways) === meeting);
}

interface Row {
  readonly title: string;
  readonly orders: Orders;
}

const rows: readonly Row[] = pairs.flatMap(([first, second]) =>
  tried([first, second])
    .filter((_, number) => number === 0 || second !== 'Delete' || first === 'Update')
    .flatMap(([meeting, [one, two]]) =>
      [
        [0, 1],
        [1, 0],
      ].map((undos) => ({
        title: `${first}, ${second}, ${meeting}, undone ${undos.map((number) => number + 1)}`,
        orders: {
          undos,
          fieldManagers: [first, second].map((way) => (way.includes('shared') ? releases : undefined)),
          subjects: [subjectOf([first, second], [one, two])],
        },
      })),
    ),
);

/** ConfigMaps, or where one of them recreates, Widgets with these values and a field that cannot be changed in place. */
function subjectOf(ways: readonly [Way, Way], contents: readonly [JsonObject, JsonObject]): Subject {
  const isWidget = ways.some((way) => way.includes('recreates'));
  const as = ({ data, ...rest }: JsonObject, fixed?: string): JsonObject =>
    isWidget
      ? { ...rest, spec: { free: data ?? {}, ...(fixed === undefined ? {} : { fixed }) } }
      : { ...rest, ...(data && { data }) };
  return {
    kind: isWidget ? 'Widget' : 'ConfigMap',
    origin: ways[0] === 'Create' ? undefined : as(origin, 'at first'),
    history: [{ how: 'apply', content: as({ data: { b: '0' } }) }],
    changes: ways.map((way, number) => {
      const recreates = way.includes('recreates');
      const content = as(contents[number] ?? {}, recreates ? `by ${number}` : undefined);
      return { type: way.split(' ')[0] as ChangeType, content, recreates };
    }),
  };
}

t.test('two Transactions over one object', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await installWidgets(stage, t);
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
