// Order inside lists with keys and sets, as a table: each letter is an element.
import t from 'tap';
import { mergeOrder } from '../../../../hooks/objects/content/order.ts';
import type { Json } from '../../../../hooks/objects/json.ts';
import { table } from '../../../support/table.ts';

function entries(letters: string): ReadonlyMap<string, Json> {
  return new Map([...letters].map((letter) => [letter, letter]));
}

/** `left` is what the merge leaves over, in any order. */
const rows = table<'reason' | 'prior' | 'expected' | 'live' | 'left' | 'elements' | 'ours' | 'theirs'>(`
reason                                            | prior | expected | live | left | elements | ours      | theirs
nothing was reordered                             | abc   | abc      | abc  | abc  | abc      |           | no
what we removed returns to its place              | abc   | ac       | ac   | abc  | abc      |           | no
what they added stays where it is                 | ab    | ab       | axb  | axb  | axb      |           | no
what they added first stays first                 | ab    | ab       | xab  | xab  | xab      |           | no
several of theirs keep their order                | ab    | ab       | axyb | axyb | axyb     |           | no
what they removed stays away                      | abc   | abc      | ac   | ac   | ac       |           | no
we reordered                                      | abc   | cab      | cab  | abc  | abc      | applied   | no
we reordered and removed                          | abc   | ca       | ca   | abc  | abc      | applied   | no
we reordered, our write is not there              | abc   | cab      | abc  | abc  | abc      | untouched | no
we reordered, they too, otherwise                 | abc   | cba      | bca  | abc  | bca      | foreign   | yes
they reordered                                    | abc   | abc      | cab  | abc  | cab      |           | yes
they reordered, we had removed: after its neighbour | abc | ab       | ba   | abc  | bca      |           | yes
we reordered, they removed: the rest fits both    | ab    | ba       | a    | a    | a        | untouched | no
we reordered, they emptied the list               | ab    | ba       |      |      |          | untouched | no
we reordered, they added                          | ab    | ba       | bax  | abx  | axb      | applied   | no
`);

for (const row of rows) {
  t.test(row.reason, async (t) => {
    const versions = { prior: entries(row.prior), expected: entries(row.expected), live: entries(row.live) };
    const order = mergeOrder({ kind: 'items', ...versions }, [...row.left]);
    t.equal(order.elements.join(''), row.elements);
    t.equal(order.ours ?? '', row.ours);
    t.equal(order.theirs, row.theirs === 'yes');
  });
}

t.test('the keys of a map have no order that counts', async (t) => {
  const versions = { prior: entries('ab'), expected: entries('ba'), live: entries('ba') };
  t.same(mergeOrder({ kind: 'map', ...versions }, ['b', 'a']), { elements: ['b', 'a'], theirs: false });
});
