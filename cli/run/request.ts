// A request sets annotations of a Transaction; one of them has a value that was never used. If a request cannot act, nothing is
// written.
import { randomUUID } from 'node:crypto';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { requestedBy } from '../../hooks/transactions/model/transaction.ts';
import type { Session } from '../cluster/session.ts';
import { getTransaction, problemOf, type TransactionName } from '../cluster/transactions.ts';
import { type AnnotationChanges, annotate, userName } from '../cluster/writes.ts';
import type { Io } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { type Act, undoPlan } from '../show/requests.ts';
import { type TransactionView, viewOf } from '../show/view.ts';

/** Throws a Problem with the reason if the request cannot act. */
export function mayAct(view: TransactionView, act: Act, program: string): TransactionView {
  const refusal = view.deleting ? 'it is being deleted.' : act.refusal(view, program);
  if (refusal === undefined) return view;
  throw new Problem(`Cannot ${act.verb} Transaction ${view.name} in namespace ${view.namespace}: ${refusal}`);
}

interface Sending {
  readonly io: Io;
  readonly session: Session;
  readonly wanted: TransactionName;
  readonly object: JsonObject;
  readonly act: Act;
  /** Annotations beside that of the request. */
  readonly beside?: AnnotationChanges;
}

interface Sent {
  readonly request: { readonly name: string; readonly value: string };
  /** The Transaction with the annotations. */
  readonly known: JsonObject;
}

/** A running Transaction changes often, so each attempt reads it again. */
export async function send({ io, session, wanted, object, act, beside = {} }: Sending): Promise<Sent> {
  const request = { name: act.annotation, value: await newValue(session, act) };
  let seen = object;
  for (let attempt = 0; attempt < mostAttempts; attempt += 1) {
    mayAct(viewOf(seen), act, io.program);
    refuseAfterInterruption(io);
    const answer = await annotate(session, wanted, seen, { ...beside, [request.name]: request.value });
    if (answer.kind === 'ok') return { request, known: answer.body };
    if (answer.failure.kind !== 'stale') throw problemOf(answer, session, { verb: 'patch', ...wanted });
    seen = await getTransaction(session, wanted);
    if (textAt(seen, 'metadata', 'uid') !== textAt(object, 'metadata', 'uid')) throw replaced(wanted, act);
  }
  throw new Problem(
    `Cannot ${act.verb} Transaction ${wanted.name}: it changed during each attempt. Nothing was changed: try again.`,
  );
}

const mostAttempts = 20;

/** With the name of the user, if the API server says it: history shows who undid a release. */
async function newValue(session: Session, act: Act): Promise<string> {
  const user = act === undoPlan ? undefined : await userName(session);
  return user === undefined ? randomUUID() : `${randomUUID()}${requestedBy}${user}`;
}

function refuseAfterInterruption({ interrupted }: Io): void {
  if (interrupted.aborted) throw new Problem('Interrupted: no request was sent.', exits.interrupted);
}

function replaced({ namespace, name }: TransactionName, { verb }: Act): Problem {
  return new Problem(
    `Cannot ${verb} Transaction ${name} in namespace ${namespace}: it was deleted, and another Transaction has its name. Nothing was changed.`,
  );
}
