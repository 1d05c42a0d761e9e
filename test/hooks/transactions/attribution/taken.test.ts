// The words for what an apply takes from other field managers.
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { takenBy } from '../../../../hooks/transactions/attribution/taken.ts';
import type { Managers } from '../../../../hooks/transactions/model/transaction.ts';

const shared: Managers = {
  forward: 'shop',
  restore: 'janus-restore-one-12345678',
  holder: 'shop/one/1',
  own: 'janus-one-12345678',
};
const own: Managers = { forward: 'janus-one-12345678', restore: 'janus-restore-one-12345678' };

function object(names: readonly string[], value: string, managers: Readonly<Record<string, readonly string[]>>): JsonObject {
  const containers = names.map((name) => ({ name, image: value }));
  const treeOf = (of: readonly string[]): JsonObject =>
    Object.fromEntries(of.map((name) => [`k:{"name":"${name}"}`, { 'f:image': {} }]));
  const managedFields = Object.entries(managers).map(([manager, of]) => ({
    manager,
    operation: 'Update',
    apiVersion: 'apps/v1',
    fieldsV1: { 'f:spec': { 'f:containers': treeOf(of) } },
  }));
  return { apiVersion: 'apps/v1', kind: 'Widget', metadata: { name: 'w', managedFields }, spec: { containers } };
}

const taken = (before: JsonObject, after: JsonObject, managers = shared, isHidden = false) =>
  takenBy({ before, after }, managers, isHidden).took;

t.test('the shortest name that leads to one field only, its value, and all who owned it', async (t) => {
  const one = object(['web'], '1.4', { 'kubectl-set': ['web'], helm: ['web'] });
  t.same(taken(one, object(['web'], '2', { shop: ['web'] })), { count: 1, texts: ['image "1.4" (helm, kubectl-set)'] });
  const two = object(['web', 'log'], '1.4', { 'kubectl-set': ['web'], helm: ['log'] });
  t.same(taken(two, object(['web', 'log'], '2', { helm: ['log'], shop: ['web'] })), {
    count: 1,
    texts: ['containers[name=web].image "1.4" (kubectl-set)'],
  });
});

t.test('of many fields three are named; texts are bounded and cleaned', async (t) => {
  const names = Array.from({ length: 9 }, (_, index) => `c${index}`);
  const long = object(names, `\u202e${'v'.repeat(300)}`, { [`m${'a'.repeat(120)}`]: names });
  const found = taken(long, object(names, '2', { shop: names }));
  t.equal(found?.count, 9);
  t.equal(found?.texts?.length, 3);
  for (const text of found?.texts ?? []) t.ok(text.length <= 200 && /^[\x20-\x7e…]+$/.test(text), text);
});

t.test('what does not count: own fields, fields of earlier Transactions of their own, what no manager lost', async (t) => {
  const after = object(['web'], '2', { shop: ['web'] });
  t.equal(taken(object(['web'], '1', { shop: ['web'] }), object(['web'], '2', {})), undefined);
  t.equal(taken(object(['web'], '1', { 'kubectl-set': ['web'] }), object(['web'], '1', { 'kubectl-set': ['web'] })), undefined);
  const earlier = object(['web'], '1', { 'janus-zero-0a1b2c3d': ['web'] });
  t.equal(taken(earlier, after, own), undefined);
  t.match(taken(earlier, after), { count: 1 }, 'a Transaction beside the releases of an app counts');
});

t.test('of a hidden object only the managers', async (t) => {
  const before = object(['web', 'log'], 'secret', { helm: ['web', 'log'] });
  t.same(taken(before, object(['web', 'log'], '2', { shop: ['web', 'log'] }), shared, true), { count: 2, texts: ['(helm)'] });
});
