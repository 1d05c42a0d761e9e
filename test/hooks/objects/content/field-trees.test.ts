// managedFields compared and changed as trees: as sets of paths would be.
import fc from 'fast-check';
import t from 'tap';
import { editedTree, gainedMembers, hasSameMembers, membersWithin } from '../../../../hooks/objects/content/field-trees.ts';
import { formatFields, isWithin, parseFields } from '../../../../hooks/objects/content/fields.ts';
import { type Path, pathOf, pathText } from '../../../../hooks/objects/content/path.ts';

const element = fc.constantFrom('f:a', 'f:b', 'f:.', 'k:{"name":"a","port":1}', 'v:"x"');
const paths = fc.array(fc.array(element, { minLength: 1, maxLength: 3 }), { maxLength: 8 });

const setOf = (all: readonly Path[]): ReadonlySet<string> => new Set(all.map(pathText));
const treeOf = (all: readonly Path[]) => formatFields(setOf(all));

t.test('a tree without some members, and with others', async () => {
  fc.assert(
    fc.property(paths, paths, paths, (before, taken, added) => {
      const wanted = setOf(before).difference(setOf(taken)).union(setOf(added));
      return parseFields(editedTree(treeOf(before), taken, added)).symmetricDifference(wanted).size === 0;
    }),
  );
});

t.test('the difference of two trees holds the fields that only the first tree has', async () => {
  fc.assert(
    fc.property(paths, paths, (one, other) => {
      const wanted = setOf(one).difference(setOf(other));
      const isSame = setOf(one).symmetricDifference(setOf(other)).size === 0;
      const found = setOf(gainedMembers(treeOf(one), treeOf(other)));
      return found.symmetricDifference(wanted).size === 0 && hasSameMembers(treeOf(one), treeOf(other)) === isSame;
    }),
  );
});

t.test('the members at a path and below it', async () => {
  fc.assert(
    fc.property(paths, paths, (all, [path = ['f:a']]) => {
      const wanted = new Set([...setOf(all)].filter((text) => isWithin(pathOf(text), path)));
      return setOf(membersWithin(treeOf(all), path)).symmetricDifference(wanted).size === 0;
    }),
  );
});

t.test('a tree stays the same object if nothing changes', async (t) => {
  const tree = treeOf([['f:a'], ['f:b', 'f:c']]);
  t.equal(editedTree(tree, [['f:d']], [['f:a']]), tree);
});

t.test('keys of list items may be in any order', async (t) => {
  const [one, other] = ['k:{"name":"a","port":1}', 'k:{"port":1,"name":"a"}'];
  t.equal(gainedMembers({ [one]: {} }, { [other]: {} }).length, 0);
  t.same(editedTree({ [other]: {} }, [[one]], []), {});
});
