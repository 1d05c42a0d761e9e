// Puts into a cluster what every test needs of the manifests. Idempotent, and safe while others do the same.
import { readFile } from 'node:fs/promises';
import { parseAllDocuments } from 'yaml';
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/model/json.ts';
import { type Client, connect, must, waitFor } from './client.ts';

const manifests = new URL('../../manifests/', import.meta.url);
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** The namespace of the engine as the shipped manifests have it. */
export const engineNamespace = 'janus-system';

/** The objects of a manifest, by its path under manifests/. */
export async function readManifest(path: string): Promise<readonly JsonObject[]> {
  const documents = parseAllDocuments(await readFile(new URL(path, manifests), 'utf8'));
  return documents.map((document) => document.toJS() as Json).filter(isObject);
}

/** Installs the CRD and the namespace of the engine; resolves once Transactions can be written. */
export async function installManifests(client: Client): Promise<void> {
  await installCrd(client);
  const [namespace = {}] = await readManifest('namespace.yaml');
  must(await client.apply(`/api/v1/namespaces/${engineNamespace}`, namespace, { fieldManager: 'install' }));
}

/** Installs the CRD; resolves once the API server serves it. */
export async function installCrd(client: Client): Promise<void> {
  const [definition = {}] = await readManifest('crds/transactions.tx.janus.io.yaml');
  const path = `${definitions}/${textAt(definition, 'metadata', 'name')}`;
  must(await client.apply(path, definition, { fieldManager: 'install' }));
  await waitFor(async () => isEstablished(must(await client.get(path))), 'the CRD of Transactions to be established');
  await waitFor(
    async () => (await client.get('/apis/tx.janus.io/v1alpha1/transactions', { limit: 1 })).code === 200,
    'Transactions to be served',
  );
}

function isEstablished(definition: JsonObject): boolean {
  const conditions = at(definition, 'status', 'conditions');
  return (
    isList(conditions) && conditions.some((one) => textAt(one, 'type') === 'Established' && textAt(one, 'status') === 'True')
  );
}

/** The cluster that the suite runs on: the runner names its kubeconfig. */
export function connectToCluster(): Client {
  const kubeconfig = process.env.KUBECONFIG;
  if (kubeconfig === undefined || kubeconfig === '')
    throw new Error('KUBECONFIG must name the kubeconfig of a cluster for tests: run npm test, which starts one');
  return connect(kubeconfig);
}
