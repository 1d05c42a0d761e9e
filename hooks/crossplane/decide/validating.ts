// The hook resolves the tree and compares it, or refuses it, before it makes anything.
import type { JsonObject } from '../../objects/json.ts';
import { cut } from '../../objects/words.ts';
import { packageFault } from '../model/fault.ts';
import { holds, packagesDigest } from '../model/holder.ts';
import { advanced, type Outcome } from '../model/status.ts';
import type { Awaiting, Context, ObservedTo, Validation } from '../observe/observation.ts';
import { installedAgain } from './deleting.ts';
import { type Step, setStatus } from './step.ts';
import {
  abandoned,
  awaitPackage,
  ended,
  givingBack,
  isOverdue,
  longestMessage,
  readingNote,
  succeeded,
  tooSlow,
  unread,
} from './transitions.ts';

type Faults = Extract<Validation, { kind: 'refused' }>['faults'];

/**
 * The limit for the packages of the Lock: the status holds them too, beside stages and conditions. The API server stores 1.5 MiB.
 */
const mostLockBytes = 1_000_000;
const mostFaults = 10;

export function validate(observation: ObservedTo<'validate'>): Step {
  const { ptx, lock, validation, orphans = [] } = observation;
  const { status } = ptx;
  if (ptx.isDeleting) return setStatus(abandoned(status), 'it is being deleted');
  if (!holds(ptx, lock)) return setStatus(advanced(status, { phase: 'Waiting' }), 'the Lock is not held any more');
  if (validation === undefined) return setStatus(status, 'nothing was read', 1);
  if (validation.kind === 'unfinished' || validation.kind === 'unread') return goesOn(observation, lock, validation.kind);
  if (validation.kind === 'awaiting') return awaits(observation, lock, validation);
  if (validation.kind !== 'valid') return endsBy(observation, validation);
  const size = Buffer.byteLength(JSON.stringify(validation.lock));
  if (size > mostLockBytes) return setStatus(ended(status, refusedBy([tooLarge(size)])), 'the Lock would be too large');
  const { lock: proposed, replaced, lostValues } = validation;
  const next = advanced(status, { phase: 'Preparing', proposed, replaced, lostValues, lockDigest: packagesDigest(lock) });
  return { kind: 'adopt', orphans, isOptional: true, because: 'everything is resolved', status: next, wait: 1 };
}

type Ending = Exclude<Validation, { kind: 'valid' | 'unfinished' | 'unread' | 'awaiting' }>;

function endsBy({ ptx: { status } }: ObservedTo<'validate'>, validation: Ending): Step {
  if (validation.kind === 'failed') return setStatus(ended(status, unread(validation.failure)), validation.failure.message);
  if (validation.kind === 'refused') return setStatus(ended(status, refusedBy(validation.faults)), 'it is refused');
  if (validation.kind === 'installedAgain')
    return setStatus(ended(status, installedAgain(validation.revisions)), 'the package was installed again');
  const message = `package transaction ${validation.by} has deleted or replaced it meanwhile`;
  return setStatus(succeeded(status, message), message);
}

function tooLarge(size: number) {
  return packageFault('InvalidPackage', `The Lock would have ${size} bytes of packages, at most ${mostLockBytes} are possible`);
}

function goesOn({ ptx, now }: ObservedTo<'validate'>, lock: JsonObject, kind: 'unfinished' | 'unread'): Step {
  if (isOverdue(ptx.status, now)) return setStatus(ended(ptx.status, tooSlow), tooSlow.message);
  if (kind === 'unread') return givingBack(ptx, lock);
  return setStatus(ptx.status, 'the time of the call is over', 0.2, readingNote);
}

/** The user made the Package after the hook had read the tree. */
function awaits(context: Context, lock: JsonObject, validation: Awaiting): Step {
  const decided = awaitPackage(context, validation);
  return context.ptx.isDryRun ? { kind: 'setStatus', ...decided } : { kind: 'release', lock, ...decided };
}

function refusedBy(faults: Faults): Outcome {
  const messages = faults.slice(0, mostFaults).map(({ message }) => message);
  const others = faults.length > mostFaults ? `; and ${faults.length - mostFaults} more` : '';
  const [reason, message] = [faults[0]?.reason ?? 'InvalidPackage', cut(`${messages.join('; ')}${others}`, longestMessage)];
  const isFinal = faults.some((one) => 'isFinal' in one);
  return { kind: 'Failed', step: 'Validation', reason, message, ...(isFinal ? { isFinal } : {}) };
}
