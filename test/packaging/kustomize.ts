// Renders kustomizations as `kubectl apply -k` does, and applies and deletes what comes out as kubectl does.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Client, must, type Teardown, waitFor } from '../support/client.ts';
import { applyObject, pathOf } from '../support/install.ts';
import { buildPackaging } from '../tools/packaging/packaging.ts';

const root = join(import.meta.dirname, '../..');
const published = 'test/fixtures/metacontroller/install';
const remote = /https:\/\/github\.com\/metacontroller\/\S+/;

/** The objects of a kustomization, by its folder. */
type Render = (folder: string) => readonly JsonObject[];

/** A copy of the kustomizations. Metacontroller's published manifests come from a copy of them too, not over the network. */
export function copyKustomizations(t: Teardown): string {
  const directory = mkdtempSync(join(tmpdir(), 'janus-kustomize-'));
  t.teardown(() => rmSync(directory, { recursive: true, force: true }));
  for (const folder of ['manifests', 'examples', published])
    cpSync(join(root, folder), join(directory, folder), { recursive: true });
  const install = join(directory, 'examples/install/kustomization.yaml');
  writeFileSync(install, readFileSync(install, 'utf8').replace(remote, `../../${published}`));
  return directory;
}

export async function openKustomize(t: Teardown): Promise<Render> {
  const { kustomize } = await buildPackaging((line) => process.stderr.write(`${line}\n`));
  const directory = copyKustomizations(t);
  return (folder) => {
    const { status, stdout, stderr } = spawnSync(kustomize, ['build', folder], { cwd: directory, encoding: 'utf8' });
    if (status !== 0) throw new Error(`kustomize build ${folder} failed:\n${stderr}`);
    return objectsOf(stdout);
  };
}

export function objectsOf(yaml: string): readonly JsonObject[] {
  return parseAllDocuments(yaml)
    .map((document) => document.toJS() as Json)
    .filter(isObject);
}

/** `ClusterRole janus`, `Role team-a/janus`. */
export function inShort(object: JsonObject): string {
  const namespace = textAt(object, 'metadata', 'namespace');
  return `${textAt(object, 'kind')} ${namespace === undefined ? '' : `${namespace}/`}${textAt(object, 'metadata', 'name')}`;
}

/** Applies all; what belongs to a kind that an object before it defines waits until that is served. */
export async function applyAll(client: Client, objects: readonly JsonObject[]): Promise<void> {
  const isDefinition = ({ kind }: JsonObject): boolean => kind === 'CustomResourceDefinition';
  const query = { fieldValidation: 'Strict' };
  for (const object of objects.filter(isDefinition)) {
    must(await applyObject(client, object, query));
    await waitFor(async () => isServed(client, object), `${inShort(object)} to be served`);
  }
  for (const object of objects.filter((one) => !isDefinition(one))) must(await applyObject(client, object, query));
}

async function isServed(client: Client, definition: JsonObject): Promise<boolean> {
  const versions = at(definition, 'spec', 'versions');
  const [first] = isList(versions) ? versions : [];
  const path = `/apis/${textAt(definition, 'spec', 'group')}/${textAt(first, 'name')}`;
  return (await client.get(`${path}/${textAt(definition, 'spec', 'names', 'plural')}`, { limit: 1 })).code === 200;
}

/** Deletes all in their order and waits for none, then waits until all are gone: as `kubectl delete -k` does. */
export async function deleteAll(client: Client, objects: readonly JsonObject[]): Promise<void> {
  const paths: string[] = [];
  for (const object of objects) {
    const path = await pathOf(client, object).catch(() => undefined);
    if (path === undefined) continue;
    await client.delete(path, { propagationPolicy: 'Background' });
    paths.push(path);
  }
  for (const path of paths) await waitFor(async () => (await client.get(path)).code === 404, `${path} to be gone`);
}
