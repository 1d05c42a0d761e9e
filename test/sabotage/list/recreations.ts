// Changes that delete their object and create it again (hooks/model/halves.ts).
import type { Sabotage } from '../sabotage.ts';

const kinds = 'test/scenarios/changes/recreated-kinds.test.ts';
const halves = 'test/scenarios/changes/recreated-halves.test.ts';

export const recreations: readonly Sabotage[] = [
  {
    name: 'second-half-unannounced',
    fault: 'an object is created again before a stored status says that the former one is deleted',
    edits: [
      {
        file: 'hooks/writes/halves.ts',
        find: 'item.deleted !== true || isStanding ?',
        replace: '(item.deleted !== true && live !== undefined) || isStanding ?',
      },
    ],
    caughtBy: [halves],
  },
  {
    name: 'former-object-not-awaited',
    fault: 'a former object that a finalizer keeps counts as one that somebody else deletes',
    edits: [
      {
        file: 'hooks/attribution/former.ts',
        find: 'if (!isCreatingHalf(entry) || !isFormer(entry, live)) return undefined;',
        replace: 'if (isCreatingHalf(entry)) return undefined;',
      },
    ],
    caughtBy: [halves],
  },
  {
    name: 'invalid-object-recreated',
    fault: 'an object is deleted although the API server would refuse to create it again',
    edits: [
      {
        file: 'hooks/observe/recreate.ts',
        find: "const isPossible = created.failure.kind === 'exists' || mayPass(",
        replace: "const isPossible = created.failure.kind !== 'transient' || mayPass(",
      },
    ],
    caughtBy: [kinds],
  },
  {
    name: 'first-half-withdrawn',
    fault: 'an object that was deleted to be created again counts as never touched, and no undo brings it back',
    edits: [
      {
        file: 'hooks/decide/undo-transitions.ts',
        find: "item.progress.kind === 'announced' && !isBetweenHalves(item)",
        replace: "item.progress.kind === 'announced'",
      },
    ],
    caughtBy: [halves],
  },
  {
    name: 'recreation-takes-dependents',
    fault: 'an object is recreated although others would lose their objects with it',
    edits: [
      {
        file: 'hooks/observe/irreversible.ts',
        find: "change.type === 'Delete' || target.recreates === true;",
        replace: "change.type === 'Delete';",
      },
    ],
    caughtBy: [kinds],
  },
  {
    name: 'former-object-forgotten',
    fault: 'the undo deletes what was created and leaves the former object out',
    edits: [
      {
        file: 'hooks/outcome/undo.ts',
        find: 'if (isCreatingHalf(step.entry)) return formerNext(step, done, note);',
        replace: '',
      },
    ],
    caughtBy: [kinds],
  },
  {
    name: 'half-made-abandoned',
    fault: 'a Transaction that is deleted between the halves of a recreation takes the only copy of the object with it',
    edits: [
      {
        file: 'hooks/due.ts',
        find: "if (isApplying && (isHalfMade || annotationOf(transaction, annotations.automaticRollback) === 'true')) {",
        replace: "if (isApplying && annotationOf(transaction, annotations.automaticRollback) === 'true') {",
      },
    ],
    caughtBy: ['test/hooks/due.test.ts'],
  },
  {
    name: 'successor-deleted-blindly',
    fault:
      'the undo of a recreation deletes the successor before it has looked for others that keep the former object from its return',
    edits: [
      {
        file: 'hooks/attribution/others.ts',
        find: 'return isCreatingHalf(evidence.entry) && evidence.isRequested ?',
        replace: 'return isCreatingHalf(evidence.entry) && !evidence.isRequested ?',
      },
    ],
    caughtBy: ['test/scenarios/order/pairs.test.ts'],
  },
  {
    name: 'taken-claims-forgotten',
    fault: 'a release is undone below an Apply that took a field of it, which makes the shared manager own the field again',
    edits: [
      {
        file: 'hooks/attribution/others.ts',
        find: 'takers.has(managers.forward) ||',
        replace: '',
      },
    ],
    caughtBy: ['test/scenarios/order/pairs.test.ts'],
  },
];
