// What users read about hazards.
import { type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { annotations } from '../model/transaction.ts';
import type { Hazards } from './hazards.ts';

/** What a user does who wants the change in spite of a hazard. */
export const howToAllow = `annotate the Transaction with ${annotations.allowIrreversible}=true to allow it (for manifests: janus apply --allow-irreversible)`;

/** The first names, and the number of the others. */
export function shownOf(names: readonly string[], most: number): string {
  const rest = names.length - most;
  return names.slice(0, most).join(', ') + (rest > 0 ? ` and ${rest} more` : '');
}

const mostNames = 10;

/** The note for a deletion if some kinds of possible dependents could not be listed; undefined if all could. */
export function unlistedKindsNote({
  forbiddenKinds,
  failingKinds,
  unavailable,
}: Pick<Hazards, 'forbiddenKinds' | 'failingKinds' | 'unavailable'>): string | undefined {
  const ofKinds = 'objects of these kinds may have been deleted with it';
  return noteOf([
    [forbiddenKinds, `${ofKinds}, the ServiceAccount could not list them`],
    [failingKinds.map(({ kind }) => kind), `${ofKinds}, listing them fails`],
    [unavailable, 'objects may have been deleted with it of kinds whose APIService is not Available'],
  ]);
}

/** The note for a restored object that loses owners; undefined if it loses none. */
export function ownersNote({ goneOwners, forbiddenOwners }: MissingOwners, isSealed: boolean): string | undefined {
  const dropped = 'owner references dropped, their owners';
  const notes = [
    [goneOwners, `${dropped} no longer exist`],
    [forbiddenOwners, `${dropped} cannot be read, and may no longer exist`],
  ] as const;
  return noteOf(notes, isSealed);
}

function noteOf(notes: readonly (readonly [readonly string[], string])[], isSealed = false): string | undefined {
  const found = notes.filter(([names]) => names.length > 0);
  const which = (names: readonly string[]) => (isSealed ? `${names.length}` : shownOf(names, mostNames));
  return joined(...found.map(([names, why]) => `${why}: ${which(names)}`));
}

/** The notes in one; undefined if there is no note. */
export function joined(...notes: readonly (string | undefined)[]): string | undefined {
  const all = notes.filter((note) => note !== undefined);
  return all.length === 0 ? undefined : all.join('; ');
}

export function noted(note: string | undefined): { readonly note?: string } {
  return note === undefined ? {} : { note };
}

/** Owners that a restored object loses. */
type MissingOwners = Pick<Hazards, 'goneOwners' | 'forbiddenOwners'>;

export function missingOwners({ goneOwners, forbiddenOwners }: MissingOwners): readonly string[] {
  return [...goneOwners, ...forbiddenOwners];
}

/** The missing owners that the object names. The garbage collector may already have removed the reference from the object. */
export function missingIn(object: JsonObject, { goneOwners, forbiddenOwners }: MissingOwners): MissingOwners {
  const owners = listAt(object, 'metadata', 'ownerReferences').map((reference) => textAt(reference, 'uid'));
  const named = (uids: readonly string[]) => uids.filter((uid) => owners.includes(uid));
  return { goneOwners: named(goneOwners), forbiddenOwners: named(forbiddenOwners) };
}
