import { engineIn } from '../cluster/engine.ts';
import type { Call } from '../command/command.ts';
import { say } from '../io.ts';
import { exits } from '../problem.ts';
import { documentOf } from '../show/document.ts';
import { clientVersion } from './client-version.ts';
import { saidAsData } from './given.ts';

export async function run(call: Call): Promise<number> {
  const { io, options, connect } = call;
  const isPlain = options.text('output') === undefined;
  if (isPlain) say(io, `client ${clientVersion}`);
  const found = options.flag('client') ? undefined : await engineIn(await connect(), options.text('engineNamespace'));
  if (isPlain && found !== undefined) say(io, `engine ${found.version}`);
  const engine = found === undefined ? {} : { engine: found.version };
  saidAsData(call, () => documentOf('Version', { client: clientVersion, ...engine }));
  return exits.done;
}
