// Rolls stages back, the last one first, by what the engine offers everybody: an annotation.
import { decodeItem, isNotRestored, isToUndo } from '../../model/item.ts';
import { at, isList, type Json, type JsonObject, textAt, withPath } from '../../model/json.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { accountIn, fieldManager, preconditionOf, stages } from '../plan/resources.ts';
import { type Move, safetyWait } from './move.ts';

const requestRollback = 'tx.janus.io/request-rollback';

type Undone =
  | { readonly kind: 'all' }
  | { readonly kind: 'move'; readonly move: Move }
  /** A stage that the engine could not undo. */
  | { readonly kind: 'failed'; readonly stage: JsonObject };

interface Scene {
  readonly ptx: PackageTransaction;
  readonly namespace: string;
}

export function phaseOf(stage: JsonObject): string {
  return textAt(stage, 'status', 'phase') ?? 'Pending';
}

/** Whether nothing of it is in the cluster: it was rolled back, or it ended before it applied anything. */
export function isUndone(stage: JsonObject): boolean {
  const [phase, items] = [phaseOf(stage), at(stage, 'status', 'items')];
  return phase === 'RolledBack' || (phase === 'Failed' && !(isList(items) ? items : []).some(mayBeLeft));
}

function mayBeLeft(wire: Json): boolean {
  const item = decodeItem(wire);
  return item === undefined || isToUndo(item) || isNotRestored(item);
}

/** `found`: the stages that exist, the last one first. */
export function undoLast({ ptx, namespace }: Scene, found: readonly JsonObject[]): Undone {
  const stage = found.find((one) => !isUndone(one));
  if (stage === undefined) return { kind: 'all' };
  if (phaseOf(stage) === 'Failed') return { kind: 'failed', stage };
  const isAsked = textAt(stage, 'metadata', 'annotations', requestRollback) !== undefined;
  const name = textAt(stage, 'metadata', 'name') ?? '';
  const write = {
    verb: 'update',
    identity: accountIn(namespace),
    location: { resource: stages, namespace, name },
    object: withPath(stage, ['metadata', 'annotations', requestRollback], ptx.uid),
    precondition: preconditionOf(stage),
    fieldManager,
  } as const;
  const because = isAsked ? `Transaction ${name} is being rolled back` : `Transaction ${name} must be rolled back`;
  return { kind: 'move', move: { because, deeds: isAsked ? [] : [{ write }], status: ptx.status, wait: safetyWait } };
}
