// What is sealed opens where it was sealed for and nowhere else, with any key of the ring; tampered with, not at all.
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { createSealer, type KeyRing } from '../../../server/kubernetes/sealer.ts';

const ring = (current: string, ...ids: readonly string[]): KeyRing => ({
  current,
  keys: new Map(ids.map((id) => [id, randomBytes(32)])),
});

const keys = ring('k1', 'k1');
const sealer = createSealer(() => keys);

t.test('any text comes back, in its context', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
      t.equal(sealer.open(sealer.seal(text, context), context), text);
    }),
    { numRuns: 100 },
  );
});

t.test('sealed text shows nothing of what it holds, and no two are alike', async (t) => {
  const sealed = sealer.seal('hunter2', 'c');
  t.match(sealed, /^1\.k1\.[\w-]+$/);
  t.notMatch(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('latin1'), 'hunter2');
  t.not(sealer.seal('hunter2', 'c'), sealed);
});

t.test('another context does not open it', async (t) => {
  t.equal(sealer.open(sealer.seal('text', 'uid/0/Secret shop/a'), 'uid/1/Secret shop/a'), undefined);
});

t.test('no character can be changed, added or dropped', async (t) => {
  const sealed = sealer.seal('text', 'c');
  for (let index = 0; index < sealed.length; index += 1) {
    const other = sealed[index] === 'A' ? 'B' : 'A';
    t.equal(sealer.open(sealed.slice(0, index) + other + sealed.slice(index + 1), 'c'), undefined, `changed at ${index}`);
    t.equal(sealer.open(sealed.slice(0, index), 'c'), undefined, `cut at ${index}`);
  }
  for (const tampered of [`${sealed}A`, `${sealed}.`, ` ${sealed}`, `${sealed}=`, `${sealed}\n`, '', '..', '1.k1.'])
    t.equal(sealer.open(tampered, 'c'), undefined);
});

t.test('rotation: every key of the ring opens, the current one seals', async (t) => {
  let current = ring('old', 'old');
  const rotated = createSealer(() => current);
  const before = rotated.seal('text', 'c');
  current = { current: 'new', keys: new Map([...current.keys, ['new', randomBytes(32)]]) };
  const after = rotated.seal('text', 'c');
  t.match(after, /^1\.new\./);
  t.equal(rotated.open(before, 'c'), 'text');
  t.equal(rotated.open(after, 'c'), 'text');
  current = { current: 'new', keys: new Map([...current.keys].filter(([id]) => id === 'new')) };
  t.equal(rotated.open(before, 'c'), undefined, 'without its key it stays closed');
  t.equal(rotated.open(after.replace('.new.', '.old.'), 'c'), undefined);
});

t.test('another ring does not open it, even under the same id', async (t) => {
  const stranger = createSealer(() => ring('k1', 'k1'));
  t.equal(stranger.open(sealer.seal('text', 'c'), 'c'), undefined);
});

t.test('compression', async (t) => {
  const text = JSON.stringify(Array.from({ length: 1000 }, (_, index) => ({ name: `item-${index}`, value: 'ä'.repeat(20) })));
  const compressed = sealer.compress(text);
  t.ok(compressed.length < text.length / 5);
  t.equal(sealer.expand(compressed), text);
  t.equal(sealer.expand(sealer.compress('')), '');
  for (const broken of ['', 'x', compressed.slice(0, -20), `${compressed.slice(0, 40)}AAAA${compressed.slice(44)}`])
    t.equal(sealer.expand(broken), undefined);
});

t.test('a text that would fill the memory is not expanded', async (t) => {
  t.equal(sealer.expand(sealer.compress('\0'.repeat(65 * 1024 * 1024))), undefined);
});
