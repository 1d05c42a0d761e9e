// The undo of one Transaction, from its request to its end.
import type { JsonObject } from '../../hooks/objects/json.ts';
import type { Session } from '../cluster/session.ts';
import type { TransactionName } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { say, sayAll } from '../io.ts';
import { refusedCode } from '../show/end.ts';
import { answerTo, refusalLines } from '../show/undo.ts';
import type { TransactionView } from '../show/view.ts';
import { outputStyle } from './given.ts';
import { laterIn } from './undo-planning.ts';
import { watch } from './watching.ts';

interface Following {
  readonly session: Session;
  readonly wanted: TransactionName;
  readonly timeout: number | undefined;
  readonly request: { readonly name: string; readonly value: string };
  readonly known: JsonObject;
}

/** Resolves with the exit code. If the engine refused the undo, it prints why. */
export async function followUndo({ io, options }: Call, following: Following): Promise<number> {
  const { session, wanted, request } = following;
  const style = outputStyle(io, options);
  let last: TransactionView | undefined;
  const onState = (view: TransactionView): void => {
    last = view;
  };
  const code = await watch({ io, ...following, end: 'RolledBack', style, onState });
  if (last === undefined || code !== refusedCode) return code;
  const answer = answerTo(last, request);
  if (answer === undefined) {
    say(io, last.message);
    return code;
  }
  const later = await laterIn(session, wanted, answer);
  sayAll(io, refusalLines({ view: last, answer, later, isPartial: false }, { style, program: io.program }));
  return code;
}
