// Objects for scenarios to change, and their changes: ConfigMaps unless a test is about another kind.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { type Client, must } from './client.ts';
import { comparable, type Stage } from './stage.ts';

export interface TargetParts {
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly namespace?: string;
}

/** One entry of spec.changes. */
export function change(type: string, name: string, content?: JsonObject, parts: TargetParts = {}): JsonObject {
  const target = { apiVersion: 'v1', kind: 'ConfigMap', name, ...parts };
  return content === undefined ? { type, target } : { type, target, content };
}

/** An Update that recreates its object if it cannot be made in place. */
export function recreating(name: string, content: JsonObject, parts: TargetParts = {}): JsonObject {
  return { ...change('Update', name, content, parts), whenImmutable: 'Recreate' };
}

/** Creates ConfigMaps with `data` as people do: one tool creates them, another applies one key. */
export async function createConfigMaps(
  stage: Stage,
  names: readonly string[],
  data: JsonObject = { color: 'blue' },
): Promise<void> {
  await Promise.all(
    names.map(async (name) => {
      const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels: { team: 'shop' } }, data: { ...data } };
      must(await stage.client.create(stage.path('configmaps'), object, { fieldManager: 'kubectl-create' }));
      const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { applied: 'yes' } };
      must(await stage.client.apply(stage.path(`configmaps/${name}`), applied, { fieldManager: 'gitops' }));
    }),
  );
}

/** What must be equal before and after; undefined for an object that does not exist. `isNew`: without identity and age. */
export async function portraits(client: Client, paths: readonly string[], isNew = false): Promise<readonly unknown[]> {
  return Promise.all(
    paths.map(async (path) => {
      const answer = await client.get(path);
      return answer.code === 404 ? undefined : comparable(must(answer), isNew);
    }),
  );
}
