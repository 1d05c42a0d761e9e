// What every new status needs: the version, which grows with whatever the CRD's version rule guards, and the conditions.

import { equalJson, type Json, type JsonObject } from '../../objects/json.ts';
import { formatTime, storableTime } from '../../objects/time.ts';
import { targetRoom } from '../checks/room.ts';
import { type Display, displayOf } from '../model/display.ts';
import { openGates } from '../model/gated.ts';
import type { UndoOrder } from '../model/item.ts';
import { encodeStatus, type Status, type TruncatedStatus } from '../model/status.ts';
import type { Transaction } from '../model/transaction.ts';
import { notedNow } from '../model/undo.ts';
import { conditionsOf } from './conditions.ts';
import { truncated } from './truncated.ts';

const guarded = [
  'phase',
  'items',
  'rollbackRef',
  'specDigest',
  'startTime',
  'rollbackStartedAt',
  'settledWriter',
  'unsettledAt',
  'rollbackObservedAt',
  'locksReturnedAt',
  'handledAnnotations',
] as const;

/** The status to store after `before`. Equal when nothing has changed, the times of conditions included. */
export function completed(before: Status, after: Status, now: number, transaction: Displayable): TruncatedStatus {
  const { display: _, ...fitting } = truncated(withRemovals(after, transaction), transaction.size);
  const hasMoved = isMoved(before, fitting) || before.version === 0;
  return {
    ...(fitting as TruncatedStatus),
    ...(hasMoved ? { display: newDisplay(fitting, transaction) } : keptDisplay(before)),
    // It never falls (I7).
    version: hasMoved ? before.version + 1 : before.version,
    conditions: conditionsOf(fitting, before.conditions, now),
  };
}

type Displayable = Pick<Transaction, 'namespace' | 'annotations' | 'changes' | 'gate' | 'timeout' | 'size'> & {
  readonly order?: UndoOrder | undefined;
};

// A request whose annotation is gone may be made again.
function withRemovals(status: Status, { annotations }: Displayable): Status {
  return { ...status, handledAnnotations: notedNow(status.handledAnnotations, annotations) };
}

function newDisplay(status: Status, transaction: Displayable): Display {
  const until = waitingUntil(status, transaction);
  return {
    ...displayOf(status, transaction, targetRoom(status.items.length, transaction.size)),
    ...(until === undefined ? {} : { waitingUntil: formatTime(until) }),
  };
}

/** When the last of the open gates times out, or all changes and waits together do; undefined while no gate is open. */
function waitingUntil({ phase, items, startTime }: Status, transaction: Displayable): number | undefined {
  const gates = phase === 'Committing' ? openGates(transaction, items)?.gates : undefined;
  if (gates === undefined || startTime === undefined) return undefined;
  const ends = gates.flatMap(({ index, gate }) => {
    const since = items[index]?.gate?.since;
    return since === undefined ? [] : [since + gate.timeout];
  });
  return ends.length === 0 ? undefined : storableTime(Math.min(Math.max(...ends), startTime + transaction.timeout));
}

// As it is stored, be it by a version that has none: two versions that serve one Transaction in turn would rewrite it for ever.
function keptDisplay({ display }: Status): { readonly display?: Display } {
  return display === undefined ? {} : { display };
}

/** Whether anything has changed that needs a higher version. */
export function isMoved(before: Status, after: Status): boolean {
  // What was stored is compared as it was stored: it has been accepted.
  const [old, next] = [withoutDisplay(before), withoutDisplay(after)];
  return guarded.some((key) => !equalJson(field(old, key), field(next, key)));
}

function withoutDisplay({ display: _, ...rest }: Status): JsonObject {
  return encodeStatus(rest as TruncatedStatus);
}

function field(status: JsonObject, key: string): Json | undefined {
  return status[key];
}
