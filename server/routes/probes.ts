// GET /healthz (the process answers), /readyz (it can serve calls), /metrics, and /openapi.json (the interface of the hook).
import type { FastifyInstance } from 'fastify';
import { openApiDocument } from '../openapi.ts';
import type { Metrics } from '../telemetry/metrics.ts';
import type { Work } from '../work.ts';

/** The reason why the hook cannot serve calls now; undefined if it can. */
export type Readiness = () => string | undefined;

interface ProbeRoutes {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly work: Work;
}

export function addProbeRoutes(server: FastifyInstance, { readiness, metrics, work }: ProbeRoutes): void {
  server.get('/healthz', async () => ({ ok: true }));
  server.get('/readyz', async (_request, reply) => {
    const obstacle = work.draining ? 'the hook is shutting down' : readiness();
    return obstacle === undefined ? { ok: true } : reply.code(503).send({ ok: false, reason: obstacle });
  });
  server.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  // The document is built for each request. Requests are rare, so it is not cached.
  server.get('/openapi.json', async () => openApiDocument());
}
