// Stores a blob in the cache of the folder it is given, piece by piece: says when a piece is on its way, and goes on for each line that
// it is sent. For a test that kills it.
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { createCache } from '../../../server/registry/cache.ts';

const [directory = '', digest = '', text = ''] = process.argv.slice(2);
const turns = createInterface({ input: process.stdin });

async function* pieces(): AsyncGenerator<Uint8Array> {
  for (const letter of text) {
    process.stdout.write('piece\n');
    await once(turns, 'line');
    yield Buffer.from(letter);
  }
}

await createCache(directory, 2 ** 20).store(
  { source: 'registry.example.org/acme/p', digest, size: text.length, most: text.length },
  pieces(),
);
process.stdout.write('stored\n');
await once(turns, 'line');
