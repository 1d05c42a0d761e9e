import { engineIn } from '../cluster/engine.ts';
import type { Call } from '../command/command.ts';
import { say } from '../io.ts';
import { exits } from '../problem.ts';
import { clientVersion } from './client-version.ts';

export async function run({ io, options, connect }: Call): Promise<number> {
  say(io, `client ${clientVersion}`);
  if (options.flag('client')) return exits.done;
  const { version } = await engineIn(await connect(), options.text('engineNamespace'));
  say(io, `engine ${version}`);
  return exits.done;
}
