import { type Command, colorOption, followedExits, timeoutOption, waitOption, yesOption } from './command.ts';
import { undoOptions } from './undo.ts';

export const retry: Command = {
  name: 'retry',
  summary: 'try again to restore the objects that a rollback has left',
  description: `The command is for a Failed Transaction with objects that are not restored. If one object cannot be restored, the engine refuses it, as for undo.

--plan has the exit codes of undo.`,
  operands: ['<name>'],
  completes: 'transactions',
  connects: true,
  writes: true,
  exits: followedExits,
  options: [...undoOptions, yesOption, waitOption, timeoutOption, colorOption],
  examples: ['retry deploy-v2 --wait'],
  run: async (call) => (await import('../run/undo.ts')).run(call, 'retry'),
};
