// Stops a running Transaction.
import { getTransaction, type TransactionName } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { say } from '../io.ts';
import { exits } from '../problem.ts';
import { requests } from '../show/requests.ts';
import { viewOf } from '../show/view.ts';
import { confirmed, outputStyle, timeoutOf } from './given.ts';
import { withOutcome } from './outcome.ts';
import { mayAct, send } from './request.ts';
import { watch } from './watching.ts';

export function run(call: Call): Promise<number> {
  return withOutcome(call, 'abort', abort);
}

async function abort({ io, options, operands, connect }: Call, name: (one: TransactionName) => void): Promise<number> {
  const act = requests.abort;
  const timeout = timeoutOf(options);
  const session = await connect();
  const wanted = { namespace: session.namespace, name: operands[0] ?? '' };
  const object = await getTransaction(session, wanted);
  const view = mayAct(viewOf(object), act, io.program);
  if (!(await confirmed(io, options, act.question(view)))) return exits.notDone;
  const { known, request } = await send({ session, wanted, object, act, io });
  name(wanted);
  say(io, `transaction.tx.janus.io/${wanted.name} ${act.verb} requested`);
  if (!options.flag('wait')) return exits.done;
  return watch({ io, session, wanted, end: 'RolledBack', style: outputStyle(io, options), timeout, request, known });
}
