// Packages beside a running Crossplane. Crossplane runs the revisions that a package transaction installs, and its package manager
// leaves the Packages alone.
//
// Packages are paused for good: their manager would make revisions, and write the Lock that a package transaction holds. Revisions
// that start or end with a try are paused until the Lock is written. So Crossplane sees a try as a whole: an undo has no second
// writer, and the Lock never lacks an entry that another package requires. A pause of ours names the package transaction, so that
// its end, or its successor if it is gone, takes back these pauses and no others.
import type { Resource, Write } from '../../objects/cluster.ts';
import { type JsonObject, objectAt, textAt, withPath } from '../../objects/json.ts';
import { isConverted } from '../checks/contents.ts';
import type { PackageKind } from '../model/package.ts';
import type { Maker } from './owners.ts';
import { nameLabel, writeOf } from './resources.ts';

/** Crossplane's controllers leave an object with this annotation alone. */
export const pausedAnnotation = 'crossplane.io/paused';
const pausedFor = 'packages.janus.io/paused-for';

/** The annotation of a Package that Crossplane's package manager leaves alone. */
export const pausedForGood: JsonObject = { [pausedAnnotation]: 'true' };

/** The annotations of a revision, or of a definition, that Crossplane leaves alone until the Lock is written. */
export function pausedUntilLocked({ uid }: Maker): JsonObject {
  return { ...pausedForGood, [pausedFor]: uid };
}

export function isPaused(object: JsonObject | undefined): boolean {
  return textAt(object, 'metadata', 'annotations', pausedAnnotation) === 'true';
}

/** Whether that package transaction has paused the object. */
export function isPausedFor(object: JsonObject, uid: string): boolean {
  return textAt(object, 'metadata', 'annotations', pausedFor) === uid;
}

/** An object that Crossplane must leave alone, and the revision that controls the object until then, if the revision leaves. */
export interface Pause {
  readonly target: JsonObject;
  readonly owner?: JsonObject;
}

/** If a user has paused the object, the pause stays the user's. */
export function pauseChange({ target, owner }: Pause, live: JsonObject, maker: Maker): JsonObject {
  const annotations = isPaused(live) ? pausedForGood : pausedUntilLocked(maker);
  // The new revision takes the definition: Crossplane writes it only if no other revision controls it.
  const released = owner === undefined ? {} : { ownerReferences: [{ ...owner, controller: false }] };
  return { target, type: 'Patch', content: { metadata: { annotations, ...released } } };
}

/** Crossplane may act on the revision from now on. */
export function handOverWrite(resource: Resource, live: JsonObject, namespace: string): Write {
  const object = [pausedAnnotation, pausedFor].reduce(
    (one, name) => withPath(one, ['metadata', 'annotations', name], undefined),
    live,
  );
  return writeOf({ resource, name: textAt(live, 'metadata', 'name') ?? '' }, object, namespace, live);
}

/**
 * What Crossplane's controllers need in the spec of a revision. They leave the Lock alone, and put our label on each object that
 * they write. The names of the Secrets are those that its package manager gives.
 */
export function besideSettings(kind: PackageKind, owner: JsonObject, maker: Maker): JsonObject {
  const name = textAt(owner, 'metadata', 'name') ?? '';
  const secrets = { tlsServerSecretName: `${name}-tls-server`, tlsClientSecretName: `${name}-tls-client` };
  return {
    skipDependencyResolution: true,
    commonLabels: { ...objectAt(owner, 'spec', 'commonLabels'), [nameLabel]: maker.name },
    ...(kind === 'Configuration' ? {} : secrets),
  };
}

const webhookPort = 9443;
/** The namespace in which Crossplane makes the Service of a package by default. If it is another one, Crossplane corrects it. */
const crossplaneNamespace = 'crossplane-system';

/**
 * The definition with the server of its conversion, as Crossplane's controllers write it: the Service of the package. They also write
 * the authority, from the Secret that they make once the revision runs, and write it again if the Secret changes. So the definition
 * keeps the authority that it has, and has none before.
 */
export function convertedBy(packageName: string, object: JsonObject, live: JsonObject | undefined): JsonObject {
  if (!isConverted(object)) return object;
  const path = ['spec', 'conversion', 'webhook', 'clientConfig'];
  const service = {
    ...objectAt(object, ...path, 'service'),
    name: packageName,
    namespace: crossplaneNamespace,
    port: webhookPort,
  };
  const authority = textAt(live, ...path, 'caBundle');
  return withPath(object, path, { service, ...(authority === undefined ? {} : { caBundle: authority }) });
}
