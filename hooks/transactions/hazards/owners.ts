// Owners that no longer exist: the undo restores the object without them and says so in a note.
import { at, isList, type JsonObject, textAt } from '../../objects/json.ts';

const mostOwners = 10;

/** Owners that a restored object loses. */
export interface MissingOwners {
  /** uids of owners that no longer exist. */
  readonly goneOwners: readonly string[];
  /** uids of owners that cannot be read; they may no longer exist. */
  readonly hiddenOwners?: readonly string[];
}

export function ownersNote(
  { goneOwners, hiddenOwners = [] }: MissingOwners,
  { isSealed }: { readonly isSealed: boolean },
): { readonly note?: string } {
  const notes = [
    [goneOwners, 'their owners no longer exist'] as const,
    [hiddenOwners, 'their owners cannot be read, and may no longer exist'] as const,
  ].filter(([owners]) => owners.length > 0);
  if (notes.length === 0) return {};
  const which = (owners: readonly string[]) => (isSealed ? `${owners.length}` : owners.slice(0, mostOwners).join(', '));
  return { note: notes.map(([owners, why]) => `owner references dropped, ${why}: ${which(owners)}`).join('; ') };
}

export function allMissing({ goneOwners, hiddenOwners = [] }: MissingOwners): readonly string[] {
  return [...goneOwners, ...hiddenOwners];
}

/** The lost owners that the object names. */
export function lostBy(object: JsonObject, { goneOwners, hiddenOwners = [] }: MissingOwners): MissingOwners {
  return { goneOwners: goneOwnersOf(object, goneOwners), hiddenOwners: goneOwnersOf(object, hiddenOwners) };
}

// The garbage collector may already have removed the reference from the object.
function goneOwnersOf(object: JsonObject, goneOwners: readonly string[]): readonly string[] {
  const references = at(object, 'metadata', 'ownerReferences');
  const owners = isList(references) ? references.map((reference) => textAt(reference, 'uid')) : [];
  return goneOwners.filter((uid) => owners.includes(uid));
}
