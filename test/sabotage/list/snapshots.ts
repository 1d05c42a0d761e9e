// What is stored before the first change, and what becomes of secrets.
import type { Sabotage } from '../sabotage.ts';

const snapshots = ['test/endings/snapshots.test.ts'];
const model = ['test/hooks/model/snapshot.test.ts'];

export const storage: readonly Sabotage[] = [
  {
    name: 'no-snapshot',
    fault: 'nothing is stored before the first change',
    edits: [
      {
        file: 'hooks/plan/plan.ts',
        find: 'return storePlan(transaction, step.targets, step.name, packer);',
        replace:
          "return storePlan(transaction, step.targets, step.name, packer).kind === 'refused' ? { kind: 'nothing' } : { kind: 'nothing' };",
      },
    ],
    caughtBy: ['test/scenarios/commits.test.ts'],
  },
  {
    name: 'snapshot-unacknowledged',
    fault: 'a snapshot counts as stored although its write failed',
    edits: [
      {
        file: 'hooks/report/result.ts',
        find: '  if (failure === undefined) {\n    const writes = plan.kind',
        replace: "  if (failure === undefined || failure.kind === 'transient') {\n    const writes = plan.kind",
      },
    ],
    caughtBy: ['test/hooks/report/result.test.ts', 'test/scenarios/failures.test.ts', 'test/faults/faults.test.ts'],
  },
  {
    name: 'foreign-snapshot-adopted',
    fault: 'a snapshot that lies under our name is adopted, whoever stored it (J10)',
    edits: [
      {
        file: 'hooks/observe/snapshot.ts',
        find: "if (first.kind === 'present' && !isSnapshotOf(first.object, transaction)) return { kind: 'foreign' };",
        replace:
          "if (first.kind === 'present' && !isSnapshotOf(first.object, transaction) && name === '') return { kind: 'foreign' };",
      },
    ],
    caughtBy: ['test/scenarios/former-faults.test.ts', ...snapshots],
  },
  {
    name: 'digest-unchecked',
    fault: 'a second or an edited snapshot is restored from',
    edits: [
      {
        file: 'hooks/observe/snapshot.ts',
        find: 'if (stored.ref.digest !== ref.digest) {',
        replace: "if (stored.ref.digest === '') {",
      },
    ],
    caughtBy: snapshots,
  },
  {
    name: 'entry-of-another',
    fault: 'an entry of another object or change is restored from (J47)',
    edits: [
      {
        file: 'hooks/model/snapshot.ts',
        find: 'return identityOf(entry.target) === identityOf(target) ? entry : undefined;',
        replace: 'return entry;',
      },
    ],
    caughtBy: model,
  },
  {
    name: 'secrets-unsealed',
    fault: 'prior states of Secrets lie open in the snapshot (J46)',
    edits: [
      {
        file: 'hooks/model/snapshot.ts',
        find: "return (target.apiVersion === 'v1' && target.kind === 'Secret') || target",
        replace: 'return target',
      },
    ],
    caughtBy: model,
  },
  {
    name: 'other-namespaces-unsealed',
    fault: 'prior states of objects in other namespaces lie open in the snapshot',
    edits: [
      {
        file: 'hooks/model/snapshot.ts',
        find: ' || target.namespace !== transactionNamespace;',
        replace: " || transactionNamespace === '';",
      },
    ],
    caughtBy: model,
  },
  {
    name: 'seal-anywhere',
    fault: 'what was sealed for one change opens for another',
    edits: [
      {
        file: 'hooks/model/snapshot.ts',
        find: 'export function sealContext(uid: string, index: number, target: Reference): string {',
        replace:
          'export function sealContext(uid: string, index: number, target: Reference): string {\n  if (index >= 0) return uid.slice(0, 0) + target.kind;',
      },
    ],
    caughtBy: model,
  },
  {
    name: 'secrets-quoted',
    fault: 'messages quote what the API server says of a Secret',
    edits: [
      {
        file: 'hooks/checks/failures.ts',
        find: "return isSecret || failure.message === ''",
        replace: "return failure.message === ''",
      },
    ],
    caughtBy: ['test/scenarios/secrets.test.ts'],
  },
  {
    name: 'snapshot-unprotected',
    fault: 'the snapshot has no finalizer: deletion in the foreground takes it first (J11)',
    edits: [{ file: 'hooks/model/snapshot.ts', find: 'finalizers: [snapshotFinalizer],', replace: '' }],
    caughtBy: ['test/hooks/model/snapshot.test.ts', 'test/scenarios/deletion.test.ts'],
  },
];
