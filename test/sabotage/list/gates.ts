// Gates: what counts as ready, and what waits for it.
import type { Sabotage } from '../sabotage.ts';

const readiness = 'hooks/gates/readiness.ts';
const readinessTests = ['test/hooks/gates/readiness.test.ts'];
const scenario = ['test/scenarios/gates/gates.test.ts'];
const generated = ['test/generated/gates.test.ts'];

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
  {
    name: 'announced-behind-gate',
    fault: 'changes behind an open gate are announced',
    edits: [
      {
        file: 'hooks/decide/window.ts',
        find: 'return Math.min(end, firstBarred(gating, items));',
        replace: 'return end;',
      },
    ],
    caughtBy: scenario,
  },
  {
    name: 'passed-gate-believed',
    fault: 'at the end a gate that has passed before is not evaluated again',
    edits: [
      {
        file: 'hooks/model/gated.ts',
        find: '  return next < items.length ? undefined : gatesAtEnd(gating);',
        replace: [
          '  const end = next < items.length ? undefined : gatesAtEnd(gating);',
          '  return end && { ...end, gates: end.gates.filter(({ index }) => items[index]?.gate?.passed !== true) };',
        ].join('\n'),
      },
    ],
    caughtBy: [...scenario, ...generated],
  },
  {
    name: 'timeout-beside-gate',
    fault: 'spec.timeout does not act while a gate is open',
    edits: [
      {
        file: 'hooks/due.ts',
        find: "if (overdue(stored)) return { kind: 'rollBack', cause: timeoutCause(stored), ...",
        replace: "if (overdue(stored) && gates === undefined) return { kind: 'rollBack', cause: timeoutCause(stored), ...",
      },
    ],
    caughtBy: scenario,
  },
  {
    name: 'stable-once',
    fault: 'what was ready once counts as ready since then, although it was not in between',
    edits: [
      {
        file: 'hooks/decide/gate-evaluation.ts',
        find: '...(isReady ? { readySince: readySince ?? roundedUp(now) } : {}),',
        replace: '...(isReady || readySince !== undefined ? { readySince: readySince ?? roundedUp(now) } : {}),',
      },
    ],
    caughtBy: scenario,
  },
  {
    name: 'ready-one-by-one',
    fault: 'at the end each gate passes by itself, not all of them at one look',
    edits: [
      {
        file: 'hooks/decide/gates.ts',
        find: 'return gates.every(({ isOver }) => isOver) ?',
        replace: 'return gates.some(({ isOver }) => isOver) ?',
      },
    ],
    caughtBy: scenario,
  },
];
