// Authenticates calls of /sync and /finalize: by bearer token and, if an authority is configured, by a certificate that it signed.
// The guard checks before the hook reads the body, so that an unauthenticated caller cannot make the hook store or parse data.
// Health and metrics need no credentials: probes and Prometheus have none, and these routes show no secrets.
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { fastifyBearerAuth } from '@fastify/bearer-auth';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { TlsMaterial } from './tls.ts';

export interface Access {
  /** Undefined: authentication is disabled. */
  readonly acceptsToken: ((token: string) => boolean) | undefined;
  /** Undefined: plain HTTP. With `ca`, callers must present a certificate. */
  readonly tls: TlsMaterial | undefined;
}

const refusal = { error: 'unauthorized' };

/** Guards the routes that are added to `scope` from now on; calls `admitted` with the connection of every authenticated call. */
export async function guardCalls(scope: FastifyInstance, access: Access, admitted: (socket: Socket) => void): Promise<void> {
  const { acceptsToken, tls } = access;
  const note = refusalsFor(scope.log);
  scope.addHook('onSend', async (_request, reply) => {
    if (reply.statusCode !== 401) return;
    reply.header('www-authenticate', 'Bearer');
    note();
  });
  if (tls?.ca !== undefined)
    scope.addHook('onRequest', async (request, reply) => {
      const { socket } = request.raw;
      if (!(socket instanceof TLSSocket && socket.authorized)) return reply.code(401).send(refusal);
    });
  if (acceptsToken !== undefined)
    await scope.register(fastifyBearerAuth, {
      keys: [],
      auth: acceptsToken,
      errorResponse: () => refusal,
      specCompliance: 'rfc6749', // `bearer` in any case
      verifyErrorLogLevel: 'debug',
    });
  scope.addHook('onRequest', async (request) => admitted(request.raw.socket));
}

const quiet = 10_000;

/** Logs rejected calls at most every ten seconds, so that an unauthenticated caller cannot fill the log. */
function refusalsFor(log: FastifyBaseLogger): () => void {
  let refused = 0;
  let loggedAt = Number.NEGATIVE_INFINITY;
  return () => {
    refused += 1;
    if (performance.now() - loggedAt < quiet) return;
    log.warn({ refused }, 'rejected calls without a valid token or certificate');
    refused = 0;
    loggedAt = performance.now();
  };
}
