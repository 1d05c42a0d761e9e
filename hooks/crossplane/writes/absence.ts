// CRDs of an Active revision that somebody has deleted, as its condition RevisionHealthy shows them. Without Crossplane no other controller
// writes that condition. The change wakes the Package.
import type { Resource, Write } from '../../objects/cluster.ts';
import { at, type JsonObject, objectAt, objectsAt, textAt } from '../../objects/json.ts';
import { conditionOf, timeOf } from '../model/status.ts';
import { statusWrite } from './resources.ts';

const [type, reason] = ['RevisionHealthy', 'DefinitionsMissing'];

export interface MissingDefinitions {
  readonly reason: typeof reason;
  /** Names the CRDs. */
  readonly message: string;
  /** RFC 3339. */
  readonly since: string;
}

/** Undefined if no CRD of the revision is known to be gone. */
export function absenceIn(revision: JsonObject | undefined): MissingDefinitions | undefined {
  const found = conditionOf(revision ?? {}, type);
  if (textAt(found, 'reason') !== reason) return undefined;
  return { reason, message: textAt(found, 'message') ?? '', since: textAt(found, 'lastTransitionTime') ?? '' };
}

export function withoutAbsence(status: JsonObject): JsonObject {
  const conditions = objectsAt(status, 'conditions');
  const others = conditions.filter((one) => textAt(one, 'type') !== type || textAt(one, 'reason') !== reason);
  return others.length === conditions.length ? status : { ...status, conditions: others };
}

const mostNamed = 10;

/** `missing`: the names of the CRDs that are gone. If there is none, the condition goes. `now` in ms. */
export function absenceWrite(
  one: { readonly resource: Resource; readonly live: JsonObject; readonly missing: readonly string[] },
  now: number,
  namespace: string,
): Write {
  const status = withoutAbsence(objectAt(one.live, 'status'));
  if (one.missing.length === 0) return statusWrite(one, status, namespace);
  const others = objectsAt(status, 'conditions').filter((other) => textAt(other, 'type') !== type);
  const generation = at(one.live, 'metadata', 'generation') ?? 0;
  const condition = {
    ...{ type, status: 'False', reason, message: wordsOf(one.missing) },
    ...{ observedGeneration: generation, lastTransitionTime: timeOf(now) },
  };
  return statusWrite(one, { ...status, conditions: [...others, condition] }, namespace);
}

export function wordsOf(missing: readonly string[]): string {
  const more = missing.length > mostNamed ? ` and ${missing.length - mostNamed} more` : '';
  const names = `${missing.slice(0, mostNamed).join(', ')}${more}`;
  return missing.length === 1 ? `CustomResourceDefinition ${names} is gone` : `CustomResourceDefinitions ${names} are gone`;
}
