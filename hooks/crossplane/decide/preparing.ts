// The hook stores the contents of all stages before it makes the first stage. From here on it needs no registry.
import type { Failure } from '../../objects/failure.ts';
import { isObject, type JsonObject } from '../../objects/json.ts';
import { faultOf } from '../due.ts';
import { isAsResolved, packagesOf } from '../model/holder.ts';
import { deletionOf, type PackageTransaction } from '../model/package-transaction.ts';
import { describeReplaced } from '../model/replaced.ts';
import { advanced, millisecondsOf, type Status } from '../model/status.ts';
import type { Context, ObservedTo, Preparation } from '../observe/observation.ts';
import type { RegistryFailure } from '../registry.ts';
import { unneeded } from './deleting.ts';
import { type Step, setStatus } from './step.ts';
import {
  abandoned,
  ended,
  givingBack,
  installationFailure,
  longestReadingMs,
  lostLock,
  succeeded,
  unread,
} from './transitions.ts';

const mostStages = 512;

export function prepare(observation: ObservedTo<'prepare'>): Step {
  const { ptx, lock, preparation } = observation;
  const { status } = ptx;
  if (ptx.isDeleting) return setStatus(abandoned(status), 'it is being deleted');
  if (!isAsResolved(ptx, lock)) return setStatus(lostLock(status), 'the Lock is not as it was');
  const fault = faultOf(ptx);
  if (fault !== undefined) return setStatus(invalid(status, fault, true), fault);
  if (isOverdue(observation)) return notGiven(status, { kind: 'unavailable', message: tooSlow });
  if (preparation?.kind === 'failed') return notGiven(status, preparation.failure);
  if (preparation?.kind === 'ready') return store(status, preparation);
  if (preparation?.kind === 'planned') return setStatus(planned(ptx, lock, preparation), 'the plan is made');
  return preparation === undefined ? setStatus(status, 'nothing was read', 1) : givingBack(ptx, lock);
}

const tooSlow = `the packages could not be read again and stored within ${longestReadingMs / 60_000} minutes`;

function store(status: Status, { prepared, existing }: Extract<Preparation, { kind: 'ready' }>): Step {
  const many = `it would take ${prepared.length} stages, at most ${mostStages} are possible`;
  if (prepared.length > mostStages) return setStatus(invalid(status, many), many);
  const stages = prepared.map(({ stage }) => stage);
  return {
    kind: 'store',
    contents: prepared.filter(({ stage }) => !existing.has(stage.name)),
    because: 'the contents of the stages are stored',
    status: advanced(status, { phase: 'Installing', stages, made: 0, committed: 0 }),
    wait: 1,
    refused: ({ message }) => ended(status, installationFailure(message)),
  };
}

/** The end of a dry run. */
function planned(ptx: PackageTransaction, lock: JsonObject, { plan }: Extract<Preparation, { kind: 'planned' }>): Status {
  const packages = packagesOf(lock).filter(isObject);
  const replaced = describeReplaced(ptx.status.replaced);
  return succeeded({ ...ptx.status, plan }, replaced ?? unneeded(packages, deletionOf(ptx)?.source));
}

type Reading = Pick<Context, 'ptx' | 'now'>;

/**
 * No other package transaction gets the Lock meanwhile. So the try ends if the contents cannot be read and stored in time.
 * Validation may have taken as long.
 */
function isOverdue({ ptx: { status }, now }: Reading): boolean {
  return now >= millisecondsOf(status.tryTime) + (status.phase === 'Preparing' ? 2 : 1) * longestReadingMs;
}

/** The end of a try that cannot read the cluster. Undefined if the hook may still try again: then it decides nothing. */
export function withoutCluster(reading: Reading, { message }: Failure): Step | undefined {
  const { status } = reading.ptx;
  if ((status.phase !== 'Validating' && status.phase !== 'Preparing') || !isOverdue(reading)) return undefined;
  return notGiven(status, { kind: 'unavailable', message: `the cluster could not be read in time: ${message}` });
}

function notGiven(status: Status, failure: RegistryFailure): Step {
  return setStatus(ended(status, unread(failure)), failure.message);
}

function invalid(status: Status, message: string, isFinal = false): Status {
  const final = isFinal ? { isFinal } : {};
  return ended(status, { kind: 'Failed', step: 'Validation', reason: 'InvalidPackage', message, ...final });
}
