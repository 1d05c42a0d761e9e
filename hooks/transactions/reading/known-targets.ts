// What this process knows of the objects that Transactions change, so that it reads a Transaction whole only if it may change one of ours.
// Only fields that the API server sets decide whether a Transaction is skipped: the uid, and metadata.generation, which grows with each
// change of the spec (Kubernetes: API conventions, metadata.generation). The spec alone names the objects. A hash stands for each object:
// if two objects share one, the engine reads a Transaction that it could skip.

import { type Json, textAt } from '../../objects/json.ts';
import { createLruCache } from '../../objects/lru-cache.ts';
import { identityOf, type Reference } from '../../objects/reference.ts';
import { generationOf, type Transaction } from '../model/transaction.ts';

/** Hashes of objects. */
type Hashes = ReadonlySet<number>;

export interface KnownTargets {
  /** Keeps which objects the Transaction changes. */
  learn(transaction: Pick<Transaction, 'uid' | 'generation' | 'namespace' | 'changes' | 'rollback'>): void;
  /** Whether a Transaction with these metadata may change one of the objects: as far as it is known, or else `unknown`. */
  mayChange(metadata: Json | undefined, hashes: Hashes): 'yes' | 'no' | 'unknown';
}

interface Known {
  readonly generation: number;
  readonly hashes: Uint32Array;
}

/** Bytes of all that a process knows, about. */
const mostBytes = 16 * 1024 * 1024;

/** Bytes of an entry besides its hashes, about. */
const bytesOfEntry = 200;

export function createKnownTargets(): KnownTargets {
  const known = createLruCache<Known>({ most: mostBytes, weigh: ({ hashes }) => bytesOfEntry + hashes.byteLength });
  return {
    learn({ uid, generation, namespace, changes, rollback }) {
      // The objects of a rollback are in its status.
      if (rollback !== undefined || generation === undefined || known.get(uid)?.generation === generation) return;
      // Only the kind says whether the namespace counts.
      const hashes = changes.flatMap(({ target }) => [
        hashOf({ ...target, namespace: target.namespace ?? namespace }),
        hashOf(withoutNamespace(target)),
      ]);
      known.set(uid, { generation, hashes: Uint32Array.from(hashes) });
    },
    mayChange(metadata, hashes) {
      const own = known.get(textAt(metadata, 'uid') ?? '');
      if (own === undefined || own.generation !== generationOf(metadata)) return 'unknown';
      return own.hashes.some((hash) => hashes.has(hash)) ? 'yes' : 'no';
    },
  };
}

export function hashesOf(targets: readonly Reference[]): Hashes {
  return new Set(targets.map(hashOf));
}

function withoutNamespace({ namespace: _any, ...target }: Reference): Reference {
  return target;
}

// FNV-1a: http://www.isthe.com/chongo/tech/comp/fnv/
function hashOf(reference: Reference): number {
  let hash = 0x811c9dc5;
  for (const unit of identityOf(reference)) hash = Math.imul(hash ^ (unit.codePointAt(0) ?? 0), 0x01000193);
  return hash >>> 0;
}
