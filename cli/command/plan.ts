import { type Command, colorOption, engineOption, inputOptions, type Option } from './command.ts';

/** The name of the app, for manifests. */
export const appOperand = '[app]';

/** Of commands that create a Transaction with gates. */
export const gateOptions: readonly Option[] = [
  { flags: '--gate [timeout]', description: 'wait until all objects are ready; if the timeout passes first, undo everything' },
  { flags: '--no-gate', description: 'with an app, or with --to: do not wait until the objects are ready' },
];

export const irreversibleOption: Option = {
  flags: '--allow-irreversible',
  description: 'also make changes that an undo cannot take back',
};

/** How manifests become a Transaction. apply has these options, too. */
export const manifestOptions: readonly Option[] = [
  { flags: '--name <name>', description: 'name of the Transaction' },
  {
    flags: '--generate-name <prefix>',
    description: 'without --name: prefix of the generated name; the default is "APP-", or "apply-"',
  },
  {
    flags: '--service-account <name>',
    description:
      'ServiceAccount that the engine makes the changes as; the default is the annotation tx.janus.io/service-account of the Namespace',
  },
  {
    flags: '--field-manager <name>',
    description: 'one name for all releases. A field that a release no longer has is removed; an object is not',
  },
  ...gateOptions,
  {
    flags: '--keep-logs',
    description: 'keep the last lines of a container that failed; everybody who may read the Transaction reads them',
  },
  {
    flags: '--field-conflicts <how>',
    description: 'fields that other clients own with other values; force is the default. fail refuses them before any write',
    choices: ['fail', 'force'],
  },
  {
    flags: '--take-over <app>',
    description: 'take over objects that this other app has applied, which are refused otherwise',
    repeats: true,
  },
  { flags: '--serial', description: 'make one change after the other, not side by side in waves' },
  { flags: '--recreate-immutable', description: 'recreate an object if a field cannot be changed in place' },
  {
    flags: '--set-replicas',
    description: 'set the number of replicas of the manifests, also if an autoscaler has another number',
  },
  irreversibleOption,
  { flags: '--delete-filled', description: 'the undo deletes created objects even if others wrote into them' },
  {
    flags: '--plain-secrets',
    description: 'store Secrets in the Transaction itself; everybody who may read the Transaction reads them',
  },
  {
    flags: '--helm-hooks <how>',
    description:
      'manifests with helm.sh/hook; refuse is the default. ignore leaves out those that are not for install or upgrade, and applies the others as ordinary objects',
    choices: ['refuse', 'ignore'],
  },
];

/** Of apply and render. */
export const transactionOptions: readonly Option[] = [
  { flags: '--label <key=value>', description: 'label of the Transaction, for list -l', repeats: true },
  {
    flags: '--ttl <duration>',
    description: 'delete the Transaction this long after its end, such as 24h; it cannot be undone then',
  },
  {
    flags: '--lock-wait <duration>',
    description:
      'how long to wait for objects that other Transactions have locked, up to 1h; the default with gates is their timeout and 1m, else 1m',
  },
];

export const plan: Command = {
  name: 'plan',
  summary: 'show what a Transaction would do, and whether the engine would refuse it',
  description: `The command makes the checks and dry runs of the engine, as the ServiceAccount. It writes nothing, and never shows values of Secrets.
If KUBECTL_EXTERNAL_DIFF is set, that program shows the fields.
If the input is one Provider, Configuration, Function or package transaction, the command creates a package transaction with spec.dryRun, prints its plan, and deletes it.
If the input is a Transaction with spec.rollback, the engine makes the plan, as for undo --to --plan.`,
  exits: { 0: 'it changes nothing', 1: 'it changes something', 2: 'the engine would refuse it', 3: 'the result is unknown' },
  connects: true,
  notDone: 3,
  operands: [appOperand],
  options: [
    ...inputOptions,
    ...manifestOptions,
    { flags: '--as-me', description: 'use your own rights if you may not impersonate the ServiceAccount; not exact' },
    { flags: '--strict', description: 'exit code 2 if another controller or user would revert a change, or loses a field to it' },
    { flags: '--summary', description: 'print no fields' },
    {
      flags: '--exit-code <code>',
      description: 'exit code if it changes something; the default is 1',
      choices: ['0', '1'],
    },
    {
      flags: '-o, --output <format>',
      description: 'print the plan as data, or as markdown for a pull request',
      choices: ['json', 'yaml', 'markdown'],
    },
    engineOption,
    colorOption,
  ],
  examples: [
    'plan -f deploy-v2.yaml',
    'plan -f app/ shop',
    'plan -f app/ --service-account deploy-sa --exit-code=0 -o markdown',
    'plan -k overlays/production --service-account deploy-sa --strict',
    'plan -f provider.yaml',
  ],
  run: async (call) => (await import('../run/plan.ts')).run(call),
};
