// What admission refuses is refused again: its policy may be missing, or not be in force yet.
import fc from 'fast-check';
import t from 'tap';
import { type JsonObject, parseJson } from '../../../../hooks/objects/json.ts';
import { durationBounds } from '../../../../hooks/transactions/checks/durations.ts';
import { longestName, mostChanges, staticFaults } from '../../../../hooks/transactions/checks/validity.ts';
import { durations, longestTransactionName, patterns } from '../../../../schemas/spec-values.ts';
import { mostChanges as mostOfTheSchema } from '../../../../schemas/transaction-spec.ts';
import { table } from '../../../support/table.ts';
import { change, type TransactionParts, transactionOf } from '../../../support/transactions.ts';

function faultsOf(parts: TransactionParts): readonly string[] {
  return staticFaults(transactionOf(parts)).map(({ reason, message }) => `${reason}: ${message}`);
}

function withTarget(target: JsonObject): TransactionParts {
  return { changes: [change('Patch', 'a', { target: { apiVersion: 'v1', kind: 'ConfigMap', name: 'a', ...target } })] };
}

const texts = ['apiVersion', 'kind', 'name', 'namespace', 'serviceAccountName'] as const;
const odd = fc.string({ unit: fc.constantFrom('a', 'v', '1', 'A', '-', '.', '/', '%', ' ', 'é', '\n', '\u0000'), maxLength: 12 });
for (const field of texts) {
  t.test(`a text that the schema refuses is no ${field} here either`, async (t) => {
    const refused = odd.filter((text) => !new RegExp(patterns[field], 'u').test(text));
    const isTold = (text: string): boolean => {
      const parts = field === 'serviceAccountName' ? { spec: { serviceAccountName: text } } : withTarget({ [field]: text });
      return faultsOf(parts).length > 0;
    };
    t.doesNotThrow(() => fc.assert(fc.property(refused, isTold), { numRuns: 1_000 }));
  });
}

const durationTexts = table<'field and value' | 'is'>(`
field and value       | is
lockTimeout "30s"     | good
lockTimeout "1h"      | good
lockTimeout "0.5m"    | good
lockTimeout "29.9s"   | bad
lockTimeout "1h1ns"   | bad
lockTimeout "0s"      | bad
lockTimeout ""        | bad
lockTimeout null      | bad
lockTimeout 300       | bad
lockWait "0s"         | good
lockWait "1h"         | good
lockWait "61m"        | bad
lockWait "-1s"        | bad
lockWait "soon"       | bad
timeout "1s"          | good
timeout "24h"         | good
timeout "999ms"       | bad
timeout "24h1ns"      | bad
timeout "9999999999h" | bad
timeout "1e9s"        | bad
timeout "5 m"         | bad
`);
for (const row of durationTexts) {
  t.test(`spec.${row['field and value']} is ${row.is}`, async (t) => {
    const [, name = '', text = ''] = /^(\w+) (.*)$/.exec(row['field and value']) ?? [];
    const found = faultsOf({ spec: { [name]: parseJson(text) } });
    if (row.is === 'good') return void t.same(found, []);
    t.equal(found.length, 1);
    t.match(found[0], new RegExp(`^Invalid: spec\\.${name} must be a duration from \\w+ to \\w+, such as `));
  });
}

t.test('bounds are those of the schema', async (t) => {
  t.same(durationBounds, Object.fromEntries(Object.entries(durations).map(([name, { least, most }]) => [name, [least, most]])));
  t.equal(longestName, longestTransactionName);
  t.equal(mostChanges, mostOfTheSchema);
});

t.test('the name leaves room for the names made of it', async (t) => {
  t.same(faultsOf({ name: 'a'.repeat(longestName) }), []);
  t.match(faultsOf({ name: 'a'.repeat(longestName + 1) }), [
    /^Invalid: metadata\.name has 231 characters, at most 230 are allowed/,
  ]);
});
