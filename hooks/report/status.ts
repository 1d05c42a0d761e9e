// What every new status needs: the version, which grows with whatever the CRD's version rule guards, and the conditions.
import { equalJson, type Json, type JsonObject } from '../model/json.ts';
import { encodeStatus, type Status } from '../model/status.ts';
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

/** Longest message in characters: the status is written at every step. */
const longestMessage = 2_000;

/** The status to store after `before`. Equal when nothing has changed, the times of conditions included. */
export function completed(before: Status, after: Status, now: number): Status {
  const message = after.message.length > longestMessage ? `${after.message.slice(0, longestMessage - 1)}…` : after.message;
  const version = isMoved(before, after) || before.version === 0 ? before.version + 1 : before.version;
  return { ...after, message, version, conditions: conditionsOf({ ...after, message }, before.conditions, now) };
}

/** Whether anything has changed that needs a higher version. */
export function isMoved(before: Status, after: Status): boolean {
  const [old, next] = [encodeStatus(before), encodeStatus(after)];
  return guarded.some((key) => !equalJson(field(old, key), field(next, key)));
}

function field(status: JsonObject, key: string): Json | undefined {
  return status[key];
}
