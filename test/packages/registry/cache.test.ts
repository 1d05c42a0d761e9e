// The cache on a disk: what a killed writer leaves, and the bound.
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, utimesSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import t from 'tap';
import { createCache } from '../../../server/registry/cache.ts';

function digestOf(content: string): string {
  return `sha256:${createHash('sha256').update(content).digest('hex')}`;
}

const text = 'whole';
const digest = digestOf(text);
const source = 'registry.example.org/acme/p';
const unending = new AbortController().signal;
const announced = { source, digest, size: text.length, most: text.length };

/** Kills a process that stores the text once so many pieces are stored; resolves when it is gone. */
async function killedAfter(pieces: number, directory: string): Promise<void> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'storing.ts'), directory, digest, text], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit');
  let said = 0;
  for await (const line of createInterface({ input: child.stdout })) {
    if (said === pieces) break;
    if (line === 'stored') throw new Error(`expected ${pieces} pieces before the end, found ${said}`);
    said += 1;
    child.stdin.write('\n');
  }
  child.kill('SIGKILL');
  await ended;
}

t.test('a writer that is killed leaves the whole blob or none', async (t) => {
  for (let pieces = 0; pieces <= text.length; pieces += 1) {
    const directory = t.testdir({});
    await killedAfter(pieces, directory);
    const isWhole = pieces === text.length;
    const names = readdirSync(directory);
    t.equal(names.length, 1, `${pieces} pieces: ${names}`);
    t.equal(names[0]?.includes('.unfinished-'), !isWhole);
    const cache = createCache(directory, 2 ** 20);
    const found = await cache.find(source, digest, unending);
    t.equal(found === undefined ? undefined : readFileSync(found, 'utf8'), isWhole ? text : undefined);

    const stored = await cache.store(announced, [Buffer.from(text)]);
    t.equal(readFileSync(stored, 'utf8'), text, 'another one stores it');
    t.equal(await cache.find('evil.example.org/acme/p', digest, unending), undefined, 'it is no content of another source');
  }
});

t.test('the cache removes leftovers of a killed writer after a day, not before', async (t) => {
  const directory = t.testdir({});
  await killedAfter(2, directory);
  const [left = ''] = readdirSync(directory);
  const content = [Buffer.from(text)];
  await createCache(directory, 2 ** 20).store(announced, content);
  t.ok(readdirSync(directory).includes(left));
  const before = new Date(Date.now() - 86_401_000);
  utimesSync(join(directory, left), before, before);
  await createCache(directory, 2 ** 20).store(announced, content);
  t.notOk(readdirSync(directory).includes(left));
});

t.test('the cache never exceeds its bound, and keeps the blobs that were used last', async (t) => {
  const directory = t.testdir({});
  const most = 10_000;
  const cache = createCache(directory, most);
  const sizes: number[] = [];
  let last = '';
  for (let index = 0; index < 200; index += 1) {
    const content = `${index} `.padEnd(100 + (index % 7) * 100);
    last = digestOf(content);
    await cache.store({ source, digest: last, size: content.length, most }, [Buffer.from(content)]);
    sizes.push(readdirSync(directory).reduce((sum, name) => sum + statSync(join(directory, name)).size, 0));
  }
  t.ok(Math.max(...sizes) <= most, `${Math.max(...sizes)}`);
  t.ok(Math.max(...sizes) > most * 0.8, 'nor does it throw away what it has room for');
  t.ok(await cache.find(source, last, unending));
});

t.test('a call whose time is over checks no digest, and removes nothing', async (t) => {
  const cache = createCache(t.testdir({}), 2 ** 20);
  const path = await cache.store(announced, [Buffer.from(text)]);
  t.equal(await cache.find(source, digest, AbortSignal.abort()), undefined);
  t.equal(await cache.find(source, digest, unending), path);
});
