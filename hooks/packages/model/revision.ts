// Whose a revision is: its source is in its image, the name of its package in its label. The Lock may have lost it.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { nameInRevision, packageLabel, stemOf } from './names.ts';
import { readReference } from './reference.ts';

/** A package. */
export interface RevisionOwner {
  readonly source: string;
  /** The name of the package object. */
  readonly name: string;
}

/** `found`: undefined if it is gone; then only its name, which is cut, says whose it was. */
export function isRevisionOf({ source, name }: RevisionOwner, revision: string, found: JsonObject | undefined): boolean {
  if (found === undefined) return nameInRevision(revision) === stemOf(name);
  return sourceOfRevision(found) === source || textAt(found, 'metadata', 'labels', packageLabel) === name;
}

/** `spec.image` without tag and digest. */
export function sourceOfRevision(revision: JsonObject): string | undefined {
  return readReference(textAt(revision, 'spec', 'image') ?? '')?.source;
}
