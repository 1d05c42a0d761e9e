// Schemas of a field `it`, each a version of one kind, so that the API server judges values by them.
import type { Json, JsonObject } from '../../hooks/objects/json.ts';
import { must, type Teardown, waitFor } from '../support/client.ts';
import { connectToCluster } from '../support/install.ts';

export interface Schemas {
  /** Why the API server refuses a value under the schema of that index; undefined where it takes it. Nothing is stored. */
  refusal(index: number, value: unknown): Promise<string | undefined>;
}

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
let kinds = 0;

export async function serveSchemas(t: Teardown, schemas: readonly JsonObject[]): Promise<Schemas> {
  const client = connectToCluster();
  kinds += 1;
  const group = `compare${process.pid}-${kinds}.example.org`;
  const versions = schemas.map((it, index) => ({
    name: `v${index + 1}`,
    served: true,
    storage: index === 0,
    schema: { openAPIV3Schema: { type: 'object', properties: { it } } },
  }));
  const names = { kind: 'Compared', plural: 'compareds', singular: 'compared', listKind: 'ComparedList' };
  const definition = {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `compareds.${group}` },
    spec: { group, names, scope: 'Cluster', versions },
  };
  must(await client.create(definitions, definition));
  t.teardown(async () => {
    await client.delete(`${definitions}/compareds.${group}`);
    await client.close();
  });
  const path = (index: number): string => `/apis/${group}/v${index + 1}/compareds`;
  await waitFor(async () => (await client.get(path(schemas.length - 1))).code === 200, 'the kind to be served');
  return {
    async refusal(index, value) {
      const object = { apiVersion: `${group}/v${index + 1}`, kind: 'Compared', metadata: { name: 'one' }, it: value as Json };
      const answer = await client.create(path(index), object, { dryRun: 'All' });
      if (answer.code === 201) return undefined;
      if (answer.code !== 422) throw new Error(`expected 201 or 422, found ${answer.code}: ${answer.text}`);
      return answer.text;
    },
  };
}
