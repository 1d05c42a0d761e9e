// Objects that name others as their owners.
import { at, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must } from './client.ts';
import type { Stage } from './stage.ts';

/** The stored form of an owner reference. */
export function ownerOf(object: JsonObject, more: JsonObject = {}): JsonObject {
  const [apiVersion, kind] = [textAt(object, 'apiVersion') ?? '', textAt(object, 'kind') ?? ''];
  return {
    apiVersion,
    kind,
    name: textAt(object, 'metadata', 'name') ?? '',
    uid: textAt(object, 'metadata', 'uid') ?? '',
    ...more,
  };
}

/** Creates a ConfigMap of somebody else with that owner; returns its path. */
export async function hangOn(stage: Stage, name: string, owner: JsonObject, more: JsonObject = {}): Promise<string> {
  const metadata = { name, ownerReferences: [ownerOf(owner, more)] };
  must(
    await stage.client.create(stage.path('configmaps'), { metadata, data: { theirs: 'yes' } }, { fieldManager: 'their-tool' }),
  );
  return stage.path(`configmaps/${name}`);
}

export async function isThere({ client }: Stage, path: string): Promise<boolean> {
  const { code, body } = await client.get(path);
  return code === 200 && at(body, 'metadata', 'deletionTimestamp') === undefined;
}

export function causeOf(status: JsonObject): Json | undefined {
  const conditions = at(status, 'conditions') as readonly JsonObject[];
  return conditions.find(({ type }) => type === 'Succeeded')?.reason;
}
