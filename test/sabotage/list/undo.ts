// What the undo writes, and how it handles failures.
import type { Sabotage } from '../sabotage.ts';

const compensation = 'hooks/plan/compensation.ts';
const compensationTests = ['test/hooks/plan/compensation.test.ts'];
const due = 'hooks/due.ts';
const dueTests = ['test/hooks/due.test.ts'];
const result = 'hooks/outcome/undo.ts';

export const undo: readonly Sabotage[] = [
  {
    name: 'managed-fields-kept',
    fault: 'field ownership is not restored after the content',
    edits: [
      {
        file: compensation,
        find: 'const next = (answer: JsonObject): Mutation | undefined => restoreOwners(undo, answer, owners(answer));',
        replace: 'const next = (answer: JsonObject): Mutation | undefined => (owners(answer), undefined);',
      },
    ],
    caughtBy: compensationTests,
  },
  {
    name: 'dead-owners-kept',
    fault: 'a recreated object has an owner that is gone, and is garbage-collected',
    edits: [
      {
        file: compensation,
        find: 'withoutGenerated(withLiveOwners(asNew(prior), undo.goneOwners))',
        replace: 'withoutGenerated(asNew(prior))',
      },
    ],
    caughtBy: compensationTests,
  },
  {
    name: 'dead-owners-put-back',
    fault: 'the undo of an update restores an owner that is gone, and the object is garbage-collected',
    edits: [
      {
        file: compensation,
        find: 'const restored = withLiveOwners(verdict.restored, undo.goneOwners);',
        replace: 'const { restored } = verdict;',
      },
    ],
    caughtBy: ['test/scenarios/changes/updates-and-finalizers.test.ts'],
  },
  {
    name: 'hidden-owners-kept',
    fault: 'a recreated object has an owner that may not be read, and is garbage-collected if that owner is gone',
    edits: [
      {
        file: 'hooks/observe/owners.ts',
        find: "return failure.kind === 'transient' ? failure : 'hidden';",
        replace: "return failure.kind === 'transient' ? failure : ('' as 'hidden');",
      },
    ],
    caughtBy: ['test/scenarios/undo/owners-and-tokens.test.ts'],
  },
  {
    name: 'dead-owners-given',
    fault: 'a change gives an object an owner that does not exist, and the object is garbage-collected',
    edits: [
      {
        file: 'hooks/observe/trial.ts',
        find: 'return (await wrongOwner(context, prepared)) ??',
        replace: 'return (await wrongOwner(context, { ...prepared, expected: undefined })) ??',
      },
    ],
    caughtBy: ['test/scenarios/undo/owners-and-tokens.test.ts'],
  },
  {
    name: 'old-token-kept',
    fault: 'a recreated token names the former ServiceAccount, and Kubernetes deletes it',
    edits: [
      {
        file: compensation,
        find: 'const object = verdict.withoutToken === true ? withoutToken(plain) : plain;',
        replace: 'const object = verdict.withoutToken === undefined ? plain : withoutGenerated(plain);',
      },
    ],
    caughtBy: ['test/scenarios/undo/owners-and-tokens.test.ts'],
  },
  {
    name: 'status-not-restored',
    fault: 'a recreated object lacks its status',
    edits: [
      { file: compensation, find: 'const isDone = !undo.entry.resource.statusSubresource ||', replace: 'const isDone = true ||' },
    ],
    caughtBy: compensationTests,
  },
  {
    name: 'only-copy-expires',
    fault: 'the time to live deletes a Transaction of which something is left, and with it the only copy',
    edits: [
      {
        file: due,
        find: ' || status.items.some(isNotRestored))',
        replace: ')',
      },
    ],
    caughtBy: [...dueTests, 'test/scenarios/lifecycle/time-to-live.test.ts'],
  },
  {
    name: 'in-flight-forgotten',
    fault: 'the undo skips the change whose answer was lost',
    edits: [
      {
        file: 'hooks/model/item.ts',
        find: 'const due = items.flatMap((item, index) => (isToUndo(item) &&',
        replace: "const due = items.flatMap((item, index) => (item.progress.kind === 'applied' &&",
      },
    ],
    caughtBy: dueTests,
  },
  {
    name: 'undo-first-to-last',
    fault: 'the undo goes from the first change to the last',
    edits: [{ file: 'hooks/model/item.ts', find: 'due.findLast(', replace: 'due.find(' }],
    caughtBy: dueTests,
  },
  {
    name: 'needed-taken-away',
    fault: 'the undo takes away what an object needs that it has left',
    edits: [{ file: 'hooks/decide/needed.ts', find: 'if (by === undefined) return', replace: 'if (by !== entry) return' }],
    caughtBy: ['test/scenarios/undo/needed-objects.test.ts'],
  },
  {
    name: 'failed-for-ever',
    fault: 'a Failed Transaction with something left retries its undo for ever',
    edits: [
      {
        file: due,
        find: "if (request !== undefined && isLeft) return { kind: 'reacquire', request };",
        replace:
          "if (isLeft) return { kind: 'reacquire', request: request ?? { annotation: annotations.retryRollback, value: '' } };",
      },
    ],
    caughtBy: dueTests,
  },
  {
    name: 'timeout-from-the-start',
    fault: 'the time of an undo counts from the start of the Transaction',
    edits: [
      {
        file: due,
        find: 'Math.max(status.rollbackStartedAt ?? now,',
        replace: 'Math.max(status.startedAt ?? now,',
      },
    ],
    caughtBy: dueTests,
  },
  {
    name: 'conflict-waits',
    fault: 'the undo waits for a conflict to go away instead of reporting it',
    edits: [
      {
        file: 'hooks/decide/rolling-back.ts',
        find: 'return setStatus(notRestored(status, index, now, verdict), verdict.message);',
        replace: 'return waitFor(status, verdict.message);',
      },
    ],
    caughtBy: ['test/hooks/decide/decide.test.ts'],
  },
  {
    name: 'exists-is-restored',
    fault: 'if the name of a deleted object is in use again, it counts as restored',
    edits: [
      {
        file: result,
        find: "if (failure.kind === 'stale' || failure.kind === 'exists' || mayVanish)",
        replace:
          "if (failure.kind === 'exists') return answer(restored(observation.status, step.index, observation.now));\n  if (failure.kind === 'stale' || mayVanish)",
      },
    ],
    caughtBy: ['test/hooks/outcome/result.test.ts'],
  },
  {
    name: 'deleting-is-deleted',
    fault: 'the undo of a creation is done as soon as the delete is answered, though finalizers keep the object',
    edits: [
      {
        file: result,
        find: "if (verdict.kind !== 'delete' || last?.kind !== 'ok' || isGone(last)) return undefined;",
        replace: "if (verdict.kind !== 'delete' || last !== undefined) return undefined;",
      },
    ],
    caughtBy: [
      'test/hooks/outcome/result.test.ts',
      'test/scenarios/undo/recreated-kinds.test.ts',
      'test/scenarios/changes/namespaces-and-crds.test.ts',
    ],
  },
  {
    name: 'place-taken-in-silence',
    fault: 'the message does not say that the snapshot took the quota of a Create',
    edits: [
      {
        file: 'hooks/outcome/places.ts',
        find: 'if (code !== forbidden || !isNearby',
        replace: 'if (code === forbidden || !isNearby',
      },
    ],
    caughtBy: ['test/scenarios/snapshots/quotas.test.ts'],
  },
  {
    name: 'snapshot-refused-in-silence',
    fault: 'a snapshot that exceeds a quota is reported as a missing right of the ServiceAccount',
    edits: [
      { file: 'hooks/outcome/places.ts', find: "reason: 'SnapshotRefused',", replace: 'reason: reasonOfFailure(failure),' },
    ],
    caughtBy: ['test/scenarios/snapshots/quotas.test.ts'],
  },
  {
    name: 'refused-undo-retried',
    fault: 'an undo that is definitely refused is retried for ever',
    edits: [
      {
        file: result,
        find: 'return answer(notRestored(observation.status, step.index, observation.now, { reason: reasonOfFailure(failure), message }));',
        replace: 'return answer({ ...observation.status, message }, 1);',
      },
    ],
    caughtBy: ['test/hooks/outcome/result.test.ts'],
  },
  {
    name: 'rolled-back-with-leftovers',
    fault: 'an undo that left something ends as RolledBack',
    edits: [
      {
        file: 'hooks/decide/undo-transitions.ts',
        find: "items.some(isNotRestored) ? 'Failed' : 'RolledBack'",
        replace: "items.length < 0 ? 'Failed' : 'RolledBack'",
      },
    ],
    caughtBy: ['test/hooks/decide/transitions.test.ts'],
  },
  {
    name: 'brought-back-is-foreign',
    fault: 'an object that the undo of another Transaction has created again counts as somebody else’s',
    edits: [
      {
        file: 'hooks/attribution/others.ts',
        find: 'if (isMarked(evidence)) return true;',
        replace: '',
      },
    ],
    caughtBy: ['test/hooks/attribution/others.test.ts', 'test/scenarios/order/recreated-targets.test.ts'],
  },
  {
    name: 'later-deletion-forgotten',
    fault: 'an object that a later Transaction deleted counts as undone, and its undo brings it back',
    edits: [
      {
        file: 'hooks/attribution/others.ts',
        find: 'return lookAtAll(evidence) ?? laterThan(evidence, isDeletion);',
        replace: 'return undefined;',
      },
    ],
    caughtBy: ['test/hooks/attribution/others.test.ts', 'test/scenarios/order/pairs.test.ts'],
  },
  {
    name: 'created-again-is-restored',
    fault: 'an object that a later Transaction recreated counts as restored, and its undo deletes it',
    edits: [
      {
        file: 'hooks/attribution/undo.ts',
        find: 'const isCreation = ({ type, recreates }: OtherChange): boolean => mayMake(type) || recreates;',
        replace: 'const isCreation = (_: OtherChange): boolean => false;',
      },
    ],
    caughtBy: ['test/hooks/attribution/others.test.ts', 'test/scenarios/order/recreated-targets.test.ts'],
  },
  {
    name: 'undone-get-fields-back',
    fault: 'an undo gives fields back to Transactions that are undone',
    edits: [
      {
        file: 'hooks/plan/owners.ts',
        find: 'return [...ourManagers(undo), ...undo.goneManagers];',
        replace: 'return ourManagers(undo);',
      },
    ],
    caughtBy: ['test/hooks/plan/compensation.test.ts', 'test/scenarios/order/pairs.test.ts'],
  },
  {
    name: 'order-as-text',
    fault: 'the order of changes follows from the versions as text',
    edits: [
      {
        file: 'hooks/model/others.ts',
        find: 'const [theirs, own] = [numberOf(other.resourceVersion), numberOf(ours)];',
        replace: 'const [theirs, own] = [other.resourceVersion, ours];',
      },
    ],
    caughtBy: ['test/hooks/attribution/others.test.ts'],
  },
];
