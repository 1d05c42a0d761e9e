// The program of Packages that make their own package transactions: observe, decide, at most one write, and the status. A call is a
// trigger: it names the Package, and the hook reads everything live. The names of package transactions follow from generations, so
// any number of processes may serve calls, however often and late.
import { at, type JsonObject, textAt } from '../objects/json.ts';
import { perform, writerUntil } from '../objects/requests/perform.ts';
import type { OwnCall, OwnEvent, OwnHook, OwnParts, OwnReply } from './call.ts';
import { decideOwn } from './decide/own.ts';
import type { OwnStep } from './decide/own-step.ts';
import type { OwnCondition } from './model/own.ts';
import { conditionOf, timeOf } from './model/status.ts';
import type { OwnObservation } from './observe/observation.ts';
import { observeOwn } from './observe/own.ts';
import { failureOf, ReadFailed } from './observe/read.ts';
import { packageStatusOf } from './package-status.ts';

const afterTrouble = 2;
const afterRefusal = 30;
/** In ms: a registry that does not answer keeps no call longer. */
const longestTagReadMs = 5_000;

export function createOwnSync(parts: OwnParts): OwnHook {
  const { cluster, clock, gzip, namespace, mode, isBeside = false, sendingTime } = parts;
  const observing = {
    reader: { cluster, gzip, namespace },
    registries: { ...parts, deadline: longestTagReadMs },
    mode,
    isBeside,
  };
  return async (call) => {
    const until = clock.monotonic() + sendingTime;
    try {
      const observation = await observeOwn(observing, call);
      if (observation === undefined) return { resyncAfterSeconds: 0, finalized: true };
      const step = decideOwn(observation);
      return await announced(parts, call, { observation, step, until });
    } catch (error) {
      const { message } = failureOf(error);
      const thrown = error instanceof ReadFailed ? {} : { thrown: error };
      report(parts, call, { because: 'a read failed', writes: 0, trouble: message, ...thrown });
      return { resyncAfterSeconds: afterTrouble, finalized: false };
    }
  };
}

interface Decided {
  readonly observation: OwnObservation;
  readonly step: OwnStep;
  /** Monotonic ms after which the hook sends no write. */
  readonly until: number;
}

async function announced(parts: OwnParts, call: OwnCall, decided: Decided): Promise<OwnReply> {
  const answer = await taken(parts, call, decided);
  const event = eventOf(decided.observation, answer.status);
  if (event !== undefined) report(parts, call, { because: decided.step.because, writes: 0, event });
  return answer;
}

/** The content of an Event, if the condition Installed has another status or reason than before. `status`: the next one of the Package. */
function eventOf({ pkg, now }: Pick<OwnObservation, 'pkg' | 'now'>, status: JsonObject | undefined): OwnEvent | undefined {
  const [before, after] = [pkg, { status: status ?? {} }].map((one) => conditionOf(one, 'Installed'));
  const isSame = ['status', 'reason'].every((key) => textAt(before, key) === textAt(after, key));
  if (after === undefined || isSame) return undefined;
  const generation = at(pkg, 'metadata', 'generation');
  return {
    type: textAt(after, 'status') === 'False' ? 'Warning' : 'Normal',
    reason: textAt(after, 'reason') ?? '',
    message: textAt(after, 'message') ?? `${textAt(pkg, 'spec', 'package')} is installed`,
    at: now,
    version: typeof generation === 'number' ? generation : 0,
  };
}

async function taken(parts: OwnParts, call: OwnCall, { observation, step, until }: Decided): Promise<OwnReply> {
  const { write, because, condition, wait, finalized } = step;
  if (write === undefined) return reply(observation, condition, { resyncAfterSeconds: wait, finalized });
  // Another process has made or deleted the package transaction.
  const mutation = { write, settledBy: ['exists', 'absent', 'stale'] } as const;
  const writer = writerUntil(parts.cluster, () => parts.clock.monotonic() >= until);
  const [attempt] = await perform({ kind: 'chain', mutation }, writer);
  const failure = attempt?.answer.kind === 'failed' ? attempt.answer.failure : undefined;
  const trouble = attempt?.isSettled === true ? undefined : failure;
  report(parts, call, { because, writes: failure === undefined ? 1 : 0, ...(trouble && { trouble: trouble.message }) });
  if (trouble?.kind === 'refused') {
    const refused = { ...condition, reason: 'TransactionRefused', message: trouble.message };
    return reply(observation, refused, { resyncAfterSeconds: afterRefusal, finalized: false });
  }
  return reply(observation, condition, { resyncAfterSeconds: failure === undefined ? wait : afterTrouble, finalized: false });
}

/** A Package that goes needs no status. */
function reply(
  { pkg, revisions, now }: OwnObservation,
  condition: OwnCondition | undefined,
  rest: Omit<OwnReply, 'status'>,
): OwnReply {
  return rest.finalized ? rest : { status: packageStatusOf(pkg, revisions, timeOf(now), condition), ...rest };
}

type Taken = Omit<Parameters<OwnParts['record']>[0], 'kind' | 'name' | 'uid'>;

function report({ record }: OwnParts, { kind, name, uid }: OwnCall, happened: Taken): void {
  record({ kind, name, uid, ...happened });
}
