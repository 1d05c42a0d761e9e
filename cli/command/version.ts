import { type Command, engineOption } from './command.ts';

export const version: Command = {
  name: 'version',
  summary: 'show the version of this program and of the engine',
  connects: true,
  options: [{ flags: '--client', description: 'of this program only; no cluster is asked' }, engineOption],
  run: async (call) => (await import('../run/version.ts')).run(call),
};
