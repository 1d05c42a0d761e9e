import { type Command, inputOptions } from './command.ts';

export const lint: Command = {
  name: 'lint',
  summary: 'check Transactions in files, without a cluster',
  description: `It finds what a Transaction alone shows, with file, line and column. Whether kinds, objects and rights are there, and what the API
server refuses, plan finds.

Exit code: 0 no finding, 2 findings, 3 a file cannot be read.`,
  connects: false,
  notDone: 3,
  options: inputOptions,
  examples: ['lint -f deploy-v2.yaml', 'lint -f transactions/ -R'],
  run: async (call) => (await import('../run/lint.ts')).run(call),
};
