// Transactions over common objects: parallel, duplicate, stale and nested calls for them. All of them commit, one after the
// other; none waits for ever.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { change, type TargetParts } from '../support/targets.ts';
import { type Calm, type Case, caseOf } from './case.ts';
import type { Names } from './names.ts';
import type { Run } from './run.ts';
import type { Story } from './story.ts';
import { secondEngine } from './two-engines.ts';
import { widgets } from './widgets.ts';

const clusterRole = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };

/** Each Transaction leaves its own mark. */
function marks(mark: string, targets: readonly string[], parts: TargetParts = {}): readonly JsonObject[] {
  return targets.map((name) => change('Patch', name, { metadata: { labels: { [mark]: 'yes' } } }, parts));
}

const shared = { events: [], end: 'Committed', isShared: true } as const;

const roles = ({ b, c }: Names): readonly { readonly object: JsonObject }[] =>
  [b, c].map((name) => ({ object: { ...clusterRole, metadata: { name }, rules: [] } }));

export const overlaps: readonly Story[] = [
  {
    ...shared,
    id: 'same-order',
    transactions: ({ run, rival, b, c }) => ({ [run]: marks('first', [b, c]), [rival]: marks('second', [b, c]) }),
  },
  {
    ...shared,
    id: 'opposite-order',
    transactions: ({ run, rival, b, c }) => ({ [run]: marks('first', [b, c]), [rival]: marks('second', [c, b]) }),
  },
  {
    ...shared,
    id: 'same-name',
    transactions: ({ run, b, c, namespace, elsewhere }) => ({
      [run]: marks('first', [b, c]),
      [`${elsewhere}/${run}`]: marks('second', [c, b], { namespace }),
    }),
  },
  {
    ...shared,
    id: 'cluster-scoped',
    given: roles,
    transactions: ({ run, b, c, elsewhere }) => ({
      [run]: marks('first', [b, c], clusterRole),
      [`${elsewhere}/${run}`]: marks('second', [c, b], clusterRole),
    }),
  },
  {
    ...shared,
    id: 'two-groups',
    given: ({ b }) =>
      [widgets.withStatus, widgets.elsewhere].map((type) => ({
        object: { ...type, metadata: { name: b }, spec: { color: 'blue' } },
      })),
    transactions: ({ run, rival, b }) => ({
      [run]: marks('first', [b], widgets.withStatus),
      [rival]: marks('second', [b], widgets.elsewhere),
    }),
  },
];

export function overlapCases(story: Story, { calls }: Calm): readonly Case[] {
  const hookFaults = [
    ['doubled', { kind: 'doubled' }],
    ['stale', { kind: 'stale', stored: false }],
    ['stale-stored', { kind: 'stale', stored: true }],
    ['at-once', { kind: 'with others' }],
  ] as const;
  return [
    ...hookFaults.map(([id, fault]) => caseOf(['S11', story.id, 'every', id], story, { hookFaults: fault })),
    ...calls.flatMap(({ number }) =>
      [0, 1].map((which) =>
        caseOf(['S11', story.id, number, which === 0 ? 'first-inside' : 'second-inside'], story, (run) => ({
          faults: new Map([[number, { kind: 'gap', act: () => callInside(run(), which) }]]),
        })),
      ),
    ),
  ];
}

function callInside(run: Run, which: number): Promise<void> {
  const name = Object.keys(run.story.transactions(run.names))[which] ?? '';
  return secondEngine(run, name, 'stored');
}
