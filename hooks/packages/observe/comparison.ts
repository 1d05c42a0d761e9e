// Compares what packages bring with the live objects that it would replace.
import { type JsonObject, textAt } from '../../model/json.ts';
import { replacementFaults } from '../checks/conflicts.ts';
import { installable, type Member } from '../checks/contents.ts';
import type { PackageFault } from '../model/fault.ts';
import type { Registry, RegistryFailed } from '../registry.ts';
import { formerRevisions } from './former.ts';
import type { Held } from './tree.ts';

/** The live object of the kind and name of a member; undefined if there is none. */
export type Live = (member: Member) => Promise<JsonObject | undefined>;

/**
 * The version in which live objects of the kind of a member are read. That of CompositeResourceDefinitions is always the stored one:
 * in another one fields would be missing.
 */
export function liveVersionOf({ apiVersion, kind }: Member): string {
  return kind === 'CompositeResourceDefinition' ? 'apiextensions.crossplane.io/v1' : apiVersion;
}

/** The revisions that other ones of the tree replace: what they control may move to any package of it. */
export function leavingIn(packages: readonly Held[]): readonly string[] {
  return packages.flatMap(({ leaves, revision }) => (leaves === undefined || leaves === revision ? [] : [leaves]));
}

/**
 * Compares the objects of each package with the live ones, package by package, so that memory holds only those of one package.
 * `leaving`: of the whole tree.
 */
export async function compareWithLive(
  packages: readonly Held[],
  registry: Registry,
  live: Live,
  leaving = leavingIn(packages),
): Promise<readonly PackageFault[] | RegistryFailed> {
  const faults: PackageFault[] = [];
  for (const held of packages) {
    const found = await comparePackage(held, leaving, registry, live);
    if ('kind' in found) return found;
    faults.push(...found);
  }
  return faults;
}

async function comparePackage(
  held: Held,
  ofTree: readonly string[],
  registry: Registry,
  live: Live,
): Promise<readonly PackageFault[] | RegistryFailed> {
  const { source, digest, contents, revision, leaves } = held;
  const present = new Map<string, JsonObject>();
  for (const member of contents?.members ?? []) {
    const found = await live(member);
    if (found !== undefined) present.set(`${member.kind} ${member.name}`, found);
  }
  if (present.size === 0 || digest === undefined) return [];
  const faults: PackageFault[] = [];
  const leaving = [
    revision,
    ...ofTree,
    ...(leaves === undefined ? [] : [leaves]),
    ...(await formerRevisions({ ...held, kind: contents?.meta.kind }, [...present.values()], live)),
  ];
  const answer = await registry.read(source, digest, (object) => {
    const found = present.get(`${textAt(object, 'kind')} ${textAt(object, 'metadata', 'name')}`);
    if (found !== undefined) faults.push(...replacementFaults({ live: found, next: installable(object), leaving }));
  });
  return answer.kind === 'failed' ? answer : faults;
}
