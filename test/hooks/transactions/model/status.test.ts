// The status between the wire and the engine.
import t from 'tap';
import type { Json, JsonObject } from '../../../../hooks/objects/json.ts';
import {
  decodeStatus,
  emptyStatus,
  encodeStatus,
  type Status,
  type TruncatedStatus,
} from '../../../../hooks/transactions/model/status.ts';
import { itemsOf, start, statusOf } from '../../../support/transactions.ts';

const condition = {
  type: 'Succeeded',
  status: 'False',
  reason: 'Timeout',
  message: 'late',
  lastTransitionTime: '2026-01-01T00:00:00Z',
} as const;

const full: Status = {
  phase: 'RollingBack',
  version: 7,
  items: itemsOf('applied announced'),
  rollbackRef: { name: 'one-rollback', digest: 'abc', objects: 2 },
  specDigest: 'def',
  startTime: start,
  completionTime: start + 1_000,
  rollbackStartedAt: start + 2_000,
  message: 'rolling back',
  handledAnnotations: { 'tx.janus.io/request-rollback': '1', __proto__x: '2' },
  conditions: [condition],
  cause: { reason: 'Timeout', message: 'late' },
};

const written = (status: Status): JsonObject => encodeStatus(status as TruncatedStatus);

t.test('the reader returns the status that was written', async (t) => {
  t.same(decodeStatus(written(full), 2), full);
  const least = statusOf('Pending', 'waiting waiting');
  t.same(decodeStatus(written(least), 2), least);
  t.same(written(decodeStatus(written(full), 2) ?? least), written(full));
});

t.test('members that Metacontroller adds are no part of the status', async (t) => {
  t.same(decodeStatus({ ...written(full), observedGeneration: 3 }, 2), full);
});

t.test('progress counts applied items, also items that an undo had to leave', async (t) => {
  const progress = (words: string): Json | undefined => written(statusOf('Failed', words)).progress;
  t.same(['waiting waiting', 'applied announced', 'applied applied', 'restored restored', 'left stuck'].map(progress), [
    '0/2',
    '1/2',
    '2/2',
    '0/2',
    '1/2',
  ]);
});

t.test('no status yet is the beginning', async (t) => {
  for (const wire of [undefined, {}, { observedGeneration: 1 }]) t.same(decodeStatus(wire, 2), emptyStatus(2));
});

const good = written(full);
const refused: readonly { reason: string; wire: JsonObject }[] = [
  { reason: 'a phase that there is not', wire: { ...good, phase: 'Done' } },
  { reason: 'a phase that every object inherits', wire: { ...good, phase: 'constructor' } },
  { reason: 'no version', wire: { ...good, version: null } },
  { reason: 'a version in words', wire: { ...good, version: '7' } },
  { reason: 'no items', wire: { ...good, items: null } },
  { reason: 'too few items', wire: { ...good, items: [{}] } },
  { reason: 'too many items', wire: { ...good, items: [{}, {}, {}] } },
  { reason: 'an item that contradicts itself', wire: { ...good, items: [{}, { committed: true }] } },
];
for (const { reason, wire } of refused) t.test(`refused: ${reason}`, async (t) => t.equal(decodeStatus(wire, 2), undefined));

const tolerated: readonly { reason: string; wire: JsonObject; expected: Partial<Status> }[] = [
  {
    reason: 'a reference without a digest is none',
    wire: { ...good, rollbackRef: { name: 'x', objects: 1 } },
    expected: { rollbackRef: undefined } as never,
  },
  { reason: 'a time that is none', wire: { ...good, startTime: 'yesterday' }, expected: { startTime: undefined } as never },
  {
    reason: 'handled values that are no texts',
    wire: { ...good, handledAnnotations: { a: 1, b: 'x' } },
    expected: { handledAnnotations: { b: 'x' } },
  },
  {
    reason: 'a condition that succeeded names no cause',
    wire: { ...good, conditions: [{ ...condition, status: 'True' }] },
    expected: { cause: undefined } as never,
  },
];
for (const { reason, wire, expected } of tolerated) {
  t.test(`read without it: ${reason}`, async (t) => t.match(decodeStatus(wire, 2), expected));
}
