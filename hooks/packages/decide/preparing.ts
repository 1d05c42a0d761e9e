// The contents of all stages are stored before the first stage is made: from here on no registry is needed.

import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { faultOf } from '../due.ts';
import { packagesDigest } from '../model/holder.ts';
import type { PackageTransaction } from '../model/package-transaction.ts';
import { advanced, millisecondsOf } from '../model/status.ts';
import { contentsWrite, type Prepared } from '../plan/stages.ts';
import type { RegistryFailure } from '../registry.ts';
import { abandoned, ended, lostLock, type Moment } from './ends.ts';
import { going, type Move, staying } from './move.ts';
import { givingBack, holds, longestReading, unread } from './validating.ts';

export type Preparation =
  | { readonly kind: 'ready'; readonly prepared: readonly Prepared[]; readonly existing: ReadonlySet<string> }
  | { readonly kind: 'failed'; readonly failure: RegistryFailure }
  | { readonly kind: 'unfinished' };

interface Preparing extends Moment {
  readonly ptx: PackageTransaction;
  readonly namespace: string;
  readonly lock: JsonObject | undefined;
  readonly preparation: Preparation | undefined;
}

const mostStages = 512;

/** Whether the Lock is held, and its packages are those that were resolved against. */
export function isAsResolved(ptx: PackageTransaction, lock: JsonObject | undefined): lock is JsonObject {
  return holds(ptx, lock) && packagesDigest(lock) === ptx.status.lockDigest;
}

export function prepare(scene: Preparing): Move {
  const { ptx, lock, preparation } = scene;
  const { status } = ptx;
  if (ptx.isDeleting) return going(abandoned(status), 'it is being deleted');
  if (!isAsResolved(ptx, lock)) return going(lostLock(status), 'the Lock is not as it was');
  const fault = faultOf(ptx);
  if (fault !== undefined) return failed(scene, 'InvalidPackage', fault, true);
  if (isOverdue(scene)) return tooSlow(scene);
  if (preparation?.kind === 'failed') return notGiven(scene, preparation.failure);
  if (preparation?.kind === 'ready') return store(scene, preparation);
  return preparation === undefined ? staying(status, 'nothing was read', 1) : givingBack(ptx, lock, scene.namespace);
}

function store(scene: Preparing, preparation: Extract<Preparation, { kind: 'ready' }>): Move {
  const { ptx, namespace } = scene;
  const { status } = ptx;
  const { prepared, existing } = preparation;
  if (prepared.length > mostStages)
    return failed(scene, 'InvalidPackage', `it would take ${prepared.length} stages, at most ${mostStages} are possible`);
  const missing = prepared.filter(({ stage }) => !existing.has(stage.name));
  return {
    because: 'the contents of the stages are stored',
    deeds: missing.map((one) => ({
      write: contentsWrite(ptx, one.contents, { name: one.stage.name, index: prepared.indexOf(one), namespace }),
      settledBy: 'exists' as const,
    })),
    status: advanced(status, {
      phase: 'Installing',
      stages: prepared.map(({ stage }) => stage),
      made: 0,
      committed: 0,
    }),
    wait: 1,
    refused: ({ message }) => failed(scene, 'InstallationFailed', message).status,
  };
}

type Reading = Pick<Preparing, 'ptx' | keyof Moment>;

/** Nobody else comes to the Lock meanwhile: what can never be read and stored in time ends the try. Validation may have taken as long. */
function isOverdue({ ptx: { status }, now }: Reading): boolean {
  return now >= millisecondsOf(status.tryTime) + (status.phase === 'Preparing' ? 2 : 1) * longestReading;
}

/** A read of the cluster failed, for which nothing is decided; undefined where it may still be tried again. */
export function withoutCluster(scene: Reading, { message }: Failure): Move | undefined {
  const { status } = scene.ptx;
  if ((status.phase !== 'Validating' && status.phase !== 'Preparing') || !isOverdue(scene)) return undefined;
  return notGiven(scene, { kind: 'unavailable', message: `the cluster could not be read in time: ${message}` });
}

function tooSlow(scene: Preparing): Move {
  const minutes = longestReading / 60_000;
  const message = `the packages could not be read again and stored within ${minutes} minutes`;
  return notGiven(scene, { kind: 'unavailable', message });
}

function notGiven(scene: Reading, failure: RegistryFailure): Move {
  return going(ended(scene.ptx.status, unread(failure)), failure.message);
}

function failed(scene: Preparing, reason: string, message: string, isFinal = false): Move {
  const step = reason === 'InstallationFailed' ? 'Installation' : 'Validation';
  return going(ended(scene.ptx.status, { kind: 'Failed', step, reason, message, ...(isFinal ? { isFinal } : {}) }), message);
}
