// Whose work the live object is, before a change and before its undo.
import type { Sabotage } from '../sabotage.ts';

const forward = 'hooks/attribution/apply.ts';
const backward = 'hooks/attribution/undo.ts';
const forwardTests = ['test/hooks/attribution/apply.test.ts'];
const backwardTests = ['test/hooks/attribution/undo.test.ts'];

export const attribution: readonly Sabotage[] = [
  {
    name: 'paths-without-bound',
    fault: 'an object with many fields under a long key is compared, however much text its paths are',
    edits: [{ file: 'hooks/content/bulk.ts', find: 'const mostText = 1e10;', replace: 'const mostText = 1e20;' }],
    caughtBy: ['test/hooks/content/bulk.test.ts'],
  },
  {
    name: 'managers-times-managers',
    fault: 'for each manager that gets fields back all managers are read again',
    edits: [
      {
        file: 'hooks/content/ownership.ts',
        find: '[before.get(key), now.get(key)])',
        replace: '[managersByKey(owned.prior).get(key), managersByKey(owned.live).get(key)])',
      },
    ],
    caughtBy: ['test/threats/many-fields.test.ts'],
  },
  {
    name: 'subresources-forgotten',
    fault: 'what others have written by the subresource scale counts as ours',
    edits: [
      {
        file: 'hooks/content/ownership.ts',
        find: "&& manager.subresource !== 'status'",
        replace: "&& manager.subresource === ''",
      },
    ],
    caughtBy: ['test/hooks/content/ownership.test.ts', 'test/scenarios/conflicts/scaled.test.ts'],
  },
  {
    name: 'own-create-foreign',
    fault: 'after a crash the object that we created counts as foreign',
    edits: [
      {
        file: forward,
        find: "if (isOurCreation(evidence, evidence.uid) && unlikeOurs(evidence).length === 0) return { kind: 'done' };",
        replace: '',
      },
    ],
    caughtBy: forwardTests,
  },
  {
    name: 'own-update-forgotten',
    fault: 'after a crash our own update counts as a foreign change',
    edits: [{ file: forward, find: "if (kind === 'applied' && !isPart) return { kind: 'done' };", replace: '' }],
    caughtBy: forwardTests,
  },
  {
    name: 'own-patch-forgotten',
    fault: 'after a crash our own patch counts as a foreign change',
    edits: [
      {
        file: forward,
        find: "if (attributed.kind === 'applied' && !isForged(evidence, attributed)) return { kind: 'done' };",
        replace: '',
      },
    ],
    caughtBy: forwardTests,
  },
  {
    name: 'first-of-two-writes-forgotten',
    fault: 'after a crash the first of two writes counts as the whole Patch',
    edits: [
      {
        file: forward,
        find: "if (attributed.kind === 'applied' && isHalf(evidence))",
        replace: 'if (isHalf(evidence) && false)',
      },
    ],
    caughtBy: ['test/scenarios/manifests/left-behind.test.ts'],
  },
  {
    name: 'version-is-conflict',
    fault: 'every change of the resourceVersion is a conflict',
    edits: [
      {
        file: forward,
        find: "if (uidOf(live) !== uidOf(entry.prior)) return conflict('Replaced',",
        replace:
          "if (textAt(live, 'metadata', 'resourceVersion') !== textAt(entry.prior, 'metadata', 'resourceVersion')) return conflict('Replaced',",
      },
    ],
    caughtBy: forwardTests,
  },
  {
    name: 'status-is-content',
    fault: 'a status that a controller writes is a conflict',
    edits: [
      {
        file: 'hooks/content/content.ts',
        find: "const plain = resource.statusSubresource ? withKey(object, 'status', undefined) : object;",
        replace: 'const plain = object;',
      },
    ],
    caughtBy: ['test/hooks/content/content.test.ts', 'test/hooks/attribution/apply.test.ts'],
  },
  {
    name: 'edit-before-update',
    fault: 'an edit between the snapshot and an update or a delete is overwritten',
    edits: [
      {
        file: forward,
        find: 'const paths = differing.filter((path) => !isNobodys(live, path, kinds));',
        replace: 'const paths = differing.slice(0, 0);',
      },
    ],
    caughtBy: forwardTests,
  },
  {
    name: 'edit-before-patch',
    fault: 'an edit between the snapshot and a patch is overwritten',
    edits: [
      {
        file: forward,
        find: 'const paths = moved.length > 0 ? moved : overwritten(evidence, attributed.kinds);',
        replace: 'const paths = overwritten(evidence, attributed.kinds).slice(0, 0);',
      },
    ],
    caughtBy: forwardTests,
  },
  {
    name: 'replaced-unseen',
    fault: 'an object that was deleted and created again since the snapshot is changed as if it were the same',
    edits: [
      {
        file: forward,
        find: "if (uidOf(live) !== uidOf(entry.prior)) return conflict('Replaced',",
        replace: "if (uidOf(live) === '') return conflict('Replaced',",
      },
    ],
    caughtBy: forwardTests,
  },
  {
    name: 'foreign-is-ours',
    fault: 'a foreign value where we had changed one counts as ours, and the undo erases it',
    edits: [
      {
        file: 'hooks/content/merge.ts',
        find: "return { restored: live, ours: [{ path, state: 'foreign' }], theirs: [path] };",
        replace: "return { restored: prior, ours: [{ path, state: 'applied' }], theirs: [] };",
      },
    ],
    caughtBy: ['test/hooks/content/merge.test.ts'],
  },
  {
    name: 'restore-whole-object',
    fault: 'the undo restores the whole prior object, and the edits of others are lost',
    edits: [
      {
        file: backward,
        find: 'const restored = withKeptFinalizers(attributed.merge.restored, live);',
        replace: 'const restored = entry.prior && contentOf(entry.prior, entry.resource);',
      },
    ],
    caughtBy: backwardTests,
  },
  {
    name: 'taken-over-unseen',
    fault: 'the undo overwrites values that another manager has taken over',
    edits: [
      { file: backward, find: 'attributed.foreign : takenOver(evidence, attributed);', replace: 'attributed.foreign : [];' },
    ],
    caughtBy: backwardTests,
  },
  {
    name: 'half-restored-unseen',
    fault: 'after a crash between the two writes of an undo the second one is forgotten',
    edits: [{ file: backward, find: 'if (hasRestored(live, managers.restore))', replace: 'if (managers.restore === "")' }],
    caughtBy: ['test/hooks/attribution/undo.test.ts', 'test/scenarios/undo/crash-between-two-writes.test.ts'],
  },
  {
    name: 'foreign-content-deleted',
    fault: 'the undo of a creation deletes what others have added to the object',
    edits: [
      {
        file: backward,
        find: "if (foreign.length > 0 && evidence.overwrites !== true)\n    return conflict('ForeignContent'",
        replace: "if (foreign.length > 1_000)\n    return conflict('ForeignContent'",
      },
    ],
    caughtBy: backwardTests,
  },
  {
    name: 'contents-deleted',
    fault: 'the undo of a creation deletes a Namespace with what others have put there',
    edits: [
      { file: 'hooks/attribution/kept.ts', find: 'if (contents.length > 0) {', replace: 'if (evidence.contents.length < 0) {' },
    ],
    caughtBy: backwardTests,
  },
  {
    name: 'controllers-by-name-alone',
    fault: 'what is written under the name of a controller is derived, whatever the object is',
    edits: [
      {
        file: 'hooks/content/derived.ts',
        find: 'covers(row, path) && (row.when?.(object) ?? true) && isOfUse(row)',
        replace: 'covers(row, path) && isOfUse(row)',
      },
    ],
    caughtBy: backwardTests,
  },
  {
    name: 'foreign-creation-deleted',
    fault: 'the undo of a creation deletes an object that somebody else has made under that name',
    edits: [{ file: backward, find: 'if (isSame || isBroughtBack(evidence))', replace: 'if (isSame || live !== undefined)' }],
    caughtBy: backwardTests,
  },
  {
    name: 'recreated-is-restored',
    fault: 'an object that somebody has created again with other content counts as restored',
    edits: [
      {
        file: backward,
        find: 'if (foreign.length === 0) return lookAtAll',
        replace: 'if (foreign.length >= 0) return lookAtAll',
      },
    ],
    caughtBy: backwardTests,
  },
  {
    name: 'terminating-is-gone',
    fault: 'the undo of a deletion treats an object that is still terminating as one that stays',
    edits: [
      {
        file: backward,
        find: 'if (isTerminating(live)) return awaitGone(evidence, live);',
        replace: "if (isTerminating(live)) return { kind: 'restored' };",
      },
    ],
    caughtBy: backwardTests,
  },
  {
    name: 'finalizer-is-conflict',
    fault: 'a finalizer that a controller adds or removes stops an update that keeps finalizers',
    edits: [
      {
        file: 'hooks/attribution/apply.ts',
        find: "['annotations', ...keptBy(change)]",
        replace: "['annotations', ...keptBy(change).slice(2)]",
      },
    ],
    caughtBy: ['test/hooks/attribution/apply.test.ts', 'test/scenarios/changes/updates-and-finalizers.test.ts'],
  },
];
