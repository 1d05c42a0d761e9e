// What every new status needs: the version, which grows with whatever the CRD's version rule guards, and the conditions.
import { equalJson, type Json, type JsonObject } from '../model/json.ts';
import { type BoundedStatus, encodeStatus, type Status } from '../model/status.ts';
import { bounded } from './bounded.ts';
import { conditionsOf } from './conditions.ts';

const guarded = [
  'phase',
  'items',
  'rollbackRef',
  'specDigest',
  'startedAt',
  'rollbackStartedAt',
  'settledWriter',
  'unsettledAt',
  'rollbackObservedAt',
  'handledAnnotations',
] as const;

/**
 * The status to store after `before`. Equal when nothing has changed, the times of conditions included. `specSize`: bytes of the
 * spec and the annotations beside it.
 */
export function completed(before: Status, after: Status, now: number, specSize?: number): BoundedStatus {
  const fitting = bounded(after, specSize);
  const version = isMoved(before, fitting) || before.version === 0 ? before.version + 1 : before.version;
  return { ...fitting, version, conditions: conditionsOf(fitting, before.conditions, now) };
}

/** Whether anything has changed that needs a higher version. */
export function isMoved(before: Status, after: Status): boolean {
  // What was stored is compared as it was stored: it has been accepted.
  const [old, next] = [encodeStatus(before as BoundedStatus), encodeStatus(after as BoundedStatus)];
  return guarded.some((key) => !equalJson(field(old, key), field(next, key)));
}

function field(status: JsonObject, key: string): Json | undefined {
  return status[key];
}
