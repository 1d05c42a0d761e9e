// Whether a tree of packages can take the place of another one: each package that leaves has one successor, and each definition that
// it has installed is in the new tree.
import { finalFault, type PackageFault, packageFault } from '../model/fault.ts';
import type { PackageKind } from '../model/package.ts';
import { shortName } from '../model/reference.ts';
import type { PackageReplacement } from '../model/replaced.ts';

/** A package, and its definitions, as `definitionKey` names them. */
export interface PackageDefinitions {
  readonly source: string;
  /** Undefined if the Lock does not name it. */
  readonly kind: PackageKind | undefined;
  readonly definitions: readonly string[];
}

interface Equivalence {
  readonly replaced: readonly PackageReplacement[];
  readonly faults: readonly PackageFault[];
}

interface Trees {
  /** The packages that leave, and what their revisions hold. */
  readonly leaving: readonly PackageDefinitions[];
  /** The tree that comes. Its root is the first. */
  readonly coming: readonly PackageDefinitions[];
  /** The sources that the user has named. */
  readonly named: PackageReplacement;
}

/** `CustomResourceDefinition buckets.example.org`; undefined for an object that defines no kind. */
export function definitionKey(kind: string | undefined, name: string | undefined): string | undefined {
  return kind !== undefined && /ResourceDefinition$/.test(kind) ? `${kind} ${name}` : undefined;
}

export function equivalenceOf({ leaving, coming, named }: Trees): Equivalence {
  const [replaced, faults]: [PackageReplacement[], PackageFault[]] = [[], []];
  for (const one of leaving) {
    const found = one.source === named.source ? [named.by] : successorsOf(one, coming).map(({ source }) => source);
    const [by] = found;
    if (by !== undefined && found.length === 1) replaced.push({ source: one.source, by });
    else faults.push(withoutSuccessor(one, found, coming));
  }
  const there = new Set(coming.flatMap(({ definitions }) => definitions));
  const missing = leaving.flatMap((one) =>
    one.definitions.filter((key) => !there.has(key)).map((key) => missingFault(one, key, named)),
  );
  return { replaced, faults: [...faults, ...missing] };
}

/** By the last part of the repository. If no package has it, by the definitions. */
function successorsOf(
  { source, kind, definitions }: PackageDefinitions,
  coming: readonly PackageDefinitions[],
): readonly PackageDefinitions[] {
  const ofKind = coming.filter((one) => one.kind === kind);
  const alike = ofKind.filter((one) => shortName(one.source) === shortName(source));
  return alike.length > 0 ? alike : ofKind.filter((one) => one.definitions.some((key) => definitions.includes(key)));
}

const mostNamed = 10;

function listOf(names: readonly string[]): string {
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} more` : '';
  return `${names.slice(0, mostNamed).join(', ')}${more}`;
}

function withoutSuccessor(
  one: PackageDefinitions,
  found: readonly string[],
  coming: readonly PackageDefinitions[],
): PackageFault {
  const what = `${one.kind ?? 'Package'} ${one.source}: expected one package of the new tree in its place`;
  if (found.length > 1)
    return finalFault('NotEquivalent', `${what}, found ${listOf(found)}: publish a tree in which one of them has its name`);
  const held = one.definitions.length === 0 ? '' : `, or that holds ${listOf(one.definitions)}`;
  const there = listOf(coming.map(({ source }) => source));
  return finalFault(
    'NotEquivalent',
    `${what}, with the name ${shortName(one.source)}${held}, found none; the new tree is ${there}: name a package whose tree has one`,
  );
}

function missingFault({ source }: PackageDefinitions, key: string, { by }: PackageReplacement): PackageFault {
  const what = key.replace(/^CustomResourceDefinition /, 'CRD ');
  const why = `${what} of ${source} is in no package of the tree of ${by}, so no controller would reconcile its instances`;
  return packageFault('SchemaIncompatible', `${why}: name a package whose tree holds it`);
}
