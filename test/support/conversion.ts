// A package with a conversion webhook, and the server that serves it. The API server reaches the server through the Service of the
// package: with `--enable-aggregator-routing` it calls the addresses of an EndpointSlice.
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { networkInterfaces } from 'node:os';
import { at, type JsonObject, listAt, objectAt, parseJson, textAt, withPath } from '../../hooks/objects/json.ts';
import { type Client, must, type Teardown, waitFor } from './client.ts';
import { definitionOf } from './registry/builder.ts';

/** An address of this machine that an EndpointSlice may name: the API server refuses loopback addresses there. */
export const reachable = Object.values(networkInterfaces())
  .flatMap((all) => all ?? [])
  .find(({ family, internal, address }) => family === 'IPv4' && !internal && !address.startsWith('169.254.'))?.address;

const fields: Readonly<Record<string, string>> = { v1: 'one', v2: 'uno' };

/** A CRD with two versions. `spec.one` of v1 is `spec.uno` of v2, and a webhook of the package converts them. */
export function convertedThings(group: string, ...more: readonly string[]): JsonObject {
  const schemaOf = (version: string): JsonObject => {
    const names = [fields[version] ?? '', ...more];
    const properties = Object.fromEntries(names.map((name) => [name, { type: 'string' }]));
    return { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } };
  };
  const versions = ['v1', 'v2'].map((name) => ({ name, served: true, storage: name === 'v1', schema: schemaOf(name) }));
  const clientConfig = { service: { name: 'of-the-author', namespace: 'elsewhere', path: '/convert' } };
  const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } };
  const definition = definitionOf('things', group) as JsonObject;
  return { ...definition, spec: { ...objectAt(definition, 'spec'), versions, conversion } };
}

function convertedTo(apiVersion: string, object: JsonObject): JsonObject {
  const [from, to] = [textAt(object, 'apiVersion') ?? '', apiVersion].map((one) => fields[one.split('/').at(-1) ?? ''] ?? '');
  const spec = objectAt(object, 'spec');
  const moved = Object.fromEntries(Object.entries(spec).map(([name, value]) => [name === from ? to : name, value]));
  return withPath(withPath(object, ['apiVersion'], apiVersion), ['spec'], moved as JsonObject);
}

interface ConversionServer {
  /** How many reviews it has answered. */
  readonly answered: () => number;
  stop(): Promise<void>;
}

interface Place {
  readonly namespace: string;
  /** The name of the Service. */
  readonly service: string;
}

/** Serves with the certificate of a Secret, and makes the Service lead to it. */
export async function startConversion(t: Teardown, client: Client, secret: JsonObject, place: Place): Promise<ConversionServer> {
  const [cert = '', key = ''] = ['tls.crt', 'tls.key'].map((name) =>
    Buffer.from(textAt(secret, 'data', name) ?? '', 'base64').toString(),
  );
  let answered = 0;
  const server: Server = createServer({ cert, key }, async (request, answer) => {
    const review = parseJson(Buffer.concat(await request.toArray()).toString());
    const uid = textAt(review, 'request', 'uid') ?? '';
    const version = textAt(review, 'request', 'desiredAPIVersion') ?? '';
    const convertedObjects = listAt(review, 'request', 'objects').map((one) => convertedTo(version, objectAt(one)));
    answered += 1;
    const response = { uid, result: { status: 'Success' }, convertedObjects };
    answer.end(JSON.stringify({ apiVersion: 'apiextensions.k8s.io/v1', kind: 'ConversionReview', response }));
  });
  await new Promise<void>((resolve) => server.listen(0, reachable, resolve));
  const stop = async (): Promise<void> => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  t.teardown(stop);
  await lead(client, place, (server.address() as AddressInfo).port);
  return { answered: () => answered, stop };
}

async function lead(client: Client, { namespace, service }: Place, port: number): Promise<void> {
  const path = `/apis/discovery.k8s.io/v1/namespaces/${namespace}/endpointslices`;
  const name = `${service}-of-the-test`;
  const slice = {
    metadata: { name, labels: { 'kubernetes.io/service-name': service, 'endpointslice.kubernetes.io/managed-by': 'the-test' } },
    addressType: 'IPv4',
    ports: [{ name: 'webhook', port, protocol: 'TCP' }],
    endpoints: [{ addresses: [reachable ?? ''], conditions: { ready: true } }],
  };
  const live = await client.get(`${path}/${name}`);
  if (live.code === 404) must(await client.create(path, slice));
  else must(await client.patch(`${path}/${name}`, { ports: slice.ports }));
}

/** The Service of a package, which Crossplane makes elsewhere. */
export async function createService(client: Client, { namespace, service }: Place): Promise<void> {
  const spec = { ports: [{ name: 'webhook', port: 9443 }] };
  must(await client.create(`/api/v1/namespaces/${namespace}/services`, { metadata: { name: service }, spec }));
}

interface Things {
  path(version: string, name?: string): string;
  create(version: string, name: string, spec: JsonObject): Promise<void>;
  /** Resolves once the instance has these specs, as v2 and as v1. */
  converts(name: string, uno: JsonObject, one: JsonObject): Promise<void>;
}

/** The instances of `convertedThings`. */
export function thingsOf(client: Client, group: string): Things {
  const path = (version: string, name = ''): string => `/apis/${group}/${version}/things${name === '' ? '' : `/${name}`}`;
  const read = async (version: string, name: string): Promise<unknown> => {
    const answer = await client.get(path(version, name));
    return answer.code === 200 ? at(answer.body, 'spec') : answer.text;
  };
  return {
    path,
    async create(version, name, spec) {
      const object = { apiVersion: `${group}/${version}`, kind: 'Thing', metadata: { name }, spec };
      await waitFor(async () => must(await client.create(path(version), object)), `${name} to be created`);
    },
    /** The API server keeps the connection and the authority that it had for some seconds. */
    async converts(name, uno, one) {
      const isRead = async (): Promise<boolean> => {
        const found = JSON.stringify([await read('v2', name), await read('v1', name)]);
        if (found === JSON.stringify([uno, one])) return true;
        throw new Error(found);
      };
      await waitFor(isRead, `${name} to be read in both versions`);
    },
  };
}

/** The authority in the CRD. */
export function authorityIn(definition: JsonObject): string | undefined {
  return textAt(at(definition, 'spec', 'conversion', 'webhook', 'clientConfig'), 'caBundle');
}
