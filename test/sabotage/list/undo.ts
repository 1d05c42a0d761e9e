// Promises 1, 2, 16 and 17: what an undo restores, what it leaves, and what others keep.
import type { Sabotage } from '../sabotage.ts';

export const undo: readonly Sabotage[] = [
  {
    name: 'rolled-back-with-leftovers',
    fault: 'an undo that left something ends as RolledBack',
    edits: [
      {
        file: 'hooks/transactions/decide/undo-transitions.ts',
        find: "items.some(isNotRestored) ? 'Failed' : 'RolledBack'",
        replace: "items.length < 0 ? 'Failed' : 'RolledBack'",
      },
    ],
    caughtBy: ['test/hooks/transactions/decide/transitions.test.ts'],
  },
  {
    name: 'restore-whole-object',
    fault: 'the undo restores the whole prior object, and the edits of others are lost',
    edits: [
      {
        file: 'hooks/transactions/attribution/undo.ts',
        find: 'const restored = withKeptFinalizers(attributed.merge.restored, live);',
        replace: 'const restored = entry.prior && contentOf(entry.prior, entry.resource);',
      },
    ],
    caughtBy: ['test/hooks/transactions/attribution/undo.test.ts'],
  },
  {
    name: 'managed-fields-kept',
    fault: 'field ownership is not restored after the content',
    edits: [
      {
        file: 'hooks/transactions/plan/compensation.ts',
        find: 'const next = (answer: JsonObject): Mutation | undefined => restoreOwners(undo, answer, owners(answer));',
        replace: 'const next = (answer: JsonObject): Mutation | undefined => (owners(answer), undefined);',
      },
    ],
    caughtBy: ['test/hooks/transactions/plan/compensation.test.ts'],
  },
  {
    name: 'status-not-restored',
    fault: 'a recreated object lacks its status',
    edits: [
      {
        file: 'hooks/transactions/plan/compensation.ts',
        find: 'const isDone = !undo.entry.resource.statusSubresource ||',
        replace: 'const isDone = true ||',
      },
    ],
    caughtBy: ['test/hooks/transactions/plan/compensation.test.ts'],
  },
  {
    name: 'dead-owners-kept',
    fault: 'a recreated object has an owner that is gone, and is garbage-collected',
    edits: [
      {
        file: 'hooks/transactions/plan/compensation.ts',
        find: 'withoutGenerated(withLiveOwners(asNew(prior), undo.goneOwners))',
        replace: 'withoutGenerated(asNew(prior))',
      },
    ],
    caughtBy: ['test/hooks/transactions/plan/compensation.test.ts'],
  },
  {
    name: 'needed-taken-away',
    fault: 'the undo takes away what an object needs that it has left',
    edits: [
      { file: 'hooks/transactions/decide/needed.ts', find: 'if (by === undefined) return', replace: 'if (by !== entry) return' },
    ],
    caughtBy: ['test/scenarios/undo/needed-objects.test.ts'],
  },
  {
    name: 'adversary-marks',
    fault: 'the deletion of a Transaction also deletes objects that somebody marked as ours',
    edits: [
      {
        file: 'hooks/transactions/observe/own-snapshots.ts',
        find: 'const isOurs = (object: JsonObject): boolean => isSnapshotOf(object, transaction, packer, rollbackRef);',
        replace:
          "const isOurs = (object: JsonObject): boolean => isSnapshotOf(object, transaction, packer, rollbackRef) || textAt(object, 'kind') !== '';",
      },
    ],
    caughtBy: ['test/faults/adversary.test.ts'],
  },
  {
    name: 'children-of-leaves',
    fault: 'the engine does not look for dependents of a ConfigMap',
    edits: [
      {
        file: 'hooks/transactions/hazards/dependents.ts',
        find: 'take([...ownedBy(maker.uid), ...withoutReference(deletion, candidates)], maker)',
        replace:
          "take([...(kindOf(deletion.resource) === '/ConfigMap' ? [] : ownedBy(maker.uid)), ...withoutReference(deletion, candidates)], maker)",
      },
    ],
    caughtBy: ['test/hooks/transactions/hazards/dependents.test.ts', 'test/scenarios/changes/deletes-with-dependents.test.ts'],
  },
  {
    name: 'contents-deleted',
    fault: 'the undo of a creation deletes a Namespace with what others have put there',
    edits: [
      {
        file: 'hooks/transactions/hazards/table.ts',
        find: 'lost: ({ lost }: Hazards) => lost,',
        replace: 'lost: ({ lost }: Hazards) => lost.slice(lost.length),',
      },
    ],
    caughtBy: ['test/hooks/transactions/attribution/undo.test.ts'],
  },
  {
    name: 'away-inside',
    fault: 'an undo deletes a Namespace although objects in it may be in an API server that is away',
    edits: [
      {
        file: 'hooks/transactions/hazards/read-contained.ts',
        find: 'away !== undefined && listed',
        replace: "away === '' && listed",
      },
    ],
    caughtBy: ['test/scenarios/undo/servers-away.test.ts'],
  },
  {
    name: 'unlisted-ignored',
    fault: 'a Delete is sent although not every kind around it can be listed',
    edits: [
      {
        file: 'hooks/transactions/decide/committing.ts',
        find: 'const unlistable = unlistableAtDelete(observation, view, entry);',
        replace:
          'const unlistable = unlistableAtDelete(observation, { ...view, hazards: { ...view.hazards, failingKinds: [] } }, entry);',
      },
    ],
    caughtBy: ['test/scenarios/undo/unlistable-kinds.test.ts'],
  },
  {
    name: 'schemas-drop-values',
    fault: 'a change of a CRD drops values of its objects',
    edits: [
      {
        file: 'hooks/transactions/hazards/read-stored.ts',
        find: 'return sorted(context, listed.items, isStillPruned);',
        replace: 'return sorted(context, [], isStillPruned);',
      },
    ],
    caughtBy: ['test/scenarios/undo/pruned-values.test.ts'],
  },
  {
    name: 'only-copy-expires',
    fault: 'the time to live deletes a Transaction of which something is left, and with it the only copy',
    edits: [{ file: 'hooks/transactions/due.ts', find: ' || status.items.some(isNotRestored))', replace: ')' }],
    caughtBy: ['test/hooks/transactions/due.test.ts', 'test/scenarios/lifecycle/time-to-live.test.ts'],
  },
  {
    name: 'undone-get-fields-back',
    fault: 'an undo gives fields back to Transactions that are undone',
    edits: [
      {
        file: 'hooks/transactions/plan/owners.ts',
        find: 'return [...ourManagers(undo), ...undo.goneManagers];',
        replace: 'return ourManagers(undo);',
      },
    ],
    caughtBy: ['test/hooks/transactions/plan/compensation.test.ts', 'test/scenarios/order/pairs.test.ts'],
  },
  {
    name: 'second-half-unannounced',
    fault: 'an object is created again before a stored status says that the former one is deleted',
    edits: [
      {
        file: 'hooks/transactions/writes/halves.ts',
        find: 'item.deleted !== true || isStanding ?',
        replace: '(item.deleted !== true && live !== undefined) || isStanding ?',
      },
    ],
    caughtBy: ['test/scenarios/changes/recreated-halves.test.ts'],
  },
];
