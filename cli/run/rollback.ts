// undo --to: one Transaction with `spec.rollback` goes back over all newer ones. The command creates it with the digest of the plan that
// the user has seen, and follows it as apply follows a release.
import { randomUUID } from 'node:crypto';
import { type JsonObject, objectAt, textAt, withPath } from '../../hooks/objects/json.ts';
import { annotations } from '../../hooks/transactions/model/transaction.ts';
import type { Session } from '../cluster/session.ts';
import type { TransactionName } from '../cluster/transactions.ts';
import { createTransaction, deleteTransaction, userName } from '../cluster/writes.ts';
import type { Call } from '../command/command.ts';
import { signed } from '../input/release.ts';
import { type Io, note, say, sayAll } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { refusedCode } from '../show/end.ts';
import { answerTo, planCodes, type UndoPlan, undoDocument, undoLines, verdictOf } from '../show/undo.ts';
import { namesOf } from '../show/undone.ts';
import { outputStyle, refuseUnanswerable, saidAsData, timeoutOf } from './given.ts';
import { gateOf, lockWaitOf } from './release-options.ts';
import { type RequestedRollback, requestedRollback } from './requested-rollback.ts';
import { disagreement } from './undo-agreement.ts';
import { answered, silent } from './undo-planning.ts';
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
  const lockWait = lockWaitOf(options, gate);
  const way = await requestedRollback(call, wish);
  if (options.flag('plan')) return showPlanOfRollback(call, way, timeout);
  refuseUnanswerable(io, options, `Undo ${namesOf(way.undoes)}?`);
  const plan = await planRollback({ io, ...way, patience: undefined, refusalCode: refusedCode });
  const code = await disagreement(call, { plan, wish, verb: 'Undo' });
  if (code !== undefined) return code;
  const agreed = withPath(way.transaction, ['spec', 'rollback', 'digest'], plan.answer.digest);
  const waiting = withPath(withPath(agreed, ['spec', 'gate'], gate), ['spec', 'lockWait'], lockWait);
  const wanted = await created(call, way.session, waiting);
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

interface Created extends TransactionName {
  readonly known: JsonObject;
}

async function created({ io }: Call, session: Session, transaction: JsonObject): Promise<Created> {
  if (io.interrupted.aborted) throw new Problem('Interrupted: no object was changed.', exits.interrupted);
  const whole = signed(transaction, await userName(session));
  const known = mustBeWritten(await createTransaction(session, whole), session, whole, { secret: undefined });
  const name = textAt(known, 'metadata', 'name') ?? '';
  say(io, `transaction.tx.janus.io/${name} created`);
  return { namespace: session.namespace, name, known };
}

interface Planning {
  readonly io: Io;
  readonly session: Session;
  /** The rollback; the API server makes its name. */
  readonly transaction: JsonObject;
  readonly isPartial: boolean;
  /** The time limit for the engine's answer, in ms. */
  readonly patience: number | undefined;
  /** The exit code if the engine would refuse the rollback. */
  readonly refusalCode: number;
}

/** How long the Transaction stays if the command is killed, and then as Failed. */
const leftFor = { timeout: '5m', ttlSecondsAfterFinished: 60 } as const;

/**
 * The engine makes the plan of a rollback in a Transaction of its own, which goes no further than its plan. The command deletes this
 * Transaction before it shows the plan: nothing waits while people read. Throws a Problem, also if the engine does not answer in time.
 */
async function planRollback({ io, session, transaction, isPartial, patience, refusalCode }: Planning): Promise<UndoPlan> {
  if (io.interrupted.aborted) throw new Problem('Interrupted: no object was changed.', exits.interrupted);
  const request = { name: annotations.planUndo, value: randomUUID() };
  const asked = askedFor(transaction, request);
  const known = mustBeWritten(await createTransaction(session, asked), session, asked);
  const [namespace = '', name = ''] = ['namespace', 'name'].map((key) => textAt(known, 'metadata', key));
  const wanted = { namespace, name };
  try {
    const asking = { io, session, wanted, patience };
    const view = await answered(asking, known, (one) => one.phase === 'Failed' || answerTo(one, request) !== undefined);
    const answer = answerTo(view, request);
    if (answer !== undefined) return { view, answer, later: { undoFirst: [] }, isPartial };
    throw view.phase === 'Failed'
      ? new Problem(`${view.message}. No object was changed.`, refusalCode)
      : silent(asking, 'a rollback');
  } finally {
    await removed(io, session, known);
  }
}

function askedFor(transaction: JsonObject, { name, value }: { readonly name: string; readonly value: string }): JsonObject {
  const generateName = `${textAt(transaction, 'metadata', 'generateName') ?? ''}plan-`;
  const annotated = withPath(
    withPath(transaction, ['metadata', 'annotations', name], value),
    ['metadata', 'generateName'],
    generateName,
  );
  return { ...annotated, spec: { ...objectAt(annotated, 'spec'), ...leftFor } };
}

async function removed(io: Io, session: Session, made: JsonObject): Promise<void> {
  const answer = await deleteTransaction(session, made);
  if (answer.kind === 'ok' || answer.failure.kind === 'absent') return;
  const name = textAt(made, 'metadata', 'name');
  note(
    io,
    `Transaction ${name}, which only made the plan, is left (${answer.failure.reason}): it changes nothing, and ends by itself.`,
  );
}
