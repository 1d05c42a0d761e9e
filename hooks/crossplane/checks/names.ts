// Names of package objects leave the registry out. So two sources can result in one name, and one source can have two names.

import { type PackageFault, packageFault } from '../model/fault.ts';
import { nameInRevision, stemOf } from '../model/names.ts';
import { type PackageKind, quoted } from '../model/package.ts';
import { readReference } from '../model/reference.ts';
import { compareVersions, readCompleteVersion } from '../model/version.ts';

interface Named {
  readonly kind: PackageKind;
  readonly name: string;
  readonly source: string;
}

/** Two packages of the tree with one name. */
export function sharedNames(packages: readonly Named[]): readonly PackageFault[] {
  const first = new Map<string, Named>();
  return packages.flatMap((one) => {
    const key = `${one.kind} ${one.name}`;
    const other = first.get(key);
    first.set(key, other ?? one);
    return other === undefined || other.source === one.source
      ? []
      : [packageFault('InvalidPackage', `${key}: ${other.source} and ${one.source} would both have this name`)];
  });
}

/**
 * `found`: `spec.package` of the live object of that name. Otherwise the install would replace another source under that name
 * unseen.
 */
export function takenName({ kind, name, source }: Named, found: string | undefined): readonly PackageFault[] {
  const live = found === undefined ? source : (readReference(found)?.source ?? quoted(found));
  if (live === source) return [];
  const why = `${kind} ${name}: expected a package of ${source}, found one of ${live}: use that source`;
  return [packageFault('InvalidPackage', why)];
}

/**
 * `installed`: the kind of the entry that the Lock has for this source. The former package would stay, under a kind that the Lock
 * forgets.
 */
export function otherKind({ kind, source }: Named, installed: PackageKind | undefined): readonly PackageFault[] {
  if (installed === undefined || installed === kind) return [];
  const why = `${source}: expected a ${installed}, as which it is installed, found a ${kind}: no version of another kind can replace it`;
  return [packageFault('InvalidPackage', why)];
}

/** `revision`: the name that the Lock has for the source of the wanted package. */
export function otherName({ kind, name, source }: Named, revision: string | undefined): readonly PackageFault[] {
  if (revision === undefined) return [];
  const installed = nameInRevision(revision);
  if (installed === stemOf(name)) return [];
  const why = `${kind} ${name}: expected the name ${installed}, under which ${source} is installed, found ${name}: update that one`;
  return [packageFault('InvalidPackage', why)];
}

/** The live objects of a source that the Lock does not hold. */
interface Lost {
  /** Names of the package objects whose revision is Active. */
  readonly packages: readonly string[];
  /** `spec.package` of the live object of that name. */
  readonly live: string | undefined;
}

/**
 * Under its former name the package is installed again. Under another name the former package would stay beside the new one. A
 * package that the Lock does not hold counts as new, so its version could fall.
 */
export function lostEntry(
  { kind, name, source, isRoot, package: next }: Named & { readonly isRoot: boolean; readonly package: string },
  { packages, live }: Lost,
): readonly PackageFault[] {
  const isOlder = !isRoot && packages.includes(name) && isLowered(live, next);
  const found = packages.find((one) => one !== name) ?? (isOlder ? name : undefined);
  if (found === undefined) return [];
  const what = `${kind} ${name}: ${source} is installed as ${kind} ${quoted(found)}, and the Lock has lost its entry`;
  const repair = isRoot
    ? 'name the package so, which gives it its entry back'
    : `install ${quoted(found)} with a package transaction of its own first, which gives it its entry back`;
  return [packageFault('InvalidPackage', `${what}: ${repair}`)];
}

/** Whether the version falls. For a digest this is not known. */
function isLowered(from: string | undefined, to: string): boolean {
  const [before, after] = [from, to].map((one) => readCompleteVersion(readReference(one ?? '')?.version ?? ''));
  return before !== undefined && after !== undefined && compareVersions(after, before) < 0;
}
