// Packages beside a running Crossplane. Crossplane runs the revisions that a package transaction installs, and its package manager
// leaves the Packages alone.
//
// Packages are paused for good: their manager would make revisions, and write the Lock that a package transaction holds. Revisions
// that start or end with a try are paused until the Lock is written. So Crossplane sees a try as a whole: an undo has no second
// writer, and the Lock never lacks an entry that another package requires. A pause of ours names the package transaction, so that
// its end, or its successor if it is gone, takes back these pauses and no others.
import type { Resource, Write } from '../../objects/cluster.ts';
import { type JsonObject, listAt, objectAt, textAt, withPath } from '../../objects/json.ts';
import { packageLabel } from '../model/names.ts';
import { packageApiVersion } from '../model/package.ts';
import type { Changed } from './changed.ts';
import type { Maker } from './owners.ts';
import { familyLabel, nameLabel, revisionLabel, writeOf } from './resources.ts';
import { serverSecret } from './webhooks.ts';

/** Crossplane's controllers leave an object with this annotation alone. */
export const pausedAnnotation = 'crossplane.io/paused';
const pausedFor = 'packages.janus.io/paused-for';

/** The annotation of a Package that Crossplane's package manager leaves alone. */
export const pausedForGood: JsonObject = { [pausedAnnotation]: 'true' };

/** The annotations of a revision, or of a definition, that Crossplane leaves alone until the Lock is written. */
export function pausedUntilLocked({ uid }: Maker): JsonObject {
  return { ...pausedForGood, [pausedFor]: uid };
}

const activation = 'activation';

/** The annotations of a revision that Crossplane leaves alone until a user makes it Active and a package transaction installs it. */
export const pausedUntilActive: JsonObject = { ...pausedForGood, [pausedFor]: activation };

/** Whether no package transaction has installed the revision, which only a user makes Active. */
export function awaitsActivation(revision: JsonObject | undefined): boolean {
  return textAt(revision, 'metadata', 'annotations', pausedFor) === activation;
}

export function isPaused(object: JsonObject | undefined): boolean {
  return textAt(object, 'metadata', 'annotations', pausedAnnotation) === 'true';
}

/** The uid of the package transaction that has paused the object until the Lock is written. */
export function pauserOf(object: JsonObject): string | undefined {
  return awaitsActivation(object) ? undefined : textAt(object, 'metadata', 'annotations', pausedFor);
}

/** A revision that is paused until the Lock is written. */
export interface Paused {
  readonly resource: Resource;
  readonly live: JsonObject;
}

/** An object that Crossplane must leave alone, and the revision that controls the object until then, if the revision leaves. */
export interface Pause {
  readonly target: JsonObject;
  readonly owner?: JsonObject;
  /** The revision that takes control in the same write, of a Replace. */
  readonly next?: { readonly kind: string; readonly name: string };
}

/** `next`: the live revision of that name. */
export function pauseChange({ target, owner }: Pause, live: JsonObject, maker: Maker, next?: JsonObject): JsonObject {
  const annotations = pauseOf(live, maker);
  const control = next === undefined ? [] : [controlBy(next)];
  // The new revision takes the definition: Crossplane writes it only if no other revision controls it.
  const released = owner === undefined ? {} : { ownerReferences: [{ ...owner, controller: false }, ...control] };
  return { target, type: 'Patch', content: { metadata: { annotations, ...released } } };
}

function controlBy(revision: JsonObject): JsonObject {
  const [kind = '', name = '', uid = ''] = [
    textAt(revision, 'kind'),
    textAt(revision, 'metadata', 'name'),
    textAt(revision, 'metadata', 'uid'),
  ];
  return { apiVersion: packageApiVersion, kind, name, uid, controller: true, blockOwnerDeletion: true };
}

/** The change of a revision, which Crossplane leaves alone from then on. */
export function pausedBeside(change: JsonObject, live: JsonObject, maker: Maker): JsonObject {
  return withPath(change, ['content', 'metadata'], { annotations: pauseOf(live, maker) });
}

/** If a user has paused the object, the pause stays the user's. */
function pauseOf(live: JsonObject, maker: Maker): JsonObject {
  return isPaused(live) && pauserOf(live) === undefined ? pausedForGood : pausedUntilLocked(maker);
}

/** Crossplane may act on the revision from now on. `isEarly`: the Lock is not written yet, and a failed try takes it back. */
export function handOverWrite({ resource, live }: Paused, namespace: string, isEarly = false): Write {
  const names = isEarly ? [pausedAnnotation] : [pausedAnnotation, pausedFor];
  const object = names.reduce((one, name) => withPath(one, ['metadata', 'annotations', name], undefined), live);
  return writeOf({ resource, name: textAt(live, 'metadata', 'name') ?? '' }, object, namespace, live);
}

const revisionFinalizer = 'revision.pkg.crossplane.io';

/**
 * Crossplane leaves the revision alone, which a package transaction has made and is about to delete. While a revision is paused,
 * Crossplane does not take its finalizer away. It copies labels of the package to the revision, and an undo would count them as
 * the work of a user.
 */
export function takeBackWrite({ resource, live }: Paused, namespace: string): Write {
  const labels = objectAt(live, 'metadata', 'labels');
  const own = Object.fromEntries(
    Object.entries(labels).filter(([name]) => [packageLabel, familyLabel, nameLabel].includes(name)),
  );
  const finalizers = listAt(live, 'metadata', 'finalizers').filter((one) => one !== revisionFinalizer);
  const paused = withPath(live, ['metadata', 'annotations', pausedAnnotation], 'true');
  const object = withPath(
    withPath(paused, ['metadata', 'labels'], own),
    ['metadata', 'finalizers'],
    finalizers.length === 0 ? undefined : finalizers,
  );
  return writeOf({ resource, name: textAt(live, 'metadata', 'name') ?? '' }, object, namespace, live);
}

/** Crossplane has written the definition, and with it taken away the pause that a stage made. The undo takes back what it finds. */
export function pauseAgainWrite({ resource, live }: Paused, maker: Maker, namespace: string): Write {
  const annotations = { ...objectAt(live, 'metadata', 'annotations'), ...pausedUntilLocked(maker) };
  const object = withPath(live, ['metadata', 'annotations'], annotations);
  return writeOf({ resource, name: textAt(live, 'metadata', 'name') ?? '' }, object, namespace, live);
}

/** Whether Crossplane must take part in the deletion of the revision. */
export function hasFinalizer(revision: JsonObject): boolean {
  return listAt(revision, 'metadata', 'finalizers').includes(revisionFinalizer);
}

/**
 * What Crossplane's controllers need in the spec of a revision. They leave the Lock alone, and put our labels on each object that
 * they write. The names of the Secrets are those that its package manager gives.
 */
export function besideSettings({ kind, revision }: Changed, owner: JsonObject, maker: Maker): JsonObject {
  const name = textAt(owner, 'metadata', 'name') ?? '';
  const secrets = { tlsServerSecretName: serverSecret(name), tlsClientSecretName: `${name}-tls-client` };
  return {
    skipDependencyResolution: true,
    commonLabels: { ...objectAt(owner, 'spec', 'commonLabels'), [nameLabel]: maker.name, [revisionLabel]: revision },
    ...(kind === 'Configuration' ? {} : secrets),
  };
}
