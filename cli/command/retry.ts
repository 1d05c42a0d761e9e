import { type Command, colorOption, timeoutOption, waitOption, yesOption } from './command.ts';
import { undoOptions } from './undo.ts';

export const retry: Command = {
  name: 'retry',
  summary: 'try again to restore what a rollback has left',
  description: `For a Transaction that is Failed with objects that are not restored. Like undo, it is refused if one of them cannot be restored.

Exit code of --plan: as of undo.`,
  operands: ['<name>'],
  completes: 'transactions',
  connects: true,
  writes: true,
  options: [...undoOptions, yesOption, waitOption, timeoutOption, colorOption],
  examples: ['retry deploy-v2 --wait'],
  run: async (call) => (await import('../run/undo.ts')).run(call, 'retry'),
};
