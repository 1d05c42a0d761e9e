// Writes of the Lock: each names the version that it replaces, so one that is late takes effect only if nobody wrote the Lock since. There are
// four of them. `takeLock`: of a package transaction that went meanwhile, it leaves a holder that is gone, and the next one takes over.
// `writePackages`: the Lock is fenced before anything is rolled back; if somebody else edited the Lock, that was a write too. `releaseLock`:
// what its package transaction has released and taken again since is at another version. `createLock`: there is one already.
import type { Write } from '../../objects/cluster.ts';
import type { JsonObject } from '../../objects/json.ts';
import { fenced, held, nextNumberOf, released, withPackages } from '../model/holder.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { theLock, writeOf } from './resources.ts';

export function createLock(namespace: string): Write {
  const object = { apiVersion: 'pkg.crossplane.io/v1beta1', kind: 'Lock', metadata: { name: theLock.name }, packages: [] };
  return writeOf(theLock, object, namespace);
}

/** Takes the Lock; also from a holder that is gone, whose number is then used up. */
export function takeLock(lock: JsonObject, { name, uid, status }: PackageTransaction, namespace: string): Write {
  const free = released(lock);
  const holder = { name, uid, number: status.number ?? nextNumberOf(free) };
  return writeOf(theLock, held(free, holder), namespace, lock);
}

export function releaseLock(lock: JsonObject, namespace: string): Write {
  return writeOf(theLock, released(lock), namespace, lock);
}

/** Before a rollback: a late `writePackages` names the version that this write replaces. */
export function fenceLock(lock: JsonObject, moment: string, namespace: string): Write {
  return writeOf(theLock, fenced(lock, moment), namespace, lock);
}

export function writePackages(lock: JsonObject, packages: readonly JsonObject[], namespace: string): Write {
  return writeOf(theLock, withPackages(lock, packages), namespace, lock);
}
