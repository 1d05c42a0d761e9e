// V1 to V4 (hooks/transactions/decide/window.ts): the changes that a status announces, and when a call continues.
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { mayGoOn, windowEnd } from '../../../../hooks/transactions/decide/window.ts';
import type { Due } from '../../../../hooks/transactions/due.ts';
import type { Change, ChangeType } from '../../../../hooks/transactions/model/change.ts';
import { openGates } from '../../../../hooks/transactions/model/gated.ts';
import type { Item } from '../../../../hooks/transactions/model/item.ts';
import type { Phase } from '../../../../hooks/transactions/model/phase.ts';
import { table } from '../../../support/table.ts';
import { statusOf } from '../../../support/transactions.ts';

const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'one' };
const changes = (...types: readonly ChangeType[]): readonly Change[] => types.map((type) => ({ type, target, content: {} }));
const patches = changes(...Array.from({ length: 20 }, () => 'Patch' as const));
const deletes = changes(...Array.from({ length: 20 }, () => 'Delete' as const));

t.test('all that follow are announced, but at most eight Deletes', async (t) => {
  t.equal(windowEnd({ changes: patches }, 0, 'all'), 20);
  t.equal(windowEnd({ changes: patches }, 7, 'all'), 20);
  t.equal(windowEnd({ changes: deletes }, 0, 'all'), 8);
  t.equal(windowEnd({ changes: deletes }, 5, 'all'), 13);
  t.equal(windowEnd({ changes: deletes }, 15, 'all'), 20);
  t.equal(windowEnd({ changes: [...patches, ...deletes] }, 0, 'all'), 28);
  t.equal(
    windowEnd({ changes: [...deletes.slice(0, 8), ...patches] }, 0, 'all'),
    28,
    'the ninth one is not announced, what comes before it is',
  );
});

t.test('at one change a call the next one is announced', async (t) => {
  t.equal(windowEnd({ changes: patches }, 0, 'one'), 1);
  t.equal(windowEnd({ changes: patches }, 19, 'one'), 20);
  t.equal(windowEnd({ changes: patches }, 20, 'one'), 20);
});

const prepared: Item = { progress: { kind: 'prepared' } };
const announced: Item = { progress: { kind: 'announced' } };
const applied: Item = { progress: { kind: 'applied' } };
const passed: Item = { ...applied, gate: { since: 0, passed: true } };
const gated = (gate: JsonObject, index: number): readonly Change[] =>
  patches.map((change, at) => (at === index ? { ...change, gate } : change));

t.test('nothing is announced behind a gate before it has passed', async (t) => {
  t.equal(windowEnd({ changes: gated({}, 3) }, 0, 'all'), 4);
  t.equal(windowEnd({ changes: gated({}, 3) }, 4, 'all', Array(4).fill(applied)), 4);
  t.equal(windowEnd({ changes: gated({}, 3) }, 4, 'all', [applied, applied, applied, passed]), 20);
  t.equal(windowEnd({ changes: gated({ at: 'AtEnd' }, 3) }, 0, 'all'), 20);
  t.equal(windowEnd({ changes: gated({ at: 'Never' }, 3), gate: {} }, 0, 'all'), 20);
  t.equal(windowEnd({ changes: gated({}, 3) }, 3, 'one', Array(3).fill(applied)), 4);
});

const crd = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'things.example.org' };
const served = { group: 'example.org', names: { plural: 'things', kind: 'Thing' }, versions: [{ name: 'v1', served: true }] };
const thing = { apiVersion: 'example.org/v1', kind: 'Thing', name: 'one' };
const release: readonly Change[] = [
  { type: 'Create', target: crd, content: { spec: served } },
  ...changes('Patch', 'Patch'),
  { type: 'Create', target: thing, content: {} },
  ...changes('Patch'),
];

t.test('the engine waits for a CRD before the objects that need the CRD, and not earlier', async (t) => {
  t.equal(windowEnd({ changes: release }, 0, 'all'), 5, 'the API server would refuse what needs it: it may be announced');
  t.equal(openGates({ changes: release }, [applied, { progress: { kind: 'announced' } }, ...Array(3).fill(prepared)]), undefined);
  t.match(openGates({ changes: release }, [applied, applied, applied, announced, announced]), { gates: [{ index: 0 }] });
  t.equal(openGates({ changes: release }, [passed, applied, applied, prepared, prepared]), undefined);
  t.equal(windowEnd({ changes: release.slice(0, 3) }, 0, 'all'), 3, 'nothing needs it');
});

/** What was due, the running status, what is stored, what is due next. */
const rows = table<'reason' | 'last' | 'running' | 'stored' | 'next' | 'goes'>(`
reason                                     | last      | running                        | stored                          | next      | goes
the next one is announced                  | apply 0   | Committing applied announced   | Prepared announced announced    | apply 1   | on
the next one is not announced              | apply 0   | Committing applied announced   | Prepared announced prepared     | apply 1   |
the last one did not end well              | apply 0   | Prepared announced announced   | Prepared announced announced    | apply 0   |
a Delete is amended first                  | apply 0   | Prepared announced announced   | Prepared announced announced    | apply 1   |
an undo begins                             | apply 0   | RollingBack applied announced  | Prepared announced announced    | restore 1 |
the one before is taken back               | restore 1 | RollingBack applied restored   | RollingBack applied applied     | restore 0 | on
the last one is left                       | restore 1 | RollingBack applied left       | RollingBack applied applied     | restore 0 |
the last one waits                         | restore 1 | RollingBack applied applied    | RollingBack applied applied     | restore 0 |
the undo is not stored yet                 | restore 1 | RollingBack applied restored   | Committing applied announced    | restore 0 |
locks are held                             | begin     | Preparing waiting waiting      | Pending waiting waiting         | prepare   | on
locks are held, by an earlier call         | prepare   | Prepared announced announced   | Preparing waiting waiting       | apply 0   |
all is applied                             | apply 1   | Committed applied applied      | Prepared announced announced    | release   |
all is undone                              | restore 0 | RolledBack restored restored   | RollingBack applied applied     | release   |
a CRD is served, what needs it is announced | await    | Committing applied announced   | Prepared announced announced    | apply 1   | on
what is behind a gate is announced first   | await     | Committing applied announced   | Committing applied prepared     | apply 1   |
an undo is asked for                       | apply 0   | Committing applied announced   | Prepared announced announced    | rollBack  |
`);

function dueOf(text: string): Due {
  const [kind = '', index] = text.split(' ');
  return (index === undefined ? { kind } : { kind, index: Number(index) }) as Due;
}

function read(text: string): ReturnType<typeof statusOf> {
  const [phase = '', ...items] = text.split(' ');
  return statusOf(phase as Phase, items.join(' '));
}

for (const { reason, last, running, stored, next, goes } of rows) {
  t.test(`a call goes ${goes === 'on' ? 'on' : 'no further'}: ${reason}`, async (t) => {
    const gone = { due: dueOf(last), running: read(running), stored: read(stored) };
    t.equal(mayGoOn(gone, dueOf(next)), goes === 'on');
  });
}

t.test('ownership is given back from object to object', async (t) => {
  const stored = statusOf('Committed', 'applied applied');
  const [first = { progress: { kind: 'applied' } as const }, second = first] = stored.items;
  const running = { ...stored, items: [{ ...first, disowned: true as const }, second] };
  t.equal(mayGoOn({ due: { kind: 'releaseFields', index: 0 }, running, stored }, { kind: 'releaseFields', index: 1 }), true);
  t.equal(
    mayGoOn({ due: { kind: 'releaseFields', index: 0 }, running: stored, stored }, { kind: 'releaseFields', index: 1 }),
    false,
  );
});
