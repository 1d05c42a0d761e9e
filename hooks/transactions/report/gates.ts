// What a change of status says of gates: those that opened, passed, or ended otherwise.
import type { GateOutcome } from '../call.ts';
import { type Gating, gateOf } from '../model/gated.ts';
import type { Item } from '../model/item.ts';
import type { Status } from '../model/status.ts';

/** The changes whose gate is waited for since this status. */
export function openedGates(before: Status, after: Status): readonly number[] {
  return indexes(
    after,
    (item, index) => item.gate?.passed !== true && item.gate !== undefined && before.items[index]?.gate === undefined,
  );
}

export function passedGates(before: Status, after: Status): readonly number[] {
  return indexes(after, (item, index) => item.gate?.passed === true && before.items[index]?.gate?.passed !== true);
}

/** Gates that have ended with this status, and how long each was waited for. */
export function endedGates(before: Status, after: Status, gated: Gating, now: number): readonly GateOutcome[] {
  const ended = (outcome: GateOutcome['outcome']) => (index: number) => {
    const since = before.items[index]?.gate?.since ?? after.items[index]?.gate?.since ?? now;
    const at = gateOf(gated, index)?.at === 'AtEnd' ? 'AtEnd' : 'AfterChange';
    return { at, outcome, seconds: Math.max(0, now - since) / 1000 } as const;
  };
  // The gate may have opened in this call. The engine no longer waits for the gates of changes that an earlier undo has left.
  const isStopped = after.phase === 'RollingBack' && (before.phase === 'Prepared' || before.phase === 'Committing');
  const open = isStopped
    ? indexes(after, ({ gate, error }) => gate !== undefined && (gate.passed !== true || error !== undefined))
    : [];
  return [
    ...passedGates(before, after).map(ended('passed')),
    ...open.map((index) => ended(outcomes[after.items[index]?.error?.reason ?? ''] ?? 'stopped')(index)),
  ];
}

const outcomes: Readonly<Record<string, GateOutcome['outcome']>> = {
  GateFailed: 'failed',
  Gone: 'failed',
  Replaced: 'failed',
  Terminating: 'failed',
  GateTimeout: 'timeout',
};

function indexes({ items }: Status, isMeant: (item: Item, index: number) => boolean): readonly number[] {
  return items.flatMap((item, index) => (isMeant(item, index) ? [index] : []));
}
