// docs/api.md against the schemas: it is what the script makes of them, and says of each field what a user needs.
import t from 'tap';
import { apiPage } from '../../scripts/api-page.ts';
import { readDocument } from '../support/pages.ts';

interface Row {
  readonly section: string;
  readonly cells: readonly string[];
}

/** The fields of the page, by section. */
function rowsOf(page: string): readonly Row[] {
  return page.split(/^### /m).flatMap((part) => {
    const section = part.slice(0, part.indexOf('\n'));
    const rows = part.split('\n').filter((line) => line.startsWith('| `'));
    return rows.map((line) => ({ section, cells: line.slice(2, -2).split(' | ') }));
  });
}

const rows = rowsOf(apiPage());

t.test('the script generates docs/api.md', async (t) => {
  t.equal(readDocument('docs/api.md'), apiPage(), 'run: npm run generate');
});

t.test('each field has a type and a meaning, and each value of spec an example', async (t) => {
  t.ok(rows.length > 180, `${rows.length} fields`);
  for (const { section, cells } of rows) {
    const [field = '', type = '', , , meaning = '', example] = cells;
    t.ok(type.trim() !== '' && meaning.trim() !== '', `${section} ${field}`);
    const isWhole = /^(?:object|any|list of objects|map)/.test(type);
    if (section.includes(': spec') && !isWhole)
      t.match(example, /^`/, `${section} ${field}: add it to manifests/examples/every-field.yaml`);
  }
});

t.test('docs/api.md has the defaults of the API server and of the engine, bounds, and formats', async (t) => {
  const cellsAt = (section: string, field: string): readonly string[] =>
    rows.find((row) => row.section === `Transaction: ${section}` && row.cells[0] === `\`${field}\``)?.cells ?? [];
  t.same(cellsAt('spec', 'timeout').slice(1, 4), ['string', '`30m`', '1s to 24h']);
  t.same(cellsAt('spec.changes[]', 'fieldConflicts').slice(1, 4), ['string', '`Force`', '`Force`, `Fail`']);
  t.same(cellsAt('spec', 'changes').slice(1, 4), [
    'list of objects',
    '',
    '1 to 500 entries; write a wave in every change or in none; waves do not fall along the list',
  ]);
  t.match(cellsAt('spec.changes[]', 'target.name')[3], '1 to 253 characters; write the object');
  t.match(cellsAt('spec.changes[].gate', 'failed')[4], 'Its fields are those of ready.');
});
