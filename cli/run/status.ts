import { printed } from '../../hooks/transactions/inspect.ts';
import type { Session } from '../cluster/session.ts';
import { getTransaction, listTransactions, type TransactionName } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { say } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { formatted } from '../show/formats.ts';
import { treeOf } from '../show/tree.ts';
import { refusedUndo } from '../show/undo.ts';
import { viewOf } from '../show/view.ts';
import { outputStyle, timeoutOf } from './given.ts';
import { quiet } from './outcome.ts';
import { watch } from './watching.ts';

export async function run(call: Call): Promise<number> {
  const { io, options } = call;
  const session = await call.connect();
  const wanted = { namespace: session.namespace, name: call.operands[0] ?? (await newest(session)) };
  if (!options.flag('watch')) return show(call, session, wanted);
  const isData = options.text('output') !== undefined;
  const screen = isData ? quiet(call).io : io;
  const code = await watch({
    io: screen,
    session,
    wanted,
    end: 'Committed',
    style: outputStyle(io, options),
    timeout: timeoutOf(options),
  });
  if (isData) await show(call, session, wanted);
  return code;
}

async function show({ io, options }: Call, session: Session, wanted: TransactionName): Promise<number> {
  const object = await getTransaction(session, wanted);
  const format = options.text('output');
  if (format === undefined) {
    const view = viewOf(object);
    const elapsed = (view.endedAt ?? Date.now()) - (view.startTime ?? Date.now());
    const columns = io.stdout.isTTY === true ? io.stdout.columns : Number.POSITIVE_INFINITY;
    say(io, ...treeOf({ view, elapsed }, { columns }, outputStyle(io, options)), ...refusedUndo(view));
  } else say(io, formatted([printed(object)], format));
  return exits.done;
}

async function newest(session: Session): Promise<string> {
  const all = (await listTransactions(session, session.namespace)).map(viewOf);
  const last = all.toSorted((left, right) => (right.createdAt ?? 0) - (left.createdAt ?? 0))[0];
  if (last === undefined) throw new Problem(`No Transactions in namespace ${session.namespace}.`);
  return last.name;
}
