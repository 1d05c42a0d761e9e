import { type Command, colorOption, type Option, timeoutOption, waitOption, yesOption } from './command.ts';

const objects = 'as KIND[.GROUP]/[NAMESPACE/]NAME, several with commas between';

/** What the undo of one Transaction does with objects that it cannot undo as they are. */
export const undoOptions: readonly Option[] = [
  { flags: '--plan', description: 'show what it would do to each object, and change none' },
  { flags: '-o, --output <format>', description: 'the plan as data', choices: ['json', 'yaml'] },
  { flags: '--keep <objects>', description: `leave these objects, and what they need, as they are; ${objects}`, repeats: true },
  { flags: '--overwrite <objects>', description: `undo these, whatever others wrote in them; ${objects}`, repeats: true },
  { flags: '--partial', description: 'undo what can be undone; end as Failed with the others' },
  { flags: '--digest <hex>', description: 'only if the plan is still the one with this digest, which --plan prints' },
];

export const undo: Command = {
  name: 'undo',
  summary: 'roll back a Transaction that is Committed, as a whole or not at all',
  description: `The last change is undone first. Later edits of others stay. If one object cannot be undone, the engine refuses the undo,
changes nothing, and names the object. At a terminal the plan of the undo is shown before the question.

With --to all newer Transactions of the same field manager are undone, the newest first, if all of them can be; each is waited for.

Exit code of --plan: 0 it changes nothing, 1 it changes something, 2 it would be refused, 3 the result is unknown.`,
  operands: ['[name]'],
  completes: 'transactions',
  connects: true,
  writes: true,
  options: [
    ...undoOptions,
    {
      flags: '--to <name>',
      description: 'undo all newer Transactions of its field manager; this one stays',
      completes: 'transactions',
    },
    yesOption,
    waitOption,
    timeoutOption,
    colorOption,
  ],
  examples: [
    'undo deploy-v2 --plan',
    'undo deploy-v2 --wait',
    'undo deploy-v2 --keep Deployment.apps/web-server --wait',
    'undo --to deploy-v1',
  ],
  run: async (call) => (await import('../run/undo.ts')).run(call, 'undo'),
};
