import { printed } from '../../hooks/transactions/inspect.ts';
import { usualEngineNamespace } from '../cluster/engine.ts';
import { rollbacksIn } from '../cluster/rollbacks.ts';
import type { Session } from '../cluster/session.ts';
import { getTransaction, listTransactions, type TransactionName } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { say, sayAll } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { clockOf } from '../show/age.ts';
import { endLines, isOver } from '../show/end.ts';
import { keptLogLines } from '../show/failed-logs.ts';
import { formatted } from '../show/formats.ts';
import type { Style } from '../show/style.ts';
import { treeOf } from '../show/tree.ts';
import { refusedUndo } from '../show/undo.ts';
import { rollbacksOf } from '../show/undone.ts';
import { type TransactionView, viewOf } from '../show/view.ts';
import { notesIn, warningsIn } from '../show/warnings.ts';
import { outputStyle, timeoutOf } from './given.ts';
import { holding } from './holder.ts';
import { quiet } from './outcome.ts';
import { sizeOf } from './printer.ts';
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
    const { columns } = sizeOf(io);
    const undoneBy = await undoneByOf(session, view);
    const lines = linesOf(view, { style: outputStyle(io, options), columns, program: io.program, undoneBy });
    const holder = await holding(session, view, usualEngineNamespace).catch(() => undefined);
    const held = holder === undefined ? [] : [`  ${holder}`];
    sayAll(io, [...lines, ...held, ...notesIn(view), ...warningsIn(view), ...refusedUndo(view), ...keptLogLines(view.changes)]);
  } else say(io, formatted([printed(object)], format));
  return exits.done;
}

/** The name of the rollback that has undone it, as far as the user may read it. */
async function undoneByOf(session: Session, view: TransactionView): Promise<string | undefined> {
  if (!isOver(view) || view.phase !== 'Committed') return undefined;
  return rollbacksOf(await rollbacksIn(session, view.namespace)).get(view.uid);
}

interface Setting {
  readonly style: Style;
  readonly columns: number;
  readonly program: string;
  readonly undoneBy: string | undefined;
}

function linesOf(view: TransactionView, { style, columns, program, undoneBy }: Setting): readonly string[] {
  const { began, ended } = view.timing;
  const elapsed = began === undefined ? 0 : Math.max(0, (ended ?? Date.now()) - began);
  const isEnd = isOver(view);
  const ending = { program, isEnd, wanted: 'Committed', columns, undoneBy } as const;
  const lines = treeOf({ view, elapsed, isHeldUp: !isEnd }, { columns }, style);
  return isEnd ? [...lines, ...endLines(view, clockOf(elapsed), ending, style)] : lines;
}

async function newest(session: Session): Promise<string> {
  const [last] = await listTransactions(session, session.namespace);
  if (last === undefined) throw new Problem(`No Transactions in namespace ${session.namespace}.`);
  return viewOf(last).name;
}
