// Plain manifests: whose work an object is under a manager that others share, and what an Apply must not overwrite.
import type { Sabotage } from '../sabotage.ts';

const releases = ['test/scenarios/manifests/releases.test.ts'];
const strangers = ['test/scenarios/manifests/strangers.test.ts'];

export const manifests: readonly Sabotage[] = [
  {
    name: 'apply-creates-or-changes',
    fault: 'an Apply that creates changes what somebody has created meanwhile',
    edits: [
      {
        file: 'server/kubernetes/requests.ts',
        find: "if (precondition === 'absent') return withPath(object, ['metadata', 'resourceVersion'], noVersion);",
        replace: "if (precondition === 'absent') return object;",
      },
    ],
    caughtBy: ['test/scenarios/changes/create-only.test.ts', ...strangers],
  },
  {
    name: 'newer-release-not-seen',
    fault: 'a release below a newer one is undone',
    edits: [
      {
        file: 'hooks/attribution/applied-by.ts',
        find: 'if (managers.holder === undefined || isMarked(evidence) || isLineGone(evidence)) return undefined;',
        replace: 'if (managers.holder !== null) return undefined;',
      },
    ],
    caughtBy: strangers,
  },
  {
    name: 'mark-is-enough',
    fault: 'an object with our annotation and the content of somebody else counts as ours',
    edits: [
      {
        file: 'hooks/attribution/apply.ts',
        find: '&& unlikeOurs(evidence).length === 0',
        replace: '',
      },
    ],
    caughtBy: strangers,
  },
  {
    name: 'defaults-of-others',
    fault: 'what the API server adds to a list of a shared manager, where no dry run was possible, counts as the work of others',
    edits: [
      {
        file: 'hooks/attribution/applied-by.ts',
        find: 'return entry.approximate ? !mayBecome(ours, found) : !equalJson(ours, found);',
        replace: 'return entry.approximate ? !equalJson(ours, found) : !mayBecome(ours, found);',
      },
    ],
    caughtBy: ['test/scenarios/manifests/shared-manager.test.ts'],
  },
  {
    name: 'keys-of-items-not-found',
    fault:
      'list items that were sent without a key that the API server adds count as the work of others, where no dry run was possible',
    edits: [
      {
        file: 'hooks/attribution/attribute.ts',
        find: 'if (!entry.approximate || entry.expected === undefined) return entry.expected;',
        replace: 'if (entry.approximate || entry.expected === undefined) return entry.expected;',
      },
    ],
    caughtBy: ['test/scenarios/manifests/untried.test.ts'],
  },
  {
    name: 'applier-not-read',
    fault: 'an undo does not look for the Transaction that the annotation applied-by names',
    edits: [
      {
        file: 'hooks/attribution/others.ts',
        find: '...(applier === undefined ? [] : [applier])',
        replace: '...(applier === null ? [applier] : [])',
      },
    ],
    caughtBy: ['test/scenarios/manifests/shared-manager.test.ts'],
  },
  {
    name: 'former-entry-forgotten',
    fault: 'the undo takes the entry of a shared manager away in place of restoring it',
    edits: [
      {
        file: 'hooks/plan/owners.ts',
        find: 'return [ownManager(managers), managers.restore];',
        replace: 'return [managers.forward, ownManager(managers), managers.restore];',
      },
    ],
    caughtBy: releases,
  },
  {
    name: 'conflicts-forced',
    fault: 'fieldConflicts: Fail takes fields of others over',
    edits: [
      {
        file: 'hooks/writes/change.ts',
        find: "return fieldConflicts === 'Fail' ? { failOnConflict: true } : {};",
        replace: "return fieldConflicts === 'never' ? { failOnConflict: true } : {};",
      },
    ],
    caughtBy: ['test/scenarios/manifests/field-conflicts.test.ts'],
  },
];
