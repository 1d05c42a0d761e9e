// Whether a write of a change is in flight: a process has sent it, the undo has not seen its answer, and it may still take effect.
//
// A writer is one turn of a process. Before a process sends its first change, it writes the name of its turn into the Lease of the
// first change. Then it reads the Transaction once more. A stored answer may name a writer as settled: all requests of that writer are
// answered, and its process sends nothing more under that name.
//
// W1. A process sends no change under a name that one of its answers has called settled. The next turn needs a new name.
// W2. Once RollingBack is stored, no writer after the one that the Lease names can have sent anything: a process that writes its name
//     there later reads RollingBack afterwards, and sends nothing.
// W3. An answer names its writer as settled only if the answer records everything that its process has sent. This includes earlier
//     calls, because an earlier answer may be lost. So the stored status is complete if it names the writer of the Lease, and if no
//     earlier writer was replaced unsettled. Every change recorded as applied was then applied. Every change that is only announced
//     was never sent, or was refused.
// W4. Otherwise a write takes effect at the latest one late window (hooks/transactions/call.ts, Timing) after its process last saw
//     the state that allowed the write. The window begins when RollingBack was found stored, and when a writer was replaced. The
//     status stores both times, by the API server's clock, so no other process waits a second time.
// W5. A writer names only versions of a target that it read before it last read the Transaction. So once the undo has written to
//     the target, a write in flight has no effect, and the undo does not wait for it. A Create names no version: W5 does not cover it.
// W6. If the undo writes nothing else to a target, it writes a fence (plan/compensation.ts). A fence names a version. The fence of
//     another process may be in flight, too. So once a late window has begun, no change counts as never sent by its status alone:
//     a change that is only announced ends with an answered fence, also after the window. If the fence is refused, the change ends
//     after the late window. If the fence gets no answer, the change ends after another late window. A process that has not seen the
//     end may die between the two writes of its fence. Its mark then stays until the Transaction is deleted (model/entries.ts), and
//     no other undo restores the mark (content/ownership.ts).
//
// A call with many changes (decide/window.ts), one after the other or side by side, keeps these rules. It reads the Transaction and its Leases at a moment r. It sends
// on the basis of that read until the read is too old (JANUS_LOOK_AGE) or an object has changed. The moment r is after the call
// signed the Lease, and not before the call began.
// - W2: a process that undoes reads the first Lease after RollingBack was stored. A call that still sends on an earlier read signed
//   the Lease before that read. So the Lease names that call as its writer, or a successor that replaced it.
// - W4: a call sends nothing after its deadline, so its writes take effect within one late window of its beginning. The beginning is
//   not after r. One late window covers all changes of the call: more changes do not make the wait longer.
// - W5: each write names the version of the prior state, which the snapshot holds, or a version that the call read before r.
//   A call that must read a target reads the Transaction again after that.
// - W3: of changes that are sent side by side, an answer records each outcome before it names the writer as settled. The process waits
//   for all of them, and remembers each change that it has made, not only the last one.
import type { JsonObject } from '../../objects/json.ts';
import { serverTimeResolution } from '../../objects/time.ts';
import { writerOf } from '../locks/lease.ts';
import type { Status } from '../model/status.ts';

interface Traces {
  readonly status: Status;
  /** The Lease of the first change, read after the status was stored. */
  readonly first: JsonObject | undefined;
  readonly ownWrites: OwnWrites;
}

/** W1: whether this process may send a change: the Lease names its turn, and no answer has called that turn settled. */
export function hasTurn({ status, first, ownWrites }: Traces): boolean {
  const writer = writerOf(first);
  return ownWrites.isOpen && writer === ownWrites.writer && writer !== status.settledWriter;
}

/** Whether all requests of the writer that the Lease names are answered. */
export function isSettled({ status, first, ownWrites }: Traces): boolean {
  const writer = writerOf(first);
  return writer !== undefined && (writer === status.settledWriter || writer === ownWrites.writer);
}

/** W3, W6: no late window has ever begun, and the stored status records everything that was sent. */
export function isAccountedFor(traces: Traces): boolean {
  return isSettled(traces) && fencedUntil(traces, 0) === 0 && isRecorded(traces.status, traces.ownWrites);
}

/**
 * The status with what this process knows of its own writes. Once it calls its writer settled it sends nothing more under that
 * name; for a request without an answer it stores the time.
 */
export function accountFor(next: Status, first: JsonObject | undefined, ownWrites: OwnWrites): Status {
  const time = unsettledAt({ status: next, ownWrites });
  const writer = ownWrites.writer;
  const isOurs = writer !== undefined && writerOf(first) === writer && isRecorded(next, ownWrites);
  return { ...next, ...(isOurs ? { settledWriter: writer } : {}), ...(time === undefined ? {} : { unsettledAt: time }) };
}

// The status records every change that this process has sent with its effect, no longer as only announced. This includes every
// first half.
function isRecorded({ items }: Status, { sent = noIndexes, begunAt }: OwnWrites): boolean {
  return !items.some(({ progress, deleted }, index) => {
    const isSent = sent.has(index) || (index === begunAt && deleted !== true);
    return isSent && progress.kind === 'announced';
  });
}

const noIndexes: ReadonlySet<number> = new Set();

/** When the last writer that may have left a request unanswered was replaced, or stopped. */
function unsettledAt({ status, ownWrites }: Omit<Traces, 'first'>): number | undefined {
  const known = [status.unsettledAt, ownWrites.unsettledAt].filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/**
 * W4: until when (ms by the API server's clock) a write may land. `unobserved`: the time at which RollingBack was found is not
 * stored yet.
 */
export function mayLandUntil(traces: Traces, lateWindow: number): number | 'unobserved' {
  const observed = traces.status.rollbackObservedAt;
  const settled = isSettled(traces);
  if (!settled && observed === undefined) return 'unobserved';
  return endOf(Math.max(settled ? 0 : (observed ?? 0), unsettledAt(traces) ?? 0), lateWindow);
}

/** W6: the end (ms) of the late window in which only a fence ends an announced change; 0 if no late window has ever begun. */
export function fencedUntil(traces: Omit<Traces, 'first'>, lateWindow: number): number {
  return endOf(lastBegun(traces), lateWindow);
}

/** When the last late window has begun; 0 if none ever has. */
function lastBegun(traces: Omit<Traces, 'first'>): number {
  return Math.max(traces.status.rollbackObservedAt ?? 0, unsettledAt(traces) ?? 0);
}

function endOf(begin: number, lateWindow: number): number {
  return begin === 0 ? 0 : begin + lateWindow + serverTimeResolution;
}

/**
 * What a later undo, and the deletion, must know, since the Leases with the names of the writers are then gone. No process begins a
 * change after an end.
 */
export function unsettledAtEnd(traces: Traces, now: number): number | undefined {
  if (!isSettled(traces)) return now;
  const begun = lastBegun(traces);
  return begun === 0 ? undefined : begun;
}

// What a process remembers of its own writes for one Transaction. If it forgets them, an undo waits longer (W4); nothing goes
// wrong.

export interface OwnWrites {
  /** The process's last name as a writer. All its requests under that name are answered, unless `unsettledAt` is set. */
  readonly writer?: string;
  /** Whether the process may send more under that name. */
  readonly isOpen: boolean;
  /**
   * In ms by the API server's clock: when one of its requests stayed unanswered, or when it replaced a writer that may have
   * unanswered requests.
   */
  readonly unsettledAt?: number;
  /** The indexes of the changes that the process knows it has made. An answer that records a change may not be stored yet. */
  readonly sent?: ReadonlySet<number>;
  /** The same of a change of which the process has made the first half (model/halves.ts). */
  readonly begunAt?: number;
}

export const noWrites: OwnWrites = { isOpen: false };

/** The process has signed the Lease. `unsettledAt`: when it replaced a writer that may have left a request unanswered. */
export function signedAs(writer: string, unsettledAt: number | undefined): Partial<OwnWrites> {
  return { writer, isOpen: true, ...(unsettledAt === undefined ? {} : { unsettledAt }) };
}

/** The process has made the first half of the change `index`. */
export function begunAt(index: number): Partial<OwnWrites> {
  return { begunAt: index };
}

/** The process has made the change `index`. */
export function sentOf({ sent = noIndexes }: OwnWrites, index: number): Partial<OwnWrites> {
  return { sent: new Set([...sent, index]) };
}
