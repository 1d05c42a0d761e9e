// The meta object, with which a package describes itself.

import { at, isList, type Json, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { groupOf, versionOf } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { readConstraint } from './constraint.ts';
import { allOrFault } from './fault.ts';
import { isDigest, type PackageReference, readSource } from './reference.ts';

export const packageKinds = ['Provider', 'Configuration', 'Function'] as const;

export type PackageKind = (typeof packageKinds)[number];

export const packageApiVersion = 'pkg.crossplane.io/v1';

export interface Dependency {
  /** The source. */
  readonly package: string;
  readonly kind: PackageKind;
  /** A range of versions, or a digest. */
  readonly constraints: string;
}

export interface Meta {
  readonly kind: PackageKind;
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly dependencies: readonly Dependency[];
  /** The versions of Crossplane that the package requires, if it names any. */
  readonly crossplane: string | undefined;
  readonly capabilities: readonly string[];
}

const metaGroup = 'meta.pkg.crossplane.io';
const metaVersions = ['v1', 'v1beta1', 'v1alpha1'];

/** A meta object describes the package and is not installed. */
export function isMeta(object: JsonObject): boolean {
  return groupOf(textAt(object, 'apiVersion') ?? '') === metaGroup;
}

export function kindOf(text: string | undefined): PackageKind | undefined {
  return packageKinds.find((kind) => kind === text);
}

/** The meta, or its fault in words. */
export function readMeta(object: JsonObject): Meta | string {
  const [apiVersion, kind] = [textAt(object, 'apiVersion') ?? '', kindOf(textAt(object, 'kind'))];
  if (kind === undefined || !metaVersions.includes(versionOf(apiVersion)))
    return `expected a meta object of kind ${packageKinds.join(', ')}, found ${quoted(apiVersion)} ${quoted(textAt(object, 'kind'))}`;
  const dependencies = readDependencies(at(object, 'spec', 'dependsOn'));
  const crossplane = textAt(object, 'spec', 'crossplane', 'version');
  if (typeof dependencies === 'string') return dependencies;
  if (crossplane !== undefined && readConstraint(crossplane)?.kind !== 'range')
    return `spec.crossplane.version: expected a range of versions, found ${quoted(crossplane)}`;
  return {
    kind,
    name: textAt(object, 'metadata', 'name') ?? '',
    labels: textsOf(at(object, 'metadata', 'labels')),
    dependencies,
    crossplane,
    capabilities: listAt(object, 'spec', 'capabilities').filter((one) => typeof one === 'string'),
  };
}

/** The most dependencies of one package. The hook requests each of them from a registry. */
export const mostDependencies = 500;

function readDependencies(value: Json | undefined): readonly Dependency[] | string {
  if (value !== undefined && value !== null && !isList(value)) return 'spec.dependsOn: expected a list';
  const entries = listAt(value);
  if (entries.length > mostDependencies) return `spec.dependsOn: at most ${mostDependencies} entries, found ${entries.length}`;
  return allOrFault(entries.map((entry, index) => readDependency(entry, `spec.dependsOn[${index}]`)));
}

/** `{apiVersion, kind, package, version}`, or the older form `{provider: …, version}`. */
function readDependency(entry: Json, place: string): Dependency | string {
  const legacy = packageKinds.find((kind) => textAt(entry, kind.toLowerCase()) !== undefined);
  const kind = kindOf(textAt(entry, 'kind')) ?? legacy;
  const source = textAt(entry, 'package') ?? (legacy === undefined ? undefined : textAt(entry, legacy.toLowerCase()));
  const constraints = textAt(entry, 'version') ?? '';
  if (kind === undefined || source === undefined)
    return `${place}: expected kind and package, or one of ${packageKinds.map((one) => one.toLowerCase()).join(', ')}`;
  if (readSource(source) === undefined)
    return `${place}: expected a repository such as registry.example.org/acme/name, without tag or digest, found ${quoted(source)}`;
  if (readConstraint(constraints) === undefined)
    return `${place}: expected a range of versions or a digest sha256:…, found ${quoted(constraints)}`;
  return { package: source, kind, constraints };
}

function textsOf(value: Json | undefined): Readonly<Record<string, string>> {
  const entries = typeof value === 'object' && value !== null ? Object.entries(value) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}

/** Whether the spec of a revision says that the revision is in use. */
export function isActive(revision: JsonObject | undefined): boolean {
  return textAt(revision, 'spec', 'desiredState') === 'Active';
}

/** Whether a user makes the revisions of the package Active. `spec`: that of the package. */
export function isManual(spec: Json | undefined): boolean {
  return textAt(spec, 'revisionActivationPolicy') === 'Manual';
}

/** Whether the package follows its tag, as Crossplane does. */
export function followsTag({ reference, spec }: { readonly reference: PackageReference; readonly spec: Json }): boolean {
  return textAt(spec, 'packagePullPolicy') === 'Always' && !isDigest(reference.version);
}

const longestQuote = 200;

/** Quotes text of a package in a message of the hook. */
export function quoted(text: string | undefined): string {
  return `"${foreign(text ?? '', longestQuote)}"`;
}
