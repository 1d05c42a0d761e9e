// What Crossplane must leave alone while packages are updated beside it: the revisions that leave, and the definitions that it has
// made of CRDs. It would write a CRD back as soon as the CRD differs from its definition.

import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { controllerOf, isLeaving } from '../checks/conflicts.ts';
import { packageApiVersion } from '../model/package.ts';
import type { Pause } from '../writes/beside.ts';
import type { ChangedPackage, PackageObject } from '../writes/changes.ts';
import { definitions } from '../writes/resources.ts';
import { activeRevisions } from './objects.ts';
import type { Garbage } from './observation.ts';
import type { Parts } from './parts.ts';
import { list, type PackageReader, served } from './read.ts';

export const managedDefinition = { apiVersion: 'apiextensions.crossplane.io/v1alpha1', kind: 'ManagedResourceDefinition' };

interface Changing {
  readonly packages: readonly ChangedPackage[];
  readonly objects: readonly PackageObject[];
  /** The packages that leave, of a Replace. */
  readonly left: Pick<Parts, 'packages' | 'revisions'>;
}

export async function pausesOf(reader: PackageReader, { packages, objects, left }: Changing): Promise<readonly Pause[]> {
  const updated = (await inTurn(packages, (one) => leavingRevisions(reader, one))).flat();
  const replaced = [...left.packages, ...left.revisions].map(pauseOf);
  if (updated.length + replaced.length === 0) return [];
  const resource = await served(reader, managedDefinition.apiVersion, managedDefinition.kind);
  const managed = resource === undefined ? [] : await list(reader, resource, undefined, {});
  const holders = new Map(objects.filter(({ object }) => isDefinition(object)).map((one) => [nameOf(one.object), one]));
  const names = [...updated, ...replaced].map(({ target }) => textAt(target, 'name') ?? '');
  const definitionPauses = managed.flatMap((one) => {
    const next = holders.get(nameOf(one));
    return next === undefined ? [] : [definitionPause(one, names, replaced.length > 0 ? next : undefined)];
  });
  return [...updated, ...replaced, ...definitionPauses];
}

function pauseOf({ resource: { group, version, kind }, object }: Garbage): Pause {
  return { target: { apiVersion: `${group}/${version}`, kind, name: nameOf(object) } };
}

/** Active revisions of the package that end with this try. */
async function leavingRevisions(reader: PackageReader, one: ChangedPackage): Promise<readonly Pause[]> {
  const active = await activeRevisions(reader, one.kind, one);
  const names = active.map(({ name }) => name).filter((name) => name !== one.revision);
  return names.map((name) => ({ target: { apiVersion: packageApiVersion, kind: `${one.kind}Revision`, name } }));
}

function isDefinition(object: JsonObject): boolean {
  return textAt(object, 'kind') === definitions.kind;
}

function nameOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'name') ?? '';
}

/**
 * Crossplane's write for the new revision takes the pause away, since the definition in the package has none. `next`: who holds the
 * CRD after a Replace.
 */
function definitionPause(live: JsonObject, leaving: readonly string[], next: PackageObject | undefined): Pause {
  const target = { ...managedDefinition, name: nameOf(live) };
  const owner = controllerOf(live);
  if (owner === undefined || !isLeaving(owner, leaving)) return { target };
  return next === undefined ? { target, owner } : { target, owner, next: { kind: `${next.kind}Revision`, name: next.revision } };
}
