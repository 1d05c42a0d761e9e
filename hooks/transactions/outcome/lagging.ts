// Refusals that may pass. Between two changes lie milliseconds, and what an API server knows by a cache (PriorityClasses, quotas,
// LimitRanges, policies, webhooks, Namespaces) it may not have heard of yet. Such a write is tried again for a moment before the refusal
// is final; for half a minute if the table of deferred dry runs (checks/deferred.ts) names an earlier write that removes the reason. And
// what an undo creates again may need what it creates later: it is passed over until then.

import type { Failure } from '../../objects/failure.ts';
import { describe } from '../../objects/reference.ts';
import { changeWriteOf, type Later, removerOf, undoWriteOf } from '../checks/deferred.ts';
import { mayHearLater, undoLater, waitFor } from '../decide/waiting.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { toUndoOf } from '../model/item.ts';
import { again, answerWith, type PerformedStep, type Result } from './answer.ts';

/** ms before each further try. */
const pauses: readonly number[] = [50, 150, 300, 500];

/** The next try, if the API server may not yet have heard of an earlier write of this Transaction; else undefined. */
export function triedAgain(done: PerformedStep, index: number, failure: Failure): Result | undefined {
  const { observation, carry } = done;
  const { items, phase } = observation.status;
  const earlier = phase === 'RollingBack' ? items : items.slice(Math.max(0, index - 1), index);
  const tries = carry.lagging ?? 0;
  const pause = pauses[tries];
  const written = phase === 'RollingBack' ? 'restored' : 'applied';
  const isMoved = earlier.some(({ progress }) => progress.kind === written) || items[index]?.waiting !== undefined;
  const mayPass = ['refused', 'absent'].includes(failure.kind) && carry.refused === undefined;
  if (!mayPass || pause === undefined || !isMoved) return undefined;
  return again(done, { lagging: tries + 1 }, pause);
}

/** The change again, if the API server may not yet have heard of an earlier change that removes the reason of the refusal. */
export function heardLater({ observation }: PerformedStep, entry: SnapshotEntry, failure: Failure): Result | undefined {
  const { due, status } = observation;
  if (due.kind !== 'apply' || due.snapshot.kind !== 'stored' || !mayHearLater(observation)) return undefined;
  const before = due.snapshot.entries.filter(({ index }) => index < entry.index);
  const message = againAfter(entry, failure, { before, writeOf: changeWriteOf, what: '' });
  return message === undefined ? undefined : answerWith(waitFor(status, message, aSecond));
}

/** As `heardLater`, in an undo: other changes are undone meanwhile. */
export function undoneLater({ observation }: PerformedStep, entry: SnapshotEntry, failure: Failure): Result | undefined {
  const { due, status } = observation;
  if (due.kind !== 'restore' || due.snapshot.kind !== 'stored' || !mayHearLater(observation)) return undefined;
  const before = due.snapshot.entries.filter(({ index }) => status.items[index]?.progress.kind === 'restored');
  const message = againAfter(entry, failure, { before, writeOf: undoWriteOf, what: 'undoing ' });
  return message === undefined ? undefined : answerWith(undoLater(status, entry.index, message, aSecond));
}

const aSecond = { seconds: 1, isRefusal: true } as const;

interface Sent {
  /** What was written before, forward or backward. */
  readonly before: readonly SnapshotEntry[];
  readonly writeOf: (entry: SnapshotEntry) => Later;
  readonly what: 'undoing ' | '';
}

/** Which earlier write the API server may not have heard of, in words; undefined if none removes the reason of the refusal. */
function againAfter(entry: SnapshotEntry, failure: Failure, { before, writeOf, what }: Sent): string | undefined {
  const remover = removerOf(failure, writeOf(entry), before.map(writeOf));
  if (remover === undefined) return undefined;
  const refused = `${what}${entry.type} of ${describe(entry.target)} was refused (${failure.code} ${failure.reason})`;
  return `waiting: ${refused}; the API server may not yet have heard of spec.changes[${remover.index}] (${describe(remover.target)})`;
}

/** The undo of that change again, after another undo, if that may remove the reason of the refusal; else undefined. */
export function undoneAfter({ observation }: PerformedStep, entry: SnapshotEntry, failure: Failure): Result | undefined {
  const { status, due } = observation;
  if (due.kind !== 'restore' || due.snapshot.kind !== 'stored') return undefined;
  const others = toUndoOf(due.snapshot.entries, status.items).filter(({ index }) => index !== entry.index);
  const remover = removerOf(failure, undoWriteOf(entry), others.map(undoWriteOf));
  if (remover === undefined) return undefined;
  const refused = `undoing ${entry.type} of ${describe(entry.target)} was refused (${failure.code} ${failure.reason})`;
  const message = `${refused}; it is tried again after spec.changes[${remover.index}] (${describe(remover.target)})`;
  return answerWith(undoLater(status, entry.index, message));
}
