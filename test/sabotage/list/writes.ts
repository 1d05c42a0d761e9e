// Promises 2 to 4: what the engine writes forward, and what it stores first.
import type { Sabotage } from '../sabotage.ts';

export const writes: readonly Sabotage[] = [
  {
    name: 'update-unconditional',
    fault: 'an update or a patch is sent without uid and resourceVersion',
    edits: [
      {
        file: 'server/kubernetes/requests.ts',
        find: 'body: conditional(write.object, write.precondition)',
        replace: 'body: write.object',
      },
      {
        file: 'server/kubernetes/requests.ts',
        find: 'body: conditional(named(write.object, write.location), write.precondition)',
        replace: 'body: named(write.object, write.location)',
      },
    ],
    caughtBy: ['test/server/kubernetes/requests.test.ts'],
  },
  {
    name: 'delete-without-uid',
    fault: 'a delete names the version, but not the uid',
    edits: [
      { file: 'server/kubernetes/requests.ts', find: 'preconditions: { uid: precondition.uid, ', replace: 'preconditions: { ' },
    ],
    caughtBy: ['test/server/kubernetes/requests.test.ts'],
  },
  {
    name: 'foreign-is-ours',
    fault: 'a foreign value where we had changed one counts as ours, and the undo erases it',
    edits: [
      {
        file: 'hooks/objects/content/merge.ts',
        find: "return { restored: live, ours: [{ path, state: 'foreign' }], theirs: [path] };",
        replace: "return { restored: prior, ours: [{ path, state: 'applied' }], theirs: [] };",
      },
    ],
    caughtBy: ['test/hooks/objects/content/merge.test.ts'],
  },
  {
    name: 'update-drops-finalizers',
    fault: 'an update drops finalizers and owners that its content does not name',
    edits: [
      {
        file: 'hooks/transactions/writes/change.ts',
        find: "return type === 'Update' ? ['finalizers', 'ownerReferences'].filter((key) => !isNamed(key)) : [];",
        replace: 'return isNamed(type) ? [type] : [];',
      },
    ],
    caughtBy: [
      'test/hooks/transactions/writes/change.test.ts',
      'test/scenarios/changes/updates-and-finalizers.test.ts',
      'test/generated/round-trips.test.ts',
    ],
  },
  {
    name: 'no-snapshot',
    fault: 'nothing is stored before the first change',
    edits: [
      {
        file: 'hooks/transactions/plan/plan.ts',
        find: 'return storePlan(step, transaction, storing);',
        replace: "return storePlan(step, transaction, storing).kind === 'refused' ? { kind: 'nothing' } : { kind: 'nothing' };",
      },
    ],
    caughtBy: ['test/scenarios/changes/readme-example.test.ts'],
  },
  {
    name: 'snapshot-unacknowledged',
    fault: 'a snapshot counts as stored although its write failed',
    edits: [
      {
        file: 'hooks/transactions/outcome/result.ts',
        find: '  if (failure === undefined) {\n    const writes = plan.kind',
        replace: "  if (failure === undefined || failure.kind === 'transient') {\n    const writes = plan.kind",
      },
    ],
    caughtBy: [
      'test/hooks/transactions/outcome/result.test.ts',
      'test/scenarios/changes/refused-writes.test.ts',
      'test/faults/faults.test.ts',
    ],
  },
  {
    name: 'digest-unchecked',
    fault: 'a second or an edited snapshot is restored from',
    edits: [
      {
        file: 'hooks/transactions/observe/snapshot.ts',
        find: 'if (digestOf(data) !== ref.digest) return',
        replace: "if (digestOf(data) === '') return",
      },
    ],
    caughtBy: ['test/threats/tampering.test.ts'],
  },
  {
    name: 'entry-of-another',
    fault: 'an entry of another object or change is restored from',
    edits: [
      {
        file: 'hooks/transactions/snapshots/codec.ts',
        find: 'identityOf(stored) !== identityOf(target)) return undefined;',
        replace: 'identityOf(stored) === "") return undefined;',
      },
    ],
    caughtBy: ['test/hooks/transactions/snapshots/codec.test.ts'],
  },
  {
    name: 'forged-snapshot-adopted',
    fault: 'an object under the name of a snapshot is adopted, whoever stored it',
    edits: [
      {
        file: 'hooks/transactions/snapshots/objects.ts',
        find: 'return packer.isTagged(digest, read(headAnnotations.tag), headContext(transaction, base, parts))',
        replace: "return packer.tag(digest, headContext(transaction, base, parts)) !== ''",
      },
    ],
    caughtBy: ['test/hooks/transactions/snapshots/codec.test.ts', 'test/threats/replayed-snapshots.test.ts'],
  },
  {
    name: 'secrets-unsealed',
    fault: 'prior states of Secrets are readable in the snapshot',
    edits: [{ file: 'hooks/transactions/model/entry.ts', find: 'if (isSecret(target) || target', replace: 'if (target' }],
    caughtBy: ['test/hooks/transactions/snapshots/codec.test.ts'],
  },
  {
    name: 'own-create-foreign',
    fault: 'after a crash the object that we created counts as foreign',
    edits: [
      {
        file: 'hooks/transactions/attribution/apply.ts',
        find: "if (isOurCreation(evidence, evidence.uid) && unlikeOurs(evidence).length === 0) return { kind: 'done' };",
        replace: '',
      },
    ],
    caughtBy: ['test/hooks/transactions/attribution/apply.test.ts'],
  },
  {
    name: 'own-update-forgotten',
    fault: 'after a crash our own update counts as a foreign change',
    edits: [
      {
        file: 'hooks/transactions/attribution/apply.ts',
        find: "if (kind === 'applied' && !isPart) return { kind: 'done' };",
        replace: '',
      },
    ],
    caughtBy: ['test/hooks/transactions/attribution/apply.test.ts'],
  },
  {
    name: 'impersonation-dropped',
    fault: 'targets are written with the rights of the engine',
    edits: [
      {
        file: 'hooks/transactions/writes/resources.ts',
        find: "return { kind: 'serviceAccount', namespace: transaction.namespace, name: transaction.serviceAccountName };",
        replace: 'return engine;',
      },
    ],
    caughtBy: ['test/hooks/transactions/writes/change.test.ts', 'test/scenarios/lifecycle/account.test.ts'],
  },
  {
    name: 'permissions-after-locks',
    fault: 'locks are acquired before permissions are reviewed',
    edits: [
      {
        file: 'hooks/transactions/observe/begin.ts',
        find: 'const isChecked = context.carry.checked || context.isWaiting;',
        replace: 'const isChecked = !context.carry.checked;',
      },
    ],
    caughtBy: ['test/scenarios/lifecycle/refusals.test.ts'],
  },
  {
    name: 'secrets-quoted',
    fault: 'messages quote what the API server says of a Secret',
    edits: [
      { file: 'hooks/transactions/checks/failures.ts', find: "if (!isSecret && message !== '')", replace: "if (message !== '')" },
    ],
    caughtBy: ['test/scenarios/snapshots/secrets.test.ts'],
  },
];
