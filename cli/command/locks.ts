import { type Command, engineOption, outputOption } from './command.ts';

export const locks: Command = {
  name: 'locks',
  summary: 'show the locked objects, the Transaction that holds each lock, and when the lock expires',
  description: `If you may not read the Leases of the engine, or the command finds no engine, it shows the targets of running Transactions.
The command also names Secrets with contents that an interrupted apply has left.`,
  connects: true,
  options: [engineOption, outputOption],
  run: async (call) => (await import('../run/locks.ts')).run(call),
};
