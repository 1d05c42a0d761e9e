import type { Command } from './command.ts';

export const list: Command = {
  name: 'list',
  summary: 'list Transactions, in the columns of the API server',
  connects: true,
  options: [
    { flags: '-A, --all-namespaces', description: 'Transactions of all namespaces' },
    { flags: '-l, --selector <selector>', description: 'only Transactions with these labels, such as app=shop' },
    { flags: '-o, --output <format>', description: 'wide for all columns', choices: ['wide', 'name', 'json', 'yaml'] },
    { flags: '-w, --watch', description: 'after the list, print each row that changes, until Ctrl-C' },
  ],
  examples: ['list', 'list -A -o wide'],
  run: async (call) => (await import('../run/list.ts')).run(call),
};
