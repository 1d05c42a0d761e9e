import { type Command, colorOption, engineOption, outputOption } from './command.ts';

export const doctor: Command = {
  name: 'doctor',
  summary: 'check why Transactions get no call: the CRD, the engine, Metacontroller, and rights',
  description: `The command checks the CRD and its version, whether the engine and Metacontroller are ready, their versions, the flags of Metacontroller,
the last call in the namespace, and your rights. With --service-account it also checks that ServiceAccount. The command finds the engine and Metacontroller by their
labels in all namespaces, if you may list them. What you may not read is unknown.`,
  connects: true,
  exits: { 0: 'nothing is wrong', 1: 'something is wrong, or the API server does not answer' },
  options: [
    { ...engineOption, description: 'namespace of the engine; without it the command searches all namespaces' },
    {
      flags: '--metacontroller-namespace <name>',
      description: 'namespace of Metacontroller; without it the command searches all namespaces',
    },
    { flags: '--service-account <name>', description: 'ServiceAccount to check, in the namespace of the command' },
    outputOption,
    colorOption,
  ],
  examples: ['doctor', 'doctor -n shop --service-account deploy-sa'],
  run: async (call) => (await import('../run/doctor.ts')).run(call),
};
