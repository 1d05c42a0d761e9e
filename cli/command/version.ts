import { type Command, engineOption, outputOption } from './command.ts';

export const version: Command = {
  name: 'version',
  summary: 'show the version of this program and of the engine',
  connects: true,
  options: [
    { flags: '--client', description: 'show only the version of this program; connect to no cluster' },
    engineOption,
    outputOption,
  ],
  run: async (call) => (await import('../run/version.ts')).run(call),
};
