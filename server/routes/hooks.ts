// POST /sync and /finalize. Both make one call of the engine, which reads from the live object whether it is being deleted.
//
// Metacontroller decodes replies strictly: it rejects a reply with an unknown field. On 429 it stores nothing. Any other code is an error
// to it, with a backoff of up to 1000 s, so the hook never answers an expected condition with such a code.
import type { FastifyInstance, FastifyReply } from 'fastify';
import type { Json, JsonObject } from '../../hooks/objects/json.ts';
import type { Call, Hook, Reply } from '../../hooks/transactions/call.ts';
import { admitCalls } from '../tenants/calls.ts';
import { validateSyncRequest } from '../validation.ts';
import type { Work } from '../work.ts';

interface HookRoutes {
  readonly hook: Hook;
  readonly work: Work;
  /** Called if the caller disconnected before the reply about a Transaction was sent. */
  readonly replyLost: (uid: string) => void;
}

const secondsUntilOtherReplica = 1;

interface Received {
  readonly finalizing: boolean;
  /** Bytes of the request. */
  readonly size: number;
}

export function addHookRoutes(server: FastifyInstance, { hook, work, replyLost }: HookRoutes): void {
  const turns = admitCalls(hook);
  const served = async (call: Call, reply: FastifyReply, { finalizing, size }: Received) => {
    const result = await work.run(() => turns(call, size));
    if (reply.raw.destroyed) replyLost(call.uid);
    if (result.kind === 'retry') logRetry(server, call, result.because);
    return answer(reply, result, finalizing);
  };
  for (const path of ['/sync', '/finalize'] as const) {
    server.post(path, async (request, reply) => {
      const validated = validateSyncRequest(request.body as Json | undefined);
      if (validated.kind === 'faults')
        return reply
          .code(400)
          .send({ error: 'not a valid Metacontroller sync request for a Transaction', faults: validated.faults });
      if (work.draining) return retryLater(reply.header('connection', 'close'), secondsUntilOtherReplica);
      const size = Number(request.headers['content-length'] ?? 0);
      return served(validated.call, reply, { finalizing: path === '/finalize', size });
    });
  }
}

// The hook logs the reason, because no stored status shows it.
function logRetry(server: FastifyInstance, { namespace, name, uid }: Call, because: string): void {
  server.log.warn({ namespace, name, uid, because }, 'replied 429: Metacontroller retries later');
}

function answer(reply: FastifyReply, result: Reply, finalizing: boolean): FastifyReply {
  if (result.kind === 'retry') return retryLater(reply, result.retryAfterSeconds);
  const { status, children, resyncAfterSeconds, finalized } = result;
  const body: JsonObject = { status, children, resyncAfterSeconds, ...(finalizing ? { finalized } : {}) };
  return reply.type('application/json').send(JSON.stringify(body));
}

// Go reads only whole seconds. With any other value Metacontroller would call again at once.
function retryLater(reply: FastifyReply, seconds: number): FastifyReply {
  return reply
    .code(429)
    .header('retry-after', String(Math.max(1, Math.ceil(seconds))))
    .send({ error: 'try again later' });
}
