import { createHash } from 'node:crypto';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import type { Plan } from '../../hooks/transactions/inspection.ts';
import type { Reason } from '../../hooks/transactions/model/reason.ts';
import type { Call } from '../command/command.ts';
import { note, say } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { formatted } from '../show/formats.ts';
import { rolesOf, warningsOf } from '../show/roles.ts';
import { planOfGiven } from './planning.ts';

export async function run(call: Call): Promise<number> {
  const { plan, transaction } = await planOfGiven(call, 'caller');
  if (plan.trouble !== undefined) throw new Problem(`Not all permissions are known, and no Role is printed: ${plan.trouble}.`);
  if (plan.needs.length === 0) throw new Problem(`The API server serves no kind of these changes: ${plan.refusal[0]?.message}.`);
  noteGaps(call, plan);
  const account = findingsOf(plan).some(({ reason }) => reason === missing) ? [accountOf(plan)] : [];
  const objects = [...account, ...rolesOf(plan, roleName(plan, transaction))];
  say(call.io, formatted(objects, call.options.text('output') ?? 'yaml'));
  return exits.done;
}

function findingsOf({ refusal, also }: Plan): Plan['refusal'] {
  return [...refusal, ...also];
}

function noteGaps({ io }: Call, plan: Plan): void {
  // A change without a dry run may need more rights than the plan lists.
  for (const { reason, message } of findingsOf(plan))
    if (reason !== missing) note(io, `The rights may be incomplete: ${message}`);
  for (const what of plan.unseen) note(io, `Not seen: ${what}`);
  for (const warning of warningsOf(plan)) note(io, warning);
}

const missing: Reason = 'ServiceAccountMissing';

function accountOf({ namespace, serviceAccountName: name }: Plan): JsonObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } };
}

const longestName = 253;

/**
 * Each Transaction has its own Roles, so that a later Transaction does not take rights that the undo of an earlier one needs. If the
 * Transaction has no name yet, the name of the Roles is a digest of the rights.
 */
export function roleName({ namespace, needs }: Pick<Plan, 'namespace' | 'needs'>, transaction: JsonObject): string {
  const prefix = textAt(transaction, 'metadata', 'generateName') ?? '';
  const whole = `janus:${namespace}:${textAt(transaction, 'metadata', 'name') ?? `${prefix}${digestOf(JSON.stringify(needs))}`}`;
  return whole.length <= longestName ? whole : `${whole.slice(0, longestName - 9)}-${digestOf(whole)}`;
}

function digestOf(text: string): string {
  return createHash('sha256').update(text).digest('hex').slice(0, 8);
}
