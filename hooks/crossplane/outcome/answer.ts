// The results of the writes of a step: the status that was decided, or the status before if a write failed.
import type { Failure } from '../../objects/failure.ts';
import type { Outcome } from '../../objects/mutation.ts';
import type { PackageCall, PackageReply } from '../call.ts';
import type { Decided, Step } from '../decide/step.ts';
import { isTerminal, timeOf, writeStatus } from '../model/status.ts';
import type { Context } from '../observe/observation.ts';
import { conditionsOf } from './conditions.ts';

const afterTrouble = 2;
const afterRefusal = 30;
/** In seconds: a webhook may request an hour, and no other package transaction could take the Lock in that time. */
const longestWishSeconds = 60;

interface Result {
  readonly reply: PackageReply;
  /** How many writes took effect. */
  readonly writes: number;
  /** The failure of the write that did not take effect. The hook did not send the writes after it. */
  readonly failure?: Failure;
}

export function resultOf(step: Step, context: Context, outcome: Outcome): Result {
  const last = outcome.at(-1);
  const refusal = step.kind === 'handOver' ? refusalIn(outcome) : undefined;
  if (refusal !== undefined) return { reply: afterFailure(step, context, refusal), writes: countOf(outcome), failure: refusal };
  if (last === undefined || last.answer.kind === 'ok' || last.isSettled === true)
    return { reply: reply(context, step, step.kind === 'cleanUp' && step.finalized), writes: outcome.length };
  const { failure } = last.answer;
  return { reply: afterFailure(step, context, failure), writes: outcome.length - 1, failure };
}

const mostNamed = 5;

/** The refusals among writes that do not depend on each other, as one. */
function refusalIn(outcome: Outcome): Failure | undefined {
  const refused = outcome.flatMap(({ write, answer }) => {
    if (answer.kind === 'ok' || answer.failure.kind !== 'refused') return [];
    const { resource, name } = write.location;
    return [{ ...answer.failure, message: `${resource.kind} ${name}: ${answer.failure.message}` }];
  });
  const [first] = refused;
  if (first === undefined) return undefined;
  const named = refused.slice(0, mostNamed).map(({ message }) => message);
  const more = refused.length > mostNamed ? [`${refused.length - mostNamed} more`] : [];
  return { ...first, message: [...named, ...more].join('; ') };
}

function countOf(outcome: Outcome): number {
  return outcome.filter(({ answer }) => answer.kind === 'ok').length;
}

/** From now on it has its place in the queue for the Lock. */
const inQueue = { reason: 'WaitingForLock', message: 'Waiting for the Lock' } as const;

function afterFailure(
  { kind, refused, note = kind === 'acquire' ? inQueue : undefined }: Step,
  context: Context,
  failure: Failure,
): PackageReply {
  const wait = isTerminal(context.ptx.status.phase) ? afterRefusal : 1;
  if (failure.kind === 'refused' && refused !== undefined) return reply(context, { status: refused(failure), wait });
  // Another writer was faster: the hook reads the object again.
  if (failure.kind === 'stale' || failure.kind === 'exists')
    return reply(context, { status: context.ptx.status, wait: 0.3, ...(note === undefined ? {} : { note }) });
  return troubled(context, failure);
}

/** A read or a write failed: the hook decides nothing, and tries again. */
export function troubled(context: Answered, { kind, message, retryAfterSeconds }: Failure): PackageReply {
  const wait = kind === 'refused' ? afterRefusal : Math.min(retryAfterSeconds ?? afterTrouble, longestWishSeconds);
  return reply(context, { status: context.ptx.status, wait, note: { reason: 'ReconcileError', message } });
}

const withoutCrossplane = 5;

/** Crossplane does not suit the settings: the hook decides nothing until it does. */
export function waiting(context: Answered, message: string): PackageReply {
  const note = { reason: 'WaitingForCrossplane', message } as const;
  return reply(context, { status: context.ptx.status, wait: withoutCrossplane, note });
}

type Answered = Pick<Context, 'ptx' | 'now'>;

function reply({ ptx, now }: Answered, { status, wait, note }: Omit<Decided, 'because'>, finalized = false): PackageReply {
  // Before the first status everything is new, its version too: otherwise the hook could store no status.
  const stored = status.version === 0 ? { ...status, version: 1 } : status;
  const { conditions: before } = ptx.status;
  const conditions = conditionsOf({ ...stored, conditions: before }, note, ptx, timeOf(now));
  return { status: writeStatus(stored, conditions), resyncAfterSeconds: wait, finalized };
}

/** The status stays as it is in the call. */
export function echo({ status }: PackageCall, resyncAfterSeconds: number): PackageReply {
  return { status, resyncAfterSeconds, finalized: false };
}

/** The object does not exist any more. */
export function gone({ status }: PackageCall): PackageReply {
  return { status, resyncAfterSeconds: 0, finalized: true };
}
