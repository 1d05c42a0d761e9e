// The plan of a rollback. The engine makes it in a Transaction of its own, which goes no further than its plan. The command deletes this
// Transaction before it shows the plan: nothing waits while people read.
import { randomUUID } from 'node:crypto';
import { type JsonObject, objectAt, textAt, withPath } from '../../hooks/objects/json.ts';
import { annotations } from '../../hooks/transactions/model/transaction.ts';
import type { Session } from '../cluster/session.ts';
import { createTransaction, deleteTransaction } from '../cluster/writes.ts';
import { type Io, note } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { answerTo, type UndoPlan } from '../show/undo.ts';
import { answered, silent } from './undo-planning.ts';
import { mustBeWritten } from './written.ts';

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

/** Throws a Problem, also if the engine does not answer in time. */
export async function planRollback({ io, session, transaction, isPartial, patience, refusalCode }: Planning): Promise<UndoPlan> {
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
