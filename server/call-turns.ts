// Limits how many calls of the engine run at a time, since each call takes a worker of Metacontroller. A tenant takes at most half of them.
//
// A worker is busy until it has written the status of the reply, and that write sends the whole Transaction: of 0.8 MB it takes the API
// server most of a second. Without a limit of their own, fifty large Transactions take all workers, and small ones of other tenants wait.
import { equalJson } from '../hooks/objects/json.ts';
import type { Call, Hook, Reply } from '../hooks/transactions/call.ts';
import { createSlots } from './slots.ts';
import { callOf } from './tenant-turns.ts';

/**
 * Calls at a time. Each call takes a worker of Metacontroller, for up to 20 s if requests to a kind of the cluster hang. All these calls
 * on two replicas take fewer than its 50 workers.
 */
const mostCalls = 24;
/** ms that a call waits for other calls of its namespace: it takes a worker meanwhile, too. */
const longestTurn = 250;

/** Bytes of a large request. */
const largeRequest = 256 * 1024;
/** Large calls at a time, together with the writes of their statuses. */
const mostLarge = 8;
/** ms after a reply that the write of its status counts at most. The next call may go to another replica, so the hook does not see its end. */
const longestWrite = 5_000;

interface CallTurnOptions {
  readonly longestWrite?: number;
}

/** Makes a call of the engine at its turn. If no turn comes soon, the reply is `retry`. `size`: bytes of the request. */
type CallTurns = (call: Call, size: number) => Promise<Reply>;

export function createCallTurns(hook: Hook, options: CallTurnOptions = {}): CallTurns {
  const [all, large] = [createSlots(mostCalls), createSlots(mostLarge)];
  const writing = new Map<string, () => void>();
  const run = (call: Call): Promise<Reply> => inTurn(all, call, () => callOf(call.namespace, () => hook(call)));
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
    const giveBack = await turnOf(large, call);
    if (giveBack === undefined) return crowded();
    const reply = await run(call).catch((error: unknown) => {
      giveBack();
      throw error;
    });
    if (reply.kind === 'status' && !equalJson(reply.status, call.status)) whileWritten(call.uid, giveBack);
    else giveBack();
    return reply;
  };
  return (call, size) => (size > largeRequest ? runLarge(call) : run(call));
}

/** Undefined if the turn does not come in time. */
function turnOf(slots: ReturnType<typeof createSlots>, { namespace }: Call): Promise<(() => void) | undefined> {
  return slots.take({ tenant: namespace, signal: AbortSignal.timeout(longestTurn) }).catch(() => undefined);
}

async function inTurn(slots: ReturnType<typeof createSlots>, call: Call, run: () => Promise<Reply>): Promise<Reply> {
  const giveBack = await turnOf(slots, call);
  return giveBack === undefined ? crowded() : run().finally(giveBack);
}

/** After several seconds, not all at once: a refused call takes a worker, too. */
function crowded(): Reply {
  const because = 'other Transactions of the namespace take its share of calls';
  return { kind: 'retry', retryAfterSeconds: 4 + 4 * Math.random(), because };
}
