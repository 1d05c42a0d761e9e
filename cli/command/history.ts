import { type Command, outputOption } from './command.ts';

export const history: Command = {
  name: 'history',
  summary: 'show all Transactions, newest first, or the Transactions that changed one object',
  description: `CHANGES counts created (+), changed (~) and deleted (-) objects. TOOK is the duration of the release, or of its undo on request.
CREATED BY is the program that created the Transaction, by its field manager.`,
  operands: ['[kind/name]'],
  connects: true,
  options: [{ flags: '-A, --all-namespaces', description: 'Transactions of all namespaces' }, outputOption],
  examples: ['history', 'history deploy/web-server'],
  run: async (call) => (await import('../run/history.ts')).run(call),
};
