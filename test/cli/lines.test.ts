// What is shown and in which order, as pure functions: trees that fit, news, the kinds, words that are wrong.
import t from 'tap';
import { inKindOrder } from '../../cli/input/kind-order.ts';
import { unrolled } from '../../cli/input/lists.ts';
import { codeOfEnd, isOver } from '../../cli/show/end.ts';
import { newsOf } from '../../cli/show/news.ts';
import { requests } from '../../cli/show/requests.ts';
import { styleFor } from '../../cli/show/style.ts';
import { treeOf } from '../../cli/show/tree.ts';
import { type TransactionView, viewOf } from '../../cli/show/view.ts';

const states = (phase: string, items: readonly string[], more: Partial<TransactionView> = {}): TransactionView => ({
  ...viewOf({
    metadata: { name: 'one', namespace: 'shop' },
    spec: {
      changes: items.map((_, index) => ({ type: 'Delete', target: { apiVersion: 'v1', kind: 'ConfigMap', name: `c${index}` } })),
    },
    status: { phase, message: phase, items: items.map((state) => ({ state })) },
  }),
  ...more,
});

const plain = { colors: false, unicode: false };

t.test('a tree fits, and shows what is under way, failed and left first', async (t) => {
  const items = Array.from({ length: 100 }, (_, index) => (index === 40 ? 'NotRestored' : index === 70 ? 'Applying' : 'Applied'));
  for (const rows of [3, 5, 24]) {
    const lines = treeOf({ view: states('Committing', items), elapsed: 1_000 }, { columns: 40, rows }, plain);
    t.ok(lines.length <= rows, `${lines.length} of ${rows}`);
    for (const line of lines) t.ok(line.length <= 40, line);
    if (rows > 4) t.match(lines.join('\n'), /x ConfigMap c40[\s\S]*> ConfigMap c70[\s\S]*`- \.\.\. \d+ more applied$/);
  }
  t.equal(treeOf({ view: states('Committing', items), elapsed: 0 }, { columns: 80 }, plain).length, 101);
});

t.test('news are what has changed', async (t) => {
  const before = states('Committing', ['Applied', 'Applying']);
  t.same(newsOf(before, before), []);
  t.same(newsOf(states('Committing', ['Applied', 'Applied'], { done: '2/2' }), before), ['Committing 2/2 ConfigMap c1 Applied']);
  t.same(newsOf(states('Committed', ['Applied', 'Applying']), before), ['Committed Committed']);
});

t.test('exit codes follow from how it ended', async (t) => {
  for (const [phase, left, wanted, code] of [
    ['Committed', 0, 'Committed', 0],
    ['RolledBack', 0, 'RolledBack', 0],
    ['Committed', 0, 'RolledBack', 1],
    ['Failed', 0, 'Committed', 2],
    ['RolledBack', 0, 'Committed', 3],
    ['Failed', 2, 'RolledBack', 4],
  ] as const)
    t.equal(codeOfEnd(states(phase, [], { left }), wanted), code, `${phase}, ${left} left, wanted ${wanted}`);
  t.notOk(isOver(states('Committed', [], { finished: false })), 'its locks are still held');
  t.notOk(isOver(states('Committing', [], { finished: true })));
});

t.test('a request acts in its phases only, and says why elsewhere', async (t) => {
  const acts = (name: keyof typeof requests, phase: string, left = 0) =>
    requests[name].refusal(states(phase, [], { left }), 'janus') === undefined;
  const phases = ['Pending', 'Preparing', 'Prepared', 'Committing', 'Committed', 'RollingBack', 'RolledBack', 'Failed'];
  t.same(
    phases.filter((phase) => acts('undo', phase)),
    ['Committed'],
  );
  t.same(
    phases.filter((phase) => acts('abort', phase)),
    ['Pending', 'Preparing', 'Prepared', 'Committing'],
  );
  t.same(
    phases.filter((phase) => acts('retry', phase)),
    [],
  );
  t.ok(acts('retry', 'Failed', 1));
});

t.test('kinds are in the order of Helm, others last by name, equal ones as they stand', async (t) => {
  const kinds = ['Ingress', 'Widget', 'Deployment', 'Secret', 'Apple', 'Namespace', 'CustomResourceDefinition', 'ConfigMap'];
  const order = ['Namespace', 'Secret', 'ConfigMap', 'CustomResourceDefinition', 'Deployment', 'Ingress', 'Apple', 'Widget'];
  t.same(
    inKindOrder(kinds, (kind) => kind),
    order,
  );
  const two = [
    { kind: 'Secret', n: 2 },
    { kind: 'Secret', n: 1 },
  ];
  t.same(
    inKindOrder(two, ({ kind }) => kind),
    two,
  );
});

t.test('Lists are unrolled, typed ones and those in others, too', async (t) => {
  const typed = { apiVersion: 'v1', kind: 'ConfigMapList', items: [{ metadata: { name: 'a' } }] };
  const found = unrolled({ apiVersion: 'v1', kind: 'List', items: [typed, { apiVersion: 'v1', kind: 'Secret' }] });
  t.same(found, [
    { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } },
    { apiVersion: 'v1', kind: 'Secret' },
  ]);
});

t.test('colours', async (t) => {
  const colors = (env: Record<string, string>, isTerminal = true, color?: string) => styleFor({ isTerminal, env, color }).colors;
  t.ok(colors({}));
  t.notOk(colors({}, false));
  t.notOk(colors({ NO_COLOR: '1' }));
  t.ok(colors({ NO_COLOR: '' }), 'an empty one counts as none');
  t.notOk(colors({ TERM: 'dumb' }));
  t.ok(colors({ NO_COLOR: '1' }, false, 'always'));
  t.notOk(colors({}, true, 'never'));
});
