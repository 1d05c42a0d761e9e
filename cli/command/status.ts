import { type Command, colorOption, followedExits, timeoutOption } from './command.ts';

export const status: Command = {
  name: 'status',
  summary: 'show the progress of a Transaction, change by change',
  description: 'Without a name, the command shows the newest Transaction of the namespace.',
  operands: ['[name]'],
  completes: 'transactions',
  connects: true,
  exits: followedExits,
  options: [
    { flags: '-w, --watch', description: 'follow the Transaction until it ends; the exit code shows its result' },
    timeoutOption,
    { flags: '-o, --output <format>', description: 'print the stored object', choices: ['json', 'yaml', 'name'] },
    colorOption,
  ],
  examples: ['status deploy-v2', 'status deploy-v2 --watch --timeout 5m'],
  run: async (call) => (await import('../run/status.ts')).run(call),
};
