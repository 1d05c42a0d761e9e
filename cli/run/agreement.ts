// What --confirm shows and asks before a Transaction is created.
import { usualEngineNamespace } from '../cluster/engine.ts';
import type { Session } from '../cluster/session.ts';
import type { Call } from '../command/command.ts';
import type { Release } from '../input/release.ts';
import { sayAll } from '../io.ts';
import { Problem } from '../problem.ts';
import { planLines } from '../show/plan.ts';
import { amount } from '../show/words.ts';
import { confirmed, outputStyle, rbacCommand } from './given.ts';
import { codeOf } from './plan.ts';
import { besideEngine, planOf } from './planning.ts';
import { sizeOf } from './printer.ts';

/** Shows the plan, and asks. */
export async function isWanted(call: Call, session: Session, release: Release): Promise<boolean> {
  const { io, options } = call;
  const engineNamespace = options.text('engineNamespace') ?? usualEngineNamespace;
  const made = await planOf(session, release, { actAs: 'serviceAccount', engineNamespace });
  const { plan, engine } = await besideEngine(session, made, engineNamespace);
  const style = outputStyle(io, options);
  const setting = { style, engine, rbac: rbacCommand(call), columns: sizeOf(io).columns };
  sayAll(io, planLines(plan, { ...setting, code: codeOf(plan, false), isBrief: false }));
  if (plan.verdict === 'refused') throw new Problem('The Transaction would be refused, so it is not created.');
  return confirmed(
    io,
    options,
    `Create this Transaction of ${amount(plan.changes.length, 'change')} in namespace ${plan.namespace}?`,
  );
}
