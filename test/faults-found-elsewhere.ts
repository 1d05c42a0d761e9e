// Faults found in an earlier implementation of the same idea, J1 to J50: each is shown not to be here by tests, or cannot arise,
// and it is said why. Tests are named as `file > name`, a star for what a table puts into the name.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

export interface Fault {
  readonly fault: string;
  readonly shown?: readonly string[];
  readonly cannotArise?: string;
}

export const faultsFoundElsewhere: readonly Fault[] = [
  {
    fault: 'J1: after a crash or a conflict, the own created object is taken for foreign and orphaned',
    shown: [
      'test/hooks/attribution/apply.test.ts > Create, found *: *',
      'test/endings/late-writes.test.ts > a Create lands after its undo has begun',
      'test/scenarios/duplicates.test.ts > and an answer that is never stored is made up for by the next call',
    ],
  },
  {
    fault: 'J2: a crash between an update and the record of its version ends as a foreign conflict',
    shown: [
      'test/hooks/attribution/apply.test.ts > *, found *: *',
      'test/scenarios/duplicates.test.ts > and an answer that is never stored is made up for by the next call',
    ],
  },
  {
    fault: 'J3: a write that took effect, its answer lost, is not undone',
    shown: [
      'test/endings/late-writes.test.ts > a Create lands after its undo has begun',
      'test/exact/stamped-values.test.ts > *, the answer to its write lost',
    ],
  },
  {
    fault: 'J4: a second change of an object in the same Transaction is skipped, and it says Committed',
    shown: [
      'test/scenarios/refusals.test.ts > the same target twice',
      'test/scenarios/refusals.test.ts > the same target twice, under two versions of its group',
    ],
  },
  {
    fault: 'J5: the second of two patches of one object drops the fields of the first',
    shown: ['test/scenarios/refusals.test.ts > the same target twice'],
  },
  {
    fault: 'J6: a Transaction of the same name elsewhere, or later, removes the fields that an earlier one set',
    shown: [
      'test/hooks/model/reference.test.ts > field managers fit, differ by uid, and our two from each other',
      'test/scenarios/former-faults.test.ts > two of the same name, one after the other, keep the fields of both',
    ],
  },
  {
    fault: 'J7: a change that is deleted while it runs is not applied, or not undone',
    cannotArise:
      'Changes are part of one object, the Transaction; its spec cannot be changed, and a digest of it is checked in every call.',
  },
  {
    fault: 'J8: target or content can be changed after they were checked',
    shown: [
      'test/manifests/rules.test.ts > spec cannot be changed',
      'test/hooks/due.test.ts > a spec that is not the one that was checked goes no further',
    ],
  },
  {
    fault: 'J9: a change that is added late, or seen late, fails the whole',
    cannotArise:
      'There are no changes outside the Transaction, and the Transaction is read live in every call, never from a cache.',
  },
  {
    fault: 'J10: the snapshot of a former Transaction of the same name is adopted',
    shown: [
      'test/scenarios/former-faults.test.ts > the snapshot of a former one of the same name is not adopted',
      'test/endings/snapshots.test.ts > is left alone where it is somebody else’s from the start',
    ],
  },
  {
    fault: 'J11: deletion in the foreground takes the snapshot first',
    shown: ['test/scenarios/deletion.test.ts > the snapshot outlives whatever removes it first'],
  },
  {
    fault: 'J12: recovery by hand relies on a snapshot that goes with its Transaction',
    cannotArise:
      'There is no command for recovery: whatever engine comes next goes on, and the Transaction stays until it is settled.',
  },
  {
    fault: 'J13: recovery by hand deletes objects that had been there before',
    cannotArise:
      'There is one inverse in the code, hooks/plan/compensation.ts; it deletes only what a Create of this Transaction made.',
  },
  {
    fault: 'J14: a status that was written meanwhile is a rollback conflict',
    shown: [
      'test/scenarios/deployments.test.ts > a Deployment with a busy status',
      'test/scenarios/deployments.test.ts > that was created is deleted again, although its status was written since',
    ],
  },
  {
    fault: 'J15: a status that was written meanwhile is a conflict before a change',
    shown: [
      'test/exact/conflict-on-apply.test.ts > conflicts on apply',
      'test/scenarios/deployments.test.ts > is updated and undone',
    ],
  },
  {
    fault: 'J16: a foreign write right after ours counts as ours, and the undo erases it',
    shown: [
      'test/scenarios/requests.test.ts > edits of others are kept by an undo',
      'test/generated/round-trips.test.ts > round trips',
    ],
  },
  {
    fault: 'J17: a created object is deleted by an undo without any check',
    shown: [
      'test/hooks/plan/compensation.test.ts > a created object is deleted as it was judged',
      'test/scenarios/containers.test.ts > what somebody else has put into the Namespace since keeps it',
    ],
  },
  {
    fault: 'J18: an edit between the snapshot and the change is lost by the undo',
    shown: ['test/exact/conflict-on-apply.test.ts > conflicts on apply', 'test/generated/round-trips.test.ts > round trips'],
  },
  {
    fault: 'J19: fields are taken from others by force, silently and for ever',
    shown: [
      'test/hooks/content/ownership.test.ts > who lost fields: *',
      'test/exact/ownership.test.ts > taken by * from one that applies and from one that updates',
    ],
  },
  {
    fault: 'J20: a patch of an object that was deleted creates a part of it again',
    shown: [
      'test/server/kubernetes/writes.test.ts > apply: takes fields by force, under preconditions',
      'test/scenarios/former-faults.test.ts > a target that is deleted before its * is not made again',
    ],
  },
  {
    fault: 'J21: any trouble with the API server counts as a conflict and ends as Failed',
    shown: [
      'test/server/kubernetes/failures.test.ts > no answer (*) proves nothing',
      'test/endings/timeouts.test.ts > while the changes cannot be tried: Failed, nothing written',
    ],
  },
  {
    fault: 'J22: snapshots, locks and accounts are read from an outdated cache',
    cannotArise:
      'There is no cache of objects: every read goes to the API server; a verified snapshot is kept in memory under the uid and version that are read anew.',
  },
  {
    fault: 'J23: two Transactions of the same name in two namespaces both hold a lock',
    shown: [
      'test/scenarios/contention.test.ts > Transactions of the same name in two namespaces take turns at the same ClusterRoles',
    ],
  },
  {
    fault: 'J24: kinds of the same name in two groups share a lock and a snapshot',
    shown: [
      'test/scenarios/refusals.test.ts > the same name of the same kind in two groups is no such thing',
      'test/hooks/model/reference.test.ts > every lock has a valid name, and no two objects share one',
    ],
  },
  {
    fault: 'J25: a cluster-scoped object is locked per namespace, that is not at all',
    shown: [
      'test/scenarios/contention.test.ts > Transactions of the same name in two namespaces take turns at the same ClusterRoles',
    ],
  },
  {
    fault: 'J26: what is in a namespace, or of a kind, that the Transaction itself makes cannot be locked or prepared',
    shown: [
      'test/scenarios/containers.test.ts > a Namespace and its contents in one Transaction',
      'test/scenarios/containers.test.ts > a CustomResourceDefinition and instances of it in one Transaction',
    ],
  },
  {
    fault: 'J27: an undo neither takes nor renews locks',
    shown: [
      'test/scenarios/locks.test.ts > a lock that is lost in an undo is waited for, and the undo goes on',
      'test/locks/renewal.test.ts > that were deleted in an undo are taken again',
    ],
  },
  {
    fault: 'J28: only the lock of the current change is renewed',
    shown: [
      'test/locks/renewal.test.ts > with less than half of it left are renewed, all of them, and the change is made in the same call',
    ],
  },
  {
    fault: 'J29: a failure before the first change releases no lock',
    shown: [
      'test/endings/timeouts.test.ts > while waiting for a lock: Failed, nothing written',
      'test/scenarios/sweep.test.ts > a Transaction whose finalizers were forced off leaves nothing behind for long',
    ],
  },
  {
    fault:
      'J30: a release deletes a successor’s lock; expiry follows the writer’s clock; a takeover fails on a lock without labels',
    shown: [
      'test/scenarios/locks.test.ts > an expired lock is taken over, and its former holder writes nothing',
      'test/locks/server-time.test.ts > the clock of the process is off',
      'test/scenarios/former-faults.test.ts > an expired lock that has neither labels nor times is taken over',
    ],
  },
  {
    fault: 'J31: objects can be locked by whoever may not change them',
    shown: ['test/scenarios/former-faults.test.ts > who may not change an object does not lock it either'],
  },
  {
    fault: 'J32: the undo of a deletion takes a vanishing or a foreign object for restored',
    shown: [
      'test/exact/deleted-and-back.test.ts > kept by a finalizer, it is waited for and comes back with it',
      'test/hooks/attribution/undo.test.ts > Delete, found *: *',
    ],
  },
  {
    fault: 'J33: restored fields stay with the engine, their former owners lose them',
    shown: [
      'test/exact/ownership.test.ts > taken by * from one that applies and from one that updates',
      'test/generated/round-trips.test.ts > round trips',
    ],
  },
  {
    fault: 'J34: deletions that cannot be undone are not refused',
    shown: [
      'test/endings/requests.test.ts > allow-irreversible admits with the value true alone, and tells so where it is missing',
      'test/exact/deleted-kinds.test.ts > a Job with Pods takes them along: refused, or opted in',
      'test/exact/deleted-and-back.test.ts > an owner that is gone is left out, and that is told',
    ],
  },
  {
    fault: 'J35: status is lost where it is content',
    shown: [
      'test/hooks/plan/compensation.test.ts > where status is content it comes with the object',
      'test/exact/deleted-kinds.test.ts > kinds that do not come back by themselves',
    ],
  },
  {
    fault: 'J36: an update goes to the object that its content names, not to its target',
    shown: [
      'test/hooks/checks/validity.test.ts > content * of a *',
      'test/server/kubernetes/requests.test.ts > the location names the object, whatever the content says',
    ],
  },
  {
    fault: 'J37: the undo of a creation deletes without a precondition',
    shown: [
      'test/server/kubernetes/writes.test.ts > delete: the precondition is heard, and a dry run of it too',
      'test/hooks/plan/compensation.test.ts > a created object is deleted as it was judged',
    ],
  },
  {
    fault: 'J38: Failed and RollingBack for ever, a write of the status each time',
    shown: ['test/scenarios/requests.test.ts > a rollback conflict is at rest, is resolved by hand, and then tried again'],
  },
  {
    fault: 'J39: a rollback that is requested later than spec.timeout after the start undoes nothing',
    shown: ['test/scenarios/former-faults.test.ts > a rollback that is requested after spec.timeout undoes all the same'],
  },
  {
    fault: 'J40: an undo that takes too long goes on for ever, without locks',
    shown: ['test/endings/timeouts.test.ts > in the undo: Failed at rest, says what is left, and is tried again on request'],
  },
  {
    fault: 'J41: the text of a message decides, and a conflict is never tried again',
    shown: ['test/scenarios/requests.test.ts > a rollback conflict is at rest, is resolved by hand, and then tried again'],
  },
  {
    fault: 'J42: a missing ServiceAccount is a crash loop, and its Transaction cannot be deleted',
    shown: [
      'test/scenarios/account.test.ts > a ServiceAccount that is gone',
      'test/scenarios/account.test.ts > does not keep the Transaction from being deleted',
    ],
  },
  {
    fault: 'J43: a finalizer stays, and namespaces hang when they are deleted',
    shown: [
      'test/scenarios/deletion.test.ts > with its whole namespace',
      'test/scenarios/sweep.test.ts > a Transaction whose finalizers were forced off leaves nothing behind for long',
    ],
  },
  {
    fault: 'J44: conditions of an earlier phase stay True',
    shown: [
      'test/endings/conditions.test.ts > the conditions of each phase are those of the table',
      'test/hooks/outcome/conditions.test.ts > no conditions contradict each other',
    ],
  },
  {
    fault: 'J45: a request is consumed before it is acted upon, and lost by a crash',
    shown: ['test/endings/request-crashes.test.ts > a crash'],
  },
  {
    fault: 'J46: values of Secrets lie open in a ConfigMap',
    shown: [
      'test/scenarios/secrets.test.ts > the snapshot holds them sealed',
      'test/scenarios/secrets.test.ts > and are found nowhere',
    ],
  },
  {
    fault: 'J47: who can edit a ConfigMap has the rights of the ServiceAccount',
    shown: [
      'test/endings/snapshots.test.ts > a snapshot that somebody has tampered with',
      'test/hooks/snapshots/codec.test.ts > an entry is read only where it belongs',
    ],
  },
  {
    fault: 'J48: anybody can have a Transaction act as any ServiceAccount of the namespace',
    shown: ['test/manifests/admission.test.ts > only who may impersonate a ServiceAccount lets a Transaction act as it'],
  },
  {
    fault: 'J49: long names, names with a colon, names that differ in case, short times, many snapshots',
    shown: [
      'test/hooks/model/reference.test.ts > every lock has a valid name, and no two objects share one',
      'test/scenarios/contention.test.ts > Transactions of the same name in two namespaces take turns at the same ClusterRoles',
      'test/scenarios/large.test.ts > get other contents of that size: states that fill a ConfigMap each are kept in several',
    ],
  },
  {
    fault: 'J50: all ConfigMaps, Leases and ServiceAccounts of the cluster are kept in memory',
    cannotArise:
      'Nothing is listed or watched across the cluster for a call; what is kept in memory has bounds (hooks/memory.ts).',
  },
];

const root = join(import.meta.dirname, '..');

/** Tests that are to show it and are not there. */
export function missingTests({ shown = [] }: Fault): readonly string[] {
  return shown.filter((test) => !isThere(test));
}

function isThere(test: string): boolean {
  const [file = '', name = ''] = test.split(' > ');
  const path = join(root, file);
  if (name === '' || !existsSync(path)) return false;
  return readFileSync(path, 'utf8')
    .replaceAll(/\$\{[^}]*\}/g, '*')
    .includes(name);
}
