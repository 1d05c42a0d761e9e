// Rolls stages back, the last one first, by what the engine offers everybody: an annotation.
import { type JsonObject, textAt, withPath } from '../../model/json.ts';
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

/** `found`: the stages that exist, the last one first. */
export function undoLast({ ptx, namespace }: Scene, found: readonly JsonObject[]): Undone {
  const stage = found.find((one) => phaseOf(one) !== 'RolledBack');
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
