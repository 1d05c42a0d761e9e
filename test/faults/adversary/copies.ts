// Authentic parts in a wrong place: the adversary deletes the stored snapshot and recreates it from what the engine had stored.
import type { JsonObject } from '../../../hooks/objects/json.ts';
import type { Attempted, Deed } from './deeds.ts';
import {
  configMapsPath,
  dataOf,
  marksIn,
  nameOf,
  remove,
  type Scene,
  type Stored,
  storedParts,
  uidOf,
  withDigest,
} from './scene.ts';

type Change = (data: JsonObject) => JsonObject;

/** Puts parts back where they were, or where others were, each with its own marks. */
export async function putBack(scene: Scene, parts: readonly Stored[], change: Change = (data) => data): Promise<void> {
  for (const { name, object } of parts) {
    const data = change(dataOf({ name, object, path: '' }));
    const marks = parts.length === 1 ? withDigest(marksIn({ object }), data) : marksIn({ object });
    const metadata = { ...marks, name };
    const { code, body } = await scene.client.create(configMapsPath(scene), { metadata, immutable: true, data });
    if (code === 201) scene.run.forged.add(uidOf(body));
  }
}

export async function removeAll(scene: Scene, parts: readonly Stored[]): Promise<void> {
  for (const { path } of parts) await remove(scene, path);
}

function remade(id: string, change: Change, more: Partial<Deed> = {}): Deed {
  const begin = (): Attempted => async (scene) => {
    const parts = await storedParts(scene);
    if (parts.length === 0) return false;
    await removeAll(scene, parts);
    await putBack(scene, parts, change);
    return true;
  };
  return { id, begin, when: 'once it is stored', breaks: true, ...more };
}

/** Replaces one character in the first value of each part. */
const otherCharacter =
  (place: (length: number) => number): Change =>
  (data) => {
    const [[key, value] = []] = Object.entries(data).toReversed();
    if (key === undefined || typeof value !== 'string') return data;
    const at = place(value.length);
    const other = value[at] === 'A' ? 'B' : 'A';
    return { ...data, [key]: value.slice(0, at) + other + value.slice(at + 1) };
  };

const swapped: Change = (data) => {
  const entries = Object.entries(data);
  const [first, second] = entries;
  if (first === undefined || second === undefined) return data;
  return { ...data, [first[0]]: second[1], [second[0]]: first[1] };
};

/** Gives each entry the number of the next one. */
const renumbered: Change = (data) => {
  const entries = Object.entries(data);
  return Object.fromEntries(
    entries.map(([key, value]) => [key.replace(/^\d+/, (number) => `${(Number(number) + 1) % entries.length}`), value]),
  );
};

const without: Change = (data) => Object.fromEntries(Object.entries(data).slice(1));

const withMore: Change = (data) => ({ ...data, '0-1.more': 'more', '99-0.more': 'more' });

const empty: Change = () => ({});

/** What the engine has stored for another Transaction, with the marks of that one or of this one. */
function ofAnother(id: string, isRelabelled: boolean): Deed {
  const begin = (): Attempted => async (scene) => {
    const [ours, theirs] = [await storedParts(scene, 1), await storedParts(scene, 0)];
    const [first, other] = [ours[0], theirs[0]];
    if (first === undefined || other === undefined) return false;
    await removeAll(scene, ours);
    const object = isRelabelled ? { ...first.object, data: dataOf(other) } : other.object;
    await putBack(scene, [{ ...first, object }]);
    return true;
  };
  return { id, begin, when: 'once it is stored', breaks: true, needs: 'two transactions' };
}

export const copies: readonly Deed[] = [
  remade('copy-same', (data) => data),
  remade('copy-same-after-crash', (data) => data, { afterCrash: true }),
  remade(
    'copy-last-character',
    otherCharacter((length) => length - 2),
  ),
  remade(
    'copy-first-character',
    otherCharacter(() => 12),
  ),
  remade(
    'copy-middle-character',
    otherCharacter((length) => length >> 1),
  ),
  remade(
    'copy-last-character-after-crash',
    otherCharacter((length) => length - 2),
    { afterCrash: true },
  ),
  remade('copy-swapped', swapped),
  remade('copy-renumbered', renumbered),
  remade('copy-renumbered-after-crash', renumbered, { afterCrash: true }),
  remade('copy-entry-missing', without),
  remade('copy-entry-missing-after-crash', without, { afterCrash: true }),
  remade('copy-entry-more', withMore),
  remade('copy-entry-more-after-crash', withMore, { afterCrash: true }),
  remade('copy-empty', empty),
  ofAnother('copy-of-another', false),
  ofAnother('copy-of-another-marked', true),
];

function ofParts(id: string, act: (scene: Scene, parts: readonly Stored[]) => Promise<unknown>): Deed {
  const begin = (): Attempted => async (scene) => {
    const parts = await storedParts(scene);
    if (parts.length < 2) return false;
    await act(scene, parts);
    return true;
  };
  return { id, begin, when: 'once it is stored', breaks: true, needs: 'two parts' };
}

function named(part: Stored, name: string): Stored {
  return { ...part, name };
}

export const twoParts: readonly Deed[] = [
  ofParts('parts-swapped', async (scene, parts) => {
    await removeAll(scene, parts);
    const names = parts.map(({ name }) => name).toReversed();
    await putBack(
      scene,
      parts.map((part, index) => named(part, names[index] ?? '')),
    );
  }),
  ofParts('part-missing', (scene, parts) => removeAll(scene, parts.slice(-1))),
  ofParts('first-part-missing', (scene, parts) => removeAll(scene, parts.slice(0, 1))),
  ofParts('part-more', (scene, parts) =>
    putBack(
      scene,
      parts.slice(-1).map((part) => named(part, `${nameOf(parts[0]?.object ?? {})}-${parts.length}`)),
    ),
  ),
  ofParts('parts-again', async (scene, parts) => {
    await removeAll(scene, parts);
    await putBack(scene, parts);
  }),
];
