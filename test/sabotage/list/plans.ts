// Faults of plans alone: the engine does as before.
import type { Sabotage } from '../sabotage.ts';

const exact = ['test/generated/plans.test.ts'];
const typed = ['test/plan/plan.test.ts'];

export const plans: readonly Sabotage[] = [
  {
    name: 'plan-as-caller',
    fault: 'a plan is made with the rights of the caller, and says that it is exact',
    edits: [
      {
        file: 'hooks/inspect/eyes.ts',
        find: "actAs === 'caller' ? engine : identity",
        replace: 'identity === engine ? identity : engine',
      },
    ],
    caughtBy: exact,
  },
  {
    name: 'plan-without-trial',
    fault: 'a plan forgets what the dry runs have found',
    edits: [
      {
        file: 'hooks/inspect/survey.ts',
        find: 'return { ...second, prepared: tried.targets, locks };',
        replace: 'return { ...first, prepared: second.faults.length > 0 ? [] : tried.targets, locks };',
      },
    ],
    caughtBy: exact,
  },
  {
    name: 'plan-none',
    fault: 'a plan calls changes of content no change',
    edits: [{ file: 'hooks/inspect/changes.ts', find: "? 'none' : 'update'", replace: "? 'none' : 'none'" }],
    caughtBy: exact,
  },
  {
    name: 'plan-expects-nothing-new',
    fault: 'a plan takes the state before a change for the one after it',
    edits: [
      {
        file: 'hooks/inspect/changes.ts',
        find: 'fieldChanges({ before: prior, after: expected }',
        replace: 'fieldChanges({ before: prior, after: prior }',
      },
    ],
    caughtBy: typed,
  },
  {
    name: 'plan-without-dependents',
    fault: 'a plan does not look at what depends on a deleted object',
    edits: [
      {
        file: 'hooks/inspect/eyes.ts',
        find: 'timed(await plain.listMetadata(resource, namespace, as(identity), options))',
        replace: "timed({ ...(await plain.listMetadata(resource, namespace, as(identity), options)), items: [], next: '' })",
      },
    ],
    caughtBy: typed,
  },
  {
    name: 'plan-deferred-as-tried',
    fault: 'a plan takes a change that no dry run was possible of for one that was tried',
    edits: [
      { file: 'hooks/inspect/changes.ts', find: 'deferred: approximate && recreates !== true', replace: 'deferred: false' },
    ],
    caughtBy: typed,
  },
  {
    name: 'plan-tells-secrets',
    fault: 'a plan shows the values of Secrets',
    edits: [{ file: 'hooks/inspect/masks.ts', find: "kind === '/Secret' ||", replace: "kind === 'Secret' ||" }],
    caughtBy: typed,
  },
  {
    name: 'plan-tells-sources',
    fault: 'a plan names the fields that come from a Secret',
    edits: [
      {
        file: 'hooks/inspect/masks.ts',
        find: "if (isFromSecret(change)) return 'new fields too';",
        replace: 'isFromSecret(change);',
      },
    ],
    caughtBy: typed,
  },
  {
    name: 'plan-without-locks',
    fault: 'a plan does not read who holds the locks',
    edits: [{ file: 'hooks/inspect/survey.ts', find: 'heldNames: namesOf(wanted)', replace: 'heldNames: namesOf([])' }],
    caughtBy: typed,
  },
];
