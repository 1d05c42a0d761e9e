import { type Command, engineOption } from './command.ts';

export const locks: Command = {
  name: 'locks',
  summary: 'show which objects are locked, by which Transaction, until when',
  description: `Without the right to read the Leases of the engine, or where no engine is seen: what the Transactions say. Secrets with contents that an apply has left are named, too.`,
  connects: true,
  options: [engineOption],
  run: async (call) => (await import('../run/locks.ts')).run(call),
};
