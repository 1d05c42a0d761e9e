// A Transaction that is under way while the definition is renewed: its conditions were a map by type before, with owners for each
// field of each. Tried on a definition of its own, since the suite shares the real one.
import t from 'tap';
import { at, type JsonObject, parseJson, textAt } from '../../hooks/objects/json.ts';
import { customResourceDefinition } from '../../schemas/custom-resource-definition.ts';
import { type Client, must, waitFor } from '../support/client.ts';
import { connectToCluster } from '../support/install.ts';
import { sampleSpec } from './samples.ts';

const group = 'older.example.org';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const path = `/apis/${group}/v1alpha1/namespaces/default/transactions`;

function definition(listType: 'map' | 'atomic'): JsonObject {
  const text = JSON.stringify(customResourceDefinition)
    .replaceAll('tx.janus.io', group)
    .replace('"shortNames":["tx","jtx"],"categories":["janus"]', '"shortNames":[]');
  const keys = '"x-kubernetes-list-type":"map","x-kubernetes-list-map-keys":["type"]';
  const [before, after = ''] = text.split('"conditions":{');
  const map = after.replace('"x-kubernetes-list-type":"atomic"', keys);
  return parseJson(listType === 'map' ? `${before}"conditions":{${map}` : text) as JsonObject;
}

async function install(client: Client, listType: 'map' | 'atomic'): Promise<void> {
  const object = definition(listType);
  must(await client.apply(`${definitions}/${textAt(object, 'metadata', 'name')}`, object, { fieldManager: 'install' }));
  await waitFor(async () => (await client.get(path)).code === 200, 'the definition to be served');
}

const types = ['Finished', 'Ready'];

/** Stores the next version of the status; gives what managedFields say of the conditions. */
async function storeStatus(client: Client): Promise<readonly string[]> {
  const object = must(await client.get(`${path}/sample`));
  const version = Number(at(object, 'status', 'version') ?? 0) + 1;
  const conditions = types.map((type) => ({
    type,
    status: 'False',
    reason: 'Tried',
    lastTransitionTime: '2026-01-01T00:00:00Z',
  }));
  const status = { phase: 'Preparing', version, conditions };
  const stored = must(await client.update(`${path}/sample/status`, { ...object, status }, { fieldManager: 'metacontroller' }));
  const entries = at(stored, 'metadata', 'managedFields') as readonly JsonObject[];
  const own = entries.find((entry) => textAt(entry, 'subresource') === 'status');
  return Object.keys((at(own, 'fieldsV1', 'f:status', 'f:conditions') ?? {}) as JsonObject);
}

t.test('the engine keeps writing conditions that had an owner for each field', async (t) => {
  const client = connectToCluster();
  t.teardown(async () => {
    await client.delete(`${definitions}/transactions.${group}`);
    await client.close();
  });
  await install(client, 'map');
  must(
    await client.create(path, {
      apiVersion: `${group}/v1alpha1`,
      kind: 'Transaction',
      metadata: { name: 'sample' },
      spec: sampleSpec,
    }),
  );
  const isOwnedByType = async (): Promise<boolean> => (await storeStatus(client)).some((key) => key.startsWith('k:'));
  t.ok(await isOwnedByType(), 'by type before');
  await install(client, 'atomic');
  await waitFor(async () => !(await isOwnedByType()), 'the new definition to be in force');
});
