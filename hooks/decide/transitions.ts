// Every way in which a status changes, as functions from status to status. The version, the conditions and the rest of what
// follows from these are added once, in report/.
import { type Ending, isToUndo, type Request } from '../agenda/agenda.ts';
import type { Item, ItemError } from '../model/item.ts';
import { mayFollow, type Phase } from '../model/phase.ts';
import type { RollbackRef, Status } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { allApplied, count, plain, shortened } from './wording.ts';

function to(status: Status, phase: Phase): Status {
  if (status.phase !== phase && !mayFollow(status.phase, phase)) throw new Error(`no way from ${status.phase} to ${phase}`);
  return { ...status, phase };
}

function withItem(status: Status, index: number, change: (item: Item) => Item): Status {
  return { ...status, items: status.items.map((item, at) => (at === index ? change(item) : item)) };
}

function handled(status: Status, request: Request | undefined): Status {
  if (request === undefined) return status;
  return { ...status, handledAnnotations: { ...status.handledAnnotations, [request.annotation]: request.value } };
}

/** Begun, but its checks met transient trouble. */
export function begun(status: Status, now: number): Status {
  return { ...status, startedAt: status.startedAt ?? now };
}

/** Its checks are passed, it waits for a lock. */
export function waitingForLocks(status: Status, transaction: Transaction, now: number, message: string): Status {
  return { ...status, startedAt: status.startedAt ?? now, specDigest: transaction.specDigest, message };
}

/** All locks are held: `leases` in the order of the changes, `writer` the one that the first of them names. */
export function locked(status: Status, transaction: Transaction, now: number, { leases, writer }: Locks): Status {
  const begun = { startedAt: status.startedAt ?? now, specDigest: transaction.specDigest };
  const passed = { ...to(status, 'Preparing'), ...begun, ...settledBy(writer) };
  return { ...withLeases(passed, leases), message: 'all locks are held; the state before the changes is being stored' };
}

export interface Locks {
  readonly leases: readonly string[];
  readonly writer: string | undefined;
}

function settledBy(writer: string | undefined): Pick<Status, 'settledWriter'> {
  return writer === undefined ? {} : { settledWriter: writer };
}

/** Names the locks that are wanted, held or not: whatever the end is, those that are held are given back. */
export function withLeases(status: Status, leases: readonly string[]): Status {
  const items = status.items.map((item, index) => {
    const lockLease = leases[index];
    return lockLease === undefined ? item : { ...item, lockLease };
  });
  return { ...status, items };
}

/** Prior and expected states are stored; the first change is announced. */
export function prepared(status: Status, rollbackRef: RollbackRef): Status {
  const items = status.items.map(
    (item, index): Item => ({ ...item, progress: { kind: index === 0 ? 'announced' : 'prepared' } }),
  );
  return {
    ...to(status, 'Prepared'),
    rollbackRef,
    items,
    message: `${count(items.length, 'change')} checked, their prior states are stored`,
  };
}

export type Applied = Pick<Item, 'uid' | 'tookFieldsFrom' | 'drift'>;

/** One more change has taken effect; the next one is announced. */
export function applied(status: Status, index: number, facts: Applied, now: number): Status {
  const done = withItem(status, index, (item) => ({ ...item, ...facts, progress: { kind: 'applied' } }));
  const total = done.items.length;
  if (index + 1 === total) return { ...to(done, 'Committed'), completedAt: now, message: allApplied(total) };
  const announced = withItem(done, index + 1, (item) => ({ ...item, progress: { kind: 'announced' } }));
  return { ...to(announced, 'Committing'), message: `${index + 1} of ${count(total, 'change')} applied` };
}

/** Ends before anything was applied. */
export function stopped(status: Status, cause: Ending, now: number, errors: ReadonlyMap<number, ItemError>): Status {
  const items = status.items.map((item, index): Item => {
    const error = errors.get(index);
    return error === undefined ? item : { ...item, error: plain(error) };
  });
  const ended = handled({ ...to(status, 'Failed'), items, completedAt: now, startedAt: status.startedAt ?? now }, cause.request);
  return { ...ended, cause: plain(cause), message: `nothing was applied: ${cause.message}` };
}

/** `failed`: the change whose failure is the cause. Whether it has had an effect is for the undo to find out. */
export function undoing(status: Status, cause: Ending, now: number, failed?: number): Status {
  const marked = failed === undefined ? status : withItem(status, failed, (item) => ({ ...item, error: plain(cause) }));
  const started = handled({ ...to(marked, 'RollingBack'), rollbackStartedAt: now }, cause.request);
  const { completedAt: _ended, ...running } = started;
  return { ...running, cause: plain(cause), message: `rolling back: ${cause.message}` };
}

/** An undo that a user asked for begins, its locks held again: of a Committed one, or once more of a Failed one. */
export function undoingAgain(status: Status, request: Request, now: number, { leases, writer }: Locks): Status {
  const items = status.items.map((item): Item => {
    if (item.progress.kind !== 'left') return item;
    const { error: _gone, ...rest } = item;
    return { ...rest, progress: { kind: item.progress.applied ? 'applied' : 'announced' } };
  });
  const message =
    status.phase === 'Failed' ? (status.cause?.message ?? 'the rollback is tried again') : 'a rollback was requested';
  const reason = status.phase === 'Failed' ? (status.cause?.reason ?? 'RollbackRequested') : 'RollbackRequested';
  const taken = withLeases({ ...status, items, ...settledBy(status.settledWriter ?? writer), ...earlierUndo(status) }, leases);
  return undoing(taken, { reason, message, request }, now);
}

// What an earlier undo has left may have been applied, whatever is recorded: it is not taken for never sent.
function earlierUndo({ phase, unsettledAt, rollbackStartedAt }: Status): Pick<Status, 'unsettledAt'> {
  const time = unsettledAt ?? (phase === 'Failed' ? rollbackStartedAt : undefined);
  return time === undefined ? {} : { unsettledAt: time };
}

/** Since when a requested undo waits for its locks: after the end. What began before a Failed one ended was an earlier undo. */
export function waitingSince({ phase, rollbackStartedAt, completedAt }: Status): number | undefined {
  const isEarlier = phase !== 'Committed' && rollbackStartedAt !== undefined && rollbackStartedAt <= (completedAt ?? 0);
  return isEarlier ? undefined : rollbackStartedAt;
}

/** Times in the status are whole seconds: what begins in the second of the end counts as begun in the next one. */
const resolution = 1_000;

/** A requested undo waits for its locks. */
export function waitingToUndo(status: Status, now: number, message: string): Status {
  const afterEnd = Math.max(now, (status.completedAt ?? 0) + resolution);
  return { ...status, rollbackStartedAt: waitingSince(status) ?? afterEnd, message };
}

function withoutWaiting(status: Status): Status {
  if (waitingSince(status) === undefined) return status;
  const { rollbackStartedAt: _over, ...rest } = status;
  return rest;
}

/** A request is answered without any effect; the message says why. */
export function answered(status: Status, request: Request, message: string): Status {
  return { ...withoutWaiting(handled(status, request)), message };
}

/** What was announced, and is known never to have been sent, or to have been refused. */
export function withdrawn(status: Status): Status {
  const items = status.items.map((item): Item => {
    return item.progress.kind === 'announced' ? { ...item, progress: { kind: 'restored', applied: false } } : item;
  });
  return { ...status, items };
}

/** The undo of one change waits; that of earlier ones goes on. */
export function passedOver(status: Status, index: number, message: string): Status {
  return withItem(status, index, (item) => ({ ...item, waiting: shortened(message) }));
}

/** RollingBack was found stored, while a write may have been under way. */
export function observed(status: Status, now: number): Status {
  return { ...status, rollbackObservedAt: now };
}

/** Nothing of ours is left of one change. */
export function restored(status: Status, index: number, now: number, note?: string): Status {
  const next = withItem(status, index, ({ waiting: _over, ...item }) => ({
    ...item,
    progress: { kind: 'restored', applied: item.progress.kind === 'applied' },
    ...(note === undefined ? {} : { note: shortened(note) }),
  }));
  return concludedIfJudged(next, now);
}

/** One change could not be taken back; the undo of the others goes on. */
export function left(status: Status, index: number, now: number, error: ItemError): Status {
  return concludedIfJudged(
    withItem(status, index, (item) => leftItem(item, error)),
    now,
  );
}

function leftItem({ waiting: _over, ...item }: Item, error: ItemError): Item {
  return { ...item, error: plain(error), progress: { kind: 'left', applied: item.progress.kind === 'applied' } };
}

function concludedIfJudged(status: Status, now: number): Status {
  return status.items.some(isToUndo) ? status : concluded(status, now);
}

/** The undo ends; what was not judged yet is left, for that reason. */
export function concluded(status: Status, now: number, unjudged?: ItemError): Status {
  const items = status.items.map((item) =>
    unjudged !== undefined && isToUndo(item) ? leftItem(item, lastWords(item, unjudged)) : item,
  );
  const leftOver = items.filter(({ progress }) => progress.kind === 'left');
  const undone = items.filter(({ progress }) => progress.kind === 'restored' && progress.applied).length;
  const why = status.cause?.message ?? '';
  const ended = { ...status, items, completedAt: now };
  if (leftOver.length === 0) {
    return {
      ...to(ended, 'RolledBack'),
      message: `${count(undone, 'change')} undone, nothing is left of this Transaction: ${why}`,
    };
  }
  const first = leftOver[0]?.error?.message ?? '';
  const summary = `${count(undone, 'change')} undone, ${leftOver.length} left as ${leftOver.length === 1 ? 'it is' : 'they are'}`;
  return {
    ...to(ended, 'Failed'),
    message: `${summary}: ${first}; the undo began because ${why}; set tx.janus.io/retry-rollback to try again`,
  };
}

function lastWords({ waiting }: Item, { reason, message }: ItemError): ItemError {
  return { reason, message: waiting === undefined ? message : `${message}; ${waiting}` };
}

/**
 * Our Leases are gone; whoever waited for more of them waits no longer. `unsettledAt`: a writer may have left a request unanswered
 * by then (in ms by the API server's clock).
 */
export function released(status: Status, unsettledAt: number | undefined): Status {
  const { settledWriter: _gone, rollbackObservedAt: _over, ...rest } = status;
  const items = status.items.map(({ lockLease: _given, ...item }) => item);
  return withoutWaiting({ ...rest, items, ...(unsettledAt === undefined ? {} : { unsettledAt }) });
}

/** Our field manager was taken off the target of a change, at the deletion of the Transaction. */
export function disowned(status: Status, index: number): Status {
  return withItem(status, index, (item) => ({ ...item, disowned: true }));
}
