// Whether a write of a change may still be under way, unknown to those who are about to undo it.
//
// A writer is a turn of a process. Before it sends its first change it puts its name into the Lease of the first change, and then
// reads the Transaction once more. An answer that is stored may name it as settled: all its requests are answered, and it sends
// nothing more under that name.
//
// W1. Nobody sends a change under a name that an answer of it has called settled; the next turn needs a new name.
// W2. What the Lease names after RollingBack was stored is the last writer that can have sent anything: a process that puts a name there
//     later reads RollingBack after that, and sends nothing.
// W3. An answer names its writer as settled only where it records all that its process has sent, in earlier calls too: an answer
//     may have been lost. So where the stored status names that writer, and no earlier one was replaced unsettled, what is recorded
//     as applied was applied, and what is only announced was never sent, or refused.
// W4. Else what was sent lands at the latest one late window (hooks/call.ts, Timing) after the state that allowed it was last
//     seen: after RollingBack was found stored, and after the replacement of a writer. Both times are stored, by the API server's
//     clock, so no process waits again.
// W5. A writer names only versions of a target that it read before it last read the Transaction. So what it has under way has no
//     effect once the undo has written to the target: it needs no waiting. A Create names no version.
//
// Many changes in one call (decide/window.ts) change nothing in this. A call reads the Transaction at r, with the Leases, and sends under
// that look until it is too old (JANUS_LOOK_AGE) or something has moved; r is after its own signature, and not before the call began.
// - W2: a process that undoes reads the first Lease after RollingBack was stored. A call that still sends under an earlier look has signed
//   before that look, so it is the writer that the Lease names, or one that was replaced.
// - W4: nothing is sent after the deadline of the call, so what it sends lands within one late window of the call's beginning, which is
//   not after r. So the one wait of one late window covers all changes of the call; it is not multiplied by them.
// - W5: what a call sends names the state before the change, which the snapshot holds, or a version that it has read before its look: a
//   target that must be read asks for a new look after that.

import { writerOf } from '../locks/lease.ts';
import type { JsonObject } from '../model/json.ts';
import type { Status } from '../model/status.ts';
import type { OwnWrites } from './own-writes.ts';

/** Ms: times of the API server are cut to whole seconds, here and in the status. */
const resolution = 2_000;

interface Traces {
  readonly status: Status;
  /** The Lease of the first change, read after the status was stored. */
  readonly first: JsonObject | undefined;
  readonly ownWrites: OwnWrites;
}

/** W1: whether this process may send a change: the Lease names it, in a turn that no answer has called settled. */
export function hasTurn({ status, first, ownWrites }: Traces): boolean {
  const writer = writerOf(first);
  return ownWrites.isOpen && writer === ownWrites.writer && writer !== status.settledWriter;
}

/** Whether the writer in the Lease is one whose requests are all answered. */
export function isSettled({ status, first, ownWrites }: Traces): boolean {
  const writer = writerOf(first);
  return writer !== undefined && (writer === status.settledWriter || writer === ownWrites.writer);
}

/** W3: nothing was ever unknown, and the stored status says what was sent. */
export function isAccountedFor(traces: Traces): boolean {
  return isSettled(traces) && unsettledAt(traces) === undefined && isRecorded(traces.status, traces.ownWrites);
}

/** The status of an answer, with what its process can say: it sends nothing more under its name, and what it sent is answered or late. */
export function accountFor(next: Status, first: JsonObject | undefined, ownWrites: OwnWrites): Status {
  const time = unsettledAt({ status: next, ownWrites });
  const writer = ownWrites.writer;
  const isOurs = writer !== undefined && writerOf(first) === writer && isRecorded(next, ownWrites);
  return { ...next, ...(isOurs ? { settledWriter: writer } : {}), ...(time === undefined ? {} : { unsettledAt: time }) };
}

// What has had an effect is no longer only announced.
function isRecorded({ items }: Status, { sentUpTo = -1 }: OwnWrites): boolean {
  return !items.some(({ progress }, index) => index <= sentUpTo && progress.kind === 'announced');
}

/** When the last writer was replaced, or gave up, that may have left a request unanswered. */
function unsettledAt({ status, ownWrites }: Omit<Traces, 'first'>): number | undefined {
  const known = [status.unsettledAt, ownWrites.unsettledAt].filter((time) => time !== undefined);
  return known.length === 0 ? undefined : Math.max(...known);
}

/** W4: until when (ms by the API server's clock) something may land; `unobserved`: that is still to be stored. */
export function mayLandUntil(traces: Traces, lateWindow: number): number | 'unobserved' {
  const observed = traces.status.rollbackObservedAt;
  const settled = isSettled(traces);
  if (!settled && observed === undefined) return 'unobserved';
  const since = Math.max(settled ? 0 : (observed ?? 0), unsettledAt(traces) ?? 0);
  return since === 0 ? 0 : since + lateWindow + resolution;
}

/** What a later undo must know once the Leases are gone, and with them the names of the writers. Nobody begins a change after an end. */
export function unsettledAtEnd(traces: Traces, now: number): number | undefined {
  return isSettled(traces) ? unsettledAt(traces) : now;
}
