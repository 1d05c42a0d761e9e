import { type Command, inputOptions, outputOption } from './command.ts';

export const lint: Command = {
  name: 'lint',
  summary: 'check Transactions in files, without a cluster',
  description: `The command reports faults with file, line and column. It does not check kinds, objects or rights in the cluster: plan does.`,
  exits: { 0: 'no finding', 2: 'findings', 3: 'a file cannot be read' },
  connects: false,
  notDone: 3,
  options: [...inputOptions, outputOption],
  examples: ['lint -f deploy-v2.yaml', 'lint -f transactions/ -R'],
  run: async (call) => (await import('../run/lint.ts')).run(call),
};
