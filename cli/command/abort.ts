import { type Command, colorOption, timeoutOption, waitOption, yesOption } from './command.ts';

export const abort: Command = {
  name: 'abort',
  summary: 'stop a Transaction that is running, and roll it back',
  description: 'The engine undoes the changes that it has applied.',
  operands: ['<name>'],
  completes: 'transactions',
  connects: true,
  writes: true,
  options: [yesOption, waitOption, timeoutOption, colorOption],
  examples: ['abort deploy-v2 --wait'],
  run: async (call) => (await import('../run/abort.ts')).run(call),
};
