// POST /packages/sync, /packages/finalize and /packages/customize; /packages/status/… for the status of Packages; /packages/own/… for
// Packages that make their own package transactions; if the hook serves package transactions; 404 otherwise. The rules of /sync apply (routes/hooks.ts): Metacontroller decodes replies strictly, and an expected condition is never an error code.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { OwnCall, OwnHook, PackageCall, PackageHook } from '../../hooks/crossplane/call.ts';
import { relatedResources, relatedRevisions, relatedToOwn } from '../../hooks/crossplane/customize.ts';
import { timeOf } from '../../hooks/crossplane/model/status.ts';
import { packageStatusOf } from '../../hooks/crossplane/package-status.ts';
import type { Json, JsonObject } from '../../hooks/objects/json.ts';
import {
  type Validated,
  validateOwnCustomize,
  validateOwnRequest,
  validatePackageCustomize,
  validatePackageRequest,
  validateStatusRequest,
} from '../validation.ts';
import type { Work } from '../work.ts';

export interface PackageRoutes {
  readonly hook: PackageHook;
  readonly own: OwnHook;
  readonly work: Work;
  /** The namespace of stages. */
  readonly namespace: string;
}

type Serve = (call: Omit<PackageCall, 'finalizing'>) => Promise<JsonObject>;

export function addPackageRoutes(server: FastifyInstance, { hook, own, work, namespace }: PackageRoutes): void {
  const serving = (finalizing: boolean): Serve => {
    return async (call) => {
      const { status, resyncAfterSeconds, finalized } = await work.run(() => hook({ ...call, finalizing }));
      return { status, children: [], resyncAfterSeconds, ...(finalizing ? { finalized } : {}) };
    };
  };
  const routes: Readonly<Record<string, Serve>> = {
    '/packages/sync': serving(false),
    '/packages/finalize': serving(true),
    '/packages/customize': async ({ uid }) => ({ relatedResources: relatedResources(uid, namespace) }),
  };
  for (const [path, serve] of Object.entries(routes))
    server.post(path, answering({ work, validate: validatePackageRequest, serve }));
  server.post('/packages/status/sync', answering({ work, validate: validateStatusRequest, serve: statusAnswer }));
  const customize = async ({ pkg }: WithPackage) => ({ relatedResources: relatedRevisions(pkg) });
  server.post('/packages/status/customize', answering({ work, validate: validatePackageCustomize, serve: customize }));
  for (const isFinalizing of [false, true]) {
    const serve = async (call: Omit<OwnCall, 'isFinalizing'>) => {
      const { finalized, ...rest } = await work.run(() => own({ ...call, isFinalizing }));
      return { ...rest, attachments: [], ...(isFinalizing ? { finalized } : {}) };
    };
    const path = `/packages/own/${isFinalizing ? 'finalize' : 'sync'}`;
    server.post(path, answering({ work, validate: validateOwnRequest, serve }));
  }
  const customizeOwn = async ({ pkg }: WithPackage) => ({ relatedResources: relatedToOwn(pkg) });
  server.post('/packages/own/customize', answering({ work, validate: validateOwnCustomize, serve: customizeOwn }));
}

interface WithPackage {
  readonly pkg: JsonObject;
}

async function statusAnswer({ pkg, revisions }: { readonly pkg: JsonObject; readonly revisions: readonly JsonObject[] }) {
  return { status: packageStatusOf(pkg, revisions, timeOf(Date.now())), attachments: [] };
}

interface Answering<Call> {
  readonly work: Work;
  readonly validate: (body: Json | undefined) => Validated<Call>;
  readonly serve: (call: Call) => Promise<JsonObject>;
}

function answering<Call>({ work, validate, serve }: Answering<Call>) {
  return async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const validated = validate(request.body as Json | undefined);
    if (validated.kind === 'faults') return refuse(reply, validated.faults);
    if (work.draining) return later(reply);
    return reply.type('application/json').send(JSON.stringify(await serve(validated.call)));
  };
}

function later(reply: FastifyReply): FastifyReply {
  return reply.header('connection', 'close').code(429).header('retry-after', '1').send({ error: 'try again later' });
}

function refuse(reply: FastifyReply, faults: readonly object[]): FastifyReply {
  return reply.code(400).send({ error: 'not a valid Metacontroller request for a package transaction', faults });
}
