// Owners of an object that are no more: it comes back without them, and a person is told.
import { at, isList, type JsonObject, textAt } from '../model/json.ts';
import type { Evidence } from './judge.ts';

const mostOwners = 10;

export function ownersNote(goneOwners: readonly string[], { isSealed }: Pick<Evidence, 'isSealed'>): { readonly note?: string } {
  if (goneOwners.length === 0) return {};
  const which = isSealed ? `${goneOwners.length}` : goneOwners.slice(0, mostOwners).join(', ');
  return { note: `owner references dropped, their owners are gone: ${which}` };
}

/** Those that the object names: the garbage collector may have taken the reference off already. */
export function goneOwnersOf(object: JsonObject, goneOwners: readonly string[]): readonly string[] {
  const references = at(object, 'metadata', 'ownerReferences');
  const owners = isList(references) ? references.map((reference) => textAt(reference, 'uid')) : [];
  return goneOwners.filter((uid) => owners.includes(uid));
}
