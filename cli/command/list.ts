import { type Command, selectorOption } from './command.ts';

export const list: Command = {
  name: 'list',
  summary: 'list Transactions, the newest first, in the columns of the API server',
  description:
    'APP is the field manager. WAITING FOR is the present step of a Transaction that runs, with the time until which the engine waits.',
  connects: true,
  options: [
    { flags: '-A, --all-namespaces', description: 'Transactions of all namespaces' },
    selectorOption,
    { flags: '--failed', description: 'only Failed Transactions' },
    { flags: '-o, --output <format>', description: 'wide for all columns', choices: ['wide', 'name', 'json', 'yaml'] },
    { flags: '-w, --watch', description: 'after the list, print each row that changes, until Ctrl-C' },
  ],
  examples: ['list', 'list -A --failed', 'list -A -o wide'],
  run: async (call) => (await import('../run/list.ts')).run(call),
};
