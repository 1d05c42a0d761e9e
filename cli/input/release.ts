// Makes one Transaction of Applies from manifests. The contents of Secrets go into one Secret, which the Transaction names, because every
// client that may read a Transaction reads all of it. Pure.
import { createHash } from 'node:crypto';
import { asYaml, at, canonicalJson, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { groupOf, identityOf, isSecret, type Reference } from '../../hooks/objects/reference.ts';
import { wrongEntryOf } from '../../hooks/objects/secret-data.ts';
import { foreign } from '../../hooks/objects/words.ts';
import type { Finding } from '../../hooks/transactions/inspection.ts';
import { annotations, group } from '../../hooks/transactions/model/transaction.ts';
import { mostChanges } from '../../schemas/transaction-spec.ts';
import { Problem } from '../problem.ts';
import { inKindOrder } from './kind-order.ts';
import type { Manifest } from './read.ts';

export interface ReleaseOptions {
  readonly namespace: string;
  /** Whether the command line names the namespace. */
  readonly isNamespaceGiven: boolean;
  /** A name, or a prefix for a name that the API server generates. */
  readonly name: { readonly name: string } | { readonly generateName: string };
  readonly labels: Readonly<Record<string, string>>;
  readonly serviceAccount: string;
  readonly fieldManager: string | undefined;
  /** `spec.gate`: the gates of all objects at the end. Undefined: no gates. */
  readonly gate: JsonObject | undefined;
  /** Whether a field that another client owns with another value refuses the release. */
  readonly failOnConflict?: boolean;
  /** Other apps whose objects it may take over. */
  readonly takeOver?: readonly string[];
  readonly recreateImmutable: boolean;
  /** Whether one change is made after the other, without waves. */
  readonly isSerial?: boolean;
  /** Of objects whose content names `spec.replicas`. */
  readonly setReplicas?: boolean;
  readonly allowIrreversible: boolean;
  readonly deleteFilled: boolean;
  readonly plainSecrets: boolean;
  /** Seconds after the end until the Transaction is deleted. */
  readonly ttl?: number | undefined;
  /** How long to wait for locks; undefined for the default of the API. */
  readonly lockWait?: string | undefined;
}

export interface Release {
  readonly transaction: JsonObject;
  /** Contents of Secrets by key. The Transaction names the keys, but not yet the Secret. */
  readonly contents: Readonly<Record<string, string>>;
  /** The object of each change, and its file. Absent if a file holds the Transaction itself. */
  readonly places?: readonly string[];
}

/** Findings with the file of their manifest: the user did not write the changes that the engine names. */
export function located(findings: readonly Finding[], { places = [] }: Release): readonly Finding[] {
  return findings.map((found) => {
    const place = found.index === undefined ? undefined : places[found.index];
    return place === undefined ? found : { ...found, message: `${found.message} (${place})` };
  });
}

/** Source: kubernetes, pkg/apis/core/types.go, MaxSecretSize. */
const largestSecret = 1024 * 1024;

export function isTransaction(object: JsonObject): boolean {
  return textAt(object, 'kind') === 'Transaction' && groupOf(textAt(object, 'apiVersion') ?? '') === group;
}

/** The only Transaction among the manifests, unchanged, or else a Transaction of all manifests. Throws a Problem. */
export function transactionIn(given: readonly Manifest[], options: ReleaseOptions): Release {
  const manifests = given.map((manifest) => ({ ...manifest, object: withoutEmptyNamespace(manifest.object) }));
  const [whole, ...more] = manifests.filter(({ object }) => isTransaction(object));
  if (whole === undefined) return releaseOf(manifests, options);
  if (more.length > 0) throw new Problem(`The manifests hold ${more.length + 1} Transactions: apply them one after the other.`);
  if (manifests.length > 1)
    throw new Problem(
      `${whole.source} holds a Transaction, and the input has other objects, too: apply either the Transaction or manifests.`,
    );
  return { transaction: placed(whole, options), contents: {} };
}

/** Templates print an empty namespace, or null, for a missing one. The API server and kubectl treat both as missing. */
function withoutEmptyNamespace(object: JsonObject): JsonObject {
  const namespace = at(object, 'metadata', 'namespace');
  return namespace === '' || namespace === null ? withPath(object, ['metadata', 'namespace'], undefined) : object;
}

function placed({ source, object }: Manifest, { namespace, isNamespaceGiven }: ReleaseOptions): JsonObject {
  const own = textAt(object, 'metadata', 'namespace');
  if (own !== undefined && isNamespaceGiven && own !== namespace)
    throw new Problem(`The Transaction in ${source} has namespace ${own}, but -n names ${namespace}: correct one of them.`);
  if (textAt(object, 'metadata', 'name') === undefined && textAt(object, 'metadata', 'generateName') === undefined)
    throw new Problem(`The Transaction in ${source} has no metadata.name: give it one, or metadata.generateName.`);
  return withPath(object, ['metadata', 'namespace'], own ?? namespace);
}

function releaseOf(manifests: readonly Manifest[], options: ReleaseOptions): Release {
  const targets = manifests.map((manifest) => targetOf(manifest, options));
  refuseTwice(manifests, targets);
  for (const [index, target] of targets.entries()) if (isSecret(target)) refuseWrongEntry(manifests[index]);
  const waveAt = (index: number): number => manifests[index]?.wave ?? 0;
  const byKind = inKindOrder([...targets.entries()], ([, { kind }]) => kind);
  const ordered = byKind.toSorted(([one], [other]) => waveAt(one) - waveAt(other));
  if (ordered.length > mostChanges)
    throw new Problem(
      `The manifests hold ${ordered.length} objects, and a Transaction takes at most ${mostChanges}: apply them in parts.`,
    );
  const contents: Record<string, string> = {};
  const changes = ordered.map(([index, target]): JsonObject => {
    const object = manifests[index]?.object ?? {};
    const waved = options.isSerial === true ? {} : { wave: waveAt(index) };
    if (!isSecret(target) || options.plainSecrets) return changeOf({ ...waved, content: object }, options);
    const text = asYaml(canonicalJson(object));
    const key = `${Object.keys(contents).length}.json`;
    contents[key] = text;
    const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
    const contentFrom = { secretKeyRef: { name: '', key }, digest };
    return changeOf({ ...waved, target: wireOf(target, options.namespace), contentFrom }, options);
  });
  refuseTooLarge(contents);
  const places = ordered.map(([index, { kind, name }]) => `${kind} ${name} in ${manifests[index]?.source}`);
  return { transaction: transactionOf(changes, options), contents, places };
}

function targetOf({ source, object }: Manifest, { namespace }: ReleaseOptions): Reference {
  const [apiVersion, kind] = [textAt(object, 'apiVersion'), textAt(object, 'kind')];
  const [name, own] = [textAt(object, 'metadata', 'name'), textAt(object, 'metadata', 'namespace')];
  if (apiVersion === undefined || kind === undefined)
    throw new Problem(`${source} holds an object without apiVersion and kind: each manifest must have both.`);
  if (name === undefined || name === '') throw new Problem(namelessSentence(source, kind, object));
  if (kind === 'Namespace' && groupOf(apiVersion) === '' && name === namespace)
    throw new Problem(
      `${source} holds Namespace ${name}, which also holds the Transaction: create it first, and leave it out here.`,
    );
  // It is unknown here whether the kind has a namespace. So objects with different namespaces count as different.
  return { apiVersion, kind, name, namespace: own ?? namespace };
}

function namelessSentence(source: string, kind: string, object: JsonObject): string {
  const name = at(object, 'metadata', 'name') ?? '';
  if (name !== '')
    return `${source} holds a ${kind} whose metadata.name is ${foreign(canonicalJson(name), longestKey)}, which is not text: put the name in quotes.`;
  return at(object, 'metadata', 'generateName') === undefined
    ? `${source} holds a ${kind} without metadata.name: name it.`
    : `${source} holds a ${kind} with generateName: a Transaction needs the name of each object, so give it metadata.name.`;
}

function refuseTwice(manifests: readonly Manifest[], targets: readonly Reference[]): void {
  const first = new Map<string, number>();
  for (const [index, target] of targets.entries()) {
    const earlier = first.get(identityOf(target));
    if (earlier !== undefined) {
      const places = [...new Set([manifests[earlier]?.source, manifests[index]?.source])].join(' and ');
      throw new Problem(
        `${target.kind} ${target.namespace}/${target.name} occurs twice (${places}): a Transaction changes it once.`,
      );
    }
    first.set(identityOf(target), index);
  }
}

/** The engine would not name the key, because it treats keys of content from a Secret as secret, too. */
function refuseWrongEntry(manifest: Manifest | undefined): void {
  const wrong = manifest === undefined ? undefined : wrongEntryOf(manifest.object);
  if (manifest === undefined || wrong === undefined) return;
  const { field, key, why } = wrong;
  const name = textAt(manifest.object, 'metadata', 'name');
  throw new Problem(`${manifest.source} holds Secret ${name}, whose ${field}["${foreign(key, longestKey)}"] ${why}.`);
}

const longestKey = 253;

function wireOf({ apiVersion, kind, name, namespace }: Reference, own: string): JsonObject {
  return { apiVersion, kind, name, ...(namespace === undefined || namespace === own ? {} : { namespace }) };
}

function changeOf(source: JsonObject, { recreateImmutable, setReplicas, failOnConflict }: ReleaseOptions): JsonObject {
  const isSet = setReplicas === true && at(source, 'content', 'spec', 'replicas') !== undefined;
  const replicas = isSet ? { replicas: 'Set' } : {};
  const conflicts = failOnConflict === true ? { fieldConflicts: 'Fail' } : {};
  return { type: 'Apply', ...source, ...conflicts, ...(recreateImmutable ? { whenImmutable: 'Recreate' } : {}), ...replicas };
}

function transactionOf(changes: readonly JsonObject[], options: ReleaseOptions): JsonObject {
  const { namespace, name, labels, serviceAccount, gate, lockWait, deleteFilled, ttl } = options;
  const allowed = options.allowIrreversible ? { annotations: { [annotations.allowIrreversible]: 'true' } } : {};
  return {
    apiVersion: 'tx.janus.io/v1alpha1',
    kind: 'Transaction',
    metadata: { ...name, namespace, ...(Object.keys(labels).length === 0 ? {} : { labels }), ...allowed },
    spec: {
      serviceAccountName: serviceAccount,
      ...appOf(options),
      ...(gate === undefined ? {} : { gate }),
      ...(lockWait === undefined ? {} : { lockWait }),
      ...(ttl === undefined ? {} : { ttlSecondsAfterFinished: ttl }),
      ...(deleteFilled ? { undo: { foreignContent: 'Delete' } } : {}),
      changes,
    },
  };
}

function appOf({ fieldManager, takeOver = [] }: ReleaseOptions): JsonObject {
  return { ...(fieldManager === undefined ? {} : { fieldManager }), ...(takeOver.length === 0 ? {} : { takeOver }) };
}

/** With the name of the user who creates it, if it is known. */
export function signed(transaction: JsonObject, user: string | undefined): JsonObject {
  return user === undefined ? transaction : withPath(transaction, ['metadata', 'annotations', annotations.createdByUser], user);
}

/** The checks of the engine decide whether the Transaction itself is too large. */
function refuseTooLarge(contents: Readonly<Record<string, string>>): void {
  const secret = Object.values(contents).reduce((sum, text) => sum + Buffer.byteLength(text), 0);
  if (secret > largestSecret)
    throw new Problem(`The Secrets take ${megabytes(secret)} in all, and one Secret holds at most 1 MiB: apply them in parts.`);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1_000_000).toFixed(1)} MB`;
}

/** Adds the name of the Secret that holds the contents to the Transaction. */
export function withContents(transaction: JsonObject, secret: string): JsonObject {
  const changes = at(transaction, 'spec', 'changes') as readonly JsonObject[];
  const named = changes.map((change) =>
    at(change, 'contentFrom') === undefined ? change : withPath(change, ['contentFrom', 'secretKeyRef', 'name'], secret),
  );
  return withPath(transaction, ['spec', 'changes'], named);
}
