import { type Command, colorOption, outputOption } from './command.ts';

export const diff: Command = {
  name: 'diff',
  summary: 'show what others have changed since a Transaction: its objects as they are now',
  description: `For each field that differs the command prints the value before the Transaction, the released value, the value now, and the managers that
own it. It ignores values that the API server sets, and values that controllers of Kubernetes write. The engine
compares sealed objects (Secrets, and objects outside the namespace of the Transaction), on a request that needs patch of Transactions, and
shows no field of them. With objects, it compares only these.`,
  exits: { 0: 'no object differs', 1: 'an object differs', 3: 'the result is unknown' },
  operands: ['<name>', '[kind/name...]'],
  completes: 'transactions',
  connects: true,
  notDone: 3,
  options: [outputOption, colorOption],
  examples: ['diff deploy-v2', 'diff deploy-v2 deploy/web-server'],
  run: async (call) => (await import('../run/diff.ts')).run(call),
};
