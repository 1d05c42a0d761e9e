// The web server around the engine. It never listens by itself: main.ts does, tests use `inject()`.
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify';
import type { Hook, StepReport } from '../hooks/call.ts';
import { parseJson } from '../hooks/model/json.ts';
import type { LogLevel } from './config.ts';
import { createMetrics } from './metrics.ts';
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
  readonly bodyLimit: number;
  readonly logLevel: LogLevel;
  /** Takes the log, one JSON object a line; standard output without one. */
  readonly logTo?: { readonly write: (line: string) => void };
}

export interface App {
  readonly server: FastifyInstance;
  /** Readiness fails, no call is started any more; resolves when the calls under way are answered and the server is closed. */
  drain(): Promise<void>;
}

const keepAliveTimeout = 100_000; // longer than the 90 s for which Go uses a connection again, or it meets our close
const receiveTimeout = 20_000;

export function buildApp(parts: AppParts): App {
  const server = fastify({
    bodyLimit: parts.bodyLimit,
    keepAliveTimeout,
    requestTimeout: receiveTimeout,
    forceCloseConnections: 'idle',
    logController: new LogController({ disableRequestLogging: true }),
    logger: { level: parts.logLevel, base: null, timestamp: isoTime, ...(parts.logTo && { stream: parts.logTo }) },
    frameworkErrors: answerError,
  });
  const work = createWork();
  const metrics = createMetrics();
  const hook = parts.connectHook(createRecord({ log: server.log, metrics, tell: parts.tell }));
  acceptJson(server);
  server.setErrorHandler(answerError);
  server.setNotFoundHandler(answerUnknown);
  addHookRoutes(server, { hook, work, forget: metrics.forget });
  addProbeRoutes(server, { readiness: parts.readiness, metrics, work });
  return {
    server,
    async drain() {
      await work.drain();
      await server.close();
    },
  };
}

function isoTime(): string {
  return `,"time":"${new Date().toISOString()}"`;
}

// Fastify's own parser refuses the key `__proto__`, which objects may have, and rounds integers above 2^53.
function acceptJson(server: FastifyInstance): void {
  server.removeAllContentTypeParsers();
  server.addContentTypeParser('application/json', { parseAs: 'string' }, (_request, body, done) => {
    try {
      done(null, parseJson(body.toString()));
    } catch {
      done(Object.assign(new Error('not JSON'), { statusCode: 400 }));
    }
  });
}

const errorsByCode: Readonly<Record<number, string>> = {
  400: 'the request cannot be read: expected one JSON object',
  413: 'the request body is too large',
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
};

function answerUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [path = ''] = request.url.split('?');
  if (!Object.hasOwn(methods, path)) return reply.code(404).send({ error: 'not found' });
  return reply.code(405).header('allow', methods[path]).send({ error: 'method not allowed' });
}
