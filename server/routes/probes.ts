// GET /healthz (the process answers), /readyz (it can work), /metrics, and /openapi.json: what the hook takes and answers.
import type { FastifyInstance } from 'fastify';
import type { Metrics } from '../metrics.ts';
import { openApiDocument } from '../openapi.ts';
import type { Work } from '../work.ts';

/** Why the hook cannot work now, in words for people; undefined when it can. */
export type Readiness = () => Promise<string | undefined>;

export interface ProbeRoutes {
  readonly readiness: Readiness;
  readonly metrics: Metrics;
  readonly work: Work;
}

export function addProbeRoutes(server: FastifyInstance, { readiness, metrics, work }: ProbeRoutes): void {
  server.get('/healthz', async () => ({ ok: true }));
  server.get('/readyz', async (_request, reply) => {
    const obstacle = work.draining ? 'the hook is shutting down' : await readiness();
    return obstacle === undefined ? { ok: true } : reply.code(503).send({ ok: false, reason: obstacle });
  });
  server.get('/metrics', async (_request, reply) => reply.type(metrics.contentType).send(await metrics.text()));
  // Made when it is asked for: hardly anybody does, so nothing is kept.
  server.get('/openapi.json', async () => openApiDocument());
}

/** Asks at most once in so many ms, however many probes come. */
export function cachedReadiness(ask: Readiness, milliseconds: number, monotonic: () => number): Readiness {
  let latest: { readonly at: number; readonly obstacle: Promise<string | undefined> } | undefined;
  return () => {
    if (latest === undefined || monotonic() - latest.at >= milliseconds) latest = { at: monotonic(), obstacle: ask() };
    return latest.obstacle;
  };
}
