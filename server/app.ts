// The web server around the engine. It does not listen by itself: main.ts listens, and tests use `inject()`.
import { Server as TlsServer } from 'node:tls';
import { type FastifyError, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify, LogController } from 'fastify';
import type { OwnEvent, OwnReport, PackageEvent, PackageReport } from '../hooks/crossplane/call.ts';
import type { Hook, StepReport } from '../hooks/transactions/call.ts';
import { type Access, guardCalls } from './access/guard.ts';
import type { TlsMaterial } from './access/tls.ts';
import { acceptJson } from './body.ts';
import type { LogLevel } from './config-rules.ts';
import { limitConnections } from './connections.ts';
import { addHookRoutes } from './routes/hooks.ts';
import { addPackageRoutes, type PackageRoutes } from './routes/packages.ts';
import { addProbeRoutes, type Readiness } from './routes/probes.ts';
import { withCosts } from './telemetry/costs.ts';
import type { TransactionEvent } from './telemetry/events.ts';
import type { Metrics } from './telemetry/metrics.ts';
import { createRecord, errorFields, type RecordEvent } from './telemetry/record.ts';
import { createWork, type Work } from './work.ts';

export interface AppParts {
  /** Makes the engine; `record` takes its reports. */
  readonly connectHook: (record: (report: StepReport) => void) => Hook;
  readonly recordEvent: RecordEvent;
  /** Absent: the hook does not serve package transactions. */
  readonly packages?: ConnectPackages;
  readonly readiness: Readiness;
  readonly access: Access;
  readonly metrics: Metrics;
  readonly bodyLimit: number;
  readonly logLevel: LogLevel;
  /** The destination of the log, one JSON object a line; the default is standard output. */
  readonly logTo?: { readonly write: (line: string) => void };
}

/** Makes the coordinator of packages; `record` takes its reports, `recordOwn` those about Packages. */
export type ConnectPackages = (
  record: (report: PackageReport) => void,
  recordOwn: (report: OwnReport) => void,
) => Omit<PackageRoutes, 'work'>;

export interface App {
  readonly server: FastifyInstance;
  /** Takes effect for new connections. The server closes idle connections, so that none keeps the old certificate. */
  renewTls(material: TlsMaterial): void;
  /** Readiness fails, and no further call starts. Resolves when the calls in flight are answered and the server is closed. */
  drain(): Promise<void>;
}

const keepAliveTimeoutMs = 100_000; // longer than the 90 s for which Go reuses a connection, or a request meets the close
const receiveTimeoutMs = 10_000; // for a whole request; the network of a cluster takes milliseconds
const receiveCheckInterval = 1_000;
const handshakeTimeoutMs = 5_000;

export function buildApp(parts: AppParts): App {
  const server = createServer(parts);
  const work = createWork();
  const { metrics, recordEvent } = parts;
  const hook = withCosts(parts.connectHook(createRecord({ log: server.log, metrics, recordEvent })), metrics.called);
  acceptJson(server);
  server.setErrorHandler(answerError);
  server.setNotFoundHandler(answerUnknown);
  const admitted = limitConnections(server.server);
  server.register(async (scope) => {
    countCalls(scope, metrics);
    await guardCalls(scope, parts.access, admitted);
    addHookRoutes(scope, { hook, work, replyLost: metrics.replyLost });
    if (parts.packages !== undefined) servePackages(scope, { connect: parts.packages, metrics, recordEvent, work });
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

interface PackageParts {
  readonly connect: ConnectPackages;
  readonly metrics: Metrics;
  readonly recordEvent: AppParts['recordEvent'];
  readonly work: Work;
}

function servePackages(scope: FastifyInstance, { connect, metrics, recordEvent, work }: PackageParts): void {
  metrics.startPackages();
  const record = (report: PackageReport): void => {
    const { thrown, event, ...fields } = report;
    scope.log.info(fields, 'package transaction');
    if (thrown !== undefined) scope.log.error({ ...fields, ...errorFields(thrown) }, 'package transaction: internal error');
    metrics.recordPackages(report);
    if (event !== undefined) recordEvent(eventOf(report, event));
  };
  const recordOwn = ({ thrown, event, ...fields }: OwnReport): void => {
    scope.log.info(fields, 'package');
    if (event !== undefined) recordEvent(eventOf(fields, event, fields.kind));
    if (thrown !== undefined) scope.log.error({ ...fields, ...errorFields(thrown) }, 'package: internal error');
  };
  addPackageRoutes(scope, { ...connect(record, recordOwn), work });
}

/** `kind`: that of a Package. */
function eventOf(
  { name, uid }: Pick<PackageReport, 'name' | 'uid'>,
  { version, ...event }: PackageEvent | OwnEvent,
  kind?: OwnReport['kind'],
): TransactionEvent {
  return { type: 'Normal', ...event, namespace: undefined, name, uid, position: [version, 0], ...(kind && { kind }) };
}

function createServer({ bodyLimit, logLevel, logTo, access: { tls } }: AppParts): FastifyInstance {
  const options = {
    bodyLimit,
    keepAliveTimeout: keepAliveTimeoutMs,
    requestTimeout: receiveTimeoutMs,
    forceCloseConnections: 'idle',
    logController: new LogController({ disableRequestLogging: true }),
    logger: { level: logLevel, base: null, timestamp: isoTime, ...(logTo && { stream: logTo }) },
    frameworkErrors: answerError,
  } as const;
  // Both are set, because Node uses the shorter one for the headers.
  const http = {
    headersTimeout: receiveTimeoutMs,
    requestTimeout: receiveTimeoutMs,
    connectionsCheckingInterval: receiveCheckInterval,
  };
  if (tls === undefined) return fastify({ ...options, http });
  // The server accepts a connection without a valid certificate, because probes have none. The guard requires one for calls.
  const https = {
    ...tls,
    ...http,
    handshakeTimeout: handshakeTimeoutMs,
    requestCert: tls.ca !== undefined,
    rejectUnauthorized: false,
  };
  return fastify({ ...options, https }) as unknown as FastifyInstance;
}

const calls = [
  '/sync',
  '/finalize',
  '/packages/sync',
  '/packages/finalize',
  '/packages/customize',
  '/packages/status/sync',
  '/packages/status/customize',
  '/packages/own/sync',
  '/packages/own/finalize',
  '/packages/own/customize',
];

function countCalls(server: FastifyInstance, metrics: Metrics): void {
  server.addHook('onResponse', ({ routeOptions }, { statusCode, elapsedTime }, done) => {
    const path = routeOptions.url ?? '';
    if (calls.includes(path)) metrics.hookRequest({ path, code: statusCode, seconds: elapsedTime / 1000 });
    done();
  });
}

function isoTime(): string {
  return `,"time":"${new Date().toISOString()}"`;
}

const errorsByCode: Readonly<Record<number, string>> = {
  400: 'the request is not one JSON object',
  413: 'the request body has too many bytes, levels or values',
  415: 'the content type must be application/json',
};

// Bodies are constant: Metacontroller puts them into Events.
function answerError(error: FastifyError, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const code = error.statusCode ?? 500;
  const known = errorsByCode[code];
  if (known !== undefined) return reply.code(code).send({ error: known });
  request.log.error(errorFields(error), 'call failed: internal error');
  return reply.code(500).send({ error: 'internal error' });
}

function answerUnknown(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const [url = ''] = request.url.split('?');
  const allowed = (['GET', 'HEAD', 'POST'] as const).filter((method) => request.server.hasRoute({ url, method }));
  if (allowed.length === 0) return reply.code(404).send({ error: 'not found' });
  return reply.code(405).header('allow', allowed.join(', ')).send({ error: 'method not allowed' });
}
