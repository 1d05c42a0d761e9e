// What must hold of gates: by the stored statuses, and by what the audit log has of the objects that are waited for.
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import type { AuditEvent } from './audit.ts';
import {
  type Evidence,
  hasSucceeded,
  isBy,
  itemsOf,
  storedStatusEvents,
  type Target,
  targetsOf,
  transactionsOf,
  writesTo,
} from './evidence.ts';

interface Gated {
  readonly transaction: string;
  readonly index: number;
  readonly gate: JsonObject;
  readonly target: Target;
}

/** The gates of a Transaction as its spec says them: those of the changes, and for all others but Deletes that of the spec. */
function gatesOf({ story, names }: Evidence, transaction: string): readonly Omit<Gated, 'target'>[] {
  const general = at(story.spec, 'gate');
  return (story.transactions(names)[transaction] ?? []).flatMap((change, index) => {
    const inherited = isObject(general) && change.type !== 'Delete' ? { ...general, at: 'AtEnd' } : undefined;
    const gate = at(change, 'gate') ?? inherited;
    return isObject(gate) && gate.at !== 'Never' ? [{ transaction, index, gate }] : [];
  });
}

function allGates(evidence: Evidence): readonly Gated[] {
  return transactionsOf(evidence).flatMap((transaction) => {
    const targets = targetsOf(evidence, transaction);
    return gatesOf(evidence, transaction).flatMap((gated) => {
      const target = targets[gated.index];
      return target === undefined ? [] : [{ ...gated, target }];
    });
  });
}

function isAfterChange({ gate }: Gated): boolean {
  return (textAt(gate, 'at') ?? 'AfterChange') === 'AfterChange';
}

function hasPassed(status: JsonObject, index: number): boolean {
  return at(itemsOf(status)[index], 'gate', 'passed') === true;
}

/** I17: before anything behind a gate is written, a stored status says that it has passed, and its object has been ready. */
export function nothingBehindGates(evidence: Evidence): readonly string[] {
  return allGates(evidence)
    .filter(isAfterChange)
    .flatMap((gated) => {
      const [first] = writesBehind(evidence, gated);
      if (first === undefined) return [];
      const behind = `${first.verb} of ${first.key} behind the gate of ${gated.target.key}`;
      return [
        ...(isPassStored(evidence, gated, first.received) ? [] : [`${behind} before a stored status said that it had passed`]),
        ...(wasReady(evidence, gated, first.received) ? [] : [`${behind} before that was ready`]),
      ];
    });
}

// Of real processes it is not seen what they store.
function isPassStored(evidence: Evidence, { transaction, index }: Gated, by: string): boolean {
  if (evidence.hookCalls.length === 0) return true;
  const stored = storedStatusEvents(evidence, transaction).find(({ status }) => hasPassed(status, index));
  return stored !== undefined && stored.event.answered <= by;
}

/** In order. Deletes have no field manager: those of what is created are its undo. */
function writesBehind(evidence: Evidence, { transaction, index }: Gated): readonly AuditEvent[] {
  return targetsOf(evidence, transaction)
    .slice(index + 1)
    .flatMap((target) => writesTo(evidence, target).filter((event) => isForward(evidence, transaction, target, event)))
    .toSorted((left, right) => (left.received < right.received ? -1 : 1));
}

function isForward(evidence: Evidence, transaction: string, { type }: Target, event: AuditEvent): boolean {
  if (event.verb === 'delete') return type === 'Delete';
  return isBy(evidence, transaction, event) && !event.fieldManager.startsWith('janus-restore-');
}

/** Where the gate names a condition: whether the object had it by then, of the state that the change has made. */
function wasReady(evidence: Evidence, { transaction, gate, target }: Gated, by: string): boolean {
  const condition = at(gate, 'ready', 'condition');
  if (condition === undefined) return true;
  const change = writesTo(evidence, target).find((event) => isForward(evidence, transaction, target, event));
  if (change === undefined) return false;
  return evidence.events.some(
    (event) =>
      event.key === target.key &&
      hasSucceeded(event) &&
      event.received >= change.answered &&
      event.answered <= by &&
      isMet(event.response, condition),
  );
}

function isMet(object: JsonObject, condition: Json): boolean {
  const [type, status] = [textAt(condition, 'type'), textAt(condition, 'status') ?? 'True'];
  const conditions = at(object, 'status', 'conditions');
  const found = isList(conditions) ? conditions.find((one) => textAt(one, 'type') === type) : undefined;
  const isCurrent = at(object, 'status', 'observedGeneration') === at(object, 'metadata', 'generation');
  return textAt(found, 'status') === status && isCurrent;
}

/** I18: every status that says Committed says of each gate that it has passed, and each object has been ready by then. */
export function committedWithGates(evidence: Evidence): readonly string[] {
  return allGates(evidence).flatMap((gated) =>
    committedStatuses(evidence, gated.transaction).flatMap(({ status, by }) => [
      ...(hasPassed(status, gated.index) ? [] : [`Committed without the gate of ${gated.target.key}`]),
      ...(wasReady(evidence, gated, by) ? [] : [`Committed before ${gated.target.key} was ready`]),
    ]),
  );
}

/** The last one too: of real processes no other is seen. */
function committedStatuses(
  evidence: Evidence,
  transaction: string,
): readonly { readonly status: JsonObject; readonly by: string }[] {
  const stored = storedStatusEvents(evidence, transaction).map(({ status, event }) => ({ status, by: event.received }));
  const last = evidence.ends.get(transaction);
  const all = last === undefined ? stored : [...stored, { status: last, by: '~' }];
  return all.filter(({ status }) => textAt(status, 'phase') === 'Committed');
}
