// A Replace: which installed packages leave, and whether the new tree can take their place.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { controllerOf } from '../checks/conflicts.ts';
import { definitionKey, equivalenceOf, type PackageDefinitions } from '../checks/equivalence.ts';
import { finalFault, type PackageFault, packageFault } from '../model/fault.ts';
import { type Installed, installedKind } from '../model/lock.ts';
import { packageLabel, sourceOfPackage, sourceOfRevision } from '../model/names.ts';
import type { PackageKind } from '../model/package.ts';
import type { Wanted } from '../model/package-transaction.ts';
import type { PackageReplacement } from '../model/replaced.ts';
import { reachableFrom } from '../model/replacement.ts';
import { holdersOf, notInstalled, useFault } from './deletion.ts';
import { type Parts, readParts } from './parts.ts';
import { managedDefinition } from './pauses.ts';
import type { PackageReader } from './read.ts';
import type { Tree, TreePackage } from './tree.ts';
import { protectedBy } from './usages.ts';

/** A tree, and the packages that leave for it. */
export interface ReplacementTree {
  readonly tree: Tree;
  readonly leaving: readonly Installed[];
}

type Resolve = (staying: readonly Installed[]) => Promise<Tree>;

/**
 * What the source requires, directly or not, leaves. The new tree may require a part of it: then that part stays, with what it
 * requires.
 */
export async function resolveReplacing(
  installed: readonly Installed[],
  wanted: Wanted,
  resolve: Resolve,
): Promise<ReplacementTree> {
  const { replaces = '', reference } = wanted;
  const reached = reachableFrom([replaces], installed);
  const fault = sourceFault(installed, wanted, replaces);
  if (fault !== undefined) return { tree: { kind: 'refused', faults: [fault] }, leaving: [] };
  for (let shared: ReadonlySet<string> = new Set(); ; ) {
    const leaving = installed.filter(({ source }) => reached.has(source) && !shared.has(source));
    const tree = await resolve(installed.filter((one) => !leaving.includes(one)));
    const needed =
      tree.kind === 'resolved' ? tree.packages.filter((one) => leaving.some(({ source }) => source === one.source)) : [];
    if (needed.length === 0) return { tree, leaving };
    shared = reachableFrom([...shared, ...needed.map(({ source }) => source)], installed);
    if (!shared.has(replaces)) continue;
    const message = `${reference.source} requires ${replaces}, which it would replace: name a package that does without it`;
    return { tree: { kind: 'refused', faults: [finalFault('NotEquivalent', message)] }, leaving: [] };
  }
}

function sourceFault(installed: readonly Installed[], { kind }: Wanted, replaces: string): PackageFault | undefined {
  const entry = installed.find(({ source }) => source === replaces);
  if (entry === undefined) return notInstalled('spec.replace.source', replaces, installed);
  const found = installedKind(entry);
  if (found === kind) return undefined;
  const message = `spec.replace.package: expected a ${found ?? 'package of the same kind'}, as which ${replaces} is installed, found a ${kind}`;
  return finalFault('NotEquivalent', message);
}

export interface Replacement {
  readonly faults: readonly PackageFault[];
  readonly replaced: readonly PackageReplacement[];
  /** The names of the revisions whose objects other revisions take. */
  readonly revisions: readonly string[];
}

interface Trees {
  readonly wanted: Wanted;
  readonly leaving: readonly Installed[];
  /** The new tree. */
  readonly packages: readonly TreePackage[];
  readonly installed: readonly Installed[];
  /** The packages of the Lock after the change. */
  readonly proposed: readonly Installed[];
  /** Crossplane makes a ManagedResourceDefinition of each CRD. */
  readonly isBeside: boolean;
}

export async function readReplacement(reader: PackageReader, trees: Trees): Promise<Replacement> {
  const { wanted, leaving, packages, installed, proposed, isBeside } = trees;
  const { replaces } = wanted;
  if (replaces === undefined) return { faults: [], replaced: [], revisions: [] };
  const parts = await readParts(reader, { sources: leaving.map(({ source }) => source), isReplaced: true });
  const kinds = new Map(installed.map((one) => [one.source, installedKind(one)]));
  const { replaced, faults } = equivalenceOf({
    leaving: definingOf(leaving, parts),
    coming: packages.map((one) => comingOf(one, kinds.get(one.source), isBeside)),
    named: { source: replaces, by: wanted.reference.source },
  });
  const usages = await protectedBy(reader, holdersOf(parts));
  const removed = new Set(installed.filter(({ isRemoved }) => isRemoved).map(({ source }) => source));
  const staying = proposed.filter(({ source }) => !removed.has(source));
  return {
    faults: [...requiredByOthers(leaving, staying), ...faults, ...[...usages.values()].map(useFault)],
    replaced,
    revisions: parts.revisions.map(({ object }) => textAt(object, 'metadata', 'name') ?? ''),
  };
}

function requiredByOthers(leaving: readonly Installed[], staying: readonly Installed[]): readonly PackageFault[] {
  const sources = new Set(leaving.map(({ source }) => source));
  return staying.flatMap((one) =>
    one.dependencies
      .filter((dependency) => sources.has(dependency.package))
      .map(({ package: source, constraints }) =>
        packageFault(
          'RequiredByOthers',
          `${one.source} requires ${source} ${constraints}: replace or delete ${one.source} first`,
        ),
      ),
  );
}

/** The definitions that the revisions of each package control. */
function definingOf(leaving: readonly Installed[], { packages, revisions, objects }: Parts): readonly PackageDefinitions[] {
  const sources = new Map(packages.map(({ object }) => [textAt(object, 'metadata', 'name'), sourceOfPackage(object)]));
  const isLeaving = (source: string | undefined): boolean => leaving.some((one) => one.source === source);
  const sourceOf = (revision: JsonObject): string | undefined => {
    const source = sourceOfRevision(revision);
    return isLeaving(source) ? source : sources.get(textAt(revision, 'metadata', 'labels', packageLabel));
  };
  const owners = new Map(revisions.map(({ object }) => [textAt(object, 'metadata', 'uid'), sourceOf(object)]));
  const held = objects.flatMap(({ resource, object }) => {
    const key = definitionKey(resource.kind, textAt(object, 'metadata', 'name'));
    return key === undefined ? [] : [{ key, source: owners.get(textAt(controllerOf(object), 'uid')) }];
  });
  return leaving.map((one) => ({
    source: one.source,
    kind: installedKind(one),
    definitions: held.filter(({ source }) => source === one.source).map(({ key }) => key),
  }));
}

function comingOf(
  { source, meta, contents }: TreePackage,
  installed: PackageKind | undefined,
  isBeside: boolean,
): PackageDefinitions {
  const keys = (contents?.objects ?? []).flatMap(({ kind, name }) => [
    definitionKey(kind, name),
    ...(isBeside && kind === 'CustomResourceDefinition' ? [definitionKey(managedDefinition.kind, name)] : []),
  ]);
  return { source, kind: meta?.kind ?? installed, definitions: keys.filter((key) => key !== undefined) };
}
