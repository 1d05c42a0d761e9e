import { type Command, colorOption, inputOptions, timeoutOption, waitOption, yesOption } from './command.ts';

export const apply: Command = {
  name: 'apply',
  summary: 'create a Transaction: from a file that holds one, or from manifests',
  description: `Manifests become one Transaction: each object is a change of type Apply, in the order of kinds that Helm uses. Values of Secrets
do not go into the Transaction: they go into a Secret that is deleted with it.

A Transaction of that name with an equal spec is followed; one with another spec is never changed.`,
  connects: true,
  options: [
    ...inputOptions,
    { flags: '--name <name>', description: 'name of the Transaction' },
    { flags: '--generate-name <prefix>', description: 'without --name: how its name begins; by default "apply-"' },
    { flags: '--label <key=value>', description: 'label of the Transaction, for list -l', repeats: true },
    { flags: '--new-name', description: 'if --name is taken by another spec: take NAME-2, NAME-3, and so on' },
    { flags: '--service-account <name>', description: 'ServiceAccount that the changes are made as; required for manifests' },
    { flags: '--field-manager <name>', description: 'the same for all releases: what one no longer names is removed' },
    { flags: '--gate [timeout]', description: 'all objects must be ready at the end, or everything is undone' },
    { flags: '--recreate-immutable', description: 'recreate an object whose field cannot be changed in place' },
    { flags: '--plain-secrets', description: 'Secrets stand in the Transaction itself, for everybody who may read it' },
    waitOption,
    timeoutOption,
    { flags: '--confirm', description: 'show what it is, and ask' },
    yesOption,
    colorOption,
  ],
  examples: [
    'apply -f deploy-v2.yaml --wait',
    'apply -f manifests/ -R --name release-7 --service-account deploy-sa --field-manager shop --gate --wait',
    'apply -k overlays/production --service-account deploy-sa',
  ],
  run: async (call) => (await import('../run/apply.ts')).run(call),
};
