// Marks of the engine on objects that are not the engine's: foreign ConfigMaps, and Events. The engine must not take them for its
// own.
import { at, type JsonObject } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import type { Deed } from './deeds.ts';
import { configMapsPath, marksOf, type Scene, transactionAnnotation, transactionIn, uidOf } from './scene.ts';

type Marks = (marks: JsonObject, scene: Scene) => JsonObject;

/** A ConfigMap of somebody else, which the adversary marks later. */
function marked(id: string, marks: Marks, name = 'bystander'): Deed {
  return { id, begin: () => (scene) => mark(scene, name, marks), when: 'at any time', breaks: false };
}

async function mark(scene: Scene, name: string, marks: Marks): Promise<boolean> {
  const transaction = await transactionIn(scene);
  if (transaction === undefined) return false;
  const path = await foundOrMade(scene, `${scene.run.names.run}-${name}`);
  const metadata = marks(marksOf(transaction), scene);
  const { code, body } = await scene.client.patch(path, { metadata });
  if (code !== 200) return false;
  scene.run.forged.add(uidOf(body));
  // The garbage collector deletes a ConfigMap whose forged owner is deleted.
  if (metadata.ownerReferences === undefined) scene.watched.set(path, body);
  return true;
}

async function foundOrMade(scene: Scene, name: string): Promise<string> {
  const object = { metadata: { name }, data: { whose: 'theirs' } };
  const made = await scene.run.world.stranger.create(configMapsPath(scene), object, { fieldManager: 'stranger' });
  if (made.code !== 409) must(made);
  return configMapsPath(scene, name);
}

export const others: readonly Deed[] = [
  marked('marks-label', ({ labels = null }) => ({ labels })),
  marked('marks-finalizer', ({ labels = null, finalizers = null }) => ({ labels, finalizers })),
  marked('marks-owner', ({ labels = null, finalizers = null, ownerReferences = null }) => ({
    labels,
    finalizers,
    ownerReferences,
  })),
  marked('marks-annotations', ({ labels = null, finalizers = null, annotations = null }) => ({
    labels,
    finalizers,
    annotations,
  })),
  marked('marks-of-the-gone', ({ labels = null, finalizers = null }, { run }) => ({
    labels,
    finalizers,
    annotations: { [transactionAnnotation]: `${run.names.namespace}/${run.names.run}-gone` },
  })),
  marked('marks-and-name', ({ ownerReferences: _owner, ...marks }) => marks, 'rollback-5'),
  marked('marks-and-name-of-a-second', ({ ownerReferences: _owner, ...marks }) => marks, 'rollback-abcdefgh'),
];

/** Events about the Transaction: forged, edited, deleted. */
export const events: Deed = {
  id: 'events',
  when: 'at any time',
  breaks: false,
  begin: () => async (scene) => {
    const transaction = await transactionIn(scene);
    if (transaction === undefined) return false;
    const { run, client, canary } = scene;
    const collection = `/api/v1/namespaces/${run.names.namespace}/events`;
    const { name = '', namespace = '', uid = '' } = at(transaction, 'metadata') as Record<string, string>;
    const involvedObject = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', name, namespace, uid };
    for (const reason of ['Committed', 'RolledBack', 'SnapshotBroken']) {
      const metadata = { name: `${name}-${reason.toLowerCase()}.${run.board.calls.length}` };
      const event = { metadata, involvedObject, reason, message: canary, type: 'Normal' };
      const { code } = await client.create(collection, event);
      if (code === 201) await client.patch(`${collection}/${metadata.name}`, { message: `${canary}, edited` });
    }
    await client.delete(`${collection}/${name}-committed.${run.board.calls.length}`);
    return true;
  },
};
