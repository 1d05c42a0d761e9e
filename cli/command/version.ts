import type { Command } from './command.ts';

export const version: Command = {
  name: 'version',
  summary: 'show the version of this program and of the engine',
  connects: true,
  options: [
    { flags: '--client', description: 'of this program only; no cluster is asked' },
    { flags: '--engine-namespace <name>', description: 'namespace of the engine; by default janus-system' },
  ],
  run: async (call) => (await import('../run/version.ts')).run(call),
};
