// Lists in one call: they count for a moment, and for the object that they were made for.
import t from 'tap';
import type { Identity, Reader } from '../../../hooks/cluster.ts';
import type { JsonObject } from '../../../hooks/model/json.ts';
import type { Transaction } from '../../../hooks/model/transaction.ts';
import { listInside } from '../../../hooks/observe/inside.ts';
import { createLooks, type Looks } from '../../../hooks/observe/looks.ts';
import { orphansLostBy } from '../../../hooks/observe/orphans.ts';

let now = 0;
const looksOfACall = (): Looks => createLooks({ now: () => now, until: 1e9, lists: new Map() });
const listing = (items: () => readonly JsonObject[]): Partial<Reader> => ({
  listMetadata: async () => ({ kind: 'ok', items: items(), complete: true, next: '', size: 10, serverTime: 0 }),
});

t.test('what is in a Namespace is looked for again after a moment', async (t) => {
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
  const looker = { reader, looks: looksOfACall(), identity: { kind: 'engine' } as Identity };
  const doomed = {
    resource: { group: '', kind: 'Namespace' },
    target: { apiVersion: 'v1', kind: 'Namespace', name: 'team' },
    object: { metadata: { name: 'team', uid: 'n' } },
  };
  t.match(await listInside(looker, doomed), { kind: 'known', neighbours: [] });
  items = [{ metadata: { name: 'theirs', namespace: 'team', uid: 't' } }];
  now += 999;
  t.match(await listInside(looker, doomed), { neighbours: [] });
  now += 1;
  t.match(await listInside(looker, doomed), { neighbours: [{ uid: 't' }] });
});

t.test('each controller has orphans of its own, whatever it selects', async (t) => {
  const pod = { metadata: { name: 'b-5', namespace: 'shop', uid: 'p', labels: { app: 'x' } }, status: { phase: 'Running' } };
  const looks = looksOfACall();
  const lostTo = async (name: string): Promise<readonly string[]> => {
    const target = { apiVersion: 'apps/v1', kind: 'StatefulSet', namespace: 'shop', name };
    const spec = { replicas: 1, selector: { matchLabels: { app: 'x' } }, template: {} };
    const expected = { apiVersion: 'apps/v1', kind: 'StatefulSet', metadata: { name, namespace: 'shop' }, spec };
    const transaction = { namespace: 'shop', serviceAccountName: 'deployer' } as Transaction;
    const context = { reader: listing(() => [pod]) as Reader, looks, transaction, all: [] };
    const found = await orphansLostBy(context, { index: 0, target }, { prior: undefined, expected });
    return found !== undefined && 'names' in found ? found.names : [];
  };
  t.same(await lostTo('a'), []);
  t.same(await lostTo('b'), ['Pod shop/b-5']);
});
