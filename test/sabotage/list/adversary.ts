// What the adversary of the campaign must notice by itself, whatever the tests of single parts see before it.
import type { Edit, Sabotage } from '../sabotage.ts';

const caughtBy = ['test/faults/adversary.test.ts'];

const headBelieved: Edit = {
  file: 'hooks/model/snapshot-objects.ts',
  find: 'return packer.isTagged(digest, read(headAnnotations.tag), headContext(transaction, base, parts))',
  replace: 'return headContext(transaction, base, parts) !== packer.tag(digest, base)',
};

const digestBelieved: Edit = {
  file: 'hooks/observe/own-snapshots.ts',
  find: 'if (digest === undefined || digestOf(data) !== digest) return undefined;',
  replace: "if (digest === undefined || digestOf(data) === '') return undefined;",
};

const entriesBelieved: Edit = {
  file: 'hooks/model/snapshot.ts',
  find: "if (whole === '' || !packer.isTagged(stored, tag, contextOf(form, place))) return undefined;",
  replace: "if (whole === '' || contextOf(form, place) === tag) return undefined;",
};

export const authority: readonly Sabotage[] = [
  {
    name: 'adversary-believed',
    fault: 'what somebody puts in the place of a stored snapshot is adopted and restored from: no tag is compared',
    edits: [headBelieved, digestBelieved, entriesBelieved],
    caughtBy,
  },
  {
    name: 'adversary-marks',
    fault: 'what somebody marks as ours is deleted with the Transaction',
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
    name: 'adversary-swept',
    fault: 'the finalizer is taken off whatever somebody marks as ours',
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
