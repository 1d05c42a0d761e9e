// When two states of an object trigger a row of the table of hazards. Pure.
import { isToken, tokenAccount } from '../../objects/content/generated.ts';
import { at, equalJson, isList, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { parseQuantity } from '../../objects/quantity.ts';
import { type OneWayField, oneWayFields } from './one-way-fields.ts';

/** Whether a StatefulSet that makes claims loses Pods. */
export function losesPods(before: JsonObject, after: Json): boolean {
  const [old, next] = [ordinalsOf(before), ordinalsOf(after)];
  return old.from < old.to && (old.from < next.from || next.to < old.to) && templatesOf(before).length > 0;
}

/** Whether a StatefulSet deletes the claims of Pods that it loses. */
export function deletesClaims(set: JsonObject | undefined): boolean {
  return textAt(set, 'spec', 'persistentVolumeClaimRetentionPolicy', 'whenScaled') === 'Delete';
}

/** Whether the claim is of a Pod that the StatefulSet has as `before`, and no longer as `after`. */
export function isClaimOfScale(claim: string, before: JsonObject, after: Json): boolean {
  const starts = templatesOf(before).map((template) => `${template}-${textAt(before, 'metadata', 'name')}-`);
  const ends = starts.filter((start) => claim.startsWith(start)).map((start) => claim.slice(start.length));
  const [old, next] = [ordinalsOf(before), ordinalsOf(after)];
  const isIn = ({ from, to }: Ordinals, ordinal: number): boolean => from <= ordinal && ordinal < to;
  return ends.some((end) => /^\d+$/.test(end) && isIn(old, Number(end)) && !isIn(next, Number(end)));
}

function templatesOf(set: Json): readonly string[] {
  const templates = at(set, 'spec', 'volumeClaimTemplates');
  return isList(templates) ? templates.map((template) => textAt(template, 'metadata', 'name') ?? '') : [];
}

/** From the first to before the last. */
interface Ordinals {
  readonly from: number;
  readonly to: number;
}

/** The ordinals of the Pods of a StatefulSet. */
function ordinalsOf(set: Json): Ordinals {
  const [start, replicas] = [at(set, 'spec', 'ordinals', 'start'), at(set, 'spec', 'replicas')];
  const from = typeof start === 'number' ? start : 0;
  return { from, to: from + (typeof replicas === 'number' ? replicas : 1) };
}

export function policyOf(volume: Json | undefined): string {
  return textAt(volume, 'spec', 'persistentVolumeReclaimPolicy') ?? 'Retain';
}

/** Whether a volume that is not retained gets another claim. */
export function isOtherClaim(before: JsonObject, after: JsonObject): boolean {
  const [claim, other] = [at(before, 'spec', 'claimRef'), at(after, 'spec', 'claimRef')];
  return policyOf(after) !== 'Retain' && textAt(other, 'uid') !== undefined && !equalJson(claim, other);
}

/** Whether a volume without a claim is no longer retained. */
export function isUnclaimed(before: JsonObject, after: JsonObject): boolean {
  const isReleased = ['Released', 'Failed'].includes(textAt(before, 'status', 'phase') ?? '');
  return isReleased && policyOf(after) !== 'Retain' && policyOf(after) !== policyOf(before);
}

/** The volume that a claim is bound to. A claim whose content names a volume is not bound by that alone. */
export function boundVolume(claim: JsonObject | undefined, expected: JsonObject | undefined): readonly string[] {
  const volume = textAt(claim, 'spec', 'volumeName');
  const isBound = textAt(claim, 'status', 'phase') === 'Bound' || volume !== textAt(expected, 'spec', 'volumeName');
  return isBound ? [volume ?? ''] : [];
}

export function getsStrayToken(before: JsonObject, after: JsonObject): boolean {
  return isToken(before) && !equalJson(tokenAccount(before), tokenAccount(after));
}

/** Whether the requests of a claim grow: they never shrink. */
export function shrinksBack(before: JsonObject, after: JsonObject): boolean {
  const path = ['spec', 'resources', 'requests', 'storage'] as const;
  const [old, next] = [textAt(before, ...path), textAt(after, ...path)];
  return old !== undefined && next !== undefined && old !== next && parseQuantity(next) > parseQuantity(old);
}

/** Whether a Job starts with another template, which may change only before the start. */
export function isResumedOtherwise(before: JsonObject, after: JsonObject): boolean {
  const isResumed = at(before, 'spec', 'suspend') === true && at(after, 'spec', 'suspend') !== true;
  return isResumed && !equalJson(at(before, 'spec', 'template'), at(after, 'spec', 'template'));
}

interface States {
  readonly kind: string;
  readonly before: JsonObject | undefined;
  readonly after: JsonObject | undefined;
}

/** The first field of the change that the API server lets no user set back. */
export function oneWayField({ kind, before, after }: States): OneWayField | undefined {
  if (before === undefined || after === undefined) return undefined;
  return oneWayFields[kind]?.find((field) => isMade(field, before, after));
}

function isMade({ path, change }: OneWayField, prior: JsonObject, expected: JsonObject): boolean {
  const [before, after] = [prior, expected].map((object) => valuesAt(object, path.split('.')));
  const lacks = (some: readonly Json[] = [], others: readonly Json[] = []): boolean =>
    some.some((one) => !others.some((other) => equalJson(one, other)));
  switch (change) {
    case 'added':
      return lacks(after, before);
    case 'set':
      // An option that is `false` counts as absent.
      return before?.length === 0 && after?.some((value) => value !== false) === true;
    case 'changed':
      return before?.length !== 0 && after?.length !== 0 && lacks(after, before);
    case 'removed':
      return before?.length !== 0 && after?.length === 0;
  }
}

/** The values at a path; the items of a list count one by one. */
function valuesAt(value: Json | undefined, [name, ...rest]: readonly string[]): readonly Json[] {
  if (isList(value)) return value.flatMap((item) => valuesAt(item, name === undefined ? [] : [name, ...rest]));
  if (name === undefined) return value === undefined ? [] : [value];
  return valuesAt(at(value, name.replace('[]', '')), rest);
}
