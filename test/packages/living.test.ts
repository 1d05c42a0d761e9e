// Which owners an installed object keeps, when a package transaction may go, and what the Lock may have lost.
import t from 'tap';
import { lostEntry } from '../../hooks/crossplane/checks/names.ts';
import { cleanUp } from '../../hooks/crossplane/decide/ending.ts';
import { readPackageTransaction } from '../../hooks/crossplane/model/package-transaction.ts';
import { plan } from '../../hooks/crossplane/plan/plan.ts';
import { livingOwners } from '../../hooks/crossplane/writes/owners.ts';
import { definitions } from '../../hooks/crossplane/writes/resources.ts';
import type { JsonObject } from '../../hooks/objects/json.ts';

const reference = (kind: string, name: string, uid: string, more: JsonObject = {}): JsonObject => ({
  apiVersion: kind === 'Transaction' ? 'pkg.crossplane.io/v1alpha1' : 'pkg.crossplane.io/v1',
  kind,
  name,
  uid,
  ...more,
});
const objectOf = (...ownerReferences: readonly JsonObject[]): JsonObject => ({ metadata: { name: 'x', ownerReferences } });
const live = new Map([
  ['Provider a', 'new'],
  ['ProviderRevision a-1', 'r'],
  ['Transaction t', 't2'],
]);
const foreign = { apiVersion: 'v1', kind: 'Namespace', name: 'n', uid: 'n' };

t.test('an object keeps its owners while one of them exists', async (t) => {
  for (const owners of [
    [],
    [foreign],
    [reference('ProviderRevision', 'a-1', 'r'), reference('Transaction', 't', 't1')],
    [reference('Transaction', 't', 't2'), reference('Provider', 'gone', 'g')],
    [reference('Provider', 'a', 'old'), reference('Provider', 'a', 'new')],
  ])
    t.equal(livingOwners(objectOf(...owners), live), undefined, JSON.stringify(owners));
  t.equal(livingOwners({}, live), undefined);
});

t.test('the engine removes missing owners, updates the uid of a recreated one, and leaves the rest', async (t) => {
  const rows: readonly (readonly [readonly JsonObject[], readonly JsonObject[]])[] = [
    [[reference('Provider', 'gone', 'g'), reference('Transaction', 'old', 'o')], []],
    [[reference('Transaction', 't', 't1')], []],
    [
      [reference('Provider', 'a', 'old'), reference('Transaction', 't', 't2')],
      [reference('Provider', 'a', 'new'), reference('Transaction', 't', 't2')],
    ],
    [
      [reference('ProviderRevision', 'a-1', 'old', { controller: true })],
      [reference('ProviderRevision', 'a-1', 'r', { controller: true })],
    ],
    [[foreign, reference('Transaction', 'old', 'o')], [foreign]],
  ];
  for (const [owners, expected] of rows) t.same(livingOwners(objectOf(...owners), live), expected);
});

t.test('the engine deletes a package transaction when no object depends on it', async (t) => {
  const metadata = { name: 'mine', uid: 'u', deletionTimestamp: '2026-01-01T00:00:00Z' };
  const ptx = readPackageTransaction({ metadata, spec: {}, status: { phase: 'Succeeded', version: 7 } });
  const observation = { ptx, now: 0, lateWindow: 0, namespace: 'ns', garbage: [], history: [], orphans: [] };
  t.match(cleanUp(observation), { kind: 'cleanUp', finalized: true });
  const live = { metadata: { name: 'x', uid: 'u', resourceVersion: '3', ownerReferences: [foreign] }, spec: {} };
  const step = cleanUp({ ...observation, orphans: [{ resource: definitions, live, owners: [] }] });
  t.match(step, { kind: 'adopt', status: ptx.status });
  const writes = plan(step, observation);
  const mutations = writes.kind === 'sequence' ? writes.mutations : [];
  t.match(mutations, [{ write: { verb: 'update', precondition: { uid: 'u', resourceVersion: '3' } } }]);
  t.same(mutations[0]?.settledBy, ['absent'], 'if it is refused, the package transaction stays');
  const [write] = mutations.map((mutation) => mutation.write);
  t.strictSame(write !== undefined && 'object' in write && write.object, {
    metadata: { name: 'x', uid: 'u', resourceVersion: '3' },
    spec: {},
  });
});

t.test('the engine installs a package again that the Lock has lost; as a dependency it keeps at least its version', async (t) => {
  const source = 'registry.example.org/acme/one';
  const faults = (version: string, packages: readonly string[], { isRoot = false, live = 'v1.1.0' } = {}): number =>
    lostEntry(
      { kind: 'Provider', name: 'one', source, isRoot, package: `${source}:${version}` },
      { packages, live: `${source}:${live}` },
    ).length;
  t.equal(faults('v1.0.0', []), 0, 'nothing of it is Active');
  t.equal(faults('v1.1.0', ['one']), 0);
  t.equal(faults('v1.2.0', ['one']), 0);
  t.equal(faults('v1.0.0', ['one']), 1, 'lower');
  t.equal(faults('v1.0.0', ['one'], { isRoot: true }), 0, 'somebody wants it');
  t.equal(faults('v1.0.0', ['one'], { live: 'latest' }), 0, 'it is not known whether it is lower');
  t.equal(faults('v1.1.0', ['one', 'two']), 1, 'under two names');
  t.equal(faults('v1.1.0', ['two'], { isRoot: true }), 1, 'under another name');
});
