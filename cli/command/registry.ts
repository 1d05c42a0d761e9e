// All commands, in the order of the help. To add a command, list it here, and write a file of its name in this folder and in
// cli/run/.
import { abort } from './abort.ts';
import { apply } from './apply.ts';
import type { Command } from './command.ts';
import { complete, completion } from './completion.ts';
import { diff } from './diff.ts';
import { doctor } from './doctor.ts';
import { history } from './history.ts';
import { lint } from './lint.ts';
import { list } from './list.ts';
import { locks } from './locks.ts';
import { plan } from './plan.ts';
import { rbac } from './rbac.ts';
import { render } from './render.ts';
import { retry } from './retry.ts';
import { status } from './status.ts';
import { undo } from './undo.ts';
import { version } from './version.ts';

export const commands: readonly Command[] = [
  lint,
  plan,
  rbac,
  apply,
  render,
  status,
  diff,
  list,
  history,
  undo,
  abort,
  retry,
  locks,
  doctor,
  completion,
  version,
  complete,
];
