// Kinds of a server that is away and whose kinds discovery still knows: one version of a group is away, another one only fails. What a real
// API server says: test/scenarios/undo/servers-away.test.ts.
import t from 'tap';
import type { Identity, Reader, Resource } from '../../../../hooks/objects/cluster.ts';
import type { Failure } from '../../../../hooks/objects/failure.ts';
import { identityOf } from '../../../../hooks/objects/reference.ts';
import { listContained } from '../../../../hooks/transactions/hazards/read-contained.ts';
import { listCandidates } from '../../../../hooks/transactions/hazards/read-dependents.ts';
import { createCallReads } from '../../../../hooks/transactions/reading/call-reads.ts';
import type { Lister } from '../../../../hooks/transactions/reading/listing.ts';

const failure: Failure = {
  kind: 'transient',
  code: 503,
  reason: 'ServiceUnavailable',
  message: 'no',
  fields: [],
  definitive: true,
};

function kind(group: string, version: string, plural: string): Resource {
  const verbs = ['list', 'watch', 'delete'];
  return { group, version, plural, kind: plural, namespaced: true, statusSubresource: false, verbs };
}

const [maps, widgets, gadgets] = [
  kind('', 'v1', 'configmaps'),
  kind('store.example', 'v1', 'widgets'),
  kind('store.example', 'v2', 'gadgets'),
];

/** Of these kinds only ConfigMaps can be listed. */
function lookerOf(...resources: readonly Resource[]): Lister {
  const empty = { kind: 'ok', items: [], complete: true, next: '', size: 10, serverTime: 0 } as const;
  const reader = {
    resources: async () => ({ kind: 'ok', resources, away: [], stale: ['store.example/v1'] }),
    listMetadata: async ({ group }: Resource) => (group === '' ? empty : { kind: 'failed', failure }),
  } as unknown as Reader;
  const callReads = createCallReads({ now: () => 0, until: 1e9, lists: new Map() });
  return { reader, callReads, identity: { kind: 'engine' } as Identity };
}

function deletion(group: string, of: string, object = {}) {
  const target = { apiVersion: group === '' ? 'v1' : `${group}/v1`, kind: of, name: 'team' };
  return { resource: { group, kind: of }, target, object } as unknown as Parameters<typeof listContained>[1];
}

const namespace = deletion('', 'Namespace');

t.test('beside an object, the APIService of the version that is away is named, and the other kind fails', async (t) => {
  t.match(await listCandidates(lookerOf(maps, widgets, gadgets), namespace), {
    unavailable: ['v1.store.example'],
    failingKinds: [{ kind: 'gadgets.store.example' }],
    forbiddenKinds: [],
  });
});

t.test('in a Namespace it is named, unless it goes before', async (t) => {
  const away = { kind: 'unlistable', unlistable: { kind: 'v1.store.example', isAway: true } };
  t.match(await listContained(lookerOf(maps, widgets), namespace), away);
  const apiService = { apiVersion: 'apiregistration.k8s.io/v1', kind: 'APIService', name: 'v1.store.example' };
  const gone = new Set([identityOf(apiService)]);
  t.match(await listContained(lookerOf(maps, widgets), namespace, gone), { kind: 'known', dependents: [] });
  const other = await listContained(lookerOf(maps, gadgets), namespace, gone);
  t.match(other, { kind: 'unlistable', unlistable: { kind: 'gadgets.store.example' } });
});

t.test('of a CRD the APIService in the way of its kind is named', async (t) => {
  const crd = (version: string) => {
    const spec = {
      group: 'store.example',
      names: { plural: 'widgets', kind: 'Widget' },
      versions: [{ name: version, served: true }],
    };
    return deletion('apiextensions.k8s.io', 'CustomResourceDefinition', { spec });
  };
  t.match(await listContained(lookerOf(), crd('v1')), {
    kind: 'unlistable',
    unlistable: { kind: 'v1.store.example', isAway: true },
  });
  t.match(await listContained(lookerOf(), crd('v2')), { kind: 'unlistable', unlistable: { kind: 'widgets.store.example' } });
});
