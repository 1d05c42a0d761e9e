// The Lock lists the installed packages with their dependencies. Crossplane writes it too, so this file reads all its forms.
import { at, isList, type Json, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { readConstraint } from './constraint.ts';
import { allOrFault } from './fault.ts';
import { type Dependency, kindOf, type PackageKind, packageApiVersion, quoted } from './package.ts';
import { isDigest, isTag, readSource } from './reference.ts';

/** One entry of the Lock. */
export interface Installed {
  /** The name of its revision. */
  readonly name: string;
  readonly source: string;
  /** Undefined if the Lock has only the digest. */
  readonly tag: string | undefined;
  /** Undefined if the Lock has only the tag. */
  readonly digest: string | undefined;
  readonly dependencies: readonly Dependency[];
  /** The entry as the Lock has it. */
  readonly entry: JsonObject;
  /** The version that its Package names, if that is another one: the Package has not installed it yet. */
  readonly applied?: string;
  /** The hook, not a user, has chosen its version for the packages that require it. If these packages go back, it goes back, too. */
  readonly mayGoBack?: true;
  /** Neither its package nor its revision exists: only its entry is installed. */
  readonly isRemoved?: true;
}

/** The entries of a Lock, or its fault in words, with its repair. `packages` is at the top level of the object. */
export function readLock(lock: JsonObject): readonly Installed[] | string {
  const packages = at(lock, 'packages');
  if (packages === undefined || packages === null) return [];
  if (!isList(packages)) return `the Lock: expected packages to be a list: ${editing}`;
  const entries = allOrFault(packages.map((entry, index) => readEntry(entry, `the Lock: packages[${index}]`)));
  if (typeof entries === 'string') return `${entries}: ${editing}`;
  const index = entries.findIndex(({ source }, at) => entries.findIndex((one) => one.source === source) < at);
  if (index < 0) return entries;
  return `the Lock holds ${quoted(entries[index]?.source)} twice; to remove the second entry: ${removing(index)}`;
}

function removing(index: number): string {
  const patch = `[{"op":"remove","path":"/packages/${index}"}]`;
  return `kubectl patch locks.pkg.crossplane.io lock --type=json -p '${patch}'`;
}

const editing = 'repair the Lock, by kubectl edit locks.pkg.crossplane.io lock';

function readEntry(entry: Json, place: string): Installed | string {
  const [name, source, version] = [textAt(entry, 'name'), textAt(entry, 'source'), textAt(entry, 'version')];
  if (name === undefined || source === undefined || version === undefined) return `${place}: expected name, source and version`;
  if (readSource(source) === undefined) return `${place}: expected a repository as source, found ${quoted(source)}`;
  const versions = readVersions(version);
  if (versions === undefined) return `${place}: expected a tag, a digest, or tag@digest as version, found ${quoted(version)}`;
  const listed = listAt(entry, 'dependencies');
  const dependencies = allOrFault(listed.map((one, index) => readDependency(one, `${place}.dependencies[${index}]`)));
  if (typeof dependencies === 'string') return dependencies;
  return { name, source, ...versions, dependencies, entry: entry as JsonObject };
}

/** `v1.0.0`, `sha256:…` or `v1.0.0@sha256:…`. */
function readVersions(version: string): Pick<Installed, 'tag' | 'digest'> | undefined {
  if (isDigest(version)) return { tag: undefined, digest: version };
  const at = version.indexOf('@');
  const [tag, digest] = at < 0 ? [version, undefined] : [version.slice(0, at), version.slice(at + 1)];
  return isTag(tag) && (digest === undefined || isDigest(digest)) ? { tag, digest } : undefined;
}

function readDependency(value: Json, place: string): Dependency | string {
  const source = textAt(value, 'package');
  const constraints = textAt(value, 'constraints');
  const kind = kindOf(textAt(value, 'kind') ?? textAt(value, 'type'));
  if (source === undefined || constraints === undefined || kind === undefined)
    return `${place}: expected package, kind and constraints`;
  if (readConstraint(constraints) === undefined)
    return `${place}: expected a range of versions or a digest sha256:… as constraints, found ${quoted(constraints)}`;
  return { package: source, kind, constraints };
}

/** The packages that are not removed. */
export function present(installed: readonly Installed[]): readonly Installed[] {
  return installed.filter(({ isRemoved }) => isRemoved !== true);
}

/** The kind of an installed package; Crossplane's former entries name it `type`. */
export function installedKind({ entry }: Pick<Installed, 'entry'>): PackageKind | undefined {
  return kindOf(textAt(entry, 'kind') ?? textAt(entry, 'type'));
}

/** The entry with its digest beside its tag. */
export function digested(one: Installed, digest: string): Installed {
  return { ...one, digest, entry: { ...one.entry, version: `${one.tag}@${digest}` } };
}

/** The entry with its tag alone, as Crossplane writes it. An entry without a tag keeps its digest. */
function withTagOnly(entry: JsonObject): JsonObject {
  const { tag } = readVersions(textAt(entry, 'version') ?? '') ?? {};
  return tag === undefined ? entry : { ...entry, version: tag };
}

/** The entries as the hook writes them. Crossplane's controllers read a tag or a digest, and not both. */
export function entriesToWrite(packages: readonly JsonObject[], isBeside = false): readonly JsonObject[] {
  return isBeside ? packages.map(withTagOnly) : packages;
}

const mostNamed = 10;

/** Names the entries without a digest, in words. Undefined if every entry has a digest. */
export function withoutDigest(packages: readonly JsonObject[]): string | undefined {
  const read = readLock({ packages });
  const left = typeof read === 'string' ? [] : read.filter(({ digest }) => digest === undefined);
  if (left.length === 0) return undefined;
  const names = left.slice(0, mostNamed).map(({ source, tag }) => quoted(`${source}:${tag}`));
  const more = left.length > mostNamed ? ` and ${left.length - mostNamed} more` : '';
  return `the Lock has no digest of ${names.join(', ')}${more}, for neither the revision nor the registry gives the one that was installed: install these packages again`;
}

/** The entry of a package in the Lock. */
export function lockEntry({ name, source, tag, digest, dependencies }: Omit<Installed, 'entry'>, kind: string): JsonObject {
  const version = [tag, digest].filter((one) => one !== undefined).join('@');
  const written = dependencies.map((one) => ({
    package: one.package,
    apiVersion: packageApiVersion,
    kind: one.kind,
    constraints: one.constraints,
  }));
  return { name, apiVersion: packageApiVersion, kind, source, version, dependencies: written };
}
