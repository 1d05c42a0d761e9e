import { engineVersion } from '../cluster/engine.ts';
import type { Call } from '../command/command.ts';
import { say } from '../io.ts';
import { exits } from '../problem.ts';
import { clientVersion } from './client-version.ts';

export async function run({ io, options, connect }: Call): Promise<number> {
  say(io, `client ${clientVersion}`);
  if (options.flag('client')) return exits.done;
  say(io, `engine ${await engineVersion(await connect(), options.text('engineNamespace'))}`);
  return exits.done;
}
