// The Leases of ConfigMaps that are targets in a stage.
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must } from './client.ts';
import { engineNamespace } from './install.ts';
import type { Stage } from './stage.ts';

export const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;

/** The Lease of a ConfigMap, and its path. Fails if there is none. */
export async function leaseOf(
  { client, namespace }: Stage,
  target: string,
): Promise<{ readonly path: string; readonly lease: JsonObject }> {
  const { items } = await client.list(leases);
  const lease = items.find((item) =>
    (textAt(item, 'metadata', 'name') ?? '').startsWith(`janus-lock-${namespace}-configmap-${target}-`),
  );
  if (lease === undefined) throw new Error(`expected a Lease for ConfigMap ${namespace}/${target}, found none`);
  return { path: `${leases}/${textAt(lease, 'metadata', 'name')}`, lease };
}

/** Makes the Leases of these ConfigMaps expire, as if their holder had been away for ten minutes. */
export async function ageLeases(stage: Stage, ...targets: readonly string[]): Promise<void> {
  const renewTime = `${new Date(Date.now() - 600_000).toISOString().slice(0, -1)}000Z`;
  for (const target of targets) must(await stage.client.patch((await leaseOf(stage, target)).path, { spec: { renewTime } }));
}

/** Deletes the Leases of these ConfigMaps, as a user does by hand. */
export async function deleteLeases(stage: Stage, ...targets: readonly string[]): Promise<void> {
  for (const target of targets) must(await stage.client.delete((await leaseOf(stage, target)).path));
}
