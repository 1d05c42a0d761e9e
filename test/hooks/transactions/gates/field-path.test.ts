// Paths to fields: valid ones, and the values that they find.
import t from 'tap';
import { parseFieldPath, readField } from '../../../../hooks/transactions/gates/field-path.ts';
import { json, table } from '../../../support/table.ts';

const object = json(
  '{status: {phase: Up, list: [{ip: one}, {ip: two}], "0": zero, "a-b": dash}, metadata: {labels: {"a.b/c": label, "q\'d": quote, "b\\\\s": slash, "]": bracket, "": empty}}}',
);

const paths = table<'path' | 'leads to'>(String.raw`
path                          | leads to
.status.phase                 | Up
.status.list[1].ip            | two
.status.list[0]               | {ip: one}
.status.list[2].ip            |
.status.list.ip               |
.status[0]                    |
.status.0                     | zero
.status['0']                  | zero
.status.a-b                   | dash
['status']['phase']           | Up
["status"].phase              | Up
.metadata.labels['a.b/c']     | label
.metadata.labels["a.b/c"]     | label
.metadata.labels['q\'d']      | quote
.metadata.labels["q'd"]       | quote
.metadata.labels["b\\s"]      | slash
.metadata.labels[']']         | bracket
.metadata.labels['']          | empty
.constructor                  |
.status.list.length           |
.nothing.of.it                |
`);
for (const row of paths) {
  t.test(`${row.path} leads to ${row['leads to'] || 'nothing'}`, async (t) => {
    const parsed = parseFieldPath(row.path);
    if (parsed.kind === 'bad') return void t.fail(parsed.message);
    t.same(readField(object ?? null, parsed.steps), json(row['leads to']));
  });
}

const bad = table<'path' | 'why'>(String.raw`
path                | why
                    | it is empty
status.phase        | it does not begin with "."
{.status.phase}     | it is in braces or begins with "$": leave that out
$.status            | it is in braces or begins with "$": leave that out
.                   | character 1: it must lead to one field by names and indexes
.status.            | character 8: it must lead to one field by names and indexes
.status..phase      | character 8: it must lead to one field by names and indexes
.status.*           | character 8: it must lead to one field by names and indexes
.status.list[*]     | character 13: it must lead to one field by names and indexes
.status.list[-1]    | character 13: it must lead to one field by names and indexes
.status.list[0:2]   | character 13: it must lead to one field by names and indexes
.status.list[?(@.a)] | character 13: it must lead to one field by names and indexes
.status.list[0      | character 13: neither .name, [0] nor ['any key'] begins there
.status.list[]      | character 13: neither .name, [0] nor ['any key'] begins there
.status.list[a]     | character 13: neither .name, [0] nor ['any key'] begins there
.status['a          | character 8: neither .name, [0] nor ['any key'] begins there
.status['a"]        | character 8: neither .name, [0] nor ['any key'] begins there
.status phase       | character 8: neither .name, [0] nor ['any key'] begins there
.a\.b               | character 3: neither .name, [0] nor ['any key'] begins there
.list[12345678901]  | character 6: neither .name, [0] nor ['any key'] begins there
`);
for (const { path, why } of bad) {
  t.test(`"${path}" is no path: ${why}`, async (t) => t.same(parseFieldPath(path), { kind: 'bad', message: why }));
}

t.test('a path that is meant to take long does not', async (t) => {
  t.match(parseFieldPath(`['${'\\'.repeat(1_000_001)}`), { kind: 'bad' });
  t.match(parseFieldPath('.a'.repeat(500_000)), { kind: 'path' });
});
