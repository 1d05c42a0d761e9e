// Compares the objects of packages with the live objects that they would replace.

import { type JsonObject, textAt } from '../../objects/json.ts';
import type { Reference } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { brokenFault, controllerOf, type DefinitionChange, isBroken, replacementFaults } from '../checks/conflicts.ts';
import { installable } from '../checks/contents.ts';
import type { PackageFault } from '../model/fault.ts';
import { isRevisionOf } from '../model/names.ts';
import { packageApiVersion } from '../model/package.ts';
import type { Registry, RegistryFailed } from '../registry.ts';
import { type Progress, soFar } from './progress.ts';
import type { TreePackage } from './tree.ts';

/** The live object with the kind and name of an object; undefined if it does not exist. */
export type Live = (object: Reference) => Promise<JsonObject | undefined>;

/**
 * The version in which the hook reads live objects of the kind of an object. It always reads CompositeResourceDefinitions in the
 * stored version: in another version fields would be missing.
 */
export function liveVersionOf({ apiVersion, kind }: Reference): string {
  return kind === 'CompositeResourceDefinition' ? 'apiextensions.crossplane.io/v1' : apiVersion;
}

/** The revisions that other revisions of the tree replace. Objects that they control may move to any package of the tree. */
export function leavingIn(packages: readonly TreePackage[]): readonly string[] {
  return packages.flatMap(({ leaves, revision }) => (leaves === undefined || leaves === revision ? [] : [leaves]));
}

interface Comparing {
  readonly registry: Registry;
  readonly live: Live;
  /** Names of the revisions that the Lock holds. If absent, they are not known. */
  readonly locked?: ReadonlySet<string>;
  /** The revisions of the whole tree that are replaced. If absent, the replaced revisions of these packages. */
  readonly leaving?: readonly string[];
  readonly progress?: Progress;
  /** The faults of a definition that would break the live one: its instances decide. If absent, each is a fault. */
  readonly faultsOfBroken?: (broken: DefinitionChange) => Promise<readonly PackageFault[]>;
}

const endless: Progress = { has: () => false, add: () => undefined, notes: new Set(), isOver: () => false };

/** The number of live objects that are in memory at once. The hook reads the package once more for each such part. */
const part = 128;

/**
 * Compares the objects of each package with the live objects, part by part. The result is `unfinished` if it finds no fault, but
 * the time is over before the last part.
 */
export async function compareWithLive(
  packages: readonly TreePackage[],
  comparing: Comparing,
): Promise<readonly PackageFault[] | 'unfinished' | RegistryFailed> {
  const { progress = endless, leaving = leavingIn(packages) } = comparing;
  const faults: PackageFault[] = [];
  for (const one of partsOf(packages).filter(({ name }) => !progress.has(name))) {
    const found = await comparePart(one, { ...comparing, leaving });
    if ('kind' in found) return found;
    faults.push(...found);
    if (found.length === 0) progress.add(one.name);
    if (progress.isOver()) return soFar(faults);
  }
  return faults;
}

interface Part {
  readonly pkg: TreePackage;
  readonly objects: readonly Reference[];
  readonly name: string;
}

function partsOf(packages: readonly TreePackage[]): readonly Part[] {
  return packages.flatMap((pkg) => {
    const objects = pkg.contents?.objects ?? [];
    const starts = Array.from({ length: Math.ceil(objects.length / part) }, (_, index) => index * part);
    return starts.map((start) => ({ pkg, objects: objects.slice(start, start + part), name: `${pkg.revision} ${start}` }));
  });
}

async function comparePart(
  { pkg, objects }: Part,
  {
    registry,
    live,
    locked,
    leaving: ofTree,
    faultsOfBroken = async (one) => [brokenFault(one)],
  }: Comparing & { readonly leaving: readonly string[] },
): Promise<readonly PackageFault[] | RegistryFailed> {
  const { source, digest, revision, leaves } = pkg;
  const all = await inTurn(objects, async (object) => [`${object.kind} ${object.name}`, await live(object)] as const);
  const present = new Map(all.flatMap(([name, found]) => (found === undefined ? [] : [[name, found] as const])));
  if (present.size === 0 || digest === undefined) return [];
  const { own, gone } = await previousRevisions(pkg, [...present.values()], live);
  const leaving = [revision, ...ofTree, ...(leaves === undefined ? [] : [leaves]), ...own];
  const [faults, broken]: [PackageFault[], DefinitionChange[]] = [[], []];
  const answer = await registry.read(source, digest, (object) => {
    const found = present.get(`${textAt(object, 'kind')} ${textAt(object, 'metadata', 'name')}`);
    const compared = found && replacementFaults({ live: found, next: installable(object), leaving, gone, locked });
    if (compared === undefined) return;
    if (isBroken(compared)) broken.push(compared);
    else faults.push(...compared);
  });
  if (answer.kind === 'failed') return answer;
  return [...faults, ...(await inTurn(broken, faultsOfBroken)).flat()];
}

/**
 * The revisions of the package itself, and the revisions that are gone, among the controllers of these objects. The Lock may have
 * lost the entry of their package.
 */
async function previousRevisions(pkg: TreePackage, objects: readonly JsonObject[], live: Live) {
  const kind = `${pkg.contents?.meta.kind}Revision`;
  const controllers = objects.map(controllerOf).filter((one) => textAt(one, 'kind') === kind);
  const names = [...new Set(controllers.map((one) => textAt(one, 'name') ?? ''))];
  const found = await Promise.all(names.map((name) => live({ apiVersion: packageApiVersion, kind, name })));
  return {
    own: names.filter((name, index) => isRevisionOf(pkg, name, found[index])),
    gone: names.filter((_, index) => found[index] === undefined),
  };
}
