// Entries that the engine never wrote, as text, and in the data of a ConfigMap.
import { brotliCompressSync } from 'node:zlib';
import { at, isList, isObject, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { adversaryUser } from '../audit.ts';
import { base64 } from '../story.ts';
import { marksOf, nameIn, type Scene, targetIn } from './scene.ts';

/** What an entry is about: which change of which Transaction. */
interface Place {
  readonly scene: Scene;
  readonly index: number;
  readonly change: JsonObject;
  readonly target: JsonObject;
  readonly live: JsonObject | undefined;
}

interface Forgery {
  readonly entry: (place: Place) => string;
  /** The number of parts that it announces. */
  readonly parts?: number;
}

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1', group: 'rbac.authorization.k8s.io' };
const plain = { group: '', version: 'v1', plural: 'configmaps', kind: 'ConfigMap', namespaced: true, statusSubresource: false };

function entryOf({ index, change, target, live }: Place, parts: JsonObject): JsonObject {
  const kind = textAt(target, 'kind') ?? '';
  const resource = { ...plain, kind, plural: `${kind.toLowerCase()}s` };
  return {
    index,
    type: textAt(change, 'type') ?? '',
    target,
    resource,
    approximate: false,
    ...(live && { prior: live }),
    ...parts,
  };
}

/** The content that the adversary wants, for the object that exists. */
function wished({ scene, target, live }: Place): JsonObject {
  const kind = textAt(target, 'kind') ?? '';
  const found = at(live, 'metadata');
  const place = { name: nameIn(target), namespace: textAt(target, 'namespace') ?? '', ...(isObject(found) && found) };
  const metadata = { ...place, annotations: { theirs: scene.canary } };
  return { apiVersion: 'v1', kind, metadata, data: { color: kind === 'Secret' ? base64(scene.canary) : scene.canary } };
}

function binding(place: Place, kind: string): JsonObject {
  const { canary } = place.scene;
  const metadata = { name: nameIn(place.target), annotations: { theirs: canary } };
  const subjects = [{ kind: 'User', name: adversaryUser, apiGroup: rbac.group }];
  const roleRef = { apiGroup: rbac.group, kind: 'ClusterRole', name: 'cluster-admin' };
  const prior = { apiVersion: rbac.apiVersion, kind, metadata, subjects, roleRef };
  const resource = { ...plain, group: rbac.group, kind, plural: `${kind.toLowerCase()}s`, namespaced: kind === 'RoleBinding' };
  return entryOf(place, { type: 'Delete', resource, prior });
}

const json = (entry: (place: Place) => JsonObject): Forgery => ({ entry: (place) => JSON.stringify(entry(place)) });

const deep = '['.repeat(20_000) + ']'.repeat(20_000);

const bomb = (canary: string): string => {
  const text = `{"planted":"${canary}","zeros":"${'0'.repeat(4_000_000)}"}`;
  return brotliCompressSync(text).toString('base64');
};

export const forgeries: Readonly<Record<string, Forgery>> = {
  'role-binding': json((place) => binding(place, 'RoleBinding')),
  'cluster-role-binding': json((place) => binding(place, 'ClusterRoleBinding')),
  'no-namespace': json((place) => {
    const { namespace: _left, ...target } = place.target;
    return entryOf(place, { target, resource: { ...plain, namespaced: false }, prior: wished(place) });
  }),
  prior: json((place) => entryOf(place, { prior: wished(place) })),
  'phantom-delete': json((place) => entryOf(place, { type: 'Delete', prior: wished(place) })),
  'nothing-to-do': json((place) => entryOf(place, { ...(place.live && { expected: place.live }) })),
  bomb: { entry: ({ scene }) => `compressed:${bomb(scene.canary)}` },
  nested: { entry: (place) => JSON.stringify(entryOf(place, { prior: 'deep' })).replace('"deep"', deep) },
  'thousand-parts': { ...json((place) => entryOf(place, { prior: wished(place) })), parts: 1_000 },
  tagged: {
    entry: (place) => `plain:1.${'k'.repeat(8)}.${'A'.repeat(43)}:${JSON.stringify(entryOf(place, { prior: wished(place) }))}`,
  },
  garbage: { entry: ({ scene }) => `sealed:1.${base64(scene.canary)}.${'A'.repeat(60)}` },
};

/** A complete forged ConfigMap for a Transaction. */
export async function forge(
  scene: Scene,
  transaction: JsonObject,
  forgery: Forgery,
): Promise<{ readonly metadata: JsonObject; readonly data: JsonObject }> {
  const changes = at(transaction, 'spec', 'changes');
  const places = (isList(changes) ? changes.filter(isObject) : []).map(async (change, index): Promise<[string, string]> => {
    const target = { namespace: scene.run.names.namespace, ...(at(change, 'target') as JsonObject) };
    const live = await targetIn(scene, target);
    return [`${index}-0.${nameIn(target)}`, forgery.entry({ scene, index, change, target, live })];
  });
  const data = Object.fromEntries(await Promise.all(places));
  return { metadata: marksOf(transaction, forgery.parts, data), data };
}
