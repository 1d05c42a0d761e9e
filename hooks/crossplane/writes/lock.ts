// Writes of the Lock. Each write names the version that it replaces, so a late write takes effect only if no process wrote the Lock
// since. There are six of them. A late `takeLock` whose package transaction went meanwhile leaves a holder that is gone, and the
// next package transaction takes over. `writePackages`: the hook fences the Lock before it rolls anything back; an edit by another
// writer is a write too. `releaseLock`: if its package transaction has released the Lock and taken it again since, the Lock is at
// another version. A late `createLock` fails, because there is a Lock already.
import type { Write } from '../../objects/cluster.ts';
import type { JsonObject } from '../../objects/json.ts';
import { fenced, goingForward, held, nextNumberOf, released, withPackages } from '../model/holder.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { theLock, writeOf } from './resources.ts';

export function createLock(namespace: string): Write {
  const object = { apiVersion: 'pkg.crossplane.io/v1beta1', kind: 'Lock', metadata: { name: theLock.name }, packages: [] };
  return writeOf(theLock, object, namespace);
}

/** Takes the Lock, also from a holder that is gone. The number of that holder is then used up. */
export function takeLock(lock: JsonObject, { name, uid, status }: PackageTransaction, namespace: string): Write {
  const free = released(lock);
  const holder = { name, uid, number: status.number ?? nextNumberOf(free) };
  return writeOf(theLock, held(free, holder), namespace, lock);
}

export function releaseLock(lock: JsonObject, namespace: string): Write {
  return writeOf(theLock, released(lock), namespace, lock);
}

/** A write before a rollback: a late `writePackages` names the version that this write replaces. */
export function fenceLock(lock: JsonObject, moment: string, namespace: string): Write {
  return writeOf(theLock, fenced(lock, moment), namespace, lock);
}

/** A write before the first deletion of a Replace. A late one marks what is so already, or finds another holder. */
export function forwardLock(lock: JsonObject, namespace: string): Write {
  return writeOf(theLock, goingForward(lock), namespace, lock);
}

export function writePackages(lock: JsonObject, packages: readonly JsonObject[], namespace: string): Write {
  return writeOf(theLock, withPackages(lock, packages), namespace, lock);
}
