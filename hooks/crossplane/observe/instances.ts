// The instances of a CRD. The API server answers with 500 if it cannot convert one, which is a fact about the CRD: a call that failed would hold
// the Lock until the conversion webhook answers.
import type { Resource } from '../../objects/cluster.ts';
import { instancesOf as kindOf, servedVersions } from '../../objects/definitions.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import { isConverted } from '../checks/contents.ts';
import { quoted } from '../model/package.ts';
import { definitions } from '../writes/resources.ts';
import type { Garbage } from './observation.ts';
import { find, firstObjects, list, type PackageReader, ReadFailed } from './read.ts';

const shownInstances = 3;

/** Why a CRD must stay, in words. */
export async function instancesOf(reader: PackageReader, { resource, object }: Garbage): Promise<readonly string[]> {
  if (resource.kind !== definitions.kind) return [];
  const live = await find(reader, { resource, name: textAt(object, 'metadata', 'name') ?? '' });
  if (live === undefined) return [];
  const kind = kindOf(live);
  if (kind.version === '')
    return [`${nameOf(live)} serves no version, so its instances cannot be counted: serve one, or keep it`];
  const found = await readable(live, kind, () => firstObjects(reader, kind));
  if (typeof found === 'string') return [found];
  const { items, isMore } = found;
  if (items.length === 0) return [];
  const names = items.slice(0, shownInstances).map((one) => {
    const [namespace, name] = [textAt(one, 'metadata', 'namespace'), textAt(one, 'metadata', 'name')];
    return quoted(namespace === undefined ? name : `${namespace}/${name}`);
  });
  const count = `${isMore ? 'at least ' : ''}${items.length} ${items.length === 1 ? 'instance' : 'instances'}`;
  return [`${nameOf(live)} has ${count}, such as ${names.join(', ')}: delete them first`];
}

/** Versions that are served, and in which the API server cannot read an instance, in words. */
export async function unreadable(reader: PackageReader, definition: JsonObject): Promise<readonly string[]> {
  const found = await inTurn(servedVersions(definition), (version) => {
    const kind = { ...kindOf(definition), version };
    return readable(definition, kind, () => list(reader, kind, undefined, { keep: () => ({}) }));
  });
  return found.filter((one) => typeof one === 'string');
}

/** What `read` finds, or why the API server cannot read the instances in that version, in words. */
export async function readable<Found>(
  definition: JsonObject,
  { version }: Pick<Resource, 'version'>,
  read: () => Promise<Found>,
): Promise<Found | string> {
  try {
    return await read();
  } catch (error) {
    // Any other failure ends by itself.
    if (!(error instanceof ReadFailed) || error.failure.code !== 500) throw error;
    const next = isConverted(definition) ? '; its conversion webhook must answer' : '';
    return `${nameOf(definition)}: its instances cannot be read as ${version}: ${error.failure.message}${next}`;
  }
}

function nameOf(definition: JsonObject): string {
  return `CRD ${textAt(definition, 'metadata', 'name')}`;
}
