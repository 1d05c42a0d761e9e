// The changes of a wave that one attempt sends side by side, and the changes that it undoes side by side (checks/waves.ts says which).
//
// S1. The engine observes, decides and checks each of them as if it were the due one. It sends only those whose step writes their target.
// S2. The attempt waits until every request has ended, also after a failure.
// S3. The engine first records the changes that ended well. Then the first of the rest decides what follows: an end of the Transaction
//     comes before another try, and another try comes before a wait. So there is one cause, and every outcome is stored.
import { type Attempt, type Basis, type CallContext, failedAttempt, type Progress } from './attempt.ts';
import { sideBySide } from './checks/waves.ts';
import { isToUndo, type UndoOrder } from './model/item.ts';
import type { Status } from './model/status.ts';
import { type Carry, emptyCarry } from './observe/carry.ts';
import { itemOf, type Observation } from './observe/observation.ts';
import { type Ready, readied, type StepOutcome, sent, taken } from './taking.ts';

/** What came of one attempt. */
export interface Made {
  /** What follows from it. */
  readonly attempt: Attempt;
  /** One for each change that was sent. */
  readonly each: readonly Attempt[];
  /** The last change that ended well before `attempt`, and its answer with all that ended well. */
  readonly ended?: Progress['ended'];
}

/** The next step of the saga, taken. Throws whatever a stage throws before the first write of the step. */
export async function takeStep(context: CallContext, basis: Basis, carry: Carry): Promise<Made> {
  const first = await readied(context, basis, carry);
  if ('result' in first) return { attempt: first, each: [first] };
  const all = [first, ...(await companionsOf(context, basis, first))];
  const settled = await Promise.allSettled(all.map((one) => sent(context, basis, one)));
  const thrown = settled.find((one) => one.status === 'rejected')?.reason;
  return made(
    context,
    basis,
    settled.flatMap((one) => (one.status === 'fulfilled' ? [one.value] : [])),
    thrown,
  );
}

/** S1. A step that only reads comes in its own turn. */
async function companionsOf(context: CallContext, basis: Basis, first: Ready): Promise<readonly Ready[]> {
  const { step, observation } = first;
  // What was refused beside the first one has paused as long.
  const { lagging } = first.carry;
  const carry = lagging === undefined ? emptyCarry : { ...emptyCarry, lagging };
  if (step.kind !== 'apply' && step.kind !== 'compensate') return [];
  const view = itemOf(observation.due);
  const entries = view?.snapshot.kind === 'stored' ? view.snapshot.entries : [];
  const order = context.memory.snapshots.get(observation.transaction.uid)?.order;
  const possible = step.kind === 'apply' ? announcedAfter(observation, basis) : undoableAfter(observation, step.index, order);
  const [, ...others] = sideBySide(observation.transaction.changes, entries, [step.index, ...possible]);
  const found = await Promise.all(
    others.slice(0, (context.parts.timing.parallel ?? 1) - 1).map((index) => readiedAt(context, basis, carry, index)),
  );
  return found.filter((one): one is Ready => !('result' in one) && one.step.kind === step.kind);
}

async function readiedAt(context: CallContext, basis: Basis, carry: Carry, index: number): Promise<Ready | Attempt> {
  const found = await readied(context, basis, carry, index);
  if ('result' in found || found.step.kind !== 'readMore' || !('others' in found.step)) return found;
  return readied(context, basis, { ...carry, others: found.step.others }, index);
}

/** I8: changes that the stored status announces. */
function announcedAfter({ status, due }: Observation, { status: stored }: Basis): readonly number[] {
  const isAnnounced = (of: Status, index: number): boolean => of.items[index]?.progress.kind === 'announced';
  return status.items.flatMap((_, index) =>
    'index' in due && index > due.index && isAnnounced(status, index) && isAnnounced(stored, index) ? [index] : [],
  );
}

/** Changes whose undo waits for no other undo, the last one first. */
function undoableAfter({ status: { items } }: Observation, last: number, order: UndoOrder = new Map()): readonly number[] {
  const isFree = (index: number): boolean =>
    [...(order.get(index)?.indexes ?? [])].every((other) => items[other] === undefined || !isToUndo(items[other]));
  return items
    .flatMap((item, index) => (index < last && isToUndo(item) && item.waiting === undefined && isFree(index) ? [index] : []))
    .toReversed();
}

/** S3. */
function made(context: CallContext, basis: Basis, all: readonly StepOutcome[], thrown: unknown): Made {
  const [well, rest]: [Attempt[], StepOutcome[]] = [[], []];
  for (const one of all) {
    const attempt = taken(context, basis, one, statusAfter(well.at(-1)));
    if (isGoingOn(attempt)) well.push(attempt);
    else rest.push(one);
  }
  const last = well.at(-1);
  const left = rest.map((one) => taken(context, basis, one, statusAfter(last)));
  const each = [...well, ...left];
  const ended = last?.result.kind === 'answer' ? { ended: { attempt: last, answer: last.result } } : {};
  const [attempt = last] = left.toSorted((one, other) => rankOf(one) - rankOf(other));
  if (thrown !== undefined || attempt === undefined) return { attempt: failedAttempt(context, basis, thrown), each, ...ended };
  const whole = { ...attempt, ...withErrors(attempt, left), outcome: each.flatMap(({ outcome }) => outcome) };
  return { attempt: whole, each, ...(left.length === 0 ? {} : ended) };
}

function statusAfter(attempt: Attempt | undefined): Status | undefined {
  return attempt?.result.kind === 'answer' ? attempt.result.status : undefined;
}

/** Whether the attempt ended well. */
function isGoingOn({ due, result }: Attempt): boolean {
  const item = result.kind === 'answer' && 'index' in due ? result.status.items[due.index] : undefined;
  return item?.progress.kind === 'applied' || item?.progress.kind === 'restored';
}

function rankOf({ result, status }: Attempt): number {
  if (result.kind === 'again') return 1;
  return result.status.phase === status.phase ? 2 : 0;
}

/** Every change that was refused says why. */
function withErrors({ result }: Attempt, left: readonly Attempt[]): Pick<Attempt, 'result'> {
  if (result.kind === 'again') return { result };
  const errors = new Map(
    left.flatMap(({ due, result: other }) => {
      const error = other.kind === 'answer' && 'index' in due ? other.status.items[due.index]?.error : undefined;
      return error === undefined || !('index' in due) ? [] : [[due.index, error] as const];
    }),
  );
  const items = result.status.items.map((item, index) => {
    const error = errors.get(index);
    return item.error !== undefined || error === undefined ? item : { ...item, error };
  });
  return { result: { ...result, status: { ...result.status, items } } };
}
