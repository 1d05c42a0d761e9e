// What a call has done, as data: the audit lines and the Events that tell the story of a Transaction.
import type { AuditLine, EventRecord, LockOperation } from '../call.ts';
import type { Item } from '../model/item.ts';
import { isTerminal } from '../model/phase.ts';
import { describe } from '../model/reference.ts';
import type { Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import type { Attempt, Outcome } from '../plan/mutation.ts';

/** One line for each write to a target; the engine's own objects are not targets. */
export function auditOf(outcome: Outcome, item: number | undefined): readonly AuditLine[] {
  return outcome.filter(({ write }) => write.identity.kind === 'serviceAccount').map((attempt) => auditLine(attempt, item ?? -1));
}

function auditLine({ write, answer }: Attempt, item: number): AuditLine {
  const { identity, location, verb } = write;
  const subresource = write.verb === 'update' && write.subresource !== undefined ? `/${write.subresource}` : '';
  const group = location.resource.group === '' ? '' : `.${location.resource.group}`;
  return {
    item,
    verb,
    resource: `${location.resource.plural}${group}${subresource}`,
    target: location.namespace === undefined ? location.name : `${location.namespace}/${location.name}`,
    serviceAccount: identity.kind === 'serviceAccount' ? `${identity.namespace}/${identity.name}` : '',
    outcome: answer.kind === 'ok' ? 'ok' : answer.failure.reason,
  };
}

const lockOperations = { create: 'acquire', update: 'renew', delete: 'release', apply: 'renew' } as const;

/** One entry for each write to a Lease. */
export function locksOf(outcome: Outcome): readonly LockOperation[] {
  const writes = outcome.filter(({ write }) => write.location.resource.kind === 'Lease' && write.identity.kind === 'engine');
  return writes.map(({ write, answer }) => ({
    operation: lockOperations[write.verb],
    result: answer.kind === 'ok' ? 'ok' : answer.failure.reason,
  }));
}

/** The Events of a change of status: what has happened, never what may. */
export function eventsOf(before: Status, after: Status, transaction: Transaction): readonly EventRecord[] {
  return [...itemEvents(before, after, transaction), ...phaseEvents(before, after)];
}

function phaseEvents(before: Status, after: Status): readonly EventRecord[] {
  if (before.phase === after.phase) return [];
  const failed = after.phase === 'RollingBack' || after.phase === 'Failed';
  return [{ type: failed ? 'Warning' : 'Normal', reason: phaseReasons[after.phase] ?? after.phase, message: after.message }];
}

const phaseReasons: Readonly<Record<string, string>> = {
  Preparing: 'LocksAcquired',
  Committing: 'Committing',
  RollingBack: 'RollbackStarted',
};

function itemEvents(before: Status, after: Status, { changes }: Transaction): readonly EventRecord[] {
  const moved = after.items
    .map((item, index) => ({ item, index }))
    .filter(({ item, index }) => isMoved(before.items[index], item));
  return moved.flatMap(({ item, index }): readonly EventRecord[] => {
    const change = changes[index];
    return change === undefined ? [] : itemEvent(item, `${change.type} ${describe(change.target)}`);
  });
}

// A retry takes up again what was left: nothing has happened to it yet.
function isMoved(before: Item | undefined, after: Item): boolean {
  return before?.progress.kind !== after.progress.kind && before?.progress.kind !== 'left';
}

function itemEvent({ progress, error }: Item, what: string): readonly EventRecord[] {
  switch (progress.kind) {
    case 'applied':
      return [{ type: 'Normal', reason: 'ChangeApplied', message: what }];
    case 'restored':
      return progress.applied ? [{ type: 'Normal', reason: 'ChangeRestored', message: `undone: ${what}` }] : [];
    case 'left':
      return [{ type: 'Warning', reason: 'RollbackConflict', message: error?.message ?? what }];
    default:
      return [];
  }
}

/** Whether a call has ended the Transaction. */
export function hasEnded(before: Status, after: Status): boolean {
  return before.phase !== after.phase && isTerminal(after.phase);
}
