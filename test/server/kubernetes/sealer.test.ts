// A sealed text opens only in its place, with any key of the ring, and never after a change of its bytes.
import { randomBytes } from 'node:crypto';
import fc from 'fast-check';
import t from 'tap';
import { createSealer, type KeyRing } from '../../../server/kubernetes/sealer.ts';

const ring = (current: string, ...ids: readonly string[]): KeyRing => ({
  current,
  keys: new Map(ids.map((id) => [id, randomBytes(32)])),
});

/** Bytes that a text may expand to. */
const most = 64 * 1024 * 1024;

const keys = ring('k1', 'k1');
const sealer = createSealer(() => keys);

t.test('the sealer opens any text in its context', async (t) => {
  fc.assert(
    fc.property(fc.string({ unit: 'grapheme' }), fc.string(), (text, context) => {
      t.equal(sealer.open(sealer.seal(text, context), context, most), text);
    }),
    { numRuns: 100 },
  );
});

t.test('sealed text shows nothing of its contents, and no two are alike', async (t) => {
  const sealed = sealer.seal('hunter2', 'c');
  t.match(sealed, /^1\.k1\.[\w-]+$/);
  t.notMatch(Buffer.from(sealed.split('.')[2] ?? '', 'base64url').toString('latin1'), 'hunter2');
  t.not(sealer.seal('hunter2', 'c'), sealed);
});

t.test('the sealer does not open a text in another context', async (t) => {
  t.equal(sealer.open(sealer.seal('text', 'uid/0/Secret shop/a'), 'uid/1/Secret shop/a', most), undefined);
});

t.test('the sealer detects a changed, added or missing character', async (t) => {
  const sealed = sealer.seal('text', 'c');
  for (let index = 0; index < sealed.length; index += 1) {
    const other = sealed[index] === 'A' ? 'B' : 'A';
    t.equal(sealer.open(sealed.slice(0, index) + other + sealed.slice(index + 1), 'c', most), undefined, `changed at ${index}`);
    t.equal(sealer.open(sealed.slice(0, index), 'c', most), undefined, `cut at ${index}`);
  }
  for (const tampered of [`${sealed}A`, `${sealed}.`, ` ${sealed}`, `${sealed}=`, `${sealed}\n`, '', '..', '1.k1.'])
    t.equal(sealer.open(tampered, 'c', most), undefined);
});

t.test('rotation: every key of the ring opens, the current one seals', async (t) => {
  let current = ring('old', 'old');
  const rotated = createSealer(() => current);
  const before = rotated.seal('text', 'c');
  current = { current: 'new', keys: new Map([...current.keys, ['new', randomBytes(32)]]) };
  const after = rotated.seal('text', 'c');
  t.match(after, /^1\.new\./);
  t.equal(rotated.open(before, 'c', most), 'text');
  t.equal(rotated.open(after, 'c', most), 'text');
  current = { current: 'new', keys: new Map([...current.keys].filter(([id]) => id === 'new')) };
  t.equal(rotated.open(before, 'c', most), undefined, 'without its key it stays closed');
  t.equal(rotated.open(after.replace('.new.', '.old.'), 'c', most), undefined);
});

t.test('another ring does not open it, even with an equal id', async (t) => {
  const stranger = createSealer(() => ring('k1', 'k1'));
  t.equal(stranger.open(sealer.seal('text', 'c'), 'c', most), undefined);
});

t.test('the sealer compresses texts', async (t) => {
  const text = JSON.stringify(Array.from({ length: 1000 }, (_, index) => ({ name: `item-${index}`, value: 'ä'.repeat(20) })));
  const compressed = sealer.compress(text);
  t.ok(compressed.length < text.length / 5);
  t.equal(sealer.expand(compressed, most), text);
  t.equal(sealer.expand(sealer.compress(''), most), '');
  for (const broken of ['', 'x', compressed.slice(0, -20), `${compressed.slice(0, 40)}AAAA${compressed.slice(44)}`])
    t.equal(sealer.expand(broken, most), undefined);
});

t.test('the sealer does not expand a text that would fill the memory', async (t) => {
  t.equal(sealer.expand(sealer.compress('\0'.repeat(65 * 1024 * 1024)), most), undefined);
});

t.test('the sealer expands no text beyond the requested size, sealed or not', async (t) => {
  const text = 'x'.repeat(1_000);
  for (const [size, expected] of [
    [1_000, text],
    [999, undefined],
    [0, undefined],
    [-1, undefined],
  ] as const) {
    t.equal(sealer.expand(sealer.compress(text), size), expected, `${size} bytes`);
    t.equal(sealer.open(sealer.seal(text, 'c'), 'c', size), expected, `${size} bytes, sealed`);
  }
});

t.test('a tag is valid for one text in one context, by a key of the ring', async (t) => {
  const tag = sealer.tag('text', 'c');
  t.match(tag, /^1\.k1\.[\w-]{43}$/);
  t.ok(sealer.isTagged('text', tag, 'c'));
  t.notOk(sealer.isTagged('text', tag, 'd'), 'another context');
  t.notOk(sealer.isTagged('text ', tag, 'c'), 'another text');
  t.notOk(sealer.isTagged('', tag, 'c\ntext'), 'where the text begins cannot be moved');
  t.notOk(createSealer(() => ring('k1', 'k1')).isTagged('text', tag, 'c'), 'another key with this id');
  t.notOk(sealer.isTagged('text', sealer.seal('text', 'c'), 'c'), 'sealed text is no tag');
  for (let index = 0; index < tag.length; index += 1) {
    const other = tag[index] === 'A' ? 'B' : 'A';
    t.notOk(sealer.isTagged('text', tag.slice(0, index) + other + tag.slice(index + 1), 'c'), `changed at ${index}`);
    t.notOk(sealer.isTagged('text', tag.slice(0, index), 'c'), `cut at ${index}`);
  }
  for (const tampered of ['', '..', '1.k1.', `${tag}A`, `${tag}.`, `${tag}=`])
    t.notOk(sealer.isTagged('text', tampered, 'c'), tampered);
});

t.test('rotation: tags of every key are valid, and the ring lists all names, the current one first', async (t) => {
  let current = ring('old', 'old');
  const rotated = createSealer(() => current);
  const [tag, [name]] = [rotated.tag('text', 'c'), rotated.derive('owner')];
  t.match(name, /^[0-9a-f]{20}$/);
  t.not(rotated.derive('other')[0], name);
  current = { current: 'new', keys: new Map([...current.keys, ['new', randomBytes(32)]]) };
  t.ok(rotated.isTagged('text', tag, 'c'));
  t.match(rotated.tag('text', 'c'), /^1\.new\./);
  const both = rotated.derive('owner');
  t.same([both.length, both[1]], [2, name]);
  current = { current: 'new', keys: new Map([...current.keys].filter(([id]) => id === 'new')) };
  t.notOk(rotated.isTagged('text', tag, 'c'), 'without its key it does not count');
  t.same(rotated.derive('owner'), [both[0]]);
});
