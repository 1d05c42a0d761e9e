// undo --to: one Transaction with `spec.rollback` goes back over all newer ones. The command creates it with the digest of the plan that
// the user has seen, and follows it as apply follows a release.
import { type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import type { Session } from '../cluster/session.ts';
import type { TransactionName } from '../cluster/transactions.ts';
import { createTransaction } from '../cluster/writes.ts';
import type { Call } from '../command/command.ts';
import { say, sayAll } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { refusedCode } from '../show/end.ts';
import { planCodes, type UndoPlan, undoDocument, undoLines, verdictOf } from '../show/undo.ts';
import { namesOf } from '../show/undone.ts';
import { outputStyle, refuseUnanswerable, saidAsData, timeoutOf } from './given.ts';
import { gateOf } from './release-options.ts';
import { type RequestedRollback, requestedRollback } from './requested-rollback.ts';
import { planRollback } from './rollback-planning.ts';
import { disagreement } from './undo-agreement.ts';
import type { Wish } from './undo-wish.ts';
import { watch } from './watching.ts';
import { mustBeWritten } from './written.ts';

interface Wanted {
  readonly wish: Wish;
  /** Called with the Transaction that the command has created. */
  readonly named: (one: TransactionName) => void;
}

/** Resolves with the exit code. */
export async function undoTo(call: Call, { wish, named }: Wanted): Promise<number> {
  const { io, options } = call;
  const [timeout, gate] = [timeoutOf(options), gateOf(options, true)];
  const way = await requestedRollback(call, wish);
  if (options.flag('plan')) return showPlanOfRollback(call, way, timeout);
  refuseUnanswerable(io, options, `Undo ${namesOf(way.undoes)}?`);
  const plan = await planRollback({ io, ...way, patience: undefined, refusalCode: refusedCode });
  const code = await disagreement(call, { plan, wish, verb: 'Undo' });
  if (code !== undefined) return code;
  const wanted = await created(call, way.session, agreedOn(way.transaction, plan, gate));
  named(wanted);
  const style = outputStyle(io, options);
  return watch({ io, session: way.session, wanted, end: 'Committed', style, timeout, known: wanted.known });
}

/** Resolves with the exit code of a plan. `patience`: the time limit for the engine's answer, in ms. */
export async function showPlanOfRollback(call: Call, way: RequestedRollback, patience: number | undefined): Promise<number> {
  const { io, options } = call;
  const plan = await planRollback({ io, ...way, patience, refusalCode: planCodes.refused });
  const code = planCodes[verdictOf(plan)];
  if (!saidAsData(call, () => undoDocument(plan)))
    sayAll(io, undoLines(plan, { style: outputStyle(io, options), program: io.program, code }));
  return code;
}

/** `gate`: the timeout of all gates, empty for the default; undefined for no gates. */
function agreedOn(transaction: JsonObject, { answer }: UndoPlan, gate: string | undefined): JsonObject {
  const agreed = withPath(transaction, ['spec', 'rollback', 'digest'], answer.digest);
  return gate === undefined ? agreed : withPath(agreed, ['spec', 'gate'], gate === '' ? {} : { timeout: gate });
}

interface Created extends TransactionName {
  readonly known: JsonObject;
}

async function created({ io }: Call, session: Session, transaction: JsonObject): Promise<Created> {
  if (io.interrupted.aborted) throw new Problem('Interrupted: no object was changed.', exits.interrupted);
  const known = mustBeWritten(await createTransaction(session, transaction), session, transaction, { secret: undefined });
  const name = textAt(known, 'metadata', 'name') ?? '';
  say(io, `transaction.tx.janus.io/${name} created`);
  return { namespace: session.namespace, name, known };
}
