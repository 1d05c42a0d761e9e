import type { JsonObject } from '../../hooks/objects/json.ts';
import type { Plan } from '../../hooks/transactions/inspection.ts';
import type { Reason } from '../../hooks/transactions/model/reason.ts';
import type { Call } from '../command/command.ts';
import { note, say } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { formatted } from '../show/formats.ts';
import { type RoleSet, rolesOf, warningsOf } from '../show/roles.ts';
import { planOfGiven } from './planning.ts';
import { rightsOf } from './rights.ts';

export async function run(call: Call): Promise<number> {
  const planned = await planOfGiven(call, 'caller');
  const { plan } = planned;
  if (plan.trouble !== undefined) throw new Problem(`Not all permissions are known, and no Role is printed: ${plan.trouble}.`);
  if (plan.needs.length === 0) throw new Problem(`The API server serves no kind of these changes: ${plan.refusal[0]?.message}.`);
  const rights = await rightsOf(await call.connect(), planned);
  noteGaps(call, plan, rights);
  const objects = [accountOf(plan), ...rolesOf(rights)];
  say(call.io, formatted(objects, call.options.text('output') ?? 'yaml'));
  return exits.done;
}

const missing: Reason = 'ServiceAccountMissing';

function noteGaps({ io }: Call, { refusal, also, unseen, serviceAccountName }: Plan, rights: RoleSet): void {
  // A change without a dry run may need more rights than the plan lists.
  for (const { reason, message } of [...refusal, ...also])
    if (reason !== missing) note(io, `The rights may be incomplete: ${message}`);
  for (const what of unseen) note(io, `Not seen: ${what}`);
  const others = rights.accounts.filter((name) => name !== serviceAccountName);
  if (others.length > 0)
    note(io, `ServiceAccount ${others.join(', ')} also gets the rights, because existing Transactions of the app name it.`);
  for (const warning of warningsOf(rights)) note(io, warning);
}

function accountOf({ namespace, serviceAccountName: name }: Plan): JsonObject {
  return { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name, namespace } };
}
