import { type Command, colorOption, timeoutOption } from './command.ts';

export const status: Command = {
  name: 'status',
  summary: 'show how far a Transaction is, change by change',
  description: 'Without a name: the newest Transaction of the namespace.',
  operands: ['[name]'],
  completes: 'transactions',
  connects: true,
  options: [
    { flags: '-w, --watch', description: 'follow it until it has ended; the exit code says how' },
    timeoutOption,
    { flags: '-o, --output <format>', description: 'the object as it is stored', choices: ['json', 'yaml', 'name'] },
    colorOption,
  ],
  examples: ['status deploy-v2', 'status deploy-v2 --watch --timeout 5m'],
  run: async (call) => (await import('../run/status.ts')).run(call),
};
