import { type Command, colorOption, timeoutOption, waitOption, yesOption } from './command.ts';

export const retry: Command = {
  name: 'retry',
  summary: 'try again to restore what a rollback has left',
  description: 'For a Transaction that is Failed with objects that are not restored.',
  operands: ['<name>'],
  completes: 'transactions',
  connects: true,
  writes: true,
  options: [yesOption, waitOption, timeoutOption, colorOption],
  examples: ['retry deploy-v2 --wait'],
  run: async (call) => (await import('../run/request.ts')).run(call, 'retry'),
};
