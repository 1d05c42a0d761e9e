// Invariants of every status that was ever stored, not only of the last one.

import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { isPhase, isTerminal, mayFollow } from '../../hooks/transactions/model/phase.ts';
import { conditionOf } from '../support/stage.ts';
import { type Evidence, itemsOf, storedStatuses, transactionsOf } from './evidence.ts';

/** I7: the version never falls, phases follow the allowed transitions, and a terminal phase is left only on request. */
export function versionsRise(evidence: Evidence): readonly string[] {
  return transactionsOf(evidence).flatMap((name) => {
    const statuses = storedStatuses(evidence, name);
    return statuses.slice(1).flatMap((status, index) => stepViolations(name, statuses[index] ?? {}, status));
  });
}

function stepViolations(name: string, before: JsonObject, after: JsonObject): readonly string[] {
  const [was, is] = [at(before, 'version'), at(after, 'version')] as [number, number];
  const [from, to] = [textAt(before, 'phase') ?? '', textAt(after, 'phase') ?? ''];
  const found: string[] = [];
  if (is < was) found.push(`${name}: version fell from ${was} to ${is}`);
  if (from === to || !isPhase(from) || !isPhase(to)) return found;
  if (!mayFollow(from, to)) found.push(`${name}: ${from} became ${to}`);
  const isRequested = JSON.stringify(at(after, 'handledAnnotations')) !== JSON.stringify(at(before, 'handledAnnotations'));
  if (isTerminal(from) && !isRequested) found.push(`${name}: left ${from} without a request`);
  return found;
}

/** I15: conditions agree with the phase and with each other; Finished is True only when the locks are gone. */
export function conditionsAgree(evidence: Evidence): readonly string[] {
  return transactionsOf(evidence).flatMap((name) =>
    storedStatuses(evidence, name).flatMap((status) => statusViolations(status).map((text) => `${name}: ${text}`)),
  );
}

function statusViolations(status: JsonObject): readonly string[] {
  const phase = textAt(status, 'phase') ?? '';
  const is = (type: string, wanted: string): boolean => conditionOf(status, type) === wanted;
  const holdsLocks = itemsOf(status).some((item) => item.lockLease !== undefined);
  const isOver = isPhase(phase) && isTerminal(phase);
  const rules: readonly (readonly [boolean, string])[] = [
    [is('Finished', 'True') && !isOver, 'Finished in no terminal phase'],
    [is('Finished', 'True') && holdsLocks, 'Finished while locks are held'],
    [is('Succeeded', 'True') !== (phase === 'Committed'), 'Succeeded is True exactly when Committed'],
    [is('Committed', 'True') !== (phase === 'Committed'), 'the condition Committed is True exactly in that phase'],
    [is('RolledBack', 'True') !== (phase === 'RolledBack'), 'the condition RolledBack is True exactly in that phase'],
    [is('Ready', 'True') && is('Reconciling', 'True'), 'Ready and Reconciling at once'],
    [is('Finished', 'True') && is('Reconciling', 'True'), 'Finished and Reconciling at once'],
    [phase === 'RolledBack' && !is('Succeeded', 'False'), 'RolledBack and not Succeeded=False'],
  ];
  return rules.filter(([isBroken]) => isBroken).map(([, text]) => `${text} (${phase})`);
}
