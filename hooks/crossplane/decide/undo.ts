// Rolls stages back, the last one first, by an annotation that the engine offers to every user.

import { type JsonObject, textAt } from '../../objects/json.ts';
import { requestRollback } from '../engine.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { isUndone, phaseOf } from '../writes/stages.ts';
import { type Step, safetyWaitSeconds } from './step.ts';

/** The engine refuses a request for good if its snapshot is broken, or if others held its locks for a minute (`lockWait`). */
const mostRequests = 10;

type Undone =
  | { readonly kind: 'all' }
  | { readonly kind: 'step'; readonly step: Step }
  /** A stage that the engine could not undo. */
  | { readonly kind: 'failed'; readonly stage: JsonObject }
  /** A stage that the engine does not begin to undo, however often the hook requests it. */
  | { readonly kind: 'refused'; readonly stage: JsonObject };

/** `found`: the stages that exist, the last one first. */
export function undoLast({ uid, status }: PackageTransaction, found: readonly JsonObject[]): Undone {
  const stage = found.find((one) => !isUndone(one));
  if (stage === undefined) return { kind: 'all' };
  if (phaseOf(stage) === 'Failed') return { kind: 'failed', stage };
  const { count, isOpen, isRefused } = requestsOf(stage, uid);
  if (isRefused && count >= mostRequests) return { kind: 'refused', stage };
  const name = textAt(stage, 'metadata', 'name') ?? '';
  const because = isOpen ? `Transaction ${name} is being rolled back` : `Transaction ${name} must be rolled back`;
  const message = `Transaction ${name} did not begin its rollback, and its status says why; it is requested again`;
  const step = { kind: 'compensate', blocked: [], because, status, wait: safetyWaitSeconds } as const;
  const request = isOpen ? {} : { request: { stage, value: `${uid}/${count + 1}` } };
  const note = isRefused ? { note: { reason: 'ReconcileError', message } as const } : {};
  return { kind: 'step', step: { ...step, ...request, ...note } };
}

interface Requests {
  /** How often this package transaction has requested the rollback. */
  readonly count: number;
  /** The last request has no answer yet, or the rollback has begun. */
  readonly isOpen: boolean;
  /** The engine has answered that the request has no effect. */
  readonly isRefused: boolean;
}

// If the engine has handled a request, and the stage is still Committed, the request had no effect. Only another value is another
// request.
function requestsOf(stage: JsonObject, uid: string): Requests {
  const value = textAt(stage, 'metadata', 'annotations', requestRollback);
  const isHandled = value !== undefined && textAt(stage, 'status', 'handledAnnotations', requestRollback) === value;
  const isRefused = isHandled && phaseOf(stage) === 'Committed';
  const [owner, number] = (value ?? '').split('/');
  const count = owner === uid ? Math.max(1, Number.parseInt(number ?? '1', 10) || 1) : 0;
  return { count, isOpen: value !== undefined && !isRefused, isRefused };
}
