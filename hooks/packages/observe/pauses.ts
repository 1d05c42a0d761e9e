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
import { list, type PackageReader, served } from './read.ts';

export const managedDefinition = { apiVersion: 'apiextensions.crossplane.io/v1alpha1', kind: 'ManagedResourceDefinition' };

export async function pausesOf(
  reader: PackageReader,
  packages: readonly ChangedPackage[],
  objects: readonly PackageObject[],
): Promise<readonly Pause[]> {
  const leaving = (await inTurn(packages, (one) => leavingRevisions(reader, one))).flat();
  if (leaving.length === 0) return [];
  const resource = await served(reader, managedDefinition.apiVersion, managedDefinition.kind);
  const managed = resource === undefined ? [] : await list(reader, resource, undefined, {});
  const names = new Set(
    objects
      .map(({ object }) => object)
      .filter(isDefinition)
      .map(nameOf),
  );
  const left = leaving.map(({ target }) => textAt(target, 'name') ?? '');
  return [...leaving, ...managed.filter((one) => names.has(nameOf(one))).map((one) => definitionPause(one, left))];
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

/** Crossplane's write for the new revision takes the pause away, since the definition in the package has none. */
function definitionPause(live: JsonObject, leaving: readonly string[]): Pause {
  const target = { ...managedDefinition, name: nameOf(live) };
  const owner = controllerOf(live);
  return owner !== undefined && isLeaving(owner, leaving) ? { target, owner } : { target };
}
