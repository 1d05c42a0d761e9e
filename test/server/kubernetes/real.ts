// The port over the cluster of the suite, and short ways to write with it.
import type { Answer, Cluster, Identity, Location, Precondition } from '../../../hooks/objects/cluster.ts';
import type { Failure } from '../../../hooks/objects/failure.ts';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { type ClusterOptions, createCluster, type KubernetesCluster } from '../../../server/kubernetes/cluster.ts';
import { connectionOf } from '../../support/kubeconfig.ts';

export const engine: Identity = { kind: 'engine' };

/** Who wrote, in managedFields. */
export const fieldManager = 'port-test';

export function kubeconfigOfSuite(): string {
  const path = process.env.JANUS_TEST_KUBECONFIG ?? '';
  if (path === '')
    throw new Error('JANUS_TEST_KUBECONFIG must name the kubeconfig of a cluster for tests: run npm test, which starts one');
  return path;
}

export function openCluster(options: Partial<ClusterOptions> = {}): KubernetesCluster {
  return createCluster(connectionOf(kubeconfigOfSuite()), { writeTimeout: 10_000, ...options });
}

export async function locationOf(cluster: Cluster, object: JsonObject, namespace?: string): Promise<Location> {
  const kind = textAt(object, 'kind') ?? '';
  const answer = await cluster.resource(textAt(object, 'apiVersion') ?? '', kind);
  if (answer.kind === 'failed') throw new Error(`${kind}: ${answer.failure.message}`);
  const name = textAt(object, 'metadata', 'name') ?? '';
  return { resource: answer.resource, name, ...(namespace === undefined ? {} : { namespace }) };
}

export async function create(cluster: Cluster, object: JsonObject, namespace?: string): Promise<JsonObject> {
  const location = await locationOf(cluster, object, namespace);
  return objectOf(await cluster.send({ verb: 'create', identity: engine, location, object, fieldManager }));
}

export function objectOf(answer: Answer): JsonObject {
  if (answer.kind === 'ok') return answer.object;
  throw new Error(`expected an object, found ${answer.failure.code} ${answer.failure.reason}: ${answer.failure.message}`);
}

export function failureOf(answer: { readonly kind: string; readonly failure?: Failure }): Failure {
  if (answer.failure !== undefined) return answer.failure;
  throw new Error('expected a failure, found success');
}

export function versionOf(object: JsonObject): Precondition {
  return {
    uid: textAt(object, 'metadata', 'uid') ?? '',
    resourceVersion: textAt(object, 'metadata', 'resourceVersion') ?? '',
  };
}

export function configMap(name: string, data: JsonObject = { a: '1' }): JsonObject {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data };
}
