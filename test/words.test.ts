// Names of exported types are made of words that a Kubernetes engineer knows: words of docs/glossary.md, of Kubernetes' own OpenAPI
// document, or of a committed list of programming words, which only gets shorter.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { at, isObject, type Json } from '../hooks/objects/json.ts';
import { connect, must, testKubeconfig } from './support/client.ts';
import { readSources } from './support/sources.ts';

/** Programming words in test/fixtures/programming-words.txt. */
const mostProgrammingWords = 75;
const mostTerms = 75;

function wordsOf(name: string): readonly string[] {
  const spaced = name.replace(/([a-z\d])([A-Z])/g, '$1 $2').replace(/([A-Z]+)([A-Z][a-z])/g, '$1 $2');
  return spaced
    .toLowerCase()
    .split(/[^a-z]+/)
    .filter((word) => word.length > 1);
}

/** Without the ending of a plural, a participle or an agent. */
function stemOf(word: string): string {
  return word.replace(/ies$/, 'y').replace(/(?<=..)(ed|ing|s|er|es|able|ion|d)$/, '');
}

const terms = [...readFileSync('docs/glossary.md', 'utf8').matchAll(/^\| ([A-Za-z][^|]*?) +\|/gm)]
  .map(([, term = '']) => term)
  .filter((term) => term !== 'term');

const programming = readFileSync('test/fixtures/programming-words.txt', 'utf8').trim().split('\n');

async function wordsOfKubernetes(): Promise<readonly string[]> {
  const definitions = at(must(await connect(testKubeconfig()).get('/openapi/v2')), 'definitions');
  t.ok(isObject(definitions));
  const fields = (definition: Json): readonly string[] => {
    const properties = at(definition, 'properties');
    return isObject(properties) ? Object.keys(properties) : [];
  };
  return Object.entries(isObject(definitions) ? definitions : {}).flatMap(([name, definition]) =>
    [name.slice(name.lastIndexOf('.') + 1), ...fields(definition)].flatMap(wordsOf),
  );
}

const types = readSources('hooks', 'server', 'cli').flatMap(({ path, text }) =>
  [...text.matchAll(/^export (?:interface|type) (\w+)/gm)].map(([, name = '']) => ({ path, name })),
);

t.test('each word of an exported type name is known', async (t) => {
  const known = new Set([...(await wordsOfKubernetes()), ...terms.flatMap(wordsOf), ...programming].map(stemOf));
  const isKnown = (name: string): boolean => wordsOf(name).every((word) => known.has(stemOf(word)));
  t.ok(types.length > 200, 'there are types');
  t.notOk(isKnown('LockDoorbell'), 'a word is refused if no list has it');
  t.same(
    types.filter(({ name }) => !isKnown(name)),
    [],
    'use a term, or add it to docs/glossary.md',
  );
});

t.test('the list of programming words has no needless word, and is short', async (t) => {
  t.ok(programming.length <= mostProgrammingWords, `${programming.length} words`);
  const used = new Set(types.flatMap(({ name }) => wordsOf(name)).map(stemOf));
  t.same(
    programming.filter((word) => !used.has(stemOf(word))),
    [],
  );
  t.same(programming, programming.toSorted());
});

t.test('the glossary is short, and has each term once', async (t) => {
  t.ok(terms.length <= mostTerms, `${terms.length} terms`);
  t.equal(new Set(terms).size, terms.length);
});
