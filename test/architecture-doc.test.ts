// docs/architecture.md and docs/concepts.md against the code: tables, diagram and tree are made of it. `JANUS_WRITE_DOCS=1` writes them.
import { readFileSync, writeFileSync } from 'node:fs';
import t from 'tap';
import { invariants } from './faults/invariants.ts';
import { invariantsIn, withGeneratedParts } from './support/architecture-doc.ts';
import { readSources } from './support/sources.ts';

const documents = ['../docs/architecture.md', '../docs/concepts.md'].map((path) => new URL(path, import.meta.url));

/** The formatter aligns tables. */
function plain(markdown: string): string {
  return markdown.replaceAll(/-{3,}/g, '---').replaceAll(/[ \n]+/g, ' ');
}

for (const file of documents)
  t.test(`${file.pathname.slice(-15)} has the folders, stages, transitions and invariants of the code`, async (t) => {
    const document = readFileSync(file, 'utf8');
    if (process.env.JANUS_WRITE_DOCS === '1') writeFileSync(file, withGeneratedParts(document));
    const written = readFileSync(file, 'utf8');
    const advice = 'JANUS_WRITE_DOCS=1 npm test -- test/architecture-doc.test.ts writes it; format it then';
    t.equal(plain(written), plain(withGeneratedParts(written)), advice);
    t.match(written, file.pathname.endsWith('concepts.md') ? '<!-- transitions -->' : '<!-- tree -->');
    t.notMatch(written, 'is not in test/support/tree.ts');
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

t.test('each invariant is cited where code keeps it', async (t) => {
  const sources = readSources('hooks');
  const bodies = sources.map(({ text }) => text.replace(/^(\/\/[^\n]*\n)+/, '')).join('\n');
  const cited = new Set([...bodies.matchAll(/\((I\d+(?:, I\d+)*)\)/g)].flatMap(([, list = '']) => list.split(', ')));
  t.same(
    invariantsIn(sources)
      .map(({ number }) => `I${number}`)
      .filter((name) => !cited.has(name)),
    [],
  );
});
