// The packages that change, computed from the live Lock and the Lock after the change.
import { at, equalJson, type JsonObject, textAt } from '../../objects/json.ts';
import { digested, type Installed, readLock } from '../model/lock.ts';
import { nameInRevision, packageName } from '../model/names.ts';
import { kindOf, type PackageKind } from '../model/package.ts';
import type { Wanted } from '../model/package-transaction.ts';
import { writeReference } from '../model/reference.ts';
import { dependenciesFirst } from '../resolve/cycles.ts';

/** A package that is installed or upgraded. */
export interface Changed {
  readonly kind: PackageKind;
  /** The name of the package object. */
  readonly name: string;
  readonly source: string;
  /** The reference for `spec.package`. */
  readonly package: string;
  readonly digest: string;
  readonly revision: string;
  readonly isRoot: boolean;
}

/**
 * The packages, dependencies first. The wanted package is always among them. The function throws if the hook has not read the Lock
 * before.
 */
export function changedPackages(
  wanted: Wanted,
  packages: readonly JsonObject[],
  proposed: readonly JsonObject[],
): readonly Changed[] {
  const before = new Map(entriesOf(packages).map((entry) => [entry.source, entry]));
  const after = new Map(entriesOf(proposed).map((entry) => [entry.source, entry]));
  const { source } = wanted.reference;
  const order = dependenciesFirst(source, new Map([...after].map(([one, { dependencies }]) => [one, dependencies]))).order;
  return order.flatMap((one) => {
    const [old, next] = [before.get(one), after.get(one)];
    if (next === undefined || (one !== source && old !== undefined && isSame(old, next))) return [];
    return [changedOf(next, old, wanted)];
  });
}

/** Whether the entry is unchanged. It is also unchanged if only its digest was added. */
function isSame(old: Installed, next: Installed): boolean {
  const isAdded = old.digest === undefined && next.digest !== undefined;
  return equalJson(isAdded ? digested(old, next.digest).entry : old.entry, next.entry);
}

function entriesOf(packages: readonly JsonObject[]): readonly Installed[] {
  const read = readLock({ packages });
  if (typeof read === 'string') throw new Error(read);
  return read;
}

function changedOf(next: Installed, old: Installed | undefined, wanted: Wanted): Changed {
  const isRoot = next.source === wanted.reference.source;
  const kind = kindOf(textAt(next.entry, 'kind')) ?? wanted.kind;
  const { source, digest = '' } = next;
  const version = next.tag ?? digest;
  const dependency = old === undefined ? packageName(source) : nameInRevision(old.name);
  const given = String(at(wanted.spec, 'package'));
  return {
    kind,
    name: isRoot ? wanted.name : dependency,
    source,
    package: isRoot ? given : writeReference({ source, version }),
    digest,
    revision: next.name,
    isRoot,
  };
}
