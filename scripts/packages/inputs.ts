// Reads the inputs of the command: a snapshot, a Lock, the live objects. Errors are sentences for the user.
import { globSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { type KeySelector, readKeySelector } from '../../hooks/crossplane/model/key-selector.ts';
import { readLock } from '../../hooks/crossplane/model/lock.ts';
import { kindOf, packageKinds } from '../../hooks/crossplane/model/package.ts';
import { readSnapshot } from '../../hooks/crossplane/model/package-transaction.ts';
import { readReference } from '../../hooks/crossplane/model/reference.ts';
import { readCompleteVersion, type Version } from '../../hooks/crossplane/model/version.ts';
import { withApplied } from '../../hooks/crossplane/observe/applied.ts';
import { type Live, liveVersionOf } from '../../hooks/crossplane/observe/comparison.ts';
import type { faultsOf } from '../../hooks/crossplane/observe/dropped.ts';
import type { PackageReader } from '../../hooks/crossplane/observe/read.ts';
import type { TreeQuery } from '../../hooks/crossplane/observe/tree.ts';
import { engine } from '../../hooks/crossplane/writes/resources.ts';
import type { Reader } from '../../hooks/objects/cluster.ts';
import { at, isList, isObject, type Json, type JsonObject, objectAt, textAt } from '../../hooks/objects/json.ts';
import { gzip } from '../../server/gzip.ts';
import { createCluster, type KubernetesCluster } from '../../server/kubernetes/cluster.ts';
import { kubeconfigConnection } from '../../server/kubernetes/kubeconfig-connection.ts';
import { readYaml, Unfit } from '../../server/yaml.ts';

interface Options {
  readonly file: string;
  readonly lock?: string | undefined;
  readonly crds?: string | undefined;
  readonly kubeconfig?: string | undefined;
  readonly namespace: string;
  readonly crossplane?: string | undefined;
  readonly pullSecrets: readonly string[];
  readonly authority?: string | undefined;
  readonly trustedRoot?: string | undefined;
}

export interface Inputs {
  readonly asked: TreeQuery;
  readonly pullSecrets: readonly string[];
  readonly live: Live;
  /** The package transaction that would install the package. */
  readonly change: Parameters<typeof faultsOf>[1];
  /** Where ImageConfigs and instances are, and what ImageConfigs need; undefined without a cluster. */
  readonly configs: Configs | undefined;
  readonly close: () => Promise<void>;
}

interface Configs {
  readonly reader: PackageReader;
  readonly authority: KeySelector | undefined;
  readonly trustedRoot: KeySelector | undefined;
}

export async function openInputs(options: Options): Promise<Inputs> {
  if (options.crds !== undefined && options.kubeconfig !== undefined) throw new Error('give --crds or --kubeconfig, not both');
  const crossplane = versionOf(options.crossplane);
  const authority = materialOf('--authority', options.authority, options.kubeconfig);
  const trustedRoot = materialOf('--trusted-root', options.trustedRoot, options.kubeconfig);
  const snapshot = snapshotIn(options.file);
  const files = options.pullSecrets.map(textOf);
  const cluster = options.kubeconfig === undefined ? undefined : openCluster(options.kubeconfig);
  const lock = options.lock === undefined ? await lockOf(cluster) : lockIn(options.lock);
  const stored = cluster === undefined ? [] : await pullSecretsOf(snapshot, cluster, options.namespace);
  const live = cluster === undefined ? liveIn(options.crds) : liveOf(cluster);
  const asked = askedOf(snapshot, lock, options.file);
  const reader = cluster && readerOf(cluster, options.namespace);
  return {
    asked: { ...asked, installed: await appliedIn(reader, asked), crossplane },
    change: changeOf(snapshot),
    pullSecrets: [...files, ...stored],
    live,
    configs: reader && { reader, authority, trustedRoot },
    close: async () => cluster?.close(),
  };
}

/** Without a cluster, no Packages are known. */
function appliedIn(reader: PackageReader | undefined, { installed }: TreeQuery): Promise<TreeQuery['installed']> {
  return reader === undefined ? Promise.resolve(installed) : withApplied(reader, 'annotated', installed);
}

function changeOf(snapshot: JsonObject): Inputs['change'] {
  const { name = '', uid: packageUid = '' } = Object.fromEntries(
    ['name', 'uid'].map((key) => [key, textAt(snapshot, 'metadata', key)]),
  );
  return { name, packageUid, annotations: objectAt(snapshot, 'metadata', 'annotations'), wanted: readSnapshot(snapshot, '') };
}

function versionOf(text: string | undefined): Version | undefined {
  const version = text === undefined ? undefined : readCompleteVersion(text);
  if (text !== undefined && version === undefined)
    throw new Error(`--crossplane: expected a version such as v1.20.0, found "${text}"`);
  return version;
}

function materialOf(option: string, text: string | undefined, kubeconfig: string | undefined): KeySelector | undefined {
  const material = text === undefined ? undefined : readKeySelector(text);
  if (text !== undefined && material === undefined)
    throw new Error(`${option}: expected ConfigMap/NAME/KEY or Secret/NAME/KEY, found "${text}"`);
  if (text !== undefined && kubeconfig === undefined) throw new Error(`${option}: expected --kubeconfig too`);
  return material;
}

/** Reads as the user, who may have no right to impersonate the ServiceAccount of packages. */
function readerOf(cluster: KubernetesCluster, namespace: string): PackageReader {
  const asUser: Pick<Reader, 'get' | 'listMetadata'> = {
    get: (location) => cluster.get(location, engine),
    listMetadata: (resource, place, _, options) => cluster.listMetadata(resource, place, engine, options),
  };
  return { cluster: { ...cluster, ...asUser }, namespace, gzip };
}

export function openCluster(kubeconfig: string): KubernetesCluster {
  return createCluster(kubeconfigConnection(kubeconfig), { writeTimeout: 10_000 });
}

function snapshotIn(file: string): JsonObject {
  const [snapshot, ...others] = objectsIn(file);
  if (snapshot !== undefined && others.length === 0) return snapshot;
  throw new Error(`${file}: expected one package snapshot, found ${snapshot === undefined ? 0 : others.length + 1} objects`);
}

/** The cluster does not answer, although the arguments are right. */
export class Unanswered extends Error {}

function askedOf(snapshot: JsonObject, lock: JsonObject, file: string): TreeQuery {
  const kind = kindOf(textAt(snapshot, 'kind'));
  const name = textAt(snapshot, 'metadata', 'name');
  if (kind === undefined)
    throw new Error(`${file}: expected kind ${packageKinds.join(', ')}, found "${textAt(snapshot, 'kind') ?? ''}"`);
  if (name === undefined) throw new Error(`${file}: expected metadata.name`);
  const reference = readReference(textAt(snapshot, 'spec', 'package') ?? '');
  if (reference === undefined)
    throw new Error(
      `${file}: expected spec.package such as registry.example.org/acme/name:v1.0.0, found "${textAt(snapshot, 'spec', 'package') ?? ''}"`,
    );
  const installed = readLock(lock);
  if (typeof installed === 'string') throw new Error(installed);
  const isTrue = (field: string): boolean => at(snapshot, 'spec', field) === true;
  const skipsDependencies = isTrue('skipDependencyResolution');
  return { name, kind, reference, installed, skipsDependencies, ignoresCrossplane: isTrue('ignoreCrossplaneConstraints') };
}

function textOf(file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new Error(
      `${file} cannot be read (${error instanceof Error && 'code' in error ? String(error.code) : 'unknown error'})`,
    );
  }
}

/** The limits of the user's files, such as all definitions of a cluster in one List. They are larger than those of packages. */
const bounds = { levels: 100, values: 20_000_000, characters: 256 * 1024 * 1024 };

function objectsIn(file: string): readonly JsonObject[] {
  const objects = documentsIn(file).filter((document) => document !== null);
  if (objects.every(isObject)) return objects;
  throw new Error(`${file}: it holds a document that is not an object`);
}

function documentsIn(file: string): readonly Json[] {
  try {
    return readYaml(textOf(file), bounds);
  } catch (error) {
    throw error instanceof Unfit ? new Error(`${file}: it ${error.message}`) : error;
  }
}

function lockIn(file: string): JsonObject {
  const [lock] = objectsIn(file);
  if (lock === undefined || textAt(lock, 'kind') !== 'Lock') throw new Error(`${file}: expected an object of kind Lock`);
  return lock;
}

/** Objects of a folder by kind and name. */
function liveIn(folder: string | undefined): Live {
  const known = new Map<string, JsonObject>();
  for (const file of folder === undefined ? [] : filesIn(folder))
    for (const object of objectsIn(file).flatMap(itemsOf))
      known.set(`${textAt(object, 'kind')} ${textAt(object, 'metadata', 'name')}`, object);
  return async ({ kind, name }) => known.get(`${kind} ${name}`);
}

function filesIn(folder: string): readonly string[] {
  if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory())
    throw new Error(`--crds: expected a folder, found none at ${folder}; nothing would be compared`);
  return globSync('**/*.{yaml,yml,json}', { cwd: folder })
    .sort()
    .map((file) => join(folder, file));
}

/** `kubectl get -o yaml` writes a List of the objects. */
function itemsOf(object: JsonObject): readonly JsonObject[] {
  const items = at(object, 'items');
  return textAt(object, 'kind')?.endsWith('List') && isList(items) ? items.filter(isObject) : [object];
}

function liveOf(cluster: KubernetesCluster): Live {
  return (member) => find(cluster, liveVersionOf(member), member.kind, { name: member.name });
}

async function lockOf(cluster: KubernetesCluster | undefined): Promise<JsonObject> {
  const lock = cluster === undefined ? undefined : await find(cluster, 'pkg.crossplane.io/v1beta1', 'Lock', { name: 'lock' });
  return isObject(lock) ? lock : {};
}

/** `.dockerconfigjson` of the Secrets that the package names. */
async function pullSecretsOf(snapshot: JsonObject, cluster: KubernetesCluster, namespace: string): Promise<readonly string[]> {
  const named = at(snapshot, 'spec', 'packagePullSecrets');
  const names = (isList(named) ? named : []).map((one) => textAt(one, 'name') ?? '');
  return Promise.all(
    names.map(async (name) => {
      const secret = await find(cluster, 'v1', 'Secret', { name, namespace });
      const encoded = textAt(secret, 'data', '.dockerconfigjson');
      if (encoded !== undefined) return Buffer.from(encoded, 'base64').toString();
      const found = secret === undefined ? 'no such Secret' : `a Secret of type ${textAt(secret, 'type')}`;
      throw new Error(
        `spec.packagePullSecrets: expected Secret ${namespace}/${name} of type kubernetes.io/dockerconfigjson, found ${found}; --namespace names another namespace`,
      );
    }),
  );
}

async function find(
  cluster: KubernetesCluster,
  apiVersion: string,
  kind: string,
  place: { readonly name: string; readonly namespace?: string },
): Promise<JsonObject | undefined> {
  const served = await cluster.resource(apiVersion, kind);
  const answer = served.kind === 'failed' ? served : await cluster.get({ resource: served.resource, ...place }, engine);
  if (answer.kind === 'ok') return answer.object;
  if (answer.failure.kind === 'absent') return undefined;
  throw new Unanswered(`${kind} ${place.name} of the cluster cannot be read: ${answer.failure.message}`);
}
