// The status of a Package, as Crossplane's package manager would write it. It comes from the revisions of the Package, which
// Crossplane's other controllers report on. Conditions that others write stay as they are: Metacontroller replaces the whole status.
import { at, type Json, type JsonObject, objectAt, objectsAt, textAt } from '../objects/json.ts';
import { cut } from '../objects/words.ts';
import type { OwnCondition } from './model/own.ts';
import { isActive } from './model/package.ts';
import { conditionOf } from './model/status.ts';
import { absenceIn } from './writes/absence.ts';
import { notedIn, refsIn } from './writes/applied.ts';

interface Condition {
  readonly type: 'Installed' | 'Healthy';
  readonly status: 'True' | 'False' | 'Unknown';
  readonly reason: string;
  readonly message?: string;
  /** It holds for the generation before, so that `kubectl wait` waits for the present one. */
  readonly isUpdating?: true;
}

/** `now` in RFC 3339. `own`: what a package transaction of the Package says about it. */
export function packageStatusOf(pkg: JsonObject, revisions: readonly JsonObject[], now: string, own?: OwnCondition): JsonObject {
  const current = newestFirst(revisions).find(isActive) ?? newestFirst(revisions)[0];
  const before = objectAt(pkg, 'status');
  const isUpdating = own?.status === 'True';
  const conditions = conditionsWith(
    pkg,
    [{ ...installed(current), ...own, ...(isUpdating && { isUpdating }) }, healthy(current)],
    now,
  );
  if (current === undefined) return { ...before, conditions };
  // While the package transaction of a generation is not done, the revisions are those of an earlier generation.
  const earlier = own?.status === undefined ? undefined : textAt(before, 'currentIdentifier');
  const identifier = earlier ?? textAt(pkg, 'spec', 'package') ?? '';
  const applied = appliedTo(current);
  const resolved =
    textAt(current, 'status', 'resolvedImage') ?? applied.resolved ?? textAt(current, 'spec', 'image') ?? identifier;
  const names = { currentRevision: textAt(current, 'metadata', 'name') ?? '', currentIdentifier: identifier };
  const refs = applied.refs === undefined ? {} : { appliedImageConfigRefs: applied.refs };
  return { ...before, ...names, resolvedPackage: resolved, ...refs, conditions };
}

/**
 * The ImageConfigs that a package transaction has applied to the revision. A revision that Crossplane has installed shows those that
 * Crossplane has applied. Undefined if neither has applied any.
 */
function appliedTo(revision: JsonObject): { readonly refs: readonly Json[] | undefined; readonly resolved: string | undefined } {
  const { refs, resolved } = notedIn(revision);
  return { refs: refs ?? refsIn(at(revision, 'status', 'appliedImageConfigRefs')), resolved };
}

function newestFirst(revisions: readonly JsonObject[]): readonly JsonObject[] {
  const numberOf = (revision: JsonObject): number => Number(at(revision, 'spec', 'revision') ?? 0);
  return revisions.toSorted((left, right) => numberOf(right) - numberOf(left));
}

function installed(current: JsonObject | undefined): Condition {
  const type = 'Installed';
  if (current === undefined) return { type, status: 'False', reason: 'UnpackingPackage', message: 'It has no revision yet' };
  const absence = isActive(current) ? absenceIn(current) : undefined;
  if (absence !== undefined)
    return { type, status: 'False', reason: absence.reason, message: `${absence.message}: install the package again` };
  if (isActive(current)) return { type, status: 'True', reason: 'ActivePackageRevision' };
  return { type, status: 'False', reason: 'InactivePackageRevision', message: 'Package is inactive' };
}

/** The aspects of a revision that make it healthy. A Configuration runs nothing. */
function aspectsOf(revision: JsonObject): readonly (readonly [type: string, name: string])[] {
  const own = ['RevisionHealthy', 'revision'] as const;
  return textAt(revision, 'kind') === 'ConfigurationRevision' ? [own] : [own, ['RuntimeHealthy', 'runtime']];
}

const longest = 8_000;

function healthy(current: JsonObject | undefined): Condition {
  const type = 'Healthy';
  const found =
    current === undefined ? [] : aspectsOf(current).map(([aspect, name]) => ({ name, one: conditionOf(current, aspect) }));
  const ill = found.find(({ one }) => textAt(one, 'status') !== 'True');
  if (ill === undefined && found.length > 0) return { type, status: 'True', reason: 'HealthyPackageRevision' };
  const { name, one } = ill ?? { name: 'revision', one: undefined };
  return { type, ...unhealthy(name, textAt(one, 'status') ?? 'Unknown', textAt(one, 'message') ?? '') };
}

function unhealthy(name: string, status: string, message: string): Omit<Condition, 'type'> {
  const words = `Package ${name} health is "${status}"${message === '' ? '' : ` with message: ${message}`}`;
  const isKnown = status === 'False';
  return {
    status: isKnown ? 'False' : 'Unknown',
    reason: isKnown ? 'UnhealthyPackageRevision' : 'UnknownPackageRevisionHealth',
    message: cut(words, longest),
  };
}

/** Ours in their place, others unchanged. A condition that stays keeps its time. */
function conditionsWith(pkg: JsonObject, ours: readonly Condition[], now: string): readonly JsonObject[] {
  const before = objectsAt(pkg, 'status', 'conditions');
  const generation = at(pkg, 'metadata', 'generation');
  const written = ours.map(({ isUpdating, ...one }): JsonObject => {
    const old = before.find((other) => textAt(other, 'type') === one.type);
    const since = textAt(old, 'status') === one.status ? textAt(old, 'lastTransitionTime') : undefined;
    const observed = isUpdating ? at(old, 'observedGeneration') : generation;
    return { ...one, lastTransitionTime: since ?? now, ...(observed === undefined ? {} : { observedGeneration: observed }) };
  });
  const kept = before.map((old) => written.find((one) => one.type === textAt(old, 'type')) ?? old);
  return [...kept, ...written.filter((one) => !kept.includes(one))];
}
