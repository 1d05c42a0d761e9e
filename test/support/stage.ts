// Everything that a scenario needs on the real API server: a namespace with a ServiceAccount, the hook, and Metacontroller's loop
// for the Transactions of that namespace only.
import { randomBytes } from 'node:crypto';
import type { AddressInfo } from 'node:net';
import type { Cluster, Manifests } from '../../hooks/objects/cluster.ts';
import { at, isList, isObject, type Json, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import type { StepReport, Timing } from '../../hooks/transactions/call.ts';
import { createSync } from '../../hooks/transactions/reconcile.ts';
import { buildApp } from '../../server/app.ts';
import { clock } from '../../server/clock.ts';
import { createExpressions } from '../../server/expressions/expressions.ts';
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { createSealer } from '../../server/kubernetes/sealer.ts';
import { ensureSealingKeys } from '../../server/kubernetes/sealing-key.ts';
import { createEventRecorder } from '../../server/telemetry/events.ts';
import { createMetrics } from '../../server/telemetry/metrics.ts';
import { type Client, connect, freeNamespace, must, type Patience, testKubeconfig, waitFor } from './client.ts';
import { engineKubeconfig } from './engine-identity.ts';
import { byToken, callHeaders, hookToken } from './hook-token.ts';
import { engineNamespace, installManifests } from './install.ts';
import { connectionOf } from './kubeconfig.ts';
import { manifests } from './manifests.ts';
import { type Loop, type LoopOptions, startLoop } from './metacontroller/loop.ts';
import { surface } from './surface.ts';

interface StageOptions {
  /** Wraps the port, for faults. */
  readonly wrap?: (cluster: Cluster) => Cluster;
  /** What reads sources; that of all tests by default. */
  readonly manifests?: Manifests;
  readonly timing?: Partial<Timing>;
  readonly loop?: Partial<LoopOptions>;
  /** No loop: the test calls the hook itself. */
  readonly withoutLoop?: boolean;
  /** The rights of the ServiceAccount, as rules of a ClusterRole; all rights by default. */
  readonly rules?: readonly JsonObject[];
  /** Receives the whole log of the hook, one JSON object per line. */
  readonly logTo?: { readonly write: (line: string) => void };
  /** Starts hooks outside of the test's process, and returns the address that answers calls. */
  readonly hooks?: (kubeconfig: string) => Promise<string>;
}

export interface Stage {
  readonly client: Client;
  /** The administrator's kubeconfig, which `client` uses. */
  readonly kubeconfig: string;
  /** The kubeconfig of the engine's ServiceAccount, with the rights of manifests/rbac.yaml. */
  readonly engineKubeconfig: string;
  readonly namespace: string;
  readonly hookUrl: string;
  /** The label that the loop selects; `transaction` sets it. */
  readonly label: Readonly<Record<string, string>>;
  readonly reports: readonly StepReport[];
  /** Which loop runs: the double or a real Metacontroller. */
  readonly loop: Loop | undefined;
  /** Creates a Transaction and returns it as stored. */
  transaction(name: string, changes: readonly JsonObject[], more?: TransactionExtras): Promise<JsonObject>;
  read(name: string): Promise<JsonObject>;
  /** Waits until the condition Finished is True, and returns the status. */
  finished(name: string, patience?: Patience): Promise<JsonObject>;
  phase(name: string, phase: string, patience?: Patience): Promise<JsonObject>;
  annotate(name: string, annotations: Readonly<Record<string, string>>): Promise<void>;
  /** Path of a namespaced object of the core group in the stage's namespace, or of any group as `apps/v1/deployments/web`. */
  path(suffix: string): string;
  /** Names of the Leases whose holder is a Transaction of the stage's namespace. */
  leases(): Promise<readonly string[]>;
  call(
    name: string,
    path?: '/sync' | '/finalize',
  ): Promise<{ readonly code: number; readonly body: JsonObject; readonly text: string }>;
}

interface TransactionExtras {
  readonly spec?: JsonObject;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly namespace?: string;
}

interface Test {
  teardown(handler: () => unknown): unknown;
}

export const account = 'deployer';

/** Timing short enough for tests that wait for a late write to land. */
const timing: Timing = { stepDeadline: 20_000, writeTimeout: 10_000, readAge: 1_000 };

/** ms: a stage with a loop has windows as shipped; a test that steps by hand sees each change. */
const callBudget = 5_000;

export async function startStage(t: Test, options: StageOptions = {}): Promise<Stage> {
  const kubeconfig = testKubeconfig();
  const client = connect(kubeconfig);
  t.teardown(() => client.close());
  await installManifests(client);
  const namespace = await freeNamespace(client, 'stage', t);
  await createAccount(client, namespace, options.rules ?? everything, t);
  const reports: StepReport[] = [];
  const engine = await engineKubeconfig(t, client, kubeconfig);
  const hookUrl = await (options.hooks?.(engine) ?? startHook(t, engine, options, reports));
  const label = { 'test.janus.io/stage': randomBytes(6).toString('hex') };
  const loop =
    options.withoutLoop === true
      ? undefined
      : await startLoop({ kubeconfig, hookUrl, token: hookToken, name: namespace, matchLabels: label, ...options.loop });
  t.teardown(() => loop?.stop());
  t.teardown(() => removeTransactions(client, namespace, loop));
  return stageOf({ client, kubeconfig, engineKubeconfig: engine, namespace, hookUrl, label, reports, loop });
}

const everything: readonly JsonObject[] = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];

async function createAccount(client: Client, namespace: string, rules: readonly JsonObject[], t: Test): Promise<void> {
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  must(await client.create(`/api/v1/namespaces/${namespace}/serviceaccounts`, { metadata: { name: account } }));
  must(await client.create(`${rbac}/clusterroles`, { metadata: { name: namespace }, rules }));
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: namespace };
  const subjects = [{ kind: 'ServiceAccount', name: account, namespace }];
  must(await client.create(`${rbac}/clusterrolebindings`, { metadata: { name: namespace }, roleRef, subjects }));
  t.teardown(async () => {
    await client.delete(`${rbac}/clusterrolebindings/${namespace}`);
    await client.delete(`${rbac}/clusterroles/${namespace}`);
  });
}

/** On a machine that does much else, an expression takes its time; test/server/expressions/limits.test.ts is about the limit. */
const patient = { limit: 10_000, idle: 30_000 };

async function startHook(t: Test, kubeconfig: string, options: StageOptions, reports: StepReport[]): Promise<string> {
  const connection = connectionOf(kubeconfig);
  const limits = { ...timing, callBudget: options.withoutLoop === true ? 0 : callBudget, ...options.timing };
  const plain = createCluster(connection, { writeTimeout: limits.writeTimeout });
  const keys = await waitFor(async () => {
    const answer = await ensureSealingKeys(plain, engineNamespace);
    return answer.kind === 'ok' ? answer.keyRing : undefined;
  }, 'the sealing key');
  const events = createEventRecorder(plain.transport);
  const expressions = createExpressions(patient);
  const cluster = options.wrap === undefined ? plain : options.wrap(plain);
  const app = buildApp({
    connectHook: (record) =>
      createSync({
        cluster,
        sealer: createSealer(() => keys),
        manifests: options.manifests ?? manifests,
        clock,
        expressions,
        timing: limits,
        engineNamespace,
        record: (report) => {
          reports.push(report);
          record(report);
          surface(report);
        },
      }),
    recordEvent: events.record,
    metrics: createMetrics(),
    readiness: () => undefined,
    access: byToken,
    bodyLimit: 8 * 1024 * 1024,
    logLevel: options.logTo === undefined ? ((process.env.JANUS_TEST_LOG ?? 'fatal') as 'fatal') : 'trace',
    ...(options.logTo && { logTo: options.logTo }),
  });
  await app.server.listen({ host: '127.0.0.1', port: 0 });
  t.teardown(async () => {
    await app.drain();
    await events.flush(1000);
    await expressions.close();
    await plain.close();
  });
  return `http://127.0.0.1:${(app.server.server.address() as AddressInfo).port}`;
}

const transactionsPath = (namespace: string): string => `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`;

// The loop lets a test's Transactions go. Without a loop, or if the loop fails to, finalizers are removed.
async function removeTransactions(client: Client, namespace: string, loop: Loop | undefined): Promise<void> {
  const path = transactionsPath(namespace);
  const { items } = await client.list(path);
  for (const item of items) await client.delete(`${path}/${textAt(item, 'metadata', 'name')}`);
  if (loop !== undefined) {
    const gone = async (): Promise<boolean> => (await client.list(path)).items.length === 0;
    await waitFor(gone, `the Transactions of ${namespace} to go`, { timeoutMs: 20_000 }).catch(() => undefined);
  }
  const finalizers = { metadata: { finalizers: null } };
  for (const item of (await client.list(path)).items)
    await client.patch(`${path}/${textAt(item, 'metadata', 'name')}`, finalizers);
  const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
  for (const item of (await client.list(configMaps)).items) {
    if (isList(at(item, 'metadata', 'finalizers')))
      await client.patch(`${configMaps}/${textAt(item, 'metadata', 'name')}`, finalizers);
  }
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;
  for (const name of await leasesOf(client, namespace)) await client.delete(`${leases}/${name}`);
}

async function leasesOf(client: Client, namespace: string): Promise<readonly string[]> {
  const { items } = await client.list(`/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`);
  const own = items.filter((lease) => (textAt(lease, 'spec', 'holderIdentity') ?? '').startsWith(`${namespace}/`));
  return own.map((lease) => textAt(lease, 'metadata', 'name') ?? '');
}

type Parts = Pick<Stage, 'client' | 'kubeconfig' | 'engineKubeconfig' | 'namespace' | 'hookUrl' | 'label' | 'reports' | 'loop'>;

function stageOf(parts: Parts): Stage {
  const { client, namespace, label, hookUrl } = parts;
  const at = (name: string): string => `${transactionsPath(namespace)}/${name}`;
  const read = async (name: string): Promise<JsonObject> => must(await client.get(at(name)));
  const phase: Stage['phase'] = (name, wanted, patience) =>
    waitFor(
      async () => {
        const object = await read(name);
        const status = statusOf(object);
        if (textAt(status, 'phase') === wanted) return status;
        throw new Error(describeStatus(status));
      },
      `Transaction ${name} to be ${wanted}`,
      patience,
    );
  return {
    ...parts,
    read,
    phase,
    transaction: async (name, changes, { spec = {}, annotations = {}, namespace: elsewhere = namespace } = {}) =>
      must(
        await client.create(transactionsPath(elsewhere), {
          apiVersion: 'tx.janus.io/v1alpha1',
          kind: 'Transaction',
          metadata: { name, labels: { ...label }, annotations: { ...annotations } },
          spec: { serviceAccountName: account, changes, ...spec },
        }),
      ),
    finished: (name, patience) =>
      waitFor(
        async () => {
          const status = statusOf(await read(name));
          if (conditionOf(status, 'Finished') === 'True') return status;
          throw new Error(describeStatus(status));
        },
        `Transaction ${name} to finish`,
        patience,
      ),
    annotate: async (name, annotations) => void must(await client.patch(at(name), { metadata: { annotations } })),
    path: (suffix) => pathIn(namespace, suffix),
    leases: () => leasesOf(client, namespace),
    call: async (name, path = '/sync') => {
      const parent = await read(name);
      return callHook(hookUrl, path, { controller: {}, parent, children: {}, related: {}, finalizing: path === '/finalize' });
    },
  };
}

export async function callHook(
  hookUrl: string,
  path: string,
  request: JsonObject,
): Promise<{ readonly code: number; readonly body: JsonObject; readonly text: string }> {
  const response = await fetch(`${hookUrl}${path}`, { method: 'POST', headers: callHeaders, body: JSON.stringify(request) });
  const text = await response.text();
  const body = JSON.parse(text === '' ? '{}' : text) as Json;
  return { code: response.status, body: isObject(body) ? body : {}, text };
}

export function pathIn(namespace: string, suffix: string): string {
  const [group, version, ...rest] = suffix.split('/');
  const isCore = !/^v\d/.test(version ?? '');
  return isCore
    ? `/api/v1/namespaces/${namespace}/${suffix}`
    : `/apis/${group}/${version}/namespaces/${namespace}/${rest.join('/')}`;
}

export function statusOf(transaction: JsonObject): JsonObject {
  const status = at(transaction, 'status');
  return isObject(status) ? status : {};
}

export function conditionOf(status: JsonObject, type: string): string | undefined {
  const conditions = at(status, 'conditions');
  const found = isList(conditions) ? conditions.find((condition) => textAt(condition, 'type') === type) : undefined;
  return textAt(found, 'status');
}

function describeStatus(status: JsonObject): string {
  return `phase ${textAt(status, 'phase')}, version ${JSON.stringify(at(status, 'version'))}, message: ${textAt(status, 'message')}`;
}

// A controller of Kubernetes counts the rollouts of a Deployment here; an undone rollout counts too.
const revision = 'deployment.kubernetes.io/revision';

// Controllers of Kubernetes, and the API server (usage of a quota, conditions of a CRD), write status at any time.
function isLasting(entry: Json): boolean {
  const isKubernetes = ['kube-controller-manager', 'kube-apiserver'].includes(textAt(entry, 'manager') ?? '');
  return !isKubernetes || textAt(entry, 'subresource') !== 'status';
}

/**
 * An object as content, for comparisons: without what the API server counts and stamps. `isNew`: the object was deleted and
 * recreated, so its identity may differ.
 */
export function comparable(object: JsonObject, isNew = false): Json {
  const counted = withPath(object, ['metadata', 'annotations', revision], undefined);
  const metadata = at(counted, 'metadata');
  const entries = at(metadata, 'managedFields');
  const unstable = ['resourceVersion', 'generation', 'managedFields', ...(isNew ? ['uid', 'creationTimestamp'] : [])];
  const managedFields = isList(entries)
    ? entries
        .filter(isLasting)
        .map((entry) => (isObject(entry) ? Object.fromEntries(Object.entries(entry).filter(([key]) => key !== 'time')) : entry))
    : [];
  const kept = isObject(metadata) ? Object.entries(metadata).filter(([key]) => !unstable.includes(key)) : [];
  const sorted = managedFields.map((entry) => JSON.stringify(entry)).sort();
  const rest = Object.entries(object).filter(([key]) => key !== 'metadata' && key !== 'status');
  return { ...Object.fromEntries(rest), metadata: Object.fromEntries(kept), managedFields: sorted };
}
