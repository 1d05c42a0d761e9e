// What somebody's text makes a thread do: expressions of gates, YAML of sources.
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
  {
    name: 'turns-in-order-of-arrival',
    fault: 'a namespace with many texts or expressions delays all others',
    edits: [
      {
        file: 'server/threads/turns.ts',
        find: '(one === undefined || isBefore(other.asker, one.asker) ? other : one)',
        replace: '(one ?? other)',
      },
    ],
    caughtBy: ['test/server/expressions/turns.test.ts', 'test/scenarios/manifests/turns.test.ts'],
  },
  {
    name: 'texts-read-again',
    fault: 'a call that follows a late one begins with the first source again',
    edits: [{ file: 'server/manifests/texts.ts', find: 'return found.answer;', replace: 'return undefined;' }],
    caughtBy: ['test/server/manifests/turns.test.ts'],
  },
];
