// Edits of a stored snapshot. Its data is immutable; labels, annotations, finalizers and owners are not. And its deletion.
import type { JsonObject } from '../../../hooks/objects/json.ts';
import type { Attempted, Deed } from './deeds.ts';
import {
  digestAnnotation,
  edit,
  partsAnnotation,
  remove,
  type Scene,
  type Stored,
  snapshotFinalizer,
  storedParts,
  tagAnnotation,
  transactionAnnotation,
  uidLabel,
} from './scene.ts';

function onStored(id: string, act: (scene: Scene, first: Stored) => Promise<boolean>): Deed {
  const begin = (): Attempted => async (scene) => {
    const [first] = await storedParts(scene);
    return first !== undefined && act(scene, first);
  };
  return { id, begin, when: 'once it is stored', breaks: true };
}

function edited(id: string, metadata: (scene: Scene) => JsonObject): Deed {
  return onStored(id, (scene, { path }) => edit(scene, path, metadata(scene)));
}

/** Until the status names the snapshot, only its annotations describe it. */
function afterCrash(deed: Deed): Deed {
  return { ...deed, id: `${deed.id}-after-crash`, afterCrash: true };
}

const nobody = '00000000-0000-0000-0000-000000000000';

const all: readonly Deed[] = [
  edited('label-of-another', () => ({ labels: { [uidLabel]: nobody } })),
  edited('label-removed', () => ({ labels: { [uidLabel]: null } })),
  edited('marks-removed', () => ({ labels: null, annotations: null, finalizers: null, ownerReferences: null })),
  edited('label-more', ({ canary }) => ({ labels: { more: 'yes' }, annotations: { more: canary } })),
  edited('parts-thousand', () => ({ annotations: { [partsAnnotation]: '1000' } })),
  edited('parts-two', () => ({ annotations: { [partsAnnotation]: '2' } })),
  edited('digest-another', () => ({ annotations: { [digestAnnotation]: '0'.repeat(64) } })),
  edited('tag-another', () => ({ annotations: { [tagAnnotation]: `1.k.${'A'.repeat(43)}` } })),
  edited('tag-none', () => ({ annotations: { [tagAnnotation]: null } })),
  edited('parts-none', () => ({ annotations: { [partsAnnotation]: '0' } })),
  edited('parts-no-number', () => ({ annotations: { [partsAnnotation]: 'many' } })),
  edited('annotation-of-another', ({ run }) => ({
    annotations: { [transactionAnnotation]: `${run.names.namespace}/${run.names.rival}` },
  })),
  edited('finalizer-removed', () => ({ finalizers: null })),
  edited('finalizer-more', () => ({ finalizers: [snapshotFinalizer, 'faults.test/theirs'] })),
  edited('owner-removed', () => ({ ownerReferences: null })),
  edited('owner-another', ({ run }) => ({
    ownerReferences: [
      { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', name: run.names.rival, uid: nobody, blockOwnerDeletion: true },
    ],
  })),
  onStored('delete-held', async ({ client }, { path }) => (await client.delete(path)).code === 200),
  onStored('delete', async (scene, { path }) => {
    await remove(scene, path);
    return true;
  }),
];

export const edits: readonly Deed[] = [...all, ...all.map(afterCrash)];
