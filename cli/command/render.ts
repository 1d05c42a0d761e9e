import { type Command, inputOptions, outputOption } from './command.ts';
import { appOperand, manifestOptions, transactionOptions } from './plan.ts';

export const render: Command = {
  name: 'render',
  summary: 'print what apply would create, for Git or kubectl create',
  description: `The command prints the Transaction of the manifests. If the manifests hold Secrets, it first prints the Secret with their contents: keep
it out of Git, or encrypt it. That Secret has no owner: delete it with the Transaction. Without --name, the name is APP- and five
random characters.`,
  operands: [appOperand],
  connects: true,
  options: [...inputOptions, ...manifestOptions, ...transactionOptions, outputOption],
  examples: [
    'render -f app/ --name shop-42 shop > releases/shop-42.yaml',
    'render -f app/ --name shop-42 shop | kubectl create -f -',
  ],
  run: async (call) => (await import('../run/render.ts')).run(call),
};
