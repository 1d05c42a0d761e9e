import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { states } from '../../hooks/transactions/inspect.ts';
import type { ObjectState } from '../../hooks/transactions/inspection.ts';
import { sealedStates } from '../../hooks/transactions/model/undo.ts';
import { expand } from '../cluster/inspecting.ts';
import { isNamed, objectNamed } from '../cluster/kinds.ts';
import type { Session } from '../cluster/session.ts';
import { getTransaction, type TransactionName } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { sayAll } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { documentOf } from '../show/document.ts';
import { statesLines } from '../show/states.ts';
import { outputStyle, saidAsData } from './given.ts';
import { planUndo } from './undo-planning.ts';
import { noWish } from './undo-wish.ts';

const codes = { same: 0, differs: 1, unknown: 3 } as const;

export async function run(call: Call): Promise<number> {
  const { io, options, operands } = call;
  const session = await call.connect();
  const wanted = { namespace: session.namespace, name: operands[0] ?? '' };
  const transaction = await getTransaction(session, wanted);
  const all = await states({ reader: session.cluster, expand }, transaction);
  const found = await withAnswer(call, { session, wanted, object: transaction }, await chosen(call, all));
  if (!saidAsData(call, () => documentOf('Diff', { ...wanted, objects: found })))
    sayAll(io, statesLines(found, outputStyle(io, options), textAt(transaction, 'status', 'phase') === 'Committed'));
  return codeOf(found);
}

interface Compared {
  readonly session: Session;
  readonly wanted: TransactionName;
  readonly object: JsonObject;
}

/** Sealed objects as the engine has compared them, with the plan of an undo. What it does not compare is unknown. */
async function withAnswer({ io }: Call, compared: Compared, found: readonly ObjectState[]): Promise<readonly ObjectState[]> {
  if (!found.some(({ state }) => state === 'sealed')) return found;
  const answer = await planUndo({ io, ...compared, wish: noWish, patience: undefined, refusalCode: codes.unknown }).catch(
    (error: unknown) => {
      if (error instanceof Problem && error.code !== exits.interrupted) return error.message;
      throw error;
    },
  );
  const sealed = typeof answer === 'string' ? {} : (answer.answer.sealed ?? {});
  const why = typeof answer === 'string' ? answer : 'the engine could not read it';
  return found.map((one) => {
    if (one.state !== 'sealed') return one;
    const state = sealedStates.find((name) => sealed[name]?.includes(one.index));
    return state === undefined
      ? { ...one, state: 'unknown', why: `only the engine can compare it: ${why}` }
      : { ...one, state, why: 'sealed' };
  });
}

/** The objects that the command line names, or all. Throws a Problem if the Transaction has no such object. */
async function chosen({ operands, connect }: Call, all: readonly ObjectState[]): Promise<readonly ObjectState[]> {
  const [name, ...texts] = operands;
  if (texts.length === 0) return all;
  const session = await connect();
  const named = await Promise.all(texts.map((text) => objectNamed(session, text, 'diff')));
  const isMissing = named.findIndex((one) => !all.some(({ target }) => isNamed(one, target)));
  if (isMissing >= 0)
    throw new Problem(`Transaction ${name} does not change ${texts[isMissing]}: diff ${name} lists its objects.`, codes.unknown);
  return all.filter(({ target }) => named.some((one) => isNamed(one, target)));
}

function codeOf(found: readonly ObjectState[]): number {
  if (found.some(({ state }) => ['changed', 'deleted', 'created'].includes(state))) return codes.differs;
  return found.some(({ state }) => state === 'unknown') ? codes.unknown : codes.same;
}
