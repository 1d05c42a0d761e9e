import {
  type Command,
  colorOption,
  engineOption,
  followedExits,
  inputOptions,
  outputOption,
  timeoutOption,
  waitOption,
  yesOption,
} from './command.ts';
import { appOperand, manifestOptions, transactionOptions } from './plan.ts';

export const apply: Command = {
  name: 'apply',
  summary: 'create a Transaction: from a file that holds one, or from manifests',
  description: `Manifests become one Transaction: each object is a change of type Apply, in the order of kinds that Helm uses. Values of Secrets
do not go into the Transaction: they go into a Secret that is deleted with it.

With the name of an app, that name is the field manager, the Transaction is named APP- and five random characters, the gates of all
objects are open until they are ready (--gate), and at a terminal apply follows the Transaction (--wait).

If a Transaction with that name and an equal spec exists, apply follows it. apply never changes a Transaction with another spec.`,
  connects: true,
  operands: [appOperand],
  writes: true,
  exits: followedExits,
  options: [
    ...inputOptions,
    ...manifestOptions,
    ...transactionOptions,
    {
      flags: '--new-name',
      description: 'if the name is taken, or its release is no longer in the cluster, use NAME-2, NAME-3, and so on',
    },
    waitOption,
    timeoutOption,
    {
      flags: '--abort-on-timeout',
      description: 'with --wait: when --timeout passes, abort the Transaction, and follow its rollback',
    },
    outputOption,
    { flags: '--confirm', description: 'show the plan, and ask; if the engine would refuse the Transaction, do not create it' },
    engineOption,
    yesOption,
    colorOption,
  ],
  examples: [
    'apply -f deploy-v2.yaml --wait',
    'apply -f app/ shop',
    'apply -f manifests/ -R --name release-7 --service-account deploy-sa --field-manager shop --gate --wait',
    'apply -k overlays/production --service-account deploy-sa',
  ],
  run: async (call) => (await import('../run/apply.ts')).run(call),
};
