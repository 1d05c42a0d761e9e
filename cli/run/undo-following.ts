// The undo of one Transaction, from its request to its end.
import type { JsonObject } from '../../hooks/model/json.ts';
import type { Session } from '../cluster/session.ts';
import { listTransactions, type TransactionName } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { sayAll } from '../io.ts';
import { refusedCode } from '../show/end.ts';
import { answerTo, hasLater, refusalLines, type UndoPlan } from '../show/undo.ts';
import { outputStyle } from './given.ts';
import { laterOn } from './later.ts';
import { watch } from './watching.ts';

interface Following {
  readonly session: Session;
  readonly wanted: TransactionName;
  readonly timeout: number | undefined;
  readonly request: { readonly name: string; readonly value: string };
  readonly known: JsonObject;
}

/** Resolves with the exit code. */
export async function followUndo({ io, options }: Call, following: Following): Promise<number> {
  const { session, wanted, request } = following;
  const style = outputStyle(io, options);
  let refused: UndoPlan | undefined;
  const onState = (view: UndoPlan['view']): void => {
    const answer = answerTo(view, request);
    refused = answer === undefined ? undefined : { view, answer, undoFirst: [], isPartial: false };
  };
  const code = await watch({ io, ...following, end: 'RolledBack', style, onState });
  if (refused === undefined) return code;
  const undoFirst = hasLater(refused.answer) ? laterOn(await listTransactions(session, wanted.namespace), wanted.name) : [];
  sayAll(io, refusalLines({ ...refused, undoFirst }, { style, program: io.program }));
  return refusedCode;
}
