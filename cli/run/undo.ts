// undo and retry act on one Transaction; undo --to creates one that goes back over all newer ones. At a terminal they show the plan before
// the question.
import type { JsonObject } from '../../hooks/objects/json.ts';
import type { Session } from '../cluster/session.ts';
import { getTransaction, type TransactionName } from '../cluster/transactions.ts';
import type { Call, Options } from '../command/command.ts';
import { say, sayAll } from '../io.ts';
import { exits, Problem, wrongUse } from '../problem.ts';
import { refusedCode } from '../show/end.ts';
import { formatted } from '../show/formats.ts';
import { requests, undoPlan } from '../show/requests.ts';
import { answerTo, planCodes, refusalLines, undoDocument, undoLines, verdictOf } from '../show/undo.ts';
import { type TransactionView, viewOf } from '../show/view.ts';
import { outputStyle, refuseUnanswerable, timeoutOf } from './given.ts';
import { withOutcome } from './outcome.ts';
import { mayAct, send } from './request.ts';
import { undoTo } from './rollback.ts';
import { disagreement } from './undo-agreement.ts';
import { laterIn, planUndo } from './undo-planning.ts';
import { annotationsOf, type Wish, wishOf } from './undo-wish.ts';
import { watch } from './watching.ts';

type Undoing = 'undo' | 'retry';
type Named = (one: TransactionName) => void;

export function run(call: Call, name: Undoing): Promise<number> {
  return withOutcome(call, name, (one, undone) => runOn(one, name, undone));
}

async function runOn(call: Call, name: Undoing, undone: Named): Promise<number> {
  const { options } = call;
  refuseMisuse(call);
  const wish = await wishOf(call);
  const isTo = options.text('to') !== undefined;
  const back = () => undoTo(call, { wish, named: undone });
  if (!options.flag('plan')) return isTo ? back() : undo(call, { name, wish, undone });
  try {
    return isTo ? await back() : await showPlan(call, wish);
  } catch (error) {
    // A script reads exit code 1 as a plan that changes something.
    if (error instanceof Problem && error.code === exits.notDone) throw new Problem(error.message, planCodes.unknown);
    throw error;
  }
}

function refuseMisuse({ options, operands: [name] }: Call): void {
  const to = options.text('to');
  if (to === undefined) refuseOfRollback(options, name);
  else refuseOfOne(options);
  if (to === '' && name === undefined)
    throw wrongUse('An empty --to takes the app away: give the name of one of its Transactions, too. Nothing was written.');
  if (options.flag('plan') && options.text('digest') !== undefined)
    throw wrongUse('--digest is for the undo itself: leave it out with --plan, which prints one.');
}

function refuseOfRollback(options: Options, name: string | undefined): void {
  if (name === undefined)
    throw wrongUse('undo takes the name of a Transaction, or --to with the name of the Transaction that stays.');
  if (['gate', 'allowIrreversible'].some((one) => options.flag(one) || options.isOff(one) || options.text(one)))
    throw wrongUse('--gate, --no-gate and --allow-irreversible need --to: they are for the Transaction that it creates.');
}

function refuseOfOne(options: Options): void {
  if (options.list('unlisted').length > 0)
    throw wrongUse('--unlisted is for the undo of one Transaction: leave it out with --to.');
}

interface Undone {
  readonly session: Session;
  readonly wanted: TransactionName;
  readonly object: JsonObject;
}

async function undoneBy(call: Call): Promise<Undone> {
  const session = await call.connect();
  const wanted = { namespace: session.namespace, name: call.operands[0] ?? '' };
  return { session, wanted, object: await getTransaction(session, wanted) };
}

async function showPlan(call: Call, wish: Wish): Promise<number> {
  const { io, options } = call;
  const patience = timeoutOf(options);
  const undone = await undoneBy(call);
  mayAct(viewOf(undone.object), undoPlan, io.program);
  const plan = await planUndo({ io, ...undone, wish, patience, refusalCode: planCodes.refused });
  const code = planCodes[verdictOf(plan)];
  const format = options.text('output');
  if (format !== undefined) say(io, formatted([undoDocument(plan)], format));
  else sayAll(io, undoLines(plan, { style: outputStyle(io, options), program: io.program, code }));
  return code;
}

interface Asked {
  readonly name: Undoing;
  readonly wish: Wish;
  readonly undone: Named;
}

async function undo(call: Call, { name, wish, undone: named }: Asked): Promise<number> {
  const { io, options } = call;
  const act = requests[name];
  const timeout = timeoutOf(options);
  const undone = await undoneBy(call);
  const view = mayAct(viewOf(undone.object), act, io.program);
  refuseUnanswerable(io, options, act.question(view));
  const agreed = options.flag('yes') ? wish : await agreedOn(call, name, { ...undone, wish });
  if (typeof agreed === 'number') return agreed;
  const { request, known } = await send({ io, ...undone, act, beside: annotationsOf(agreed) });
  named(undone.wanted);
  say(io, `transaction.tx.janus.io/${undone.wanted.name} ${act.verb} requested`);
  // The engine refuses an undo after the request. So the command waits for the answer in a pipe, too.
  const untilAccepted = !options.flag('wait') && io.stdout.isTTY !== true;
  return followUndo(call, { ...undone, timeout, request, known, untilAccepted });
}

/** Shows the plan, and asks. Resolves with the request for the undo of that plan, or with the exit code. */
async function agreedOn(call: Call, name: Undoing, wanted: Undone & { readonly wish: Wish }): Promise<Wish | number> {
  const { wish } = wanted;
  const plan = await planUndo({ io: call.io, ...wanted, patience: undefined, refusalCode: refusedCode });
  const code = await disagreement(call, { plan, wish, verb: name === 'undo' ? 'Undo' : 'Undo what is left of' });
  return code ?? { ...wish, digest: plan.answer.digest };
}

interface Following extends Omit<Undone, 'object'> {
  readonly timeout: number | undefined;
  readonly request: { readonly name: string; readonly value: string };
  readonly known: JsonObject;
  readonly untilAccepted: boolean;
}

/** Resolves with the exit code. If the engine refused the undo, it prints why. */
async function followUndo({ io, options }: Call, following: Following): Promise<number> {
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
