// The sealing keys: a Secret in the engine's namespace, created at the first start.
//
// Its data has one entry per key, named by the key's id, and `current`, the id of the key that seals. To rotate, add a key, wait until
// every replica has read it (a minute), then change `current`. Remove a key when no text sealed with it is left. If two replicas start
// at once, the API server answers one create with 409, and that replica reads the Secret of the other replica.
import { randomBytes } from 'node:crypto';
import type { Answer, Cluster, Failed, Identity, Location } from '../../hooks/objects/cluster.ts';
import { at, isObject, type JsonObject } from '../../hooks/objects/json.ts';
import { type KeyRing, keyLength } from './sealer.ts';

export type KeyRingAnswer = { readonly kind: 'ok'; readonly keyRing: KeyRing } | Failed;

export const sealingKeyName = 'janus-sealing-key';

const engine: Identity = { kind: 'engine' };

/** The stored keys. Creates the Secret if it does not exist. */
export async function ensureSealingKeys(cluster: Cluster, engineNamespace: string): Promise<KeyRingAnswer> {
  return keyRingOf(await ensureSecret(cluster, engineNamespace), engineNamespace);
}

async function ensureSecret(cluster: Cluster, engineNamespace: string): Promise<Answer> {
  const location = locationOf(engineNamespace);
  const found = await cluster.get(location, engine);
  if (found.kind === 'ok' || found.failure.kind !== 'absent') return found;
  const made = await cluster.send({
    verb: 'create',
    identity: engine,
    location,
    object: newSecret(engineNamespace),
    fieldManager: 'janus',
  });
  return made.kind === 'ok' || made.failure.kind !== 'exists' ? made : cluster.get(location, engine);
}

/** The stored keys. It never creates the Secret: a new key must not silently replace a key that has sealed texts. */
export async function readSealingKeys(cluster: Cluster, engineNamespace: string): Promise<KeyRingAnswer> {
  return keyRingOf(await cluster.get(locationOf(engineNamespace), engine), engineNamespace);
}

function locationOf(namespace: string): Location {
  const verbs = ['get', 'create'];
  const resource = {
    group: '',
    version: 'v1',
    plural: 'secrets',
    kind: 'Secret',
    namespaced: true,
    verbs,
    statusSubresource: false,
  };
  return { resource, namespace, name: sealingKeyName };
}

function newSecret(namespace: string): JsonObject {
  const id = randomBytes(4).toString('hex');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: sealingKeyName, namespace, labels: { 'app.kubernetes.io/managed-by': 'janus' } },
    type: 'Opaque',
    data: { [id]: randomBytes(keyLength).toString('base64'), current: Buffer.from(id).toString('base64') },
  };
}

function keyRingOf(answer: Answer, namespace: string): KeyRingAnswer {
  if (answer.kind === 'failed') return answer;
  const data = at(answer.object, 'data');
  const entries = Object.entries(isObject(data) ? data : {}).map(([id, value]) => [id, decoded(value)] as const);
  const current = entries.find(([id]) => id === 'current')?.[1].toString('utf8') ?? '';
  const keys = new Map(entries.filter(([id, key]) => isKeyId(id) && key.length === keyLength));
  if (!keys.has(current)) return unusable(namespace);
  return { kind: 'ok', keyRing: { current, keys } };
}

// A dot would end the id inside a sealed text.
function isKeyId(id: string): boolean {
  return id !== 'current' && !id.includes('.');
}

function decoded(value: unknown): Buffer {
  return Buffer.from(typeof value === 'string' ? value : '', 'base64');
}

function unusable(namespace: string): Failed {
  const message =
    `Secret ${namespace}/${sealingKeyName} holds no usable key: expected an entry "current" that names another entry of ` +
    `${keyLength} bytes; restore it, or delete it if nothing sealed is left`;
  return {
    kind: 'failed',
    failure: { kind: 'refused', code: 0, reason: 'UnusableKey', message, fields: ['data'], definitive: true },
  };
}
