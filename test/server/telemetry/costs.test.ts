// The cost of each namespace: calls, their time, and the bytes read; the first namespaces by name, and no counter ever moves.
import t from 'tap';
import type { Hook } from '../../../hooks/transactions/call.ts';
import { countRequests } from '../../../server/telemetry/api-requests.ts';
import { defineMetrics } from '../../../server/telemetry/definitions.ts';
import { createEventRecorder } from '../../../server/telemetry/events.ts';
import { createMetrics } from '../../../server/telemetry/metrics.ts';
import { freeNamespace } from '../../support/client.ts';
import { connectToCluster } from '../../support/install.ts';
import { configMap, create, engine, openCluster } from '../kubernetes/real.ts';
import { request, rest, testApp } from '../parts.ts';

const definitions = defineMetrics();
const metrics = createMetrics({ definitions });
const client = connectToCluster();
const cluster = openCluster({ instrument: (transport) => countRequests(transport, definitions) });
t.teardown(() => Promise.all([client.close(), cluster.close()]));

async function figures(metric: string): Promise<Readonly<Record<string, number>>> {
  const lines = (await metrics.text()).matchAll(new RegExp(`^${metric}\\{transaction_namespace="(.*)"\\} (.*)$`, 'gm'));
  return Object.fromEntries([...lines].map(([, namespace = '', value]) => [namespace, Number(value)]));
}

function callsBy(hook: Hook): (namespace: string) => Promise<number> {
  const { server } = testApp({ metrics, hook });
  return async (namespace) => {
    const parent = { ...request.parent, metadata: { ...request.parent.metadata, namespace } };
    return (await server.inject({ method: 'POST', url: '/sync', payload: { parent } })).statusCode;
  };
}

t.test('the hook counts the bytes that the API server answered in the calls of a namespace', async (t) => {
  const namespace = await freeNamespace(client, 'costs', t);
  await create(cluster, configMap('large', { text: 'ü'.repeat(50_000) }), namespace);
  const path = `/api/v1/namespaces/${namespace}/configmaps/large`;
  const size = Buffer.byteLength((await client.get(path)).text);
  t.ok(size > 100_000, 'not characters');
  const recorder = createEventRecorder(cluster.transport);
  const call = callsBy(async ({ namespace: asked }) => {
    const event = { type: 'Normal', reason: 'Applied', message: 'a', at: 0, position: [1, 1] } as const;
    recorder.record({ ...event, namespace, name: 'a', uid: 'a' });
    await recorder.flush(30_000);
    for (let read = asked === 'shop' ? 2 : 1; read > 0; read -= 1)
      await cluster.transport.request({ method: 'GET', path }, engine);
    await cluster.transport.request({ method: 'GET', path: `${path}-none` }, engine);
    return rest;
  });
  t.same(await figures('janus_namespace_read_bytes_total'), { Other: 0 });
  t.same(await Promise.all([call('shop'), call('team-a')]), [200, 200]);
  t.same(await figures('janus_namespace_read_bytes_total'), { Other: 0, shop: 2 * size, 'team-a': size });
});

t.test('a failed call counts too; after 20 namespaces all others share one label', async (t) => {
  const call = callsBy(async ({ namespace }) => {
    if (namespace === 'broken') throw new Error('a fault');
    return rest;
  });
  t.equal(await call('broken'), 500);
  const names = Array.from({ length: 20 }, (_, index) => `team-${index}`);
  for (const namespace of [...names, 'shop', 'team-19', 'team-18']) await call(namespace);
  const own = Object.fromEntries(['team-a', 'broken', ...names.slice(0, 17)].map((namespace) => [namespace, 1]));
  t.same(await figures('janus_namespace_calls_total'), { Other: 5, shop: 2, ...own });
  const seconds = await figures('janus_namespace_call_seconds_total');
  t.same(Object.keys(seconds).sort(), Object.keys({ Other: 5, shop: 2, ...own }).sort());
  t.ok(Object.values(seconds).every((value) => value > 0));
});
