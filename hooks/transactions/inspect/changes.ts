// The changes of a plan, as they may be shown: what a survey has found, masked.

import { isScaled, scaledField } from '../../objects/content/derived.ts';
import { listKindsOf, partsNamedIn } from '../../objects/content/lists.ts';
import { lostFields } from '../../objects/content/losers.ts';
import { field } from '../../objects/content/path.ts';
import { isObject, type JsonObject, withPath } from '../../objects/json.ts';
import type { Reference } from '../../objects/reference.ts';
import { formatTime } from '../../objects/time.ts';
import { foreign } from '../../objects/words.ts';
import { isOwn } from '../attribution/since.ts';
import { takenBy } from '../attribution/taken.ts';
import type { Resolved } from '../checks/targets.ts';
import type { FieldChange, HeldLock, Operation, PlannedChange } from '../inspection.ts';
import { heldBy, stateForTaking } from '../locks/holder.ts';
import { lockOf } from '../locks/lease.ts';
import { lifeLeft, readableHolder } from '../locks/state.ts';
import { type Change, isApplied } from '../model/change.ts';
import { gateOf } from '../model/gated.ts';
import { sourceOf } from '../model/source.ts';
import { holderOf, managersOfChange, type Transaction } from '../model/transaction.ts';
import { type Autoscaler, scalersOf } from '../observe/autoscalers.ts';
import type { LockView, Prepared } from '../observe/observation.ts';
import { fieldChanges, hidingOf, type Masking, shownPath } from './masks.ts';
import { ownersOf } from './owners.ts';

/** `autoscalers`: all that may scale a target. */
export function plannedChange(prepared: Prepared, transaction: Transaction, autoscalers: readonly Autoscaler[]): PlannedChange {
  const { resolved, way, prior, expected, approximate, recreates, after: dependsOn } = prepared;
  const { index, target, change, resource } = resolved;
  const hiding = hidingOf(target, change);
  const after = way === 'Create' ? namedIn(change, expected) : expected;
  const fields = fieldChanges({ before: prior, after }, { resource, hiding });
  const operation = operationOf(prepared, fields);
  const scalers = scalesReplicas(fields, operation) ? horizontalOf(target, autoscalers) : [];
  return {
    ...{ index, target, type: change.type, operation, recreates: recreates === true, fields },
    deferred: approximate && recreates !== true,
    ...(dependsOn === undefined ? {} : { dependsOn }),
    losers: operation === 'delete' ? [] : losersOf(prepared, transaction, hiding),
    ...tookIn(prepared, transaction, hiding),
    owners: prior === undefined || operation === 'none' ? [] : ownersOf(prior, scalers),
    ...saidOf(resolved, transaction),
    ...foundIn(prepared),
    ...scaledIn(prior, fields),
  };
}

// KEDA scales by a HorizontalPodAutoscaler of its own.
function horizontalOf(target: Reference, autoscalers: readonly Autoscaler[]): readonly string[] {
  const found = scalersOf(target, autoscalers).filter(({ kind }) => kind === 'HorizontalPodAutoscaler');
  return found.map(({ namespace, name }) => `${namespace}/${name}`);
}

function foundIn({ note, warnings }: Prepared): Pick<PlannedChange, 'note' | 'warnings'> {
  return { ...(note === undefined ? {} : { note }), ...(warnings === undefined ? {} : { warnings }) };
}

/** The fields of a new object that the user has named. Defaults, and what controllers add, would hide them. */
function namedIn({ content, target: { name } }: Change, expected: JsonObject | undefined): JsonObject | undefined {
  if (!isObject(content) || expected === undefined) return expected;
  const named = withPath(content, ['metadata', 'name'], name);
  return partsNamedIn(expected, named, listKindsOf(expected));
}

/** What the spec says of it beside its content. */
function saidOf({ index, change }: Resolved, transaction: Transaction): Pick<PlannedChange, 'gate' | 'contentFrom'> {
  const source = sourceOf(change);
  const gate = gateOf(transaction, index)?.at;
  return {
    ...(gate === undefined || gate === 'Never' ? {} : { gate }),
    ...(source === undefined ? {} : { contentFrom: `${source.kind} ${source.name} key ${source.key}` }),
  };
}

function operationOf({ way, recreates }: Prepared, fields: readonly FieldChange[]): Operation {
  if (way === 'Create') return 'create';
  if (way === 'Delete') return 'delete';
  return fields.length === 0 && recreates !== true ? 'none' : 'update';
}

function scaledIn(prior: JsonObject | undefined, fields: readonly FieldChange[]): Pick<PlannedChange, 'scaled'> {
  const names = scaledField(prior);
  const path = names?.join('.');
  const isScaledNow = names !== undefined && isScaled(prior, names.map(field));
  return path !== undefined && isScaledNow && fields.some((one) => one.path === path) ? { scaled: path } : {};
}

/** Whether an autoscaler has something to say about it. */
export function scalesReplicas(fields: readonly FieldChange[], operation: Operation): boolean {
  return operation === 'update' && fields.some(({ path }) => path === 'spec.replicas');
}

function tookIn({ resolved, way, prior, expected, approximate }: Prepared, transaction: Transaction, hiding: Masking) {
  if (approximate || !isApplied(way)) return {};
  return takenBy({ before: prior, after: expected }, managersOfChange(transaction, resolved.change), hiding !== 'nothing');
}

// An Apply under a shared manager drops that manager's fields that it no longer names: no manager loses them to another. If no dry
// run was possible, the engine does not know which manager loses which fields.
function losersOf({ resolved, prior, expected, approximate }: Prepared, transaction: Transaction, hiding: Masking) {
  if (approximate) return [];
  const { forward } = managersOfChange(transaction, resolved.change);
  const kinds = listKindsOf(prior, expected);
  return [...lostFields(prior, expected)]
    .map(([manager, lost]) => [manager, lost.filter((path) => !isOwn(path))] as const)
    .filter(([manager, lost]) => manager !== forward && lost.length > 0)
    .map(([manager, lost]) => ({
      manager: foreign(manager, longestName),
      paths: [...new Set(lost.map((path) => shownPath(path, { hiding, before: prior, kinds })))].sort(),
    }));
}

const longestName = 128;

/** The locks that other Transactions hold. */
export function heldLocks(
  { states, holders }: LockView,
  prepared: readonly Pick<Prepared, 'resolved'>[],
  transaction: Transaction,
  now: number,
): readonly HeldLock[] {
  return prepared.flatMap(({ resolved: { index, target } }) => {
    const state = states.get(lockOf(target).name);
    if (state?.kind !== 'present') return [];
    if (stateForTaking(state.object, holderOf(transaction), holders, now) !== 'heldByOther') return [];
    const holder = readableHolder(heldBy(state.object));
    const left = lifeLeft(state.object, now);
    const held = { index, target, holder: foreign(holder, longestHolder), expires: formatTime(now + left) };
    return [left < 0 ? { ...held, expired: true } : held];
  });
}

const longestHolder = 317;
