import { type Command, colorOption, followedExits, type Option, timeoutOption, waitOption, yesOption } from './command.ts';
import { gateOptions, irreversibleOption } from './plan.ts';

const objects = 'a comma-separated list of KIND[.GROUP]/[NAMESPACE/]NAME';

/** How an undo handles objects that others have changed. */
export const undoOptions: readonly Option[] = [
  { flags: '--plan', description: 'show what the undo would do to each object; change nothing' },
  { flags: '-o, --output <format>', description: 'print the plan, or the result, as data', choices: ['json', 'yaml'] },
  {
    flags: '--keep <objects>',
    description: `leave these objects, and the objects that they need, as they are; ${objects}`,
    repeats: true,
  },
  { flags: '--overwrite <objects>', description: `undo these objects even if others changed them; ${objects}`, repeats: true },
  {
    flags: '--unlisted <kinds>',
    description:
      'undo although these kinds cannot be listed; their objects may be deleted unseen; a comma-separated list of PLURAL[.GROUP]',
    repeats: true,
  },
  {
    flags: '--partial',
    description: 'undo the objects that can be undone; leave the others. Without --to it ends as Failed then',
  },
  { flags: '--digest <hex>', description: 'undo only if the plan still has this digest, which --plan prints' },
];

export const undo: Command = {
  name: 'undo',
  summary: 'roll back a Committed Transaction, as a whole or not at all',
  description: `The engine undoes the last change first. It keeps later edits by other clients. If one object cannot be undone, the engine refuses the
undo, changes nothing, and names the object. At a terminal the command shows the plan before it asks.

With --to, one new Transaction brings all objects back to the state after that release: it undoes all newer Transactions with its field
manager, with one write for each object. The command shows its plan, asks, and follows it until all objects are ready (--no-gate: until
they are written). If it fails, nothing has changed; its own undo brings the newer releases back. With an empty --to and the name of a
Transaction of the app it goes back to the state before the first release: the app leaves.

Exit code of --plan: 0 it changes nothing, 1 it changes something, 2 the engine would refuse it, 3 the result is unknown.`,
  operands: ['[name]'],
  completes: 'transactions',
  connects: true,
  writes: true,
  exits: followedExits,
  options: [
    ...undoOptions,
    {
      flags: '--to <name>',
      description: 'go back to the state after this Transaction, in one step; empty for the state before the first release',
      completes: 'transactions',
    },
    ...gateOptions,
    irreversibleOption,
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
    'undo --to deploy-v1 --keep ConfigMap/app-config',
  ],
  run: async (call) => (await import('../run/undo.ts')).run(call, 'undo'),
};
