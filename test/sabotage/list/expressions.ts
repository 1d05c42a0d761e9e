// Expressions of gates: somebody's program, run by the engine.
import type { Sabotage } from '../sabotage.ts';

export const expressions: readonly Sabotage[] = [
  {
    name: 'expression-unlimited',
    fault: 'an expression may take as long as it likes: all others wait behind it',
    edits: [
      {
        file: 'server/expressions/thread.ts',
        find: 'setImmediate(endLate, task), limit, pending)',
        replace: 'setImmediate(endLate, task), 2 ** 31 - 1, pending)',
      },
    ],
    caughtBy: ['test/server/expressions/limits.test.ts'],
  },
];
