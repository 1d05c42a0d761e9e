// Installs manifests into the cluster of the suite. All of it is idempotent, and safe in parallel.
import { createHash } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Answer, type Client, connect, must, type Query, testKubeconfig, waitFor } from './client.ts';

const manifests = new URL('../../manifests/', import.meta.url);
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

const crd = 'crds/transactions.tx.janus.io.yaml';
const others = ['namespace.yaml', 'rbac.yaml', 'admission.yaml', 'admission-spec.yaml'];
const transactions = '/apis/tx.janus.io/v1alpha1/transactions';

/** The namespace of the engine in the shipped manifests. */
export const engineNamespace = 'janus-system';
const namespacePath = `/api/v1/namespaces/${engineNamespace}`;
/** On that namespace: the digest of the manifests that a test has installed. */
const installed = 'tests.tx.janus.io/installed';

/** A client for the cluster of the suite. */
export function connectToCluster(): Client {
  return connect(testKubeconfig());
}

/** The objects of a manifest, by its path under manifests/. `edit` may change the text first. */
export async function readManifest(path: string, edit = (text: string): string => text): Promise<readonly JsonObject[]> {
  const documents = parseAllDocuments(edit(await readFile(new URL(path, manifests), 'utf8')));
  return documents.map((document) => document.toJS() as Json).filter(isObject);
}

/**
 * Installs the CRD, the namespace of the engine, its RBAC and the admission policies. Resolves once Transactions can be written,
 * the engine has its rights, and the API server enforces the policy for their spec.
 */
export async function installManifests(client: Client): Promise<void> {
  const digest = await digestOfManifests();
  const engine = client.asServiceAccount(engineNamespace, 'janus');
  if (await isInstalled(client, engine, digest)) return;
  await installCrd(client);
  for (const path of others) for (const object of await readManifest(path)) must(await applyObject(client, object));
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;
  for (const path of [transactions, leases])
    await waitFor(async () => (await engine.get(path, { limit: 1 })).code === 200, `the engine to be allowed to list ${path}`);
  await waitFor(() => refusesABadSpec(client), 'the policy of spec to take effect');
  must(await client.patch(namespacePath, { metadata: { annotations: { [installed]: digest } } }));
}

async function digestOfManifests(): Promise<string> {
  const hash = createHash('sha256');
  for (const path of [crd, ...others]) hash.update(await readFile(new URL(path, manifests)));
  return hash.digest('hex');
}

/** Each test file calls `installManifests`: repeated writes would take the API server half a second of processor time each. */
async function isInstalled(client: Client, engine: Client, digest: string): Promise<boolean> {
  const { body } = await client.get(namespacePath);
  if (textAt(body, 'metadata', 'annotations', installed) !== digest) return false;
  return (await refusesABadSpec(client)) && (await engine.get(transactions, { limit: 1 })).code === 200;
}

/** A policy takes effect some time after it is written. */
async function refusesABadSpec(client: Client): Promise<boolean> {
  const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'none' };
  const spec = { serviceAccountName: 'No-Name', changes: [{ type: 'Delete', target }] };
  const probe = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name: 'probe' }, spec };
  const path = '/apis/tx.janus.io/v1alpha1/namespaces/default/transactions';
  const answer = await client.create(path, probe, { dryRun: 'All' });
  return answer.code === 422 && (textAt(answer.body, 'message') ?? '').includes("'spec.transactions.tx.janus.io'");
}

/** Installs the CRD; resolves once the API server serves it. */
async function installCrd(client: Client): Promise<void> {
  const [definition = {}] = await readManifest(crd);
  const path = `${definitions}/${textAt(definition, 'metadata', 'name')}`;
  must(await client.apply(path, definition, { fieldManager: 'install' }));
  await waitFor(async () => isEstablished(must(await client.get(path))), 'the CRD of Transactions to be established');
  const list = (): Promise<Answer> => client.get(transactions, { limit: 1 });
  await waitFor(async () => (await list()).code === 200, 'Transactions to be served');
}

/** Whether the API server serves the kind of a CRD. */
export function isEstablished(definition: JsonObject): boolean {
  const conditions = at(definition, 'status', 'conditions');
  return (
    isList(conditions) && conditions.some((one) => textAt(one, 'type') === 'Established' && textAt(one, 'status') === 'True')
  );
}

/** Server-side apply of an object of any served kind, in the namespace that it names. */
export async function applyObject(client: Client, object: JsonObject, query: Query = {}): Promise<Answer> {
  return client.apply(await pathOf(client, object), object, { fieldManager: 'install', ...query });
}

/** The path of an object of any served kind. */
export async function pathOf(client: Client, object: JsonObject): Promise<string> {
  const [apiVersion = '', kind = ''] = [textAt(object, 'apiVersion'), textAt(object, 'kind')];
  const root = apiVersion.includes('/') ? `/apis/${apiVersion}` : `/api/${apiVersion}`;
  const resources = at(must(await client.get(root)), 'resources');
  const served = isList(resources) ? resources : [];
  const found = served.find((one) => textAt(one, 'kind') === kind && !textAt(one, 'name')?.includes('/'));
  if (found === undefined) throw new Error(`${kind} ${apiVersion} is not served`);
  const namespace = at(found, 'namespaced') ? `/namespaces/${textAt(object, 'metadata', 'namespace')}` : '';
  return `${root}${namespace}/${textAt(found, 'name')}/${textAt(object, 'metadata', 'name')}`;
}
