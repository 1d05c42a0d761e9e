import { type Command, colorOption, timeoutOption, waitOption, yesOption } from './command.ts';

export const undo: Command = {
  name: 'undo',
  summary: 'roll back a Transaction that is Committed',
  description: 'The last change is undone first. Later edits of others stay.',
  operands: ['<name>'],
  completes: 'transactions',
  connects: true,
  writes: true,
  options: [yesOption, waitOption, timeoutOption, colorOption],
  examples: ['undo deploy-v2 --wait'],
  run: async (call) => (await import('../run/request.ts')).run(call, 'undo'),
};
