// Finds the snapshots in a namespace. Their names end in text that only the engine's key gives, so tests look them up.
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { snapshotNames } from '../../hooks/transactions/snapshots/names.ts';
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { must } from './client.ts';
import { sealerOf } from './engine.ts';
import { connectionOf } from './kubeconfig.ts';
import type { Stage } from './stage.ts';

type Place = Pick<Stage, 'client' | 'namespace' | 'path'>;

/** The name of the first ConfigMap of a snapshot, or of another part. */
const snapshotName = /^(.+)-rollback-[0-9a-f]{20}(-\d+)?$/;

/** All existing parts of a Transaction's snapshot, the first part first. */
export async function snapshotParts({ client, path }: Place, name: string): Promise<readonly JsonObject[]> {
  const { items } = await client.list(path('configmaps'));
  const nameOf = (item: JsonObject): string => textAt(item, 'metadata', 'name') ?? '';
  const found = items.filter((item) => snapshotName.exec(nameOf(item))?.[1] === name);
  return found.sort((left, right) => (nameOf(left) < nameOf(right) ? -1 : 1));
}

/** The first ConfigMap of its snapshot, with the kind that a list omits. */
export async function snapshotOf(place: Place, name: string): Promise<JsonObject> {
  return { apiVersion: 'v1', kind: 'ConfigMap', ...must(await place.client.get(await snapshotPath(place, name))) };
}

/** The path of the first ConfigMap of its snapshot. */
export async function snapshotPath(place: Place, name: string): Promise<string> {
  const [first] = await snapshotParts(place, name);
  if (first === undefined) throw new Error(`Transaction ${name} has no snapshot`);
  return place.path(`configmaps/${textAt(first, 'metadata', 'name')}`);
}

/** The possible names of its snapshot, computed with the key. */
export async function snapshotNamesOf(
  place: Place & Pick<Stage, 'engineKubeconfig' | 'read'>,
  name: string,
): Promise<readonly string[]> {
  const cluster = createCluster(connectionOf(place.engineKubeconfig), { writeTimeout: 10_000 });
  try {
    const uid = textAt(await place.read(name), 'metadata', 'uid') ?? '';
    return snapshotNames({ namespace: place.namespace, name, uid }, await sealerOf(cluster));
  } finally {
    await cluster.close();
  }
}
