// What bounds a rollback: each bound, with the nearest release that can be reached.
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import type { SnapshotEntry } from '../../../../hooks/transactions/model/entry.ts';
import { mostBytes } from '../../../../hooks/transactions/snapshots/size.ts';
import {
  begunAt,
  bounds,
  reach,
  snapshotsTooLarge,
  tooLargeStates,
  tooManyObjects,
} from '../../../../hooks/transactions/undo/bounds.ts';
import type { UndoObject } from '../../../../hooks/transactions/undo/composition.ts';

const mega = 1024 * 1024;

const named = (name: string, phase = 'Committed') => ({ name, status: { phase } }) as Parameters<typeof reach>[1];
const [v4, v3, v2] = [named('v4'), named('v3', 'Failed'), named('v2')] as const;

const config = (size: number): JsonObject => ({ apiVersion: 'v1', kind: 'ConfigMap', data: { text: 'x'.repeat(size) } });
const entryOf = (prior: JsonObject) => ({ index: 0, prior }) as unknown as SnapshotEntry;
const target = { apiVersion: 'v1', kind: 'ConfigMap', namespace: 'shop', name: 'large' };
const objectOf = (state: JsonObject) => ({ target, now: state, state }) as unknown as UndoObject;

t.test('the bounds are those of the documents', (t) => {
  t.same(bounds, { objects: 500, snapshots: 120 * mega });
  t.equal(mostBytes, 32 * mega);
  t.end();
});

t.test('objects', (t) => {
  const progress = begunAt([v4, v3, v2]);
  t.equal(tooManyObjects(progress, 3, { ...bounds, objects: 3 }), undefined);
  t.match(tooManyObjects(progress, 4, { ...bounds, objects: 3 }), {
    reason: 'Invalid',
    message: /4 objects, at most 3 are allowed; no older release can be reached$/,
  });
  t.end();
});

t.test('snapshots', (t) => {
  const progress = begunAt([v4, v3, v2]);
  const small = { ...bounds, snapshots: 3000 };
  reach(progress, v4, []);
  t.equal(snapshotsTooLarge(progress, [entryOf(config(1000))], small), undefined);
  reach(progress, v3, []);
  t.equal(progress.reached, undefined, 'nobody can go to the newest, nor to a Failed one');
  t.equal(snapshotsTooLarge(progress, [entryOf(config(1000))], small), undefined);
  reach(progress, v2, []);
  t.match(snapshotsTooLarge(progress, [entryOf(config(1000))], small), {
    reason: 'SnapshotTooLarge',
    message:
      /^spec\.rollback: the snapshots of 3 of 3 Transactions take \d{4} bytes in memory, at most 3000 .*; the nearest .* is v2$/,
  });
  t.end();
});

t.test('states', (t) => {
  const progress = begunAt([v4, v2]);
  reach(progress, v4, []);
  reach(progress, v2, [objectOf(config(mega))]);
  t.equal(tooLargeStates(progress, [objectOf(config(mega))]), undefined);
  const large = Array.from({ length: 17 }, () => objectOf(config(mega)));
  t.match(tooLargeStates(progress, large), {
    reason: 'SnapshotTooLarge',
    message:
      /states before and after of 17 of 17 targets.*at most 33554432 .*ConfigMap shop\/large \d+ bytes.*; the nearest .* is v2$/,
  });
  const far = begunAt([v4, v2]);
  reach(far, v2, large);
  t.equal(far.reached, undefined, 'its own states are too large');
  t.end();
});
