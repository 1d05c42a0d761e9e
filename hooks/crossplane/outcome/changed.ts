// The changes that a call has made, for metrics and the log.
import type { JsonObject } from '../../objects/json.ts';
import type { PackageReport } from '../call.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { describeReplaced } from '../model/replaced.ts';
import { isTerminal, millisecondsOf, readStatus, type Status } from '../model/status.ts';

type Changing = Pick<PackageTransaction, 'status' | 'isDryRun'>;

type Changed = Pick<PackageReport, 'fromPhase' | 'toPhase' | 'ended' | 'durationSeconds'>;

/** A dry run is no try: it changes nothing, and its refusal is its result. */
export function changedBy({ status: before, isDryRun }: Changing, stored: JsonObject): Changed {
  const after = readStatus(stored);
  const phases = { fromPhase: before.phase, toPhase: after.phase };
  return isDryRun ? phases : { ...phases, ...endOf(before, after), ...durationOf(before, after) };
}

/** A try ends if the Lock is released after it. Before the Lock is taken, it ends if the spec is refused. */
function endOf(before: Status, { phase, outcome }: Status): Pick<Changed, 'ended'> {
  const isRefused = before.phase === 'Waiting' && outcome?.kind === 'Failed';
  const isEnd = phase !== before.phase && (phase === 'Releasing' || (isTerminal(phase) && isRefused));
  if (!isEnd || outcome === undefined) return {};
  const { kind, reason } = outcome;
  return { ended: { kind, ...(reason === undefined ? {} : { reason }) } };
}

function durationOf(before: Status, { phase, startTime, completionTime }: Status): Pick<Changed, 'durationSeconds'> {
  const isOver = phase !== before.phase && isTerminal(phase) && startTime !== undefined;
  return isOver ? { durationSeconds: (millisecondsOf(completionTime) - millisecondsOf(startTime)) / 1000 } : {};
}

/** A newer version of the hook wrote the status: that version goes on, and this call changes nothing. */
export function leftToNewer({ name, uid, status: { phase } }: PackageTransaction): PackageReport {
  const trouble = 'status: expected a phase and stages that this version of the hook knows, found others; run the newer version';
  return { name, uid, fromPhase: phase, toPhase: phase, because: 'a newer version wrote the status', writes: 0, trouble };
}

/** Once in each try of a Replace: its trees are known. */
export function eventOf({ status: before, isDryRun }: Changing, stored: JsonObject, at: number): Pick<PackageReport, 'event'> {
  const { phase, version, replaced } = readStatus(stored);
  const message = describeReplaced(replaced);
  if (isDryRun || message === undefined || before.phase !== 'Validating' || phase !== 'Preparing') return {};
  return { event: { reason: 'Replacing', message, at, version } };
}
