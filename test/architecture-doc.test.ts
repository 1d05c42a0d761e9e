// docs/architecture.md against the code: its tables and its diagram are made of it. `JANUS_WRITE_DOCS=1` writes them.
import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { invariants } from './faults/invariants.ts';
import { invariantsIn, withGeneratedParts } from './support/architecture-doc.ts';
import { readSources } from './support/sources.ts';

const file = new URL('../docs/architecture.md', import.meta.url);

/** The formatter aligns tables. */
function plain(markdown: string): string {
  return markdown.replaceAll(/-{3,}/g, '---').replaceAll(/[ \n]+/g, ' ');
}

t.test('docs/architecture.md has the stages, transitions and invariants of the code', async (t) => {
  const document = readFileSync(file, 'utf8');
  if (process.env.JANUS_WRITE_DOCS === '1') writeFileSync(file, withGeneratedParts(document));
  const written = readFileSync(file, 'utf8');
  const advice = 'JANUS_WRITE_DOCS=1 npm test -- test/architecture-doc.test.ts writes it; format it then';
  t.equal(plain(written), plain(withGeneratedParts(written)), advice);
});

t.test('each invariant that the fault campaign checks is stated once in the engine', async (t) => {
  const stated = invariantsIn(readSources('hooks')).map(({ number }) => number);
  t.equal(new Set(stated).size, stated.length, `each once: ${stated.join(', ')}`);
  const checked = new Set(Object.keys(invariants).map((name) => Number(/^I(\d+)/.exec(name)?.[1])));
  t.same(
    stated,
    [...checked].toSorted((left, right) => left - right),
  );
});
