// undo --to: undoes all Transactions with a field manager that are newer than a given Transaction, the newest first. Before the first
// undo begins, each is planned on the state that the undos before it would leave. Each undo is whole, but the chain is not: if it stops,
// a release between the first and the last is in the cluster.
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import type { Session } from '../cluster/session.ts';
import { getTransaction, listTransactions, noSuch, type TransactionName } from '../cluster/transactions.ts';
import type { Call } from '../command/command.ts';
import { note, say, sayAll } from '../io.ts';
import { exits, Problem } from '../problem.ts';
import { refusedCode, stillGoing } from '../show/end.ts';
import { formatted } from '../show/formats.ts';
import { requests } from '../show/requests.ts';
import {
  chainDocument,
  chainLines,
  looksEqual,
  planCodes,
  type UndoPlan,
  undoLines,
  undoQuestion,
  verdictOfAll,
} from '../show/undo.ts';
import { viewOf } from '../show/view.ts';
import { confirmed, outputStyle, refuseUnanswerable, timeoutOf } from './given.ts';
import { newerThan } from './later.ts';
import { mayAct, send } from './request.ts';
import { followUndo } from './undo-following.ts';
import { planUndo } from './undo-planning.ts';
import { annotationsOf, type Wish } from './undo-wish.ts';

/** An undo of every object, as a whole: the next undo in the chain depends on it. */
const plainWish: Wish = { keep: undefined, overwrite: undefined, unlisted: undefined, isPartial: false, digest: undefined };

interface Chain {
  readonly session: Session;
  /** The name of the Transaction that stays. */
  readonly to: string;
  /** The Transactions to undo, the newest first. */
  readonly objects: readonly JsonObject[];
}

/** Resolves with the exit code. */
export async function undoTo(call: Call, undone: (one: TransactionName) => void): Promise<number> {
  const { io, options } = call;
  const isPlan = options.flag('plan');
  const timeout = timeoutOf(options);
  const chain = await chainOf(call, options.text('to') ?? '');
  if (!isPlan && chain.objects.length > 0) refuseUnanswerable(io, options, `Undo ${chain.objects.map(nameOf).join(', ')}?`);
  const plans = await plansOf(call, chain);
  const code = (isPlan ? planCodes : codes)[verdictOfAll(plans)];
  show(call, chain, { plans, code });
  return isPlan || code !== exits.done ? code : undoEach(call, chain, { plans, timeout, undone });
}

/** The plan of a chain, before its first undo. */
const codes = { nothing: exits.done, changes: exits.done, refused: refusedCode, unknown: refusedCode } as const;

/** Throws a Problem if one of the Transactions is in a phase without an undo. */
async function chainOf({ io, connect }: Call, to: string): Promise<Chain> {
  const session = await connect();
  const all = await listTransactions(session, session.namespace);
  const base = all.find((one) => nameOf(one) === to);
  if (base === undefined) throw noSuch({ namespace: session.namespace, name: to });
  const manager = textAt(base, 'spec', 'fieldManager');
  if (manager === undefined)
    throw new Problem(`Transaction ${to} has no spec.fieldManager, so its later releases are unknown: undo them by name.`);
  const { phase } = viewOf(base);
  if (phase !== 'Committed') throw new Problem(`Transaction ${to} is ${phase}: undo --to needs a Committed Transaction.`);
  const line = newerThan(all, base).filter((one) => textAt(one, 'spec', 'fieldManager') === manager);
  const objects = line.filter((one) => !isUndone(one));
  for (const one of objects) mayAct(viewOf(one), requests.undo, io.program);
  return { session, to, objects };
}

const nameOf = (object: JsonObject): string => textAt(object, 'metadata', 'name') ?? '';

function isUndone(object: JsonObject): boolean {
  const { phase, left } = viewOf(object);
  return phase === 'RolledBack' || (phase === 'Failed' && left === 0);
}

async function plansOf({ io, options }: Call, { session, objects }: Chain): Promise<readonly UndoPlan[]> {
  const isPlan = options.flag('plan');
  const waiting = { patience: isPlan ? timeoutOf(options) : undefined, refusalCode: isPlan ? planCodes.refused : refusedCode };
  const plans: UndoPlan[] = [];
  for (const object of objects) {
    const wanted = { namespace: session.namespace, name: nameOf(object) };
    const after = plans.map(({ view }) => view.name);
    plans.push(await planUndo({ io, session, wanted, object, wish: plainWish, after, ...waiting }));
  }
  return plans;
}

interface Shown {
  readonly plans: readonly UndoPlan[];
  readonly code: number;
}

function show({ io, options }: Call, { session, to }: Chain, { plans, code }: Shown): void {
  const place = { namespace: session.namespace, to };
  const format = options.text('output');
  if (format !== undefined) say(io, formatted([chainDocument(plans, place)], format));
  else sayAll(io, chainLines(plans, place, { style: outputStyle(io, options), program: io.program, code }));
}

interface Going {
  readonly plans: readonly UndoPlan[];
  /** For all undos, in ms. */
  readonly timeout: number | undefined;
  readonly undone: (one: TransactionName) => void;
}

async function undoEach(call: Call, chain: Chain, { plans, timeout, undone }: Going): Promise<number> {
  const { io, options } = call;
  if (plans.length > 0 && !(await confirmed(io, options, undoQuestion('Undo', plans)))) return exits.notDone;
  const begin = performance.now();
  for (const [place, plan] of plans.entries()) {
    const rest = timeout === undefined ? undefined : Math.max(1, timeout - (performance.now() - begin));
    undone({ namespace: chain.session.namespace, name: plan.view.name });
    const code = await undoNext(call, chain, { plan, isFirst: place === 0, timeout: rest });
    if (code === exits.done) continue;
    note(io, stopped(plans, place, { code, to: chain.to, program: io.program }));
    return code;
  }
  // Fields that a deleted Transaction or another client has set are still in the cluster.
  if (plans.length > 0)
    say(
      io,
      `The newer Transactions with its field manager are undone. ${io.program} diff ${chain.to} shows whether other clients, or deleted Transactions, changed its objects.`,
    );
  return exits.done;
}

interface Next {
  readonly plan: UndoPlan;
  readonly isFirst: boolean;
  readonly timeout: number | undefined;
}

async function undoNext(call: Call, { session }: Chain, { plan, isFirst, timeout }: Next): Promise<number> {
  const { io } = call;
  const { name } = plan.view;
  const wanted = { namespace: session.namespace, name };
  const object = await getTransaction(session, wanted);
  // The undo before may have left the objects in another state than the plan of the chain assumed. Then the digest differs.
  const patience = { patience: undefined, refusalCode: refusedCode };
  const now = isFirst ? plan : await planUndo({ io, session, wanted, object, wish: plainWish, ...patience });
  if (!looksEqual(now, plan)) {
    sayAll(io, undoLines(now, { style: outputStyle(io, call.options), program: io.program, code: refusedCode }));
    return refusedCode;
  }
  const beside = annotationsOf({ ...plainWish, digest: now.answer.digest });
  const { request, known } = await send({ io, session, wanted, object, act: requests.undo, beside });
  say(io, `transaction.tx.janus.io/${name} undo requested`);
  return followUndo(call, { session, wanted, timeout, request, known });
}

interface Stop {
  readonly code: number;
  readonly to: string;
  readonly program: string;
}

/** Names the release that is in the cluster after an undo has not ended as wanted. */
function stopped(plans: readonly UndoPlan[], place: number, { code, to, program }: Stop): string {
  const [name, before] = [plans[place]?.view.name, plans[place + 1]?.view.name ?? to];
  const again = `Then ${program} undo --to ${to} continues.`;
  if (code === stillGoing || code === exits.interrupted)
    return `The undo of ${name} continues, and no other undo begins. ${again}`;
  if (code === refusedCode) return `The chain stops: ${name} is in the cluster, as a whole. ${again}`;
  return `The chain stops: ${name} is undone in part, and neither ${name} nor ${before} is in the cluster as a whole: ${program} retry ${name}. ${again}`;
}
