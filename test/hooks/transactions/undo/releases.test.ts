// The order of releases, on which it depends what a rollback undoes.
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { decodeTransaction } from '../../../../hooks/transactions/model/transaction.ts';
import { releasesToUndo } from '../../../../hooks/transactions/undo/releases.ts';

const time = '2026-01-01T00:00:00Z';

interface Change {
  readonly type: 'Apply' | 'Delete';
  readonly name: string;
  /** Of the object, as the item has it. */
  readonly version: string;
}

/** Committed at `time`, as all others. `version`: of the Transaction. */
function release(name: string, version: string, ...changes: readonly Change[]) {
  const object: JsonObject = {
    metadata: { name, namespace: 'shop', uid: name, resourceVersion: version, creationTimestamp: time },
    spec: {
      ...{ serviceAccountName: 'deployer', fieldManager: 'web' },
      changes: changes.map(({ type, name }) => ({ type, target: { apiVersion: 'v1', kind: 'ConfigMap', name } })),
    },
    status: {
      ...{ phase: 'Committed', version: 9, startTime: time, completionTime: time, handledAnnotations: {} },
      items: changes.map(({ version: resourceVersion }) => ({
        ...{ prepared: true, announced: true, committed: true },
        resourceVersion,
      })),
    },
  };
  return decodeTransaction(object);
}

const applied = (name: string, version: string): Change => ({ type: 'Apply', name, version });
const deleted = (name: string, version: string): Change => ({ type: 'Delete', name, version });

function undoneTo(to: string, ...releases: readonly ReturnType<typeof release>[]): readonly string[] {
  const own = release('back', '99');
  const rollback = { to, keep: [], overwrite: [], isPartial: false } as never;
  const found = releasesToUndo(own, rollback, releases);
  return 'faults' in found ? found.faults.map(({ message }) => message) : found.undone.map(({ name }) => name);
}

t.test('of two releases of one second, the versions of their objects tell the newer one', async (t) => {
  const [first, second] = [release('a', '20', applied('one', '11')), release('b', '19', applied('two', '12'))];
  for (const all of [
    [first, second],
    [second, first],
  ])
    t.same(undoneTo('a', ...all), ['b']);
});

t.test('a release that only deletes has the version that it found, and is newer by its own last write', async (t) => {
  const [first, second] = [release('a', '20', applied('one', '15')), release('b', '30', deleted('two', '3'))];
  for (const all of [
    [first, second],
    [second, first],
  ])
    t.same(undoneTo('a', ...all), ['b']);
});

t.test('of a shared object the version counts, whichever release ended first', async (t) => {
  const [first, second] = [
    release('a', '40', applied('one', '11')),
    release('b', '30', applied('one', '12'), deleted('two', '3')),
  ];
  for (const all of [
    [first, second],
    [second, first],
  ])
    t.same(undoneTo('a', ...all), ['b']);
});
