// When the operation of a Transaction began, and until when it may take. All times are of the cluster: the clock of the user may differ.
import { at, type Json, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { parseDuration, parseTime } from '../../hooks/objects/time.ts';
import { type Gating, gateOf } from '../../hooks/transactions/model/gated.ts';
import { annotations, defaultTimeouts } from '../../hooks/transactions/model/transaction.ts';

/** In ms since the epoch. */
export interface Timing {
  /** The release, or the undo that a user requested later. */
  readonly operation: 'release' | 'undo';
  readonly began?: number;
  readonly until?: number;
  readonly ended?: number;
}

/** `gating`: the gates of the Transaction. */
export function timingOf(object: JsonObject, gating: Gating): Timing {
  const status = at(object, 'status');
  const time = (key: string): number | undefined => parseTime(textAt(status, key));
  const ended = time('completionTime');
  const operation = operationOf(status);
  const began = operation === 'undo' ? time('rollbackStartedAt') : time('startTime');
  const until = untilOf(object, began, gating);
  return {
    operation,
    ...(began === undefined ? {} : { began }),
    ...(until === undefined ? {} : { until }),
    ...(ended === undefined || isWaitingToUndo(status) ? {} : { ended }),
  };
}

function operationOf(status: Json | undefined): Timing['operation'] {
  if (isWaitingToUndo(status)) return 'undo';
  const isUndone = ['RollingBack', 'RolledBack', 'Failed'].includes(textAt(status, 'phase') ?? '');
  return isUndone && textAt(status, 'rollbackStartedAt') !== undefined && isRequested(status) ? 'undo' : 'release';
}

function isRequested(status: Json | undefined): boolean {
  const handled = at(status, 'handledAnnotations');
  return [annotations.requestRollback, annotations.retryRollback].some((name) => textAt(handled, name) !== undefined);
}

// A requested undo waits for its locks: it has begun after the end of the release.
function isWaitingToUndo(status: Json | undefined): boolean {
  const [began, ended] = [parseTime(textAt(status, 'rollbackStartedAt')), parseTime(textAt(status, 'completionTime'))];
  return began !== undefined && ended !== undefined && began > ended;
}

function untilOf(object: JsonObject, began: number | undefined, gating: Gating): number | undefined {
  const [spec, status] = [at(object, 'spec'), at(object, 'status')];
  const limit = (key: 'lockWait' | 'timeout'): number => parseDuration(textAt(spec, key) ?? '') ?? defaultTimeouts[key];
  const phase = textAt(status, 'phase');
  if (phase === 'RollingBack') return after(parseTime(textAt(status, 'rollbackStartedAt')), limit('timeout'));
  // The spec has its digest once the checks are done: then the Transaction waits for locks.
  const isLocking = phase === 'Pending' && textAt(status, 'specDigest') !== undefined;
  if (isLocking || isWaitingToUndo(status)) return after(began, limit('lockWait'));
  if (began === undefined || !['Pending', 'Preparing', 'Prepared', 'Committing'].includes(phase ?? '')) return undefined;
  return Math.min(began + limit('timeout'), ...gateEnds(status, gating));
}

const after = (began: number | undefined, time: number): number | undefined => (began === undefined ? undefined : began + time);

/** Of the gates that the engine waits for: one that is late fails the Transaction. */
function gateEnds(status: Json | undefined, gating: Gating): readonly number[] {
  return listAt(status, 'items').flatMap((item, index) => {
    const state = at(item, 'gate');
    const [since, gate] = [parseTime(textAt(state, 'since')), gateOf(gating, index)];
    const isOpen = textAt(state, 'readySince') === undefined && at(state, 'passed') !== true;
    return isOpen && since !== undefined && gate !== undefined ? [since + gate.timeout] : [];
  });
}
