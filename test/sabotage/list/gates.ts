// Gates: what counts as ready.
import type { Sabotage } from '../sabotage.ts';

const readiness = 'hooks/gates/readiness.ts';
const readinessTests = ['test/hooks/gates/readiness.test.ts'];

export const gates: readonly Sabotage[] = [
  {
    name: 'evidence-ignored',
    fault: 'a status that may be about the state before the change counts at once',
    edits: [{ file: readiness, find: '|| seen.age >= withoutEvidence)', replace: '|| seen.age >= 0)' }],
    caughtBy: readinessTests,
  },
  {
    name: 'replaced-is-ready',
    fault: 'another object of the same name is waited for as if it were the one that was changed',
    edits: [
      {
        file: readiness,
        find: "if (isReplaced(look)) return { kind: 'failed'",
        replace: "if (false) return { kind: 'failed'",
      },
    ],
    caughtBy: readinessTests,
  },
  {
    name: 'running-job-is-ready',
    fault: 'a Job counts as ready while it runs',
    edits: [
      {
        file: 'hooks/gates/pods.ts',
        find: 'return notYet(`it runs:',
        replace: 'return ready(`it runs:',
      },
    ],
    caughtBy: ['test/hooks/gates/kinds.test.ts'],
  },
];
