// Faults that the adversary of the campaign must notice, even if another test would notice them earlier.
import type { Sabotage } from '../sabotage.ts';

const caughtBy = ['test/faults/adversary.test.ts'];

export const authority: readonly Sabotage[] = [
  {
    name: 'adversary-marks',
    fault: 'the deletion of a Transaction also deletes objects that somebody marked as ours',
    edits: [
      {
        file: 'hooks/observe/own-snapshots.ts',
        find: 'const isOurs = (object: JsonObject): boolean => isSnapshotOf(object, transaction, packer, rollbackRef);',
        replace:
          "const isOurs = (object: JsonObject): boolean => isSnapshotOf(object, transaction, packer, rollbackRef) || textAt(object, 'kind') !== '';",
      },
    ],
    caughtBy,
  },
  {
    name: 'adversary-holds-deletions',
    fault: 'a deletion waits for as long as somebody changes the snapshot',
    edits: [
      { file: 'hooks/outcome/ends.ts', find: 'if (!isDeletionOverdue(observation)) return outcome;', replace: 'return outcome;' },
    ],
    caughtBy: ['test/hooks/outcome/result.test.ts'],
  },
  {
    name: 'adversary-hides-snapshots',
    fault: 'a deletion waits for as long as the ConfigMaps cannot be read',
    edits: [
      {
        file: 'hooks/decide/settled.ts',
        find: '(isDeletionOverdue(observation) ? undefined : view.unread)',
        replace: 'view.unread',
      },
    ],
    caughtBy: ['test/hooks/decide/decide.test.ts'],
  },
  {
    name: 'adversary-swept',
    fault: 'the finalizer is removed from every object that somebody marked as ours',
    edits: [
      {
        file: 'hooks/sweep.ts',
        find: 'const isOurs = (item: JsonObject): boolean => isSnapshotOf(item, claimed(item), packer);',
        replace:
          "const isOurs = (item: JsonObject): boolean => isSnapshotOf(item, claimed(item), packer) || claimed(item).uid !== '';",
      },
    ],
    caughtBy,
  },
];
