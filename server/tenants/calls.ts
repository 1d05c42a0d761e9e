// Limits how many calls of the engine run at a time, since each call takes a worker of Metacontroller (admission.ts).
//
// A worker is busy until it has written the status of the reply, and that write sends the whole Transaction: of 0.8 MB it takes the API
// server most of a second. Without a limit of their own, fifty large Transactions take all workers, and small ones of other tenants wait.

import { equalJson } from '../../hooks/objects/json.ts';
import { limits } from '../../hooks/objects/limits.ts';
import type { Call, Hook, Reply } from '../../hooks/transactions/call.ts';
import { createAdmission } from './admission.ts';
import { callOf } from './steps.ts';

/** How many calls wait if no call of the namespace ends. Otherwise as many wait as run. */
const mostBehindSlow = 3;
/** ms from one refused call of a namespace to the next one, when they come again. An HTTP reply has whole seconds. */
const spacing = 10;
/** ms in place of `spacing` if the calls are large, or if no call of the namespace has ended for `limits.hang`: its requests may hang. */
const longSpacing = 250;
/** ms after which a refused call comes again at the latest. */
const longestPauseMs = limits.callReturn.value;

/** Large calls at a time, together with the writes of their statuses. */
const mostLarge = limits.largeCalls.value;
/** ms after a reply that the write of its status counts at most. The next call may go to another replica, so the hook does not see its end. */
const longestWrite = 5_000;

interface CallTurnOptions {
  readonly longestWrite?: number;
}

/** Makes a call of the engine at its turn. If no turn comes soon, the reply is `retry`. `size`: bytes of the request. */
type CallTurns = (call: Call, size: number) => Promise<Reply>;

export function admitCalls(hook: Hook, options: CallTurnOptions = {}): CallTurns {
  const [all, large] = [
    createTurns(limits.calls.value, limits.spareCalls.value, spacing),
    createTurns(mostLarge, mostLarge / 2, longSpacing),
  ];
  const writing = new Map<string, () => void>();
  const run = async (call: Call): Promise<Reply> => {
    const giveBack = await all.take(call);
    return giveBack === undefined ? all.refuse(call) : callOf(call.namespace, () => hook(call)).finally(giveBack);
  };
  const whileWritten = (uid: string, giveBack: () => void): void => {
    const end = (): void => {
      clearTimeout(timer);
      writing.delete(uid);
      giveBack();
    };
    const timer = setTimeout(end, options.longestWrite ?? longestWrite).unref();
    writing.set(uid, end);
  };
  const runLarge = async (call: Call): Promise<Reply> => {
    // The next call of a Transaction shows that the status of its last one is written.
    writing.get(call.uid)?.();
    const giveBack = await large.take(call);
    if (giveBack === undefined) return large.refuse(call);
    const reply = await run(call).catch((error: unknown) => {
      giveBack();
      throw error;
    });
    if (reply.kind === 'status' && !equalJson(reply.status, call.status)) whileWritten(call.uid, giveBack);
    else giveBack();
    return reply;
  };
  return (call, size) => (size > limits.largeCall.value ? runLarge(call) : run(call));
}

interface Turns {
  /** Undefined if the turn does not come in time. */
  take(call: Call): Promise<(() => void) | undefined>;
  /** Refused calls of a namespace come again one after the other, so that turns are free for each of them. */
  refuse(call: Call): Reply;
}

interface Refused {
  /** When the last refused call comes again, in ms. */
  readonly next: number;
  /** When a call of the namespace ended, or when the first call was refused, in ms. */
  readonly ended: number;
}

function isSlow(known: Pick<Refused, 'ended'> | undefined, now: number): boolean {
  return known !== undefined && now - known.ended > limits.hang.value;
}

function createTurns(count: number, spare: number, usual: number): Turns {
  const admission = createAdmission({ count, spare });
  const refused = new Map<string, Refused>();
  const noteEnd = (namespace: string): void => {
    const known = refused.get(namespace);
    if (known !== undefined) refused.set(namespace, { ...known, ended: performance.now() });
  };
  const forget = (now: number): void => {
    for (const [name, { next }] of refused) if (next + longestPauseMs < now) refused.delete(name);
  };
  return {
    async take({ namespace, uid }) {
      const mostWaiting = isSlow(refused.get(namespace), performance.now()) ? mostBehindSlow : count / 2;
      if (admission.waiting(namespace) >= mostWaiting) return undefined;
      const giveBack = await admission.take({ namespace, uid }, AbortSignal.timeout(limits.callWait.value));
      if (giveBack === undefined) return undefined;
      return () => {
        noteEnd(namespace);
        giveBack();
      };
    },
    refuse({ namespace }) {
      const now = performance.now();
      forget(now);
      const { next: last, ended } = refused.get(namespace) ?? { next: now, ended: now };
      const next = Math.max(now, last) + (isSlow({ ended }, now) ? longSpacing : usual);
      refused.set(namespace, { next: Math.min(next, now + longestPauseMs), ended });
      // Beyond that time there is no order.
      const pause = next > now + longestPauseMs ? (longestPauseMs * (1 + Math.random())) / 2 : next - now;
      const because = 'other Transactions of the namespace take its share of calls';
      return { kind: 'retry', retryAfterSeconds: pause / 1_000, because };
    },
  };
}
