// What goes along with a deleted object, by what the metadata around it says. That the controllers of Kubernetes do so:
// test/scenarios/changes/deletes-with-dependents.test.ts.
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { cascade, type Dependent, dependentOf, isMadeBy } from '../../../../hooks/transactions/hazards/dependents.ts';
import { configMaps as resource } from '../../../../hooks/transactions/writes/resources.ts';

const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'gone', namespace: 'shop' };
const deletion = { resource, target, object: { metadata: { uid: 'gone' } } };

/** `b < a`: b names a as its owner, `b <- a` as its controller. */
function owned(...relations: readonly string[]): readonly Dependent[] {
  return relations.map((relation) => {
    const [name = '', sign, uid = ''] = relation.split(' ');
    const owners: JsonObject[] = [{ uid, ...(sign === '<-' ? { controller: true } : {}) }];
    const leaving = sign === '<x' ? { deletionTimestamp: 'now' } : {};
    return dependentOf(resource, { metadata: { name, namespace: 'shop', uid: name, ownerReferences: owners, ...leaving } });
  });
}

function names(dependents: readonly Dependent[], isMade: Parameters<typeof cascade>[2] = () => false): string {
  const around = { owned: dependents, endpoints: [], bySign: [] };
  return cascade(deletion, around, isMade)
    .map(({ uid }) => uid)
    .join(' ');
}

t.test('objects that name the object as owner, by uid alone', async (t) => {
  t.equal(names(owned('a < gone', 'b < other', 'c <- gone')), 'a c');
  t.equal(names(owned('a <x gone')), '', 'what is leaving already is not lost by it');
  t.equal(names(owned('a < gone', 'b < a')), 'a', 'what hangs on what is lost need not be named');
});

t.test('an adopted object is older than its owner', async (t) => {
  const owner = { uid: 'gone', createdAt: 60_000 };
  const [one] = owned('a <- gone');
  for (const [createdAt, isMade] of [
    [60_000, true],
    [59_000, true],
    [58_000, false],
    [undefined, true],
  ] as const)
    t.equal(one !== undefined && isMadeBy({ ...one, createdAt }, owner), isMade, `${createdAt}`);
  t.equal(one !== undefined && isMadeBy({ ...one, createdAt: 0 }, { uid: 'gone', createdAt: undefined }), true);
});

t.test('dependents of dependents', async (t) => {
  t.equal(names(owned('a <- gone', 'b <- a', 'c < b', 'd <- c'), isMadeBy), 'c');
  t.equal(names(owned('a <- gone', 'b <- a', 'a2 <- b', 'gone <- b'), isMadeBy), '', 'in a circle as well');
  t.equal(names(owned('b < gone', 'a <- gone', 'b < a'), isMadeBy), 'b', 'and is named once');
});
