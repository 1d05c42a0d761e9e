// A 404 proves that an object is gone only if it names the object. If it names no object, the API server does not serve the kind in
// that version. Perhaps one of several API servers does not serve it yet. Or the API server no longer serves it, while its objects
// live on in another version or in an aggregated API server.
import type { Identity, Reader, Resource } from '../../objects/cluster.ts';
import { wasServed } from '../../objects/definitions.ts';
import type { Failure, Passing } from '../../objects/failure.ts';
import { groupOf } from '../../objects/reference.ts';
import { definitions } from '../writes/resources.ts';

/** Whether the failure is a 404 that names no object. */
export function isUnserved({ kind, subject }: Failure): boolean {
  return kind === 'absent' && subject === undefined;
}

/** The same, to be waited for. */
export function untilServed(failure: Failure): Passing {
  return { ...failure, kind: 'transient' };
}

/**
 * Whether a kind that is not served has no objects, as far as the identity may see: its CustomResourceDefinition is gone, or was
 * never served. No API server serves the kind in another version, and no unavailable API server may serve it.
 */
export async function isWithoutObjects(
  { reader, identity }: { readonly reader: Reader; readonly identity: Identity },
  { group, plural }: Pick<Resource, 'group' | 'plural'>,
): Promise<boolean> {
  const answer = await reader.get({ resource: definitions, name: `${plural}.${group}` }, identity);
  const isProof =
    answer.kind === 'ok' ? !wasServed(answer.object) : answer.failure.kind === 'absent' && !isUnserved(answer.failure);
  if (!isProof) return false;
  const all = await reader.resources();
  if (all.kind === 'failed' || isAway(all.away, group)) return false;
  return !all.resources.some((one) => one.group === group && one.plural === plural);
}

/** Whether a kind of the group may be served by an API server that is away; `away` as discovery has it. */
export function isAway(away: readonly string[], group: string): boolean {
  return away.some((apiVersion) => groupOf(apiVersion) === group);
}
