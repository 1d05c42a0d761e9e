// Expressions of gates: somebody's program, run by the engine.
import type { Sabotage } from '../sabotage.ts';

export const expressions: readonly Sabotage[] = [
  {
    name: 'expression-unlimited',
    fault: 'an expression may take as long as it likes: all others wait behind it',
    edits: [
      {
        file: 'server/threads/thread.ts',
        find: 'timer = setTimeout(() => setImmediate(endLate, task), time);',
        replace: 'timer = setTimeout(() => task, time).unref();',
      },
    ],
    caughtBy: ['test/server/expressions/limits.test.ts'],
  },
];
