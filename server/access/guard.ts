// Who may call /sync and /finalize: whoever sends a token that is accepted and, where an authority is set, shows a certificate
// that it has signed. Asked before a byte of the body is read, so that nobody else can make the hook hold or parse anything.
// Health and metrics are outside: probes and Prometheus have neither, and nothing there is secret.
import type { Socket } from 'node:net';
import { TLSSocket } from 'node:tls';
import { fastifyBearerAuth } from '@fastify/bearer-auth';
import type { FastifyBaseLogger, FastifyInstance } from 'fastify';
import type { TlsMaterial } from './tls.ts';

export interface Access {
  /** Undefined: anybody may call. */
  readonly acceptsToken: ((token: string) => boolean) | undefined;
  /** Undefined: plain HTTP. With `ca`, callers must show a certificate. */
  readonly tls: TlsMaterial | undefined;
}

const refusal = { error: 'unauthorized' };

/** Guards the routes that are added to `scope` from now on; `admitted` is told the connection of every call that passes. */
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

/** Tells of refusals at most every ten seconds: who has no token shall not fill the log. */
function refusalsFor(log: FastifyBaseLogger): () => void {
  let refused = 0;
  let toldAt = Number.NEGATIVE_INFINITY;
  return () => {
    refused += 1;
    if (performance.now() - toldAt < quiet) return;
    log.warn({ refused }, 'calls without an accepted token or certificate were refused');
    refused = 0;
    toldAt = performance.now();
  };
}
