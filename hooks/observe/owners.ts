// Whether the owners that an object names are still there.
import type { Answer, Identity, Reader } from '../cluster.ts';
import { at, isList, isObject, type JsonObject, textAt } from '../model/json.ts';

export function ownersOf(object: JsonObject | undefined): readonly JsonObject[] {
  const references = at(object, 'metadata', 'ownerReferences');
  return isList(references) ? references.filter(isObject) : [];
}

/** uids of those of the owners that are no more. Whatever cannot be looked at counts as alive. `namespace` is that of the object. */
export async function goneOwnersOf(
  reader: Reader,
  identity: Identity,
  owners: readonly JsonObject[],
  namespace: string | undefined,
): Promise<readonly string[]> {
  const states = await Promise.all(owners.map((owner) => isGone(reader, identity, owner, namespace)));
  return owners.filter((_, index) => states[index]).map((owner) => textAt(owner, 'uid') ?? '');
}

async function isGone(reader: Reader, identity: Identity, owner: JsonObject, namespace: string | undefined): Promise<boolean> {
  const served = await reader.resource(textAt(owner, 'apiVersion') ?? '', textAt(owner, 'kind') ?? '');
  if (served.kind === 'failed') return served.failure.kind === 'absent';
  const place = served.resource.namespaced && namespace !== undefined ? { namespace } : {};
  const location = { resource: served.resource, name: textAt(owner, 'name') ?? '', ...place };
  const answer: Answer = await reader.getMetadata(location, identity);
  if (answer.kind === 'failed') return answer.failure.kind === 'absent';
  return textAt(answer.object, 'metadata', 'uid') !== textAt(owner, 'uid');
}
