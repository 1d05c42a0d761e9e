// Rolls stages back, the last one first, by what the engine offers everybody: an annotation.

import { at, isList, type Json, type JsonObject, textAt, withPath } from '../../objects/json.ts';
import { decodeItem, isNotRestored, isToUndo } from '../../transactions/model/item.ts';
import { annotations } from '../../transactions/model/transaction.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { accountIn, fieldManager, preconditionOf, stages } from '../plan/resources.ts';
import { type Move, safetyWait } from './move.ts';

export const requestRollback = 'tx.janus.io/request-rollback';

/** The engine refuses a request for good once its locks were held by others for a minute (`lockWait`), or if its snapshot is broken. */
const mostRequests = 10;

type Undone =
  | { readonly kind: 'all' }
  | { readonly kind: 'move'; readonly move: Move }
  /** A stage that the engine could not undo. */
  | { readonly kind: 'failed'; readonly stage: JsonObject }
  /** A stage that the engine does not begin to undo, however often it is requested. */
  | { readonly kind: 'refused'; readonly stage: JsonObject };

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
  const { count, isOpen, isRefused } = requestsOf(stage, ptx.uid);
  if (isRefused && count >= mostRequests) return { kind: 'refused', stage };
  const name = textAt(stage, 'metadata', 'name') ?? '';
  const write = {
    verb: 'update',
    identity: accountIn(namespace),
    location: { resource: stages, namespace, name },
    object: asked(stage, `${ptx.uid}/${count + 1}`),
    precondition: preconditionOf(stage),
    fieldManager,
  } as const;
  const because = isOpen ? `Transaction ${name} is being rolled back` : `Transaction ${name} must be rolled back`;
  const message = `Transaction ${name} did not begin its rollback, and its status says why; it is requested again`;
  const note = isRefused ? { note: { reason: 'ReconcileError', message } as const } : {};
  return { kind: 'move', move: { because, deeds: isOpen ? [] : [{ write }], status: ptx.status, wait: safetyWait, ...note } };
}

// Half of a package is worse than what one edit of others keeps: all else is undone, and what is left is named.
function asked(stage: JsonObject, value: string): JsonObject {
  const whole = withPath(stage, ['metadata', 'annotations', requestRollback], value);
  return withPath(whole, ['metadata', 'annotations', annotations.undoPartial], 'true');
}

interface Requests {
  /** How often this package transaction has requested the rollback. */
  readonly count: number;
  /** The last request has no answer yet, or the rollback has begun. */
  readonly isOpen: boolean;
  /** The engine has answered that the request has no effect. */
  readonly isRefused: boolean;
}

// A request that the engine has handled, while the stage is still Committed, had no effect: only another value is another request.
function requestsOf(stage: JsonObject, uid: string): Requests {
  const value = textAt(stage, 'metadata', 'annotations', requestRollback);
  const isHandled = value !== undefined && textAt(stage, 'status', 'handledAnnotations', requestRollback) === value;
  const isRefused = isHandled && phaseOf(stage) === 'Committed';
  const [owner, number] = (value ?? '').split('/');
  const count = owner === uid ? Math.max(1, Number.parseInt(number ?? '1', 10) || 1) : 0;
  return { count, isOpen: value !== undefined && !isRefused, isRefused };
}
