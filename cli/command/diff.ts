import { type Command, colorOption } from './command.ts';

export const diff: Command = {
  name: 'diff',
  summary: 'show what a Transaction has changed: before, as expected, and now',
  description: `Objects that the engine has sealed (Secrets, and objects outside the namespace of the Transaction) are listed as sealed, without values.

Exit code: 0 every object is as the Transaction left it, 1 one differs, 3 the result is unknown.`,
  operands: ['<name>'],
  completes: 'transactions',
  connects: true,
  notDone: 3,
  options: [colorOption],
  examples: ['diff deploy-v2'],
  run: async (call) => (await import('../run/diff.ts')).run(call),
};
