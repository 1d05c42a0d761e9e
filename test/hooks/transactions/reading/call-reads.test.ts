// Lists in one call: they count for a moment, and for the object that they were made for.
import t from 'tap';
import type { Identity, Reader } from '../../../../hooks/objects/cluster.ts';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { listContained } from '../../../../hooks/transactions/hazards/read-contained.ts';
import { type CallReads, createCallReads } from '../../../../hooks/transactions/reading/call-reads.ts';

let now = 0;
const readsOfACall = (): CallReads => createCallReads({ now: () => now, until: 1e9, lists: new Map() });
const listing = (items: () => readonly JsonObject[]): Partial<Reader> => ({
  listMetadata: async () => ({ kind: 'ok', items: items(), complete: true, next: '', size: 10, serverTime: 0 }),
});

t.test('the engine lists the contents of a Namespace again after a moment', async (t) => {
  let items: readonly JsonObject[] = [];
  const configMaps = {
    group: '',
    version: 'v1',
    plural: 'configmaps',
    kind: 'ConfigMap',
    namespaced: true,
    statusSubresource: false,
  };
  const reader = {
    ...listing(() => items),
    resources: async () => ({ kind: 'ok', resources: [{ ...configMaps, verbs: ['list', 'watch', 'delete'] }], away: [] }),
  } as unknown as Reader;
  const lister = { reader, callReads: readsOfACall(), identity: { kind: 'engine' } as Identity };
  const deletion = {
    resource: { group: '', kind: 'Namespace' },
    target: { apiVersion: 'v1', kind: 'Namespace', name: 'team' },
    object: { metadata: { name: 'team', uid: 'n' } },
  };
  t.match(await listContained(lister, deletion), { kind: 'known', dependents: [] });
  items = [{ metadata: { name: 'theirs', namespace: 'team', uid: 't' } }];
  now += 999;
  t.match(await listContained(lister, deletion), { dependents: [] });
  now += 1;
  t.match(await listContained(lister, deletion), { dependents: [{ uid: 't' }] });
});
