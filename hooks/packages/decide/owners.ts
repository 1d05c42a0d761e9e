// Installed objects get living owners, or none: before the first stage of each install, and before a package transaction goes.
import type { Resource } from '../../objects/cluster.ts';
import type { JsonObject } from '../../objects/json.ts';
import { ownersWrite } from '../plan/living.ts';
import type { Deed, Move } from './move.ts';

/** An installed object whose owners are gone, and the owners that it should have. */
export interface Orphan {
  readonly resource: Resource;
  readonly live: JsonObject;
  readonly owners: readonly JsonObject[];
}

function deedsFor(orphans: readonly Orphan[], namespace: string): readonly Deed[] {
  return orphans.map(({ resource, live, owners }) => ({
    write: ownersWrite(resource, live, owners, namespace),
    settledBy: 'absent',
  }));
}

/** Of other packages: an install does not depend on it. */
export function healing(orphans: readonly Orphan[], namespace: string): readonly Deed[] {
  return deedsFor(orphans, namespace).map((deed) => ({ ...deed, mayBeRefused: true }));
}

/** A package transaction goes once nothing depends on it; if that is refused, it stays, and its condition has the reason. */
export function leaving(move: Move, before: Move['status'], orphans: readonly Orphan[], namespace: string): Move {
  if (orphans.length === 0) return move;
  const because = 'installed objects get owners that stay';
  return { because, deeds: deedsFor(orphans, namespace), status: before, wait: 0.2 };
}
