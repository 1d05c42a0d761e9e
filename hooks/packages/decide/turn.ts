// Who creates stages and contents. A create names no version: one whose answer was lost can land once what it creates was deleted. So a
// status that announces a create names the process that may send it; another one stores its own name first. Where one may have been sent
// before, the status stores the time, and nothing is deleted before it cannot be late any more (ending.ts).
import type { PackageTransaction } from '../model/package-transaction.ts';
import { advanced, type Status, timeOf } from '../model/status.ts';
import type { Move } from './move.ts';

interface Turn {
  /** The name of this process. */
  readonly writer: string;
  /** This process has sent no create under this status, in an earlier call or in one that still runs. */
  readonly isFirst: boolean;
  /** The API server's time in ms since the epoch. */
  readonly now: number;
}

/** The move as this process may make it. */
export function inTurn(ptx: PackageTransaction, move: Move, { writer, isFirst, now }: Turn): Move {
  const { status } = ptx;
  const isSure = status.writer === writer && isFirst;
  const staged = isSure || !announcesCreate(status) ? {} : { stagedTime: timeOf(now) };
  if (creates(move) && status.writer !== writer) {
    const signed = advanced(status, { writer, ...staged });
    return { because: 'another process may have created something', deeds: [], status: signed, wait: 0.2 };
  }
  const noted = (next: Status): Status =>
    next.version === status.version ? next : { ...next, ...staged, ...(announcesCreate(next) ? { writer } : {}) };
  const { refused } = move;
  return {
    ...move,
    status: noted(move.status),
    ...(refused === undefined ? {} : { refused: (failure) => noted(refused(failure)) }),
  };
}

export function creates({ deeds }: Move): boolean {
  return deeds.some(({ write: { verb, location } }) => verb === 'create' && location.namespace !== undefined);
}

/** Whether a process that finds this status may create the contents of all stages, or the next stage. */
function announcesCreate({ phase, made, committed, stages }: Status): boolean {
  return phase === 'Preparing' || (phase === 'Installing' && made <= committed && committed < stages.length);
}
