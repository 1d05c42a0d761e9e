// Plans of undos. The engine makes them, because only the engine can unseal. An annotation requests a plan, and the status holds it.
import type { JsonObject } from '../../hooks/objects/json.ts';
import type { UndoAnswer } from '../../hooks/transactions/model/undo.ts';
import { follow } from '../cluster/follow.ts';
import type { Session } from '../cluster/session.ts';
import type { TransactionName } from '../cluster/transactions.ts';
import { type Io, note } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { undoPlan } from '../show/requests.ts';
import { answerTo, hasLater, isHandled, type UndoFirst, type UndoPlan } from '../show/undo.ts';
import { type TransactionView, viewOf } from '../show/view.ts';
import { undoFirstOf } from './later.ts';
import { mayAct, send } from './request.ts';
import { noteSilence } from './silence.ts';
import { annotationsOf, type Wish } from './undo-wish.ts';

interface Planning {
  readonly io: Io;
  readonly session: Session;
  readonly wanted: TransactionName;
  readonly object: JsonObject;
  readonly wish: Wish;
  /** The time limit for the engine's answer, in ms. */
  readonly patience: number | undefined;
  /** The exit code if the engine makes no plan because it would refuse the undo. */
  readonly refusalCode: number;
}

/** Before it decides, the engine waits for late answers to its own writes, and for objects that it cannot read for now. In ms. */
const usualPatience = 60_000;

/** Throws a Problem, also if the engine does not answer in time. */
export async function planUndo(planning: Planning): Promise<UndoPlan> {
  const { io, session, wanted, object, wish, refusalCode } = planning;
  const beside = annotationsOf({ ...wish, digest: undefined });
  const { request, known } = await send({ io, session, wanted, object, act: undoPlan, beside });
  const view = await answered(planning, known, (one) => {
    if (answerTo(one, request) !== undefined || isHandled(one, request)) return true;
    mayAct(one, undoPlan, io.program);
    return false;
  });
  const answer = answerTo(view, request);
  if (answer === undefined)
    throw isHandled(view, request)
      ? new Problem(view.message, refusalCode)
      : silent(planning, `the undo of Transaction ${wanted.name}`);
  return { view, answer, later: await laterIn(session, wanted, answer), isPartial: wish.isPartial };
}

/** The later Transactions that are in the way of an undo. */
export async function laterIn(session: Session, wanted: TransactionName, answer: UndoAnswer): Promise<UndoFirst> {
  return hasLater(answer) ? undoFirstOf(session, wanted) : { undoFirst: [] };
}

type Asked = Pick<Planning, 'io' | 'session' | 'wanted' | 'patience'>;

/** The first state with an answer, or the last state if the time has passed. */
export async function answered(
  { io, session, wanted, patience = usualPatience }: Asked,
  known: JsonObject,
  isAnswer: (view: TransactionView) => boolean,
): Promise<TransactionView> {
  const ending = new AbortController();
  const timer = setTimeout(() => ending.abort(), patience);
  const first = viewOf(known);
  let last = first;
  const stopNoting = noteSilence({
    ...{ session, program: io.program, isSilent: () => last.message === first.message },
    say: (sentence) => note(io, sentence),
  });
  try {
    const signal = AbortSignal.any([ending.signal, io.interrupted]);
    for await (const { object, trouble } of follow(session, wanted, { signal, known })) {
      if (object === undefined) note(io, trouble ?? '');
      else last = viewOf(object);
      if (isAnswer(last)) return last;
    }
  } finally {
    stopNoting();
    clearTimeout(timer);
    ending.abort();
  }
  return last;
}

/** `what`: the engine was asked to plan it. */
export function silent({ io, wanted: { namespace }, patience = usualPatience }: Asked, what: string): Problem {
  if (io.interrupted.aborted) return new Problem('Interrupted: no object was changed.', exits.interrupted);
  return new Problem(
    `The engine has not answered the request for a plan of ${what} in namespace ${namespace} in ${Math.ceil(patience / 1000)} s. No object was changed. ${io.program} doctor checks the engine.`,
  );
}
