// What lists the types of changes by hand lists all of them: hooks/transactions/model/change.ts has the table.
import t from 'tap';
import { changeTypes } from '../../hooks/transactions/model/change.ts';
import schema from '../../schemas/plan.schema.json' with { type: 'json' };
import { readDocument } from '../support/pages.ts';

t.test('docs/concepts.md has a row for each type of change', async (t) => {
  const [, table = ''] = readDocument('docs/concepts.md').split(/^\| `type` .*\n/m);
  const [rows = ''] = table.split('\n\n');
  t.same([...rows.matchAll(/^\| `(\w+)`/gm)].map(([, type]) => type).sort(), [...changeTypes].sort());
});

t.test('the document of a plan may have each type of change', async (t) => {
  t.same([...schema.definitions.change.properties.type.enum].sort(), [...changeTypes].sort());
});
