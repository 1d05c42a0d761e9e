// Namespaces whose names several test files need, at the same time, in one cluster: manifests and charts name them. Each file notes that it
// uses them; the last one deletes those that tests have made.
import { at, isObject, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Client, type Teardown, waitFor } from './client.ts';

const made = 'tests.tx.janus.io/made';
const user = 'used-by.tests.tx.janus.io/';
const pathOf = (name: string): string => `/api/v1/namespaces/${name}`;

/** Resolves once they are there, and stay until the test has ended. */
export async function shareNamespaces(t: Teardown, client: Client, names: readonly string[]): Promise<void> {
  const key = `${user}${process.pid}`;
  for (const name of new Set(names)) {
    await waitFor(() => isJoined(client, name, key), `namespace ${name} to be there`);
    t.teardown(() => leave(client, name, key));
  }
}

async function isJoined(client: Client, name: string, key: string): Promise<boolean> {
  const created = await client.create('/api/v1/namespaces', { metadata: { name, annotations: { [made]: 'yes', [key]: 'yes' } } });
  if (created.code === 201) return true;
  const { code, body } = await client.patch(pathOf(name), { metadata: { annotations: { [key]: 'yes' } } });
  // One that is being deleted is made again once it is gone.
  return code === 200 && textAt(body, 'metadata', 'deletionTimestamp') === undefined;
}

async function leave(client: Client, name: string, key: string): Promise<void> {
  const { code, body } = await client.patch(pathOf(name), { metadata: { annotations: { [key]: null } } });
  if (code !== 200 || !isOursAlone(body)) return;
  // Whoever joins meanwhile changes the version.
  const resourceVersion = textAt(body, 'metadata', 'resourceVersion') ?? '';
  await client.delete(pathOf(name), { preconditions: { resourceVersion } });
}

function isOursAlone(namespace: JsonObject): boolean {
  const annotations = at(namespace, 'metadata', 'annotations');
  const keys = isObject(annotations) ? Object.keys(annotations) : [];
  return keys.includes(made) && !keys.some((key) => key.startsWith(user));
}
