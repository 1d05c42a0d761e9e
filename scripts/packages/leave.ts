// `npm run packages -- leave`: Packages no longer make package transactions of their own. The controller and the policy for them go
// first, then the finalizer and the annotation of each Package. Packages, and all that is installed, stay.
import { setTimeout as sleep } from 'node:timers/promises';
import { ownAnnotation } from '../../hooks/crossplane/model/own.ts';
import { type PackageKind, packageApiVersion, packageKinds } from '../../hooks/crossplane/model/package.ts';
import { preconditionOf } from '../../hooks/crossplane/writes/resources.ts';
import type { Answer, Location } from '../../hooks/objects/cluster.ts';
import { isTerminating } from '../../hooks/objects/content/ownership.ts';
import { type JsonObject, listAt, textAt, withPath } from '../../hooks/objects/json.ts';
import type { KubernetesCluster } from '../../server/kubernetes/cluster.ts';
import { Unanswered } from './inputs.ts';

const identity = { kind: 'engine' } as const;
const finalizer = 'metacontroller.io/decoratorcontroller-janus-packages-own';

/** The first ones need the last ones. */
const callers = [
  ['metacontroller.k8s.io/v1alpha1', 'DecoratorController', 'janus-packages-own'],
  ['admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicyBinding', 'paused.packages.janus.io'],
  ['admissionregistration.k8s.io/v1', 'MutatingAdmissionPolicy', 'paused.packages.janus.io'],
] as const;

/** Metacontroller may still store a finalizer for a call that it began before. */
const pause = 2_000;

/** Whether it has left: not while a Package is being deleted, which would go without its Delete. */
export async function leave(cluster: KubernetesCluster, out: (text: string) => void): Promise<boolean> {
  const going = (await packagesIn(cluster)).filter(({ object }) => isTerminating(object) && isOwn(object));
  for (const { kind, object } of going)
    out(`${kind} ${nameOf(object)} is being deleted: wait until it is gone, or annotate it with ${ownAnnotation}=false first\n`);
  if (going.length > 0) return false;
  for (const caller of callers) await remove(cluster, caller, out);
  for (let clean = 0; clean < 2; await sleep(pause)) {
    const own = (await packagesIn(cluster)).filter(({ object }) => isOwn(object));
    for (const one of own) await letGo(cluster, one, out);
    clean = own.length === 0 ? clean + 1 : 0;
  }
  out(
    'No Package makes package transactions of its own. Set JANUS_PACKAGES_OWN to none: apply your manifests without that component\n',
  );
  return true;
}

interface Found {
  readonly kind: PackageKind;
  readonly location: Location;
  readonly object: JsonObject;
}

async function packagesIn(cluster: KubernetesCluster): Promise<readonly Found[]> {
  const found: Found[] = [];
  for (const kind of packageKinds) {
    const served = await cluster.resource(packageApiVersion, kind);
    if (served.kind === 'failed') throw new Unanswered(`${kind} of the cluster cannot be read: ${served.failure.message}`);
    const { resource } = served;
    const answer = await cluster.listMetadata(resource, undefined, identity, { whole: true });
    if (answer.kind === 'failed') throw new Unanswered(`${kind} of the cluster cannot be read: ${answer.failure.message}`);
    found.push(...answer.items.map((object) => ({ kind, location: { resource, name: nameOf(object) }, object })));
  }
  return found;
}

function isOwn(object: JsonObject): boolean {
  return (
    listAt(object, 'metadata', 'finalizers').includes(finalizer) ||
    textAt(object, 'metadata', 'annotations', ownAnnotation) === 'true'
  );
}

async function letGo(cluster: KubernetesCluster, { kind, location, object }: Found, out: (text: string) => void): Promise<void> {
  const finalizers = listAt(object, 'metadata', 'finalizers').filter((one) => one !== finalizer);
  const free = withPath(object, ['metadata', 'annotations', ownAnnotation], undefined);
  const left = withPath(free, ['metadata', 'finalizers'], finalizers);
  const write = {
    verb: 'update',
    identity,
    location,
    fieldManager: 'janus-packages',
    precondition: preconditionOf(object),
  } as const;
  const answer = await cluster.send({ ...write, object: { apiVersion: packageApiVersion, kind, ...left } });
  if (isDone(answer, ['absent', 'stale'], location)) out(`${kind} ${location.name}: finalizer and annotation are removed\n`);
}

async function remove(
  cluster: KubernetesCluster,
  [apiVersion, kind, name]: (typeof callers)[number],
  out: (text: string) => void,
): Promise<void> {
  const served = await cluster.resource(apiVersion, kind);
  if (served.kind === 'failed' && served.failure.kind === 'absent') return;
  if (served.kind === 'failed') throw new Unanswered(`${kind} ${name} cannot be read: ${served.failure.message}`);
  const location = { resource: served.resource, name };
  const live = await cluster.get(location, identity);
  if (live.kind === 'failed' && live.failure.kind === 'absent') return;
  if (live.kind === 'failed') throw new Unanswered(`${kind} ${name} cannot be read: ${live.failure.message}`);
  const precondition = preconditionOf(live.object);
  const answer = await cluster.send({ verb: 'delete', identity, location, precondition });
  if (isDone(answer, ['absent'], location)) out(`${kind} ${name} is deleted\n`);
}

/** Whether the write took effect. It throws for other failures than these. */
function isDone(answer: Answer, expected: readonly string[], { resource, name }: Location): boolean {
  if (answer.kind === 'failed' && !expected.includes(answer.failure.kind))
    throw new Unanswered(`${resource.kind} ${name} cannot be written: ${answer.failure.message}`);
  return answer.kind === 'ok';
}

function nameOf(object: JsonObject): string {
  return textAt(object, 'metadata', 'name') ?? '';
}
