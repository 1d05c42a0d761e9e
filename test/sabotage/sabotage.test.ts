// The list of deliberate faults stays valid: each edit applies to the sources exactly once, and names tests that exist. This test
// tries a few faults in full; `npm run sabotage` tries all.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import t from 'tap';
import { inAllOnly } from '../support/selection.ts';
import { sabotages } from './all.ts';
import { edited } from './sabotage.ts';
import { openWorkshop, root } from './workshop.ts';

t.test('every fault can be applied, and names the tests that must fail', async (t) => {
  t.ok(sabotages.length <= 60, 'one for each promise');
  t.equal(new Set(sabotages.map(({ name }) => name)).size, sabotages.length, 'no name twice');
  for (const { name, edits, caughtBy } of sabotages) {
    t.match(name, /^[a-z]+(-[a-z]+)*$/);
    for (const edit of edits) t.doesNotThrow(() => edited(readFileSync(join(root, edit.file), 'utf8'), edit), name);
    t.not(caughtBy.length, 0, `${name} is noticed somewhere`);
    for (const file of caughtBy) t.ok(existsSync(join(root, file)), `${name}: ${file}`);
  }
});

t.test('a find that is not there, or twice, is no edit', async (t) => {
  const edit = { file: 'a.ts', find: 'one', replace: 'two' };
  t.throws(() => edited('none', { ...edit, find: 'some' }), /a.ts holds 0 times/);
  t.throws(() => edited('one one', edit), /a.ts holds 2 times/);
  t.throws(() => edited('one', { ...edit, replace: 'one' }), /changes nothing/);
  t.equal(edited('one $& more', { ...edit, replace: '$&' }), '$& $& more');
});

/** Faults with a test that needs no control plane. */
const tried = [
  'update-unconditional',
  'own-create-foreign',
  'restore-whole-object',
  'managed-fields-kept',
  'in-flight-forgotten',
];

t.test('tests notice some of the faults', inAllOnly, async (t) => {
  const workshop = openWorkshop(undefined);
  t.teardown(() => workshop.close());
  for (const sabotage of sabotages.filter(({ name }) => tried.includes(name))) {
    const [file = ''] = sabotage.caughtBy;
    const verdict = await workshop.sabotaged(sabotage);
    t.match(verdict, { isPassed: false, file }, `${sabotage.name} is caught`);
    t.match(verdict?.failure, `${file} > `, `by ${verdict?.failure}`);
  }
});

t.test('a fault is noticed if it fails a test, by name', async (t) => {
  const workshop = openWorkshop(undefined, 20_000);
  t.teardown(() => workshop.close());
  const [parallel, hanging, crashing] = ['parallel', 'hangs', 'crashes'].map((name) => `test/sabotage/fixtures/${name}.ts`);
  t.match(await workshop.test(parallel ?? ''), { isPassed: false, failure: `${parallel} > block > fails` });
  t.match(await workshop.test(hanging ?? ''), { isPassed: false, failure: `${hanging} > hangs` });
  const crash = await workshop.test(crashing ?? '');
  t.match(crash, { isPassed: false, failure: undefined }, 'no test of that file has failed');
  const sabotage = { name: 'none', fault: 'none', edits: [], caughtBy: [crashing ?? '', parallel ?? ''] };
  t.match(await workshop.sabotaged(sabotage), { file: parallel }, 'and the next file is tried');
  t.match(await workshop.sabotaged({ ...sabotage, caughtBy: [crashing ?? ''] }), { file: crashing, failure: undefined });
});
