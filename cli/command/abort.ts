import { type Command, colorOption, followedExits, outputOption, timeoutOption, waitOption, yesOption } from './command.ts';

export const abort: Command = {
  name: 'abort',
  summary: 'stop a Transaction that is running, and roll it back',
  description: 'The engine undoes the changes that it has applied.',
  operands: ['<name>'],
  completes: 'transactions',
  connects: true,
  writes: true,
  exits: followedExits,
  options: [yesOption, waitOption, timeoutOption, outputOption, colorOption],
  examples: ['abort deploy-v2 --wait'],
  run: async (call) => (await import('../run/abort.ts')).run(call),
};
