// Aggregated discovery while API servers are away, without a cluster.
import t from 'tap';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { createDiscovery } from '../../../server/kubernetes/discovery.ts';

const widgets = {
  resource: 'widgets',
  responseKind: { kind: 'Widget' },
  scope: 'Namespaced',
  verbs: ['get', 'list', 'watch', 'delete'],
};

const rows: readonly (readonly [
  what: string,
  versions: readonly JsonObject[],
  away: readonly string[],
  found: readonly string[],
])[] = [
  ['current', [{ version: 'v1', freshness: 'Current', resources: [widgets] }], [], ['v1']],
  ['current, and without resources', [{ version: 'v1', freshness: 'Current' }], [], []],
  ['away from the beginning', [{ version: 'v1', freshness: 'Stale' }], ['store.example/v1'], []],
  [
    'away from the beginning, with an empty list',
    [{ version: 'v1', freshness: 'Stale', resources: [] }],
    ['store.example/v1'],
    [],
  ],
  ['away, and its resources are still known', [{ version: 'v1', freshness: 'Stale', resources: [widgets] }], [], ['v1']],
  [
    'away in one version',
    [
      { version: 'v2', freshness: 'Stale' },
      { version: 'v1', freshness: 'Current', resources: [widgets] },
    ],
    ['store.example/v2'],
    ['v1'],
  ],
  [
    'away in one version whose resources are still known, and served in another one',
    [
      { version: 'v2', freshness: 'Stale', resources: [widgets] },
      { version: 'v1', freshness: 'Current', resources: [widgets] },
    ],
    [],
    ['v1'],
  ],
];

for (const [what, versions, away, found] of rows)
  t.test(`an API server that is ${what}`, async (t) => {
    const groups = { items: [{ metadata: { name: 'store.example' }, versions }] };
    const discovery = createDiscovery(async ({ path }) => ({
      kind: 'ok',
      body: path === '/apis' ? groups : { items: [] },
      size: 1,
      bytes: 1,
      serverTime: 0,
    }));
    const answer = await discovery.resources();
    t.match(answer, { kind: 'ok', away });
    t.same(answer.kind === 'ok' && answer.resources.map(({ version }) => version), found);
  });
