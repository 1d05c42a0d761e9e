// The web server around the engine. It never listens by itself: main.ts does, tests use `inject()`.
import { Server as TlsServer } from 'node:tls';
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify';
import type { Hook, StepReport } from '../hooks/call.ts';
import { type Access, guardCalls } from './access/guard.ts';
import type { TlsMaterial } from './access/tls.ts';
import { acceptJson } from './body.ts';
import type { LogLevel } from './config.ts';
import { limitConnections } from './connections.ts';
import { createMetrics, type Metrics } from './metrics.ts';
import { addHookRoutes } from './routes/hooks.ts';
import { addProbeRoutes, type Readiness } from './routes/probes.ts';
import { createRecord, errorFields, type Tell } from './telemetry.ts';
import { createWork } from './work.ts';

export interface AppParts {
  /** Makes the engine, given where its reports go. */
  readonly connectHook: (record: (report: StepReport) => void) => Hook;
  /** Takes the sentences for Events. */
  readonly tell: Tell;
  readonly readiness: Readiness;
  readonly access: Access;
  /** Figures that others count into as well; its own without any. */
  readonly metrics?: Metrics;
  readonly bodyLimit: number;
  readonly logLevel: LogLevel;
  /** Takes the log, one JSON object a line; standard output without one. */
  readonly logTo?: { readonly write: (line: string) => void };
}

export interface App {
  readonly server: FastifyInstance;
  /** What new connections see from now on; idle ones are closed, so that none goes on with what it was shown before. */
  renewTls(material: TlsMaterial): void;
  /** Readiness fails, no call is started any more; resolves when the calls under way are answered and the server is closed. */
  drain(): Promise<void>;
}

const keepAliveTimeout = 100_000; // longer than the 90 s for which Go uses a connection again, or it meets our close
const receiveTimeout = 10_000; // for a whole request, of which the network of a cluster takes milliseconds
const receiveCheckInterval = 1_000;
const handshakeTimeout = 5_000;

export function buildApp(parts: AppParts): App {
  const server = createServer(parts);
  const work = createWork();
  const metrics = parts.metrics ?? createMetrics();
  const hook = parts.connectHook(createRecord({ log: server.log, metrics, tell: parts.tell }));
  acceptJson(server);
  server.setErrorHandler(answerError);
  server.setNotFoundHandler(answerUnknown);
  const admitted = limitConnections(server.server);
  server.register(async (scope) => {
    countCalls(scope, metrics);
    await guardCalls(scope, parts.access, admitted);
    addHookRoutes(scope, { hook, work, lost: metrics.lost });
  });
  addProbeRoutes(server, { readiness: parts.readiness, metrics, work });
  return {
    server,
    renewTls(material) {
      if (server.server instanceof TlsServer) server.server.setSecureContext(material);
      server.server.closeIdleConnections();
    },
    async drain() {
      await work.drain();
      await server.close();
    },
  };
}

function createServer({ bodyLimit, logLevel, logTo, access: { tls } }: AppParts): FastifyInstance {
  const options = {
    bodyLimit,
    keepAliveTimeout,
    requestTimeout: receiveTimeout,
    forceCloseConnections: 'idle',
    logController: new LogController({ disableRequestLogging: true }),
    logger: { level: logLevel, base: null, timestamp: isoTime, ...(logTo && { stream: logTo }) },
    frameworkErrors: answerError,
  } as const;
  // Both: Node takes the shorter one for the headers, whichever it is.
  const http = {
    headersTimeout: receiveTimeout,
    requestTimeout: receiveTimeout,
    connectionsCheckingInterval: receiveCheckInterval,
  };
  if (tls === undefined) return fastify({ ...options, http });
  // Without a good certificate a connection is taken all the same: probes have none, and the guard asks for it.
  const https = { ...tls, ...http, handshakeTimeout, requestCert: tls.ca !== undefined, rejectUnauthorized: false };
  return fastify({ ...options, https }) as unknown as FastifyInstance;
}

function countCalls(server: FastifyInstance, metrics: Metrics): void {
  server.addHook('onResponse', ({ routeOptions }, { statusCode, elapsedTime }, done) => {
    const path = routeOptions.url ?? '';
    if (path === '/sync' || path === '/finalize') metrics.hookRequest({ path, code: statusCode, seconds: elapsedTime / 1000 });
    done();
  });
}

function isoTime(): string {
  return `,"time":"${new Date().toISOString()}"`;
}

const errorsByCode: Readonly<Record<number, string>> = {
  400: 'the request cannot be read: expected one JSON object',
  413: 'the request body is too large, in bytes, in levels or in values',
  415: 'expected content-type application/json',
};

// Bodies are constant: Metacontroller puts them into Events.
function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const code = error.statusCode ?? 500;
  const known = errorsByCode[code];
  if (known !== undefined) return reply.code(code).send({ error: known });
  request.log.error(errorFields(error), 'a call failed by a fault of the hook');
  return reply.code(500).send({ error: 'internal error' });
}

const methods: Readonly<Record<string, string>> = {
  '/sync': 'POST',
  '/finalize': 'POST',
  '/healthz': 'GET, HEAD',
  '/readyz': 'GET, HEAD',
  '/metrics': 'GET, HEAD',
  '/openapi.json': 'GET, HEAD',
};

function answerUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [path = ''] = request.url.split('?');
  if (!Object.hasOwn(methods, path)) return reply.code(404).send({ error: 'not found' });
  return reply.code(405).header('allow', methods[path]).send({ error: 'method not allowed' });
}
