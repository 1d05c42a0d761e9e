// A namespace with a stand-in for kubelets and a ServiceAccount, to read diagnoses there.
import type { Clock, Cluster, Identity } from '../../../hooks/objects/cluster.ts';
import { at, isList, type Json, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { readDiagnosis } from '../../../hooks/transactions/observe/diagnosis.ts';
import { locationOf, openCluster } from '../../server/kubernetes/real.ts';
import { type Client, connect, freeNamespace, must, type Teardown, testKubeconfig, waitFor } from '../../support/client.ts';
import { type Kubelet, startKubelet } from '../../support/kubelet.ts';
import { pathIn } from '../../support/stage.ts';

interface Scene {
  readonly client: Client;
  readonly cluster: Cluster;
  readonly namespace: string;
  readonly kubelet: Kubelet;
  /** Paths as `apps/v1/deployments`, or `pods` of the core group. */
  readonly create: (collection: string, object: JsonObject) => Promise<void>;
  readonly patch: (path: string, patch: JsonObject) => Promise<void>;
  readonly read: (path: string) => Promise<JsonObject>;
  readonly list: (collection: string) => Promise<readonly JsonObject[]>;
  /** Waits for so many Pods of which that is true. */
  readonly pods: (holds: (pod: JsonObject) => boolean, count?: number) => Promise<readonly [JsonObject, ...JsonObject[]]>;
  /** Waits until the object has the condition, with the reason if one is given. */
  readonly reaches: (path: string, type: string, reason?: string) => Promise<unknown>;
  /** As the ServiceAccount `deployer`, of an object that is not sealed, unless said otherwise. */
  readonly diagnose: (path: string, parts?: Partial<Parts>) => Promise<string>;
}

interface Parts {
  readonly sealed: boolean;
  readonly reader: Cluster;
  readonly identity: Identity;
  /** Of a machine without other work, by default: no time passes. */
  readonly clock: Clock;
}

const still: Clock = { monotonic: () => 0, sleep: () => new Promise(() => undefined) };

export const mayListReplicaSets: JsonObject = { apiGroups: ['apps'], resources: ['replicasets'], verbs: ['list'] };
const mayListTheRest: JsonObject = { apiGroups: [''], resources: ['pods', 'events'], verbs: ['list'] };

/** Its ServiceAccount `deployer` may read all that a diagnosis needs, unless other rules are given. */
export async function startScene(
  t: Teardown,
  rules: readonly JsonObject[] = [mayListReplicaSets, mayListTheRest],
): Promise<Scene> {
  const [cluster, client] = [openCluster(), connect(testKubeconfig())];
  t.teardown(() => Promise.all([client.close(), cluster.close()]));
  const namespace = await freeNamespace(client, 'diagnosis', t);
  await grant(client, namespace, rules);
  const path = (suffix: string): string => pathIn(namespace, suffix);
  const read: Scene['read'] = async (suffix) => must(await client.get(path(suffix)));
  const list: Scene['list'] = async (collection) => (await client.list(path(collection))).items;
  const deployer: Identity = { kind: 'serviceAccount', namespace, name: 'deployer' };
  return {
    client,
    cluster,
    namespace,
    kubelet: startKubelet(t, client, namespace),
    create: async (collection, object) => void must(await client.create(path(collection), object)),
    patch: async (suffix, patch) => void must(await client.patch(path(suffix), patch)),
    read,
    list,
    pods: (holds, count = 1) =>
      waitFor(async () => {
        const [first, ...rest] = (await list('pods')).filter(holds);
        return first !== undefined && rest.length + 1 >= count ? ([first, ...rest] as const) : undefined;
      }, `${count} Pods as they are to be`),
    reaches: (suffix, type, reason) =>
      waitFor(async () => hasCondition(await read(suffix), type, reason), `${suffix} to have ${type} (${reason})`),
    diagnose: async (suffix, parts = {}) => {
      const object = await read(suffix);
      const location = await locationOf(cluster, object, namespace);
      const usual = { reader: cluster, clock: still, identity: deployer, sealed: false, keepLogs: false };
      return (await readDiagnosis({ ...usual, ...parts, location, object })).words;
    },
  };
}

async function grant(client: Client, namespace: string, rules: readonly JsonObject[]): Promise<void> {
  const metadata = { name: 'deployer' };
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name: 'deployer' };
  const subjects = [{ kind: 'ServiceAccount', name: 'deployer', namespace }];
  const path = (plural: string): string => pathIn(namespace, `rbac.authorization.k8s.io/v1/${plural}`);
  must(await client.create(path('roles'), { metadata, rules }));
  must(await client.create(path('rolebindings'), { metadata, roleRef, subjects }));
}

export function hasCondition(object: JsonObject, type: string, reason: string | undefined): boolean {
  const conditions = at(object, 'status', 'conditions');
  const found = isList(conditions) ? conditions.find((one) => textAt(one, 'type') === type) : undefined;
  if (reason !== undefined) return textAt(found, 'reason') === reason;
  return textAt(found, 'status') === 'True';
}

export const deployments = 'apps/v1/deployments';
export const web = `${deployments}/web`;
export const labels = { app: 'web' };

interface TemplateParts {
  readonly annotations?: JsonObject;
  readonly container?: JsonObject;
  readonly restartPolicy?: string;
}

/** Of Pods that no scheduler binds: only the stand-in writes their status. */
export function template({ annotations = {}, container = {}, restartPolicy = 'Always' }: TemplateParts = {}): JsonObject {
  const containers = [{ name: 'app', image: 'registry.example/app:1', ...container }];
  return { metadata: { labels, annotations }, spec: { schedulerName: 'nobody', restartPolicy, containers } };
}

/** Named web. */
export function deployment(spec: JsonObject = {}): JsonObject {
  const base = { replicas: 1, selector: { matchLabels: labels }, template: template() };
  return { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' }, spec: { ...base, ...spec } };
}

export function waitsFor(reason: string): (pod: JsonObject) => boolean {
  return (pod) => textAt(firstOf(at(pod, 'status', 'containerStatuses')), 'state', 'waiting', 'reason') === reason;
}

function firstOf(list: Json | undefined): Json | undefined {
  return isList(list) ? list[0] : undefined;
}

export function nameOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'name') ?? '';
}
