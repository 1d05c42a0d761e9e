// What stays in memory of a package that has been read: its meta object and the names of its members, not its documents.
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import t from 'tap';
import { inspect } from '../../hooks/crossplane/checks/contents.ts';
import { readDocuments } from '../../server/registry/documents.ts';
import { definitionOf, providerYaml } from '../support/registry/builder.ts';

setFlagsFromString('--expose_gc');
const collect = runInNewContext('gc') as () => void;

function heapUsed(): number {
  collect();
  return process.memoryUsage().heapUsed;
}

const documents = 40;
const filler = `# ${'x'.repeat(1 << 20)}\n`;

function* stream(): Generator<Uint8Array> {
  yield Buffer.from(providerYaml('large'));
  for (let index = 0; index < documents; index += 1) {
    const object = definitionOf(`manythings${index}`, 'large.example.org', { type: 'object' });
    yield Buffer.from(`${yamlOf(object)}${filler}---\n`);
  }
}

/** As text for people, so that names are parts of it. */
function yamlOf(object: object, indent = ''): string {
  return Object.entries(object)
    .map(([key, value]) => {
      const name = Array.isArray(object) ? '-' : `${key}:`;
      return typeof value === 'object' && value !== null
        ? `${indent}${name}\n${yamlOf(value, `${indent}  `)}`
        : `${indent}${name} ${value}\n`;
    })
    .join('');
}

t.test('the members of a package keep no reference to the text of their documents', async (t) => {
  const inspection = inspect();
  const before = heapUsed();
  await readDocuments(stream(), inspection.take);
  const kept = heapUsed() - before;
  const contents = inspection.done();
  t.equal(typeof contents === 'string' ? contents : contents.objects.length, documents);
  t.ok(kept < (documents / 4) * 2 ** 20, `${Math.round(kept / 2 ** 10)} KiB are kept of ${documents} MiB`);
});
