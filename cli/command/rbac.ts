import { type Command, engineOption, inputOptions, outputOption } from './command.ts';
import { manifestOptions } from './plan.ts';

export const rbac: Command = {
  name: 'rbac',
  summary: 'print the Roles that the ServiceAccount of a Transaction needs',
  description: `The engine requires these Roles for the changes and for their undo. Their names contain the name of the Transaction, so the Roles
of several Transactions do not conflict. If the Transaction creates a Namespace, a ClusterRole grants its rights in all namespaces, with
a warning. If the ServiceAccount does not exist, the command prints it, too. The command reads the cluster with your own rights. It does not print rights to owners (get, and their finalizers), or
rights that Roles of the Transaction grant to others.`,
  connects: true,
  options: [...inputOptions, ...manifestOptions, engineOption, outputOption],
  examples: ['rbac -f deploy-v2.yaml | kubectl apply -f -'],
  run: async (call) => (await import('../run/rbac.ts')).run(call),
};
