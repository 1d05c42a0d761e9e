import { type Command, outputOption, selectorOption } from './command.ts';

export const history: Command = {
  name: 'history',
  summary: 'show all Transactions, newest first, or those of one app, or those that changed one object',
  description: `CHANGES counts created (+), changed (~), unchanged (=) and deleted (-) objects. TOOK is the duration of the release, or of its undo on request.
BY is the user who created the Transaction with janus, as the API server knows the user; otherwise unknown, and the program.
Without the admission policy of the engine, BY is not verified.`,
  operands: ['[app|kind/name]'],
  connects: true,
  options: [{ flags: '-A, --all-namespaces', description: 'Transactions of all namespaces' }, selectorOption, outputOption],
  examples: ['history', 'history shop', 'history deploy/web-server'],
  run: async (call) => (await import('../run/history.ts')).run(call),
};
