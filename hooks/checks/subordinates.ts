// Which objects of a Namespace exist only because of other objects in it. Pure. Whoever may write there decides how many objects there
// are and how they hang together, so each object, and each step from one to its controller, is looked at once.
import type { Neighbour } from './company.ts';

/**
 * Whether a controller made the object for another object in the same Namespace: then only that other object counts. The object counts
 * by itself if its owner is elsewhere, is no controller, or does not count (root certificate, default account), or if owners form a cycle.
 */
export function subordinatesOf(all: readonly Neighbour[]): (one: Neighbour) => boolean {
  const services = new Set(all.filter((one) => isCore(one, 'Service')).map(({ reference }) => reference.name));
  const above = controllersOf(all);
  const ending = endingIn(above);
  return (one) => {
    if (isCore(one, 'Endpoints') && services.has(one.reference.name)) return true;
    return above(one) !== undefined && ending(one);
  };
}

type Above = (one: Neighbour) => Neighbour | undefined;

function controllersOf(all: readonly Neighbour[]): Above {
  const byUid = new Map<string, Neighbour>();
  for (const one of all) if (!byUid.has(one.uid)) byUid.set(one.uid, one);
  return ({ owners }) => {
    const controller = owners.find(({ isController }) => isController);
    const found = controller === undefined ? undefined : byUid.get(controller.uid);
    return found === undefined || isRootCertificate(found) || isDefaultAccount(found) ? undefined : found;
  };
}

/** Whether the controllers above an object come to an end. What was found for one counts for all below it. */
function endingIn(above: Above): (one: Neighbour) => boolean {
  const known = new Map<string, boolean>();
  return (one) => {
    const passed = new Set<string>();
    let next: Neighbour | undefined = one;
    while (next !== undefined && !known.has(next.uid) && !passed.has(next.uid)) {
      passed.add(next.uid);
      next = above(next);
    }
    const ends = next === undefined || known.get(next.uid) === true;
    for (const uid of passed) known.set(uid, ends);
    return ends;
  };
}

function isCore({ reference }: Neighbour, kind: string): boolean {
  return reference.kind === kind && reference.apiVersion === 'v1';
}

/** Kubernetes puts this ConfigMap into every Namespace, and restores it after a change. */
export function isRootCertificate(one: Neighbour): boolean {
  return isCore(one, 'ConfigMap') && one.reference.name === 'kube-root-ca.crt';
}

/** Kubernetes puts this ServiceAccount into every Namespace too, but does not restore it. */
export function isDefaultAccount(one: Neighbour): boolean {
  return isCore(one, 'ServiceAccount') && one.reference.name === 'default';
}
