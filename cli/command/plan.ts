import { type Command, colorOption, engineOption, inputOptions, type Option } from './command.ts';

/** How manifests become a Transaction: as for apply. */
export const manifestOptions: readonly Option[] = [
  { flags: '--name <name>', description: 'name of the Transaction' },
  { flags: '--generate-name <prefix>', description: 'without --name: how its name begins; by default "apply-"' },
  { flags: '--service-account <name>', description: 'ServiceAccount that the changes are made as; required for manifests' },
  {
    flags: '--field-manager <name>',
    description: 'the same for all releases: a field that one no longer names is removed, an object is not',
  },
  { flags: '--gate [timeout]', description: 'all objects must be ready at the end, or everything is undone' },
  { flags: '--recreate-immutable', description: 'recreate an object whose field cannot be changed in place' },
  { flags: '--allow-irreversible', description: 'make changes, too, that the undo cannot take back' },
  { flags: '--delete-filled', description: 'the undo deletes created objects with what others wrote into them' },
  { flags: '--plain-secrets', description: 'Secrets stand in the Transaction itself, for everybody who may read it' },
];

export const plan: Command = {
  name: 'plan',
  summary: 'show what a Transaction would do, and whether the engine would refuse it',
  description: `It makes the checks and dry runs of the engine, as the ServiceAccount, and writes nothing. Values of Secrets are never shown.

Exit code: 0 it changes nothing, 1 it changes something, 2 it would be refused, 3 the result is unknown. With KUBECTL_EXTERNAL_DIFF that
program shows the fields.`,
  connects: true,
  notDone: 3,
  options: [
    ...inputOptions,
    ...manifestOptions,
    { flags: '--as-me', description: 'with your own rights, where you may not impersonate the ServiceAccount; not exact' },
    { flags: '--strict', description: 'exit code 2 if somebody else will act against a change' },
    { flags: '-o, --output <format>', description: 'the plan as data', choices: ['json', 'yaml'] },
    engineOption,
    colorOption,
  ],
  examples: ['plan -f deploy-v2.yaml', 'plan -k overlays/production --service-account deploy-sa --strict'],
  run: async (call) => (await import('../run/plan.ts')).run(call),
};
