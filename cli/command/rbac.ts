import { type Command, engineOption, inputOptions, outputOption } from './command.ts';
import { appOperand, manifestOptions } from './plan.ts';

export const rbac: Command = {
  name: 'rbac',
  summary: 'print a ServiceAccount, and the Roles that it needs for all releases of an app',
  description: `The Roles grant what the objects need for their whole life: to create, change, drop and restore them, and to wait for their gates.
They are named after the namespace and the field manager; without a field manager, after the ServiceAccount. The kinds of existing
Transactions of that field manager are included, so no undo loses a right. If a Transaction creates a Namespace, a ClusterRole
grants the rights in all namespaces, with a warning. The command reads the cluster with your own rights. It does not print rights to
owners (get, and their finalizers), or rights that Roles of the app grant to others.`,
  operands: [appOperand],
  connects: true,
  options: [...inputOptions, ...manifestOptions, engineOption, outputOption],
  examples: ['rbac -f app/ --service-account deployer shop | kubectl apply -f -', 'rbac -f deploy-v2.yaml | kubectl apply -f -'],
  run: async (call) => (await import('../run/rbac.ts')).run(call),
};
