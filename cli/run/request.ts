// undo, abort, retry: one annotation, with a value that was never there. Where it cannot act, nothing is written.
import { randomUUID } from 'node:crypto';
import { type JsonObject, textAt } from '../../hooks/model/json.ts';
import type { Session } from '../cluster/session.ts';
import { getTransaction, problemOf, type TransactionName } from '../cluster/transactions.ts';
import { annotate } from '../cluster/writes.ts';
import type { Call } from '../command/command.ts';
import { type Io, refuseInterrupted, say } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { type RequestName, requests } from '../show/requests.ts';
import { type TransactionView, viewOf } from '../show/view.ts';
import { confirmed, outputStyle, timeoutOf } from './given.ts';
import { watch } from './watching.ts';

export async function run(call: Call, request: RequestName): Promise<number> {
  const { io, options } = call;
  const timeout = timeoutOf(options);
  const session = await call.connect();
  const wanted = { namespace: session.namespace, name: call.operands[0] ?? '' };
  const object = await getTransaction(session, wanted);
  const view = mayAct(viewOf(object), request, io.program);
  if (!(await confirmed(io, options, requests[request].question(view)))) return exits.notDone;
  const asked = { name: requests[request].annotation, value: randomUUID() };
  const known = await write({ session, wanted, object, asked, request, io });
  say(io, `transaction.tx.janus.io/${wanted.name} ${request} requested`);
  if (!options.flag('wait')) return exits.done;
  return watch({ io, session, wanted, end: 'RolledBack', style: outputStyle(io, options), timeout, request: asked, known });
}

/** Throws a Problem that says why, if it cannot. */
function mayAct(view: TransactionView, request: RequestName, program: string): TransactionView {
  const refusal = view.deleting ? 'it is being deleted.' : requests[request].refusal(view, program);
  if (refusal === undefined) return view;
  throw new Problem(`Cannot ${request} Transaction ${view.name} in namespace ${view.namespace}: ${refusal}`);
}

interface Writing {
  readonly session: Session;
  readonly wanted: TransactionName;
  readonly object: JsonObject;
  readonly asked: { readonly name: string; readonly value: string };
  readonly request: RequestName;
  readonly io: Io;
}

/** A running Transaction changes all the time: it is looked at again for each attempt. Returns it with the annotation. */
async function write({ session, wanted, object, asked, request, io }: Writing): Promise<JsonObject> {
  let seen = object;
  for (;;) {
    mayAct(viewOf(seen), request, io.program);
    refuseInterrupted(io);
    const answer = await annotate(session, wanted, seen, asked);
    if (answer.kind === 'ok') return answer.body;
    if (answer.failure.kind !== 'stale') throw problemOf(answer, session, { verb: 'patch', ...wanted });
    seen = await getTransaction(session, wanted);
    if (textAt(seen, 'metadata', 'uid') !== textAt(object, 'metadata', 'uid')) throw replaced(wanted, request);
  }
}

function replaced({ namespace, name }: TransactionName, request: RequestName): Problem {
  return new Problem(
    `Cannot ${request} Transaction ${name} in namespace ${namespace}: it was deleted, and another one has its name. Nothing was changed.`,
  );
}
