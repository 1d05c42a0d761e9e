import { type Command, engineOption, inputOptions } from './command.ts';
import { manifestOptions } from './plan.ts';

export const rbac: Command = {
  name: 'rbac',
  summary: 'print the Roles that the ServiceAccount of a Transaction needs',
  description: `They are what the engine requires for the changes and for their undo. They are named after the Transaction, so that those of
several add up. What is needed in a Namespace that the Transaction creates is granted in all of them, with a warning.
Your own rights read the cluster. Rights that Roles of the Transaction grant to others, and those to owners (get, and their finalizers),
are not among them.`,
  connects: true,
  options: [...inputOptions, ...manifestOptions, engineOption],
  examples: ['rbac -f deploy-v2.yaml | kubectl apply -f -'],
  run: async (call) => (await import('../run/rbac.ts')).run(call),
};
