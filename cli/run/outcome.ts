// -o json and -o yaml of commands that create, undo, abort or retry: the command prints nothing else on standard output, and the
// Transactions as they are at its end.
import { Writable } from 'node:stream';
import { findTransaction, type TransactionName } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { say } from '../io.ts';
import { wrongUse } from '../problem.ts';
import { documentOf } from '../show/document.ts';
import { formatted } from '../show/formats.ts';
import { type ChangeView, viewOf } from '../show/view.ts';

/** `name` is called with each Transaction that the command creates, or sends a request to. */
type Acting = (call: Call, name: (one: TransactionName) => void) => Promise<number>;

/** Throws a Problem if the command would ask a question. */
export async function withOutcome(call: Call, command: string, act: Acting): Promise<number> {
  const { options } = call;
  const format = options.text('output');
  if (format === undefined || options.flag('plan')) return act(call, () => undefined);
  if (options.flag('confirm') || (command !== 'apply' && !options.flag('yes')))
    throw wrongUse(
      `${command} -o ${format} shows no plan and asks nothing: ${command === 'apply' ? 'leave out --confirm' : 'give --yes'}.`,
    );
  const named: TransactionName[] = [];
  const exitCode = await act(quiet(call), (one) => named.push(one));
  const session = await call.connect();
  const found = await Promise.all(named.map((one) => findTransaction(session, one)));
  const transactions = found.flatMap((object) => (object === undefined ? [] : [summaryOf(object)]));
  say(call.io, formatted([documentOf('Outcome', { command, exitCode, transactions })], format));
  return exitCode;
}

function summaryOf(object: Parameters<typeof viewOf>[0]) {
  const { namespace, name, uid, phase, done, message, finished, left, kept, reason, changes } = viewOf(object);
  return { namespace, name, uid, phase, done, message, finished, left, kept, reason, changes: changes.map(changeOf) };
}

function changeOf({ type, kind, name, selector, state, error, gate, took, warnings }: ChangeView) {
  const note = gate?.state === 'notReady' ? gate.found : undefined;
  return {
    type,
    kind,
    name,
    selector,
    state,
    ...(error && { error }),
    ...(note !== undefined && { note }),
    ...(took && { took }),
    ...(warnings && { warnings }),
  };
}

/** The same call, whose standard output shows nothing. */
export function quiet(call: Call): Call {
  const stdout = new Writable({ write: (_part, _encoding, done) => done() }) as unknown as Call['io']['stdout'];
  return { ...call, io: { ...call.io, stdout } };
}
