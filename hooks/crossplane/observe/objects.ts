// The objects of a package, as its registry holds them, and as they are in the cluster.

import type { Resource } from '../../objects/cluster.ts';
import { isTerminating } from '../../objects/content/ownership.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { isWebhookConfiguration } from '../checks/contents.ts';
import { isRevisionOf, packageLabel, type RevisionOwner, sourceOfRevision } from '../model/names.ts';
import { isMeta, type PackageKind } from '../model/package.ts';
import type { Stage } from '../model/status.ts';
import type { Registry, RegistryFailed } from '../registry.ts';
import { readContents, valuesIn } from '../writes/contents.ts';
import { configMaps, definitions, revisionsOfKind } from '../writes/resources.ts';
import { find, list, type PackageReader, served } from './read.ts';

/** How many more values may be in memory at once. */
interface MemoryBudget {
  left: number;
}

/** A value takes some 60 bytes, besides its text, of the 320 MiB that `npm start` allows. */
export const mostValues = 1_500_000;

/**
 * The objects without the meta. CustomResourceDefinitions come first, since other objects may need them. If the objects have no
 * room in memory, the package cannot be installed: a few kB, packed, can hold more than the memory of the hook.
 */
export async function objectsOf(
  source: string,
  digest: string,
  registry: Registry,
  room: MemoryBudget = { left: mostValues },
): Promise<{ readonly meta: JsonObject | undefined; readonly objects: readonly JsonObject[] } | RegistryFailed> {
  const objects: JsonObject[] = [];
  const answer = await registry.read(source, digest, (object) => {
    room.left -= valuesIn(object);
    if (room.left >= 0) objects.push(object);
  });
  if (answer.kind === 'failed') return answer;
  if (room.left < 0) return tooLarge(`${source}@${digest}`);
  const all = objects.filter((object) => !isMeta(object) && !isMadeByCrossplane(object));
  const isFirst = (object: JsonObject): boolean => textAt(object, 'kind') === definitions.kind;
  return { meta: objects.find(isMeta), objects: [...all.filter(isFirst), ...all.filter((object) => !isFirst(object))] };
}

function isMadeByCrossplane(object: JsonObject): boolean {
  return isWebhookConfiguration({ apiVersion: textAt(object, 'apiVersion') ?? '', kind: textAt(object, 'kind') ?? '' });
}

function tooLarge(which: string): RegistryFailed {
  const message = `${which}: expected at most ${mostValues} values in all objects of a tree, found more`;
  return { kind: 'failed', failure: { kind: 'invalid', message } };
}

/** How the API server serves the kind of an object; undefined if it does not serve the kind. */
export async function resourceOf(reader: PackageReader, object: JsonObject): Promise<Resource | undefined> {
  const [apiVersion = '', kind = ''] = [textAt(object, 'apiVersion'), textAt(object, 'kind')];
  return apiVersion === 'apiextensions.k8s.io/v1' && kind === definitions.kind ? definitions : served(reader, apiVersion, kind);
}

/** Active revisions of a package, each with the name and the source of its package. */
export async function activeRevisions(reader: PackageReader, kind: PackageKind, own: RevisionOwner) {
  const all = await list(reader, revisionsOfKind(kind), undefined, { whole: true });
  return all.flatMap((one) => {
    const name = textAt(one, 'metadata', 'name') ?? '';
    const isActive = textAt(one, 'spec', 'desiredState') === 'Active' && !isTerminating(one);
    const packageName = textAt(one, 'metadata', 'labels', packageLabel) ?? '';
    return isActive && isRevisionOf(own, name, one) ? [{ name, packageName, source: sourceOfRevision(one) }] : [];
  });
}

/** The contents of a stage; undefined if they are not the contents that were stored. */
export async function readStage(reader: PackageReader, { name, digest }: Stage): Promise<readonly JsonObject[] | undefined> {
  const contents = await find(reader, { resource: configMaps, namespace: reader.namespace, name });
  return contents === undefined ? undefined : readContents(contents, digest, reader.gzip);
}
