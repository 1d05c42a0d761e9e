// What the adversary sees and can do in one run: by its own requests, with the rights that `world.ts` gives it.
import { at, isObject, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { digestOf } from '../../../hooks/transactions/snapshots/chunks.ts';
import type { Client } from '../../support/client.ts';
import { transactionsOf } from '../evidence.ts';
import { plantedBy } from '../invariants-of-authority.ts';
import { configMapPlace } from '../places.ts';
import type { Run } from '../run.ts';
import { homeOf, pathOfTransaction } from '../story.ts';

/** The marks of a snapshot; anybody can read them on a stored one. */
export const [uidLabel, partsAnnotation, transactionAnnotation, snapshotFinalizer] = [
  'tx.janus.io/transaction-uid',
  'tx.janus.io/parts',
  'tx.janus.io/transaction',
  'tx.janus.io/snapshot',
];

export const [digestAnnotation, tagAnnotation] = ['tx.janus.io/digest', 'tx.janus.io/tag'];

export interface Scene {
  readonly run: Run;
  readonly client: Client;
  /** A text that is part of everything that the adversary writes. */
  readonly canary: string;
  /** Foreign ConfigMaps that must not change: their last state, by path. */
  readonly watched: Map<string, JsonObject>;
  /** What the adversary has done. */
  readonly deeds: string[];
}

export function sceneOf(run: Run): Scene {
  return { run, client: run.world.adversary, canary: plantedBy(run.names), watched: new Map(), deeds: [] };
}

export function configMapsPath({ run }: Scene, name = ''): string {
  const collection = `/api/v1/namespaces/${run.names.namespace}/configmaps`;
  return name === '' ? collection : `${collection}/${name}`;
}

/** The first Transaction of the story in the adversary's namespace; undefined once it is gone. */
export async function transactionIn({ run, client }: Scene, which = 0): Promise<JsonObject | undefined> {
  const { code, body } = await client.get(pathOfTransaction(run.names, transactionsOf(run)[which] ?? ''));
  return code === 200 ? body : undefined;
}

export interface Stored {
  readonly name: string;
  readonly path: string;
  readonly object: JsonObject;
}

/** The stored parts of a Transaction's snapshot, in order, without the adversary's own ConfigMaps. */
export async function storedParts(scene: Scene, which = 0): Promise<readonly Stored[]> {
  const { run, client } = scene;
  const { name: transaction } = homeOf(run.names, transactionsOf(run)[which] ?? '');
  const { items } = await client.list(configMapsPath(scene));
  return items
    .filter((object) => snapshotOf(transaction).test(nameOf(object)) && !run.forged.has(uidOf(object)))
    .map((object) => ({ name: nameOf(object), path: configMapsPath(scene, nameOf(object)), object }))
    .sort((left, right) => left.name.length - right.name.length || left.name.localeCompare(right.name));
}

function snapshotOf(transaction: string): RegExp {
  return new RegExp(`^${transaction}(-[0-9a-f]{8})?-rollback`);
}

export function nameOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'name') ?? '';
}

export function uidOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'uid') ?? '';
}

/** Everything that makes a ConfigMap look like a part of this Transaction's snapshot. */
export function marksOf(transaction: JsonObject, parts = 1, data: JsonObject = {}): JsonObject {
  const [namespace, name, uid] = ['namespace', 'name', 'uid'].map((key) => textAt(transaction, 'metadata', key) ?? '');
  const owner = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', name: name ?? '', uid: uid ?? '', controller: false };
  return {
    labels: { 'app.kubernetes.io/managed-by': 'janus', [uidLabel]: uid ?? '' },
    annotations: { ...sealOf(parts, data), [transactionAnnotation]: `${namespace}/${name}` },
    finalizers: [snapshotFinalizer],
    ownerReferences: [owner],
  };
}

/** What a first part says of the whole, without the tag: the digest needs no key. */
function sealOf(parts: number, data: JsonObject): JsonObject {
  return {
    [partsAnnotation]: `${parts}`,
    [digestAnnotation]: digestOf([data]),
    [tagAnnotation]: `1.${'k'.repeat(8)}.${'A'.repeat(43)}`,
  };
}

/** The marks of one part, with the digest of other data. */
export function withDigest(marks: JsonObject, data: JsonObject): JsonObject {
  const annotations = at(marks, 'annotations');
  if (!isObject(annotations) || annotations[digestAnnotation] === undefined) return marks;
  return { ...marks, annotations: { ...annotations, [digestAnnotation]: digestOf([data]) } };
}

/** Creates a ConfigMap of the adversary; returns whether the name was free. */
export async function post(scene: Scene, name: string, metadata: JsonObject, data: JsonObject): Promise<boolean> {
  const object = { metadata: { ...metadata, name }, immutable: true, data };
  const { code, body } = await scene.client.create(configMapsPath(scene), object);
  if (code === 201) scene.run.forged.add(uidOf(body));
  return code === 201;
}

/** Deletes it, finalizer and all. */
export async function remove({ client }: Scene, path: string): Promise<void> {
  await client.patch(path, { metadata: { finalizers: null } });
  await client.delete(path);
}

export async function edit({ client }: Scene, path: string, metadata: JsonObject): Promise<boolean> {
  return (await client.patch(path, { metadata })).code === 200;
}

/** Copies the marks of a stored ConfigMap. */
export function marksIn({ object }: Pick<Stored, 'object'>): JsonObject {
  const metadata = at(object, 'metadata');
  const marks = ['labels', 'annotations', 'finalizers', 'ownerReferences'].map((key) => [key, at(metadata, key) ?? null]);
  return Object.fromEntries(marks);
}

export async function disturbed({ run, watched }: Scene): Promise<readonly string[]> {
  const found = [...watched].map(async ([path, was]) => {
    const { code, body } = await run.world.controller.get(path);
    const isSame = code === 200 && versionOf(body) === versionOf(was);
    return isSame ? [] : [`${path} is not as it was left: ${code === 200 ? JSON.stringify(body) : `answered ${code}`}`];
  });
  return (await Promise.all(found)).flat();
}

function versionOf(object: JsonObject): string {
  return `${uidOf(object)}/${textAt(object, 'metadata', 'resourceVersion')}`;
}

/** Removes what the adversary left, and what others may have written because of it. */
export async function cleanUp({ run }: Scene): Promise<void> {
  const { world, names } = run;
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const collections = [`/api/v1/namespaces/${names.namespace}/configmaps`, `${rbac}/namespaces/${names.namespace}/rolebindings`];
  for (const collection of [...collections, `${rbac}/clusterrolebindings`, `/api/v1/namespaces/${names.namespace}/events`]) {
    const { items } = await world.stranger.list(collection);
    for (const item of items.filter((item) => nameOf(item).startsWith(`${names.run}-`))) {
      await world.stranger.patch(`${collection}/${nameOf(item)}`, { metadata: { finalizers: null } });
      await world.stranger.delete(`${collection}/${nameOf(item)}`);
    }
  }
}

/** Reads a target as a user with rights on it; the adversary itself may read only ConfigMaps. */
export async function targetIn({ run, client }: Scene, target: JsonObject): Promise<JsonObject | undefined> {
  if (textAt(target, 'kind') !== 'ConfigMap') return undefined;
  const { code, body } = await client.get(
    configMapPlace(textAt(target, 'namespace') ?? run.names.namespace, nameIn(target)).path,
  );
  return code === 200 ? body : undefined;
}

export function nameIn(target: JsonObject): string {
  return textAt(target, 'name') ?? '';
}

export function dataOf({ object }: Stored): JsonObject {
  const data = at(object, 'data');
  return isObject(data) ? data : {};
}
