// A survey keeps each target as it is, and as the undo would leave it. Large objects are kept packed: many may be large at once.
import type { Packer, Reader } from '../../objects/cluster.ts';
import type { Failure } from '../../objects/failure.ts';
import { type JsonObject, parseJson } from '../../objects/json.ts';
import { weightOf } from '../../objects/measure.ts';
import { ownTurn } from '../../objects/requests/loop-turns.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { keeping } from '../reading/memory-budget.ts';
import type { Surveyed } from './surveyed.ts';

/** Bytes in memory of an object that is kept as it is. */
const small = 256 * 1024;

interface Keeping {
  readonly reader: Reader;
  readonly packer: Pick<Packer, 'compress' | 'expand'>;
}

type Kept = { readonly kind: 'kept'; readonly read: () => JsonObject } | { readonly kind: 'failed'; readonly failure: Failure };

/** The survey's results. The engine unpacks their large objects at each use; a failure if there is no room for them. */
export async function packed(
  budget: Keeping,
  found: Surveyed,
): Promise<Surveyed | { readonly kind: 'failed'; readonly failure: Failure }> {
  const { finding, after, entry } = found;
  const [own, next] = [finding.object, after.kind === 'present' ? after.object : undefined];
  const live = own === undefined ? undefined : await kept(budget, own, entry);
  const left = next === undefined || next === own ? live : await kept(budget, next, entry);
  if (live?.kind === 'failed') return live;
  if (left?.kind === 'failed') return left;
  return {
    ...found,
    finding: {
      ...finding,
      get object() {
        return live?.read();
      },
    },
    after: after.kind !== 'present' || left === undefined ? after : presentIn(left.read),
  };
}

function presentIn(read: () => JsonObject): Surveyed['after'] {
  return {
    kind: 'present',
    get object() {
      return read();
    },
  };
}

// What the snapshot holds is in memory anyway.
async function kept({ reader, packer }: Keeping, object: JsonObject, { prior, expected }: SnapshotEntry): Promise<Kept> {
  if (object === prior || object === expected || weightOf(object).memory <= small) return { kind: 'kept', read: () => object };
  await ownTurn();
  const text = JSON.stringify(object);
  const [short, size] = [packer.compress(text), Buffer.byteLength(text)];
  const failure = keeping(reader, short.length);
  if (failure !== undefined) return { kind: 'failed', failure };
  return { kind: 'kept', read: () => parseJson(packer.expand(short, size) ?? '{}') as JsonObject };
}
