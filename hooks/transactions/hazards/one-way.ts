// Irreversible changes: the API server does not allow their undo, or others have lost something for good.

import { at, equalJson, isList, type Json, type JsonObject, textAt } from '../../objects/json.ts';
import { parseQuantity } from '../../objects/quantity.ts';
import { kindOfObject, type Reference } from '../../objects/reference.ts';
import { isStorageMoved, storageOf } from '../model/crds.ts';
import { annotations } from '../model/transaction.ts';
import { lossBy } from './consequences.ts';
import { type OneWayField, oneWayFields } from './one-way-fields.ts';

/** What a user does who wants the change in spite of that. */
export const howToAllow = `annotate the Transaction with ${annotations.allowIrreversible}=true (janus apply --allow-irreversible) to allow it`;

const mostShown = 3;

/** Why a Delete that takes these objects with it cannot be undone; undefined if it takes none. */
export function whyCascade(companions: readonly string[]): string | undefined {
  if (companions.length === 0) return undefined;
  return `Kubernetes would also delete the objects that it owns (${shownOf(companions, mostShown)})`;
}

/** Why a change of a Service that takes Endpoints of others cannot be undone. */
export function overwritten(takesEndpoints: boolean, { target }: { readonly target: Reference }): string | undefined {
  return takesEndpoints
    ? `with a selector Kubernetes would overwrite the Endpoints ${target.name}, which somebody made`
    : undefined;
}

/** Why a change of a CRD cannot be undone whose schema drops values of these objects. */
export function droppedFrom(pruned: readonly string[]): string | undefined {
  if (pruned.length === 0) return undefined;
  return `these objects hold values in fields that the new schema drops: ${shownOf(pruned, mostShown)}`;
}

/** The first names, and the number of the others. */
export function shownOf(names: readonly string[], most: number): string {
  const rest = names.length - most;
  return names.slice(0, most).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

const mostKinds = 10;

/**
 * The note for a Delete if some kinds of possible dependents could not be listed; undefined if all could. `denied`: the
 * ServiceAccount may not list them; `failing`: listing them failed; `away`: APIServices that are not Available.
 */
export function unlistedKindsNote(
  denied: readonly string[],
  failing: readonly string[] = [],
  away: readonly string[] = [],
): string | undefined {
  const ofKinds = 'objects of these kinds may have been deleted with it';
  const notes = [
    [denied, `${ofKinds}, the ServiceAccount could not list them`] as const,
    [failing, `${ofKinds}, listing them fails`] as const,
    [away, 'objects may have been deleted with it of kinds whose APIService is not Available'] as const,
  ].filter(([names]) => names.length > 0);
  if (notes.length === 0) return undefined;
  return notes.map(([names, why]) => `${why}: ${shownOf(names, mostKinds)}`).join('; ');
}

/** Why the step from prior to expected is irreversible, in words; undefined if it is not. `movesBack`: of a CRD, that its storage version can. */
export function whyIrreversible(
  prior: JsonObject | undefined,
  expected: JsonObject | undefined,
  movesBack = false,
): string | undefined {
  if (prior === undefined || expected === undefined) return undefined;
  if (at(expected, 'immutable') === true && at(prior, 'immutable') !== true) return 'it becomes immutable';
  if (grows(prior, expected)) return 'a claim can grow but not shrink';
  return (
    (movesBack ? undefined : storedOtherwise(prior, expected)) ??
    resumedOtherwise(prior, expected) ??
    lossBy(prior, expected) ??
    notSetBack(prior, expected)
  );
}

// The undo takes the new version out of status.storedVersions (attribution/stored-versions.ts): not if objects may be stored in it.
function storedOtherwise(prior: JsonObject, expected: JsonObject): string | undefined {
  if (!isStorageMoved(prior, expected)) return undefined;
  const after = storageOf(expected);
  const would = `its objects would be stored as ${after} and no longer as ${storageOf(prior)}`;
  return `${would}; that is undone only for a kind without objects, by who may update customresourcedefinitions/status`;
}

// Source: k8s.io/kubernetes pkg/registry/batch/job/strategy.go: the template may change while the Job is suspended and has not
// started.
function resumedOtherwise(prior: JsonObject, expected: JsonObject): string | undefined {
  const isResumed = at(prior, 'spec', 'suspend') === true && at(expected, 'spec', 'suspend') !== true;
  if (kindOfObject(expected) !== 'batch/Job' || !isResumed) return undefined;
  const [before, after] = [at(prior, 'spec', 'template'), at(expected, 'spec', 'template')];
  return equalJson(before, after) ? undefined : 'the template of a running Job cannot be restored';
}

function notSetBack(prior: JsonObject, expected: JsonObject): string | undefined {
  const fields = oneWayFields[kindOfObject(expected)] ?? [];
  const found = fields.find((field) => isMade(field, prior, expected));
  return found === undefined
    ? undefined
    : `the API server does not allow ${found.path} to be restored once it is ${found.change}`;
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

// Source: k8s.io/kubernetes pkg/apis/core/validation, ValidatePersistentVolumeClaimUpdate: requests may only grow.
function grows(prior: JsonObject, expected: JsonObject): boolean {
  if (textAt(expected, 'kind') !== 'PersistentVolumeClaim') return false;
  const path = ['spec', 'resources', 'requests', 'storage'] as const;
  const [before, after] = [textAt(prior, ...path), textAt(expected, ...path)];
  return before !== undefined && after !== undefined && !equalJson(before, after) && parseQuantity(after) > parseQuantity(before);
}
