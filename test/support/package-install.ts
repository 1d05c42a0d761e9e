// Installs package transactions into a control plane: their kind, the kinds of pkg.crossplane.io, and the rights of who installs.
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { isObject, type Json, type JsonObject } from '../../hooks/objects/json.ts';
import { type Client, must, waitFor } from './client.ts';
import { applyObject, isEstablished, readManifest } from './install.ts';
import { definitionPath, imageConfigPath, kinds, lockPath, packagePath, ptxPath, stagesPath } from './package-paths.ts';

const folder = process.env.CROSSPLANE_CRDS;

/** Resolves once all kinds are served and the ServiceAccount has its rights. `theirs`: a folder with Crossplane's CRDs. */
export async function installPackages(client: Client, theirs = folder): Promise<void> {
  const names = [...kinds, 'locks', 'imageconfigs'].map((plural) => `${plural}.pkg.crossplane.io`);
  const definitions = await Promise.all([
    readManifest('packages/transactions.pkg.crossplane.io.yaml'),
    ...names.map((name) => readKind(name, theirs)),
  ]);
  await applyAll(client, definitions.flat());
  for (const name of [...names, 'transactions.pkg.crossplane.io'])
    await waitFor(async () => isEstablished(must(await client.get(definitionPath(name)))), `${name} to be established`);
  const files = ['admission-spec.yaml', 'admission-owners.yaml', 'namespace.yaml', 'rbac.yaml', 'roles.yaml'].map((file) =>
    readManifest(`packages/${file}`),
  );
  await applyAll(client, (await Promise.all(files)).flat());
  await rightsAndStorage(client);
}

async function applyAll(client: Client, objects: readonly JsonObject[]): Promise<void> {
  for (const object of objects) must(await applyObject(client, object));
}

async function rightsAndStorage(client: Client): Promise<void> {
  const packages = client.asServiceAccount('janus-packages', 'janus-packages');
  await waitFor(async () => (await packages.get(stagesPath, { limit: 1 })).code === 200, 'the rights in janus-packages');
  // The API server answers 429 to the first lists of a kind, until its storage is there.
  for (const path of [...kinds.map((plural) => packagePath(plural)), ptxPath(), lockPath.replace(/\/lock$/, ''), imageConfigPath])
    await waitFor(async () => (await packages.get(path, { labelSelector: 'a=b' })).code !== 429, `${path} to be served`);
  await waitFor(async () => (await packages.get(packagePath('providers'), { limit: 1 })).code === 200, 'providers to be served');
}

/** Ours keep what they do not know; a strict dry run of Crossplane's refuses it. */
export const hasOwnKinds = folder === undefined;

/** Our own CRD of a kind, or Crossplane's. */
async function readKind(name: string, definitions: string | undefined): Promise<readonly JsonObject[]> {
  if (definitions === undefined) return readManifest(`packages/kinds/${name}.yaml`);
  const text = readFileSync(join(definitions, `pkg.crossplane.io_${name.split('.')[0]}.yaml`), 'utf8');
  return parseAllDocuments(text)
    .map((document) => document.toJS() as Json)
    .filter(isObject);
}
