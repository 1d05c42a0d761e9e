import type { Call } from '../command/command.ts';
import { note, say } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { formatted } from '../show/formats.ts';
import { rolesOf } from '../show/roles.ts';
import { planOfGiven } from './planning.ts';

export async function run(call: Call): Promise<number> {
  const plan = await planOfGiven(call, 'caller');
  if (plan.needs.length === 0)
    throw new Problem(
      `The API server serves no kind of these changes, or its answers are missing: ${plan.trouble ?? plan.refusal[0]?.message}`,
    );
  // A change that could not be tried may need more than is known of it.
  for (const { message } of [...plan.refusal, ...plan.also]) note(call.io, `Not known of all changes: ${message}`);
  say(call.io, formatted(rolesOf(plan), 'yaml'));
  return exits.done;
}
