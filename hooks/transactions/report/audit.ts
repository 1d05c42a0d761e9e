// What a call has sent, as data: audit lines for writes to targets, and operations on Leases.

import type { Attempt, Outcome } from '../../objects/mutation.ts';
import { clean } from '../../objects/words.ts';
import type { AuditLine, LockOperation } from '../call.ts';

/** One line for each write to a target; the engine's own objects are not targets. */
export function auditOf(outcome: Outcome): readonly AuditLine[] {
  return outcome.filter(({ write }) => write.identity.kind === 'serviceAccount').map(auditLine);
}

function auditLine({ write, answer, item = -1 }: Attempt): AuditLine {
  const { identity, location, verb } = write;
  const subresource = write.verb === 'update' && write.subresource !== undefined ? `/${write.subresource}` : '';
  const group = location.resource.group === '' ? '' : `.${location.resource.group}`;
  return {
    item,
    verb,
    resource: `${location.resource.plural}${group}${subresource}`,
    target: clean(location.namespace === undefined ? location.name : `${location.namespace}/${location.name}`),
    serviceAccount: identity.kind === 'serviceAccount' ? `${identity.namespace}/${identity.name}` : '',
    outcome: answer.kind === 'ok' ? 'ok' : answer.failure.reason,
  };
}

const lockOperations = { create: 'acquire', update: 'renew', delete: 'release', apply: 'renew' } as const;

const results = { absent: 'conflict', exists: 'conflict', stale: 'conflict', refused: 'error', transient: 'error' } as const;

/** One entry for each write to a Lease. */
export function locksOf(outcome: Outcome): readonly LockOperation[] {
  const writes = outcome.filter(({ write }) => write.location.resource.kind === 'Lease' && write.identity.kind === 'engine');
  return writes.map(({ write, answer }) => ({
    operation: lockOperations[write.verb],
    result: answer.kind === 'ok' ? 'success' : results[answer.failure.kind],
  }));
}
