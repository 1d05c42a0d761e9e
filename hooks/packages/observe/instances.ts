// The instances of a CRD.
import type { Resource } from '../../objects/cluster.ts';
import { at, type JsonObject, objectsAt, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { quoted } from '../model/package.ts';
import { definitions } from '../writes/resources.ts';
import type { Garbage } from './observation.ts';
import { find, firstObjects, list, type PackageReader, ReadFailed } from './read.ts';

const shownInstances = 3;

/** Why a CRD must stay, in words. */
export async function instancesOf(reader: PackageReader, { resource, object }: Garbage): Promise<readonly string[]> {
  if (resource.kind !== definitions.kind) return [];
  const live = await find(reader, { resource, name: textAt(object, 'metadata', 'name') ?? '' });
  const [version] = servedVersions(live);
  if (live === undefined) return [];
  const what = `CRD ${textAt(live, 'metadata', 'name')}`;
  if (version === undefined) return [`${what} serves no version, so its instances cannot be counted: serve one, or keep it`];
  const { items, isMore } = await firstObjects(reader, kindIn(live, version));
  if (items.length === 0) return [];
  const names = items.slice(0, shownInstances).map((one) => {
    const [namespace, name] = [textAt(one, 'metadata', 'namespace'), textAt(one, 'metadata', 'name')];
    return quoted(namespace === undefined ? name : `${namespace}/${name}`);
  });
  const count = `${isMore ? 'at least ' : ''}${items.length} ${items.length === 1 ? 'instance' : 'instances'}`;
  return [`${what} has ${count}, such as ${names.join(', ')}: delete them first`];
}

/** Versions that are served, and in which the API server cannot read an instance, in words. */
export async function unreadable(reader: PackageReader, definition: JsonObject): Promise<readonly string[]> {
  const found = await inTurn(servedVersions(definition), async (version) => {
    try {
      await list(reader, kindIn(definition, version), undefined, { keep: () => ({}) });
      return [];
    } catch (error) {
      // The API server answers so if it cannot convert an object. Any other failure ends by itself.
      if (!(error instanceof ReadFailed) || error.failure.code !== 500) throw error;
      return [
        `CRD ${textAt(definition, 'metadata', 'name')}: its instances cannot be read as ${version}: ${error.failure.message}`,
      ];
    }
  });
  return found.flat();
}

function servedVersions(definition: JsonObject | undefined): readonly string[] {
  const versions = objectsAt(definition, 'spec', 'versions').filter((one) => at(one, 'served') === true);
  return versions.map((one) => textAt(one, 'name') ?? '');
}

function kindIn(definition: JsonObject, version: string): Resource {
  const [group = '', names] = [textAt(definition, 'spec', 'group'), at(definition, 'spec', 'names')];
  return {
    ...{ group, version, verbs: ['list'], statusSubresource: false },
    plural: textAt(names, 'plural') ?? '',
    kind: textAt(names, 'kind') ?? '',
    namespaced: textAt(definition, 'spec', 'scope') === 'Namespaced',
  };
}
