import { type Command, colorOption } from './command.ts';

export const diff: Command = {
  name: 'diff',
  summary: 'show the changes of a Transaction: values before, as expected, and now',
  description: `The command lists sealed objects (Secrets, and objects outside the namespace of the Transaction) without values.

Exit code: 0 every object is as the Transaction left it, 1 an object differs, 3 the result is unknown.`,
  operands: ['<name>'],
  completes: 'transactions',
  connects: true,
  notDone: 3,
  options: [colorOption],
  examples: ['diff deploy-v2'],
  run: async (call) => (await import('../run/diff.ts')).run(call),
};
