// Names of package objects leave the registry out: two sources can come to one name, and one source can have two.

import { type PackageFault, packageFault } from '../model/fault.ts';
import { nameInRevision, revisionName } from '../model/names.ts';
import { type PackageKind, quoted } from '../model/package.ts';
import { readReference } from '../model/reference.ts';

const anyDigest = `sha256:${'0'.repeat(64)}`;

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

/** `found`: `spec.package` of the live object of that name. Another source under that name would be replaced unseen. */
export function takenName({ kind, name, source }: Named, found: string | undefined): readonly PackageFault[] {
  const live = found === undefined ? source : (readReference(found)?.source ?? quoted(found));
  if (live === source) return [];
  const why = `${kind} ${name}: expected a package of ${source}, found one of ${live}: use that source. To delete the ${kind} would delete its CRDs and all their objects`;
  return [packageFault('InvalidPackage', why)];
}

/** `installed`: the kind of the entry that the Lock has for this source. The former package would stay, under a kind that the Lock forgets. */
export function otherKind({ kind, source }: Named, installed: PackageKind | undefined): readonly PackageFault[] {
  if (installed === undefined || installed === kind) return [];
  const why = `${source}: expected a ${installed}, as which it is installed, found a ${kind}: no version of another kind can replace it`;
  return [packageFault('InvalidPackage', why)];
}

/** `revision`: what the Lock names for the source of the wanted package. */
export function otherName({ kind, name, source }: Named, revision: string | undefined): readonly PackageFault[] {
  if (revision === undefined) return [];
  const installed = nameInRevision(revision);
  if (installed === nameInRevision(revisionName(name, anyDigest))) return [];
  const why = `${kind} ${name}: expected the name ${installed}, under which ${source} is installed, found ${name}: update that one`;
  return [packageFault('InvalidPackage', why)];
}
