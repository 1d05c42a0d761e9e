// A version that is not served can be the one in which objects are stored: what its schema lacks is lost for the served ones.
import t from 'tap';
import { compareDefinitions } from '../../hooks/crossplane/compare/definition.ts';
import { at, type JsonObject } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { connectToCluster } from '../support/install.ts';

const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const group = `stored${process.pid}.example.org`;
const text = { type: 'string' };
const both = { a: text, b: text };

function definition(stored: string, properties: JsonObject): JsonObject {
  const version = (name: string, it: JsonObject, isStored: boolean): JsonObject => ({
    ...{ name, served: !isStored, storage: isStored },
    schema: { openAPIV3Schema: { type: 'object', properties: { it: { type: 'object', properties: it } } } },
  });
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `kepts.${group}` },
    spec: {
      ...{ group, scope: 'Cluster', names: { kind: 'Kept', plural: 'kepts', singular: 'kept', listKind: 'KeptList' } },
      versions: [version(stored, properties, true), version('v1', both, false)],
    },
  };
}

for (const stored of ['v1beta1', 'v1alpha1'])
  t.test(`a field removed from ${stored}, which is stored and not served`, async (t) => {
    const client = connectToCluster();
    t.teardown(async () => {
      await client.delete(`${definitions}/kepts.${group}`);
      await waitFor(async () => (await client.get(`${definitions}/kepts.${group}`)).code === 404, 'the kind to go');
      await client.close();
    });
    const path = `/apis/${group}/v1/kepts`;
    must(await client.create(definitions, definition(stored, both)));
    await waitFor(async () => (await client.get(path)).code === 200, 'the kind to be served');
    const object = { apiVersion: `${group}/v1`, kind: 'Kept', metadata: { name: 'one' }, it: { a: 'x', b: 'y' } };
    must(await client.create(path, object));
    const live = must(await client.get(`${definitions}/kepts.${group}`)) as JsonObject;
    const next = definition(stored, { a: text });
    t.same(compareDefinitions(live, definition(stored, both)), [], 'the stored definition is compatible with itself');
    t.match(compareDefinitions(live, next), [{ rule: 'fieldRemoved', version: stored, path: '.it.b' }]);
    t.same(compareDefinitions(definition(stored, { a: text }), next), [], 'what it never kept is not lost by it');
    must(await client.update(`${definitions}/kepts.${group}`, { ...next, metadata: at(live, 'metadata') as JsonObject }));
    const lost = async (): Promise<boolean> => at(must(await client.get(`${path}/one`)) as JsonObject, 'it', 'b') === undefined;
    await waitFor(lost, 'the API server to drop the field of the served version');
  });
