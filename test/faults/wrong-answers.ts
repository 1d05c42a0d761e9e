// Each wrong answer at each call, once or for ever. A transient one does not change the end as long as there is time.
import { type Calm, type Case, caseOf } from './case.ts';
import { type WrongAnswer, wrongAnswers } from './errors.ts';
import type { Evidence } from './evidence.ts';
import { honestEnd } from './honest.ts';
import { violations } from './invariants.ts';
import type { Fault, PortCall } from './port.ts';
import type { Run } from './run.ts';
import type { Story } from './story.ts';

export function onceWrong(story: Story, { calls }: Calm): readonly Case[] {
  return calls.flatMap((call) =>
    wrongAnswers
      .filter((wrong) => isPossible(call, wrong))
      .map((wrong) =>
        caseOf(
          ['S05', story.id, call.number, wrong.id],
          story,
          { faults: onceAt(call.number, wrong) },
          wrong.isTransient ? violations : honestEnd,
        ),
      ),
  );
}

// On a busy machine a call may have another number than in the calm run, and be one to which the answer is not possible.
function onceAt(number: number, wrong: WrongAnswer): (call: PortCall) => Fault | undefined {
  const { failure } = wrong;
  return (call) => (call.number === number && isPossible(call, wrong) ? { kind: 'fails', failure } : undefined);
}

// A 404 is either true, or a lie that no client can detect; and a read has no conflicts.
function isPossible({ method }: PortCall, { failure }: WrongAnswer): boolean {
  const isWrite = method === 'send' || method === 'dryRun';
  return isWrite || !(failure.code === 409 || (failure.code === 404 && method.startsWith('get')));
}

/** For stories with an answer that stays: short times, so that they end soon. */
const patience = { timeout: '2m', lockWait: '2m' };
const timeout = 120_000;

/** ms after which the API server works again, so that the end can be read: until then only reads are possible. */
const healing = 600_000;

/** Of calls that are repeated, the first one is enough. */
export function everWrong(story: Story, { calls }: Calm): readonly Case[] {
  const patient = { ...story, spec: patience };
  const first = calls.filter(({ what }, index) => calls.findIndex((call) => call.what === what) === index);
  return first.flatMap((call) =>
    wrongAnswers
      .filter((wrong) => isPossible(call, wrong))
      .map((wrong) =>
        caseOf(
          ['S05', story.id, call.number, wrong.id, 'ever'],
          patient,
          (run) => ({ faults: forEver(call.number, wrong, run) }),
          (evidence) => [...honestEnd(evidence), ...(wrong.isTransient ? hasty(evidence) : [])],
        ),
      ),
  );
}

/** From that call on, all calls for its object. */
function forEver(number: number, { failure }: WrongAnswer, run: () => Run): (call: PortCall) => Fault | undefined {
  let broken: string | undefined;
  return (call) => {
    if (call.number === number) broken = call.what;
    const isBroken = call.what === broken && run().board.ahead < healing;
    return isBroken ? { kind: 'fails', failure } : undefined;
  };
}

/** A kind that cannot be listed is waited for as long as that, in ms (hooks/transactions/decide/unlistable-kinds.ts). */
const listPatience = 60_000;

/** Before the first change a write that hangs is waited for as long as that, in ms (hooks/transactions/decide/waiting.ts). */
const webhookPatience = 45_000;

/** Transactions that gave up too early: a transient failure must be retried until their time is over. */
function hasty({ hookCalls }: Evidence): readonly string[] {
  const begun = hookCalls[0]?.time ?? 0;
  const committed = hookCalls.find(({ phase }) => phase === 'Committed');
  const undoing = hookCalls.find(({ phase }) => phase === 'RollingBack');
  const failed = hookCalls.find(({ phase }) => phase === 'Failed');
  const isEarly = hookCalls.every(({ phase }) => phase !== 'Prepared');
  const given = [
    ...(undoing !== undefined && committed === undefined ? [{ ...undoing, since: begun }] : []),
    ...(failed === undefined ? [] : [{ ...failed, since: undoing?.time ?? begun }]),
  ];
  return given
    .filter(({ time, since, reason }) => time - since < leastOf(reason, isEarly))
    .map(({ phase, time, since }) => `gave up after ${(time - since) / 1000} s of ${timeout / 1000} s: ${phase}`);
}

/** ms before which no Transaction gives up. `isEarly`: nothing was announced. */
function leastOf(reason: string | undefined, isEarly: boolean): number {
  if (isEarly) return webhookPatience;
  return (reason === 'Irreversible' ? listPatience : timeout) - 10_000;
}
