import type { Command } from './command.ts';

export const history: Command = {
  name: 'history',
  summary: 'show all Transactions, newest first, or the Transactions that changed one object',
  operands: ['[kind/name]'],
  connects: true,
  options: [{ flags: '-A, --all-namespaces', description: 'Transactions of all namespaces' }],
  examples: ['history', 'history Deployment/web-server'],
  run: async (call) => (await import('../run/history.ts')).run(call),
};
