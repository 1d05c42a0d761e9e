// Names of packages and revisions, as Crossplane's package manager makes them.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { readReference, readSource } from './reference.ts';

/** The label of a revision that has the name of its package. */
export const packageLabel = 'pkg.crossplane.io/package';

export const longestLabel = 63;
const longestStem = 50;
const digestLetters = 12;

/** The name of the package object for a dependency. */
export function packageName(source: string): string {
  return dnsLabel(readSource(source)?.repository ?? source);
}

/** The name of a package's revision: one digest, one revision. */
export function revisionName(name: string, digest: string): string {
  return dnsLabel(`${name.slice(0, longestStem)}-${digest.replace(/^sha256:/, '').slice(0, digestLetters)}`);
}

/** Whether the revision has the name that the digest results in. */
export function hasDigest(revision: string, digest: string): boolean {
  return revisionName(nameInRevision(revision), digest) === revision;
}

/** The name of the package of that revision, as `revisionName` has cut it. */
export function nameInRevision(revision: string): string {
  return revision.replace(/-[0-9a-f]{12}$/, '');
}

/** The name of a package as `nameInRevision` gives it. */
export function stemOf(name: string): string {
  return nameInRevision(revisionName(name, `sha256:${'0'.repeat(64)}`));
}

/** Keeps small letters and digits of the first 63 characters, turns separators into `-`, and drops all others. */
export function dnsLabel(text: string): string {
  const kept = [...text.slice(0, longestLabel)].map((one, index) => {
    if (/[a-z0-9]/.test(one)) return one;
    const isEdge = index === 0 || index === longestLabel - 1 || index === text.length - 1;
    return /[./:-]/.test(one) && !isEdge ? '-' : '';
  });
  return kept.join('').replace(/^-+|-+$/g, '');
}

/** A package. */
export interface RevisionOwner {
  readonly source: string;
  /** The name of the package object. */
  readonly name: string;
}

/**
 * Whose a revision is. Its image has the source, and its label has the name of its package; the Lock may have lost its entry. If
 * the revision is gone, `found` is undefined: then only its name, which is cut, shows whose it was.
 */
export function isRevisionOf({ source, name }: RevisionOwner, revision: string, found: JsonObject | undefined): boolean {
  if (found === undefined) return nameInRevision(revision) === stemOf(name);
  return sourceOfRevision(found) === source || textAt(found, 'metadata', 'labels', packageLabel) === name;
}

/** `spec.image` without tag and digest. */
export function sourceOfRevision(revision: JsonObject): string | undefined {
  return readReference(textAt(revision, 'spec', 'image') ?? '')?.source;
}

/** `spec.package` without tag and digest. */
export function sourceOfPackage(object: JsonObject): string | undefined {
  return readReference(textAt(object, 'spec', 'package') ?? '')?.source;
}
