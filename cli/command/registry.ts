// All commands, in the order of the help.
import type { Command } from './command.ts';
import { status } from './status.ts';
import { version } from './version.ts';

export const commands: readonly Command[] = [status, version];
