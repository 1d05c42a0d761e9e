// A Node whose kubelet serves logs: the API server fetches them from it, as from a real one. The Pods of other tests are not assigned to it.
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { makeCertificate } from './certificate.ts';
import { type Client, must, type Teardown } from './client.ts';

const taint = { key: 'test.janus.io/node', effect: 'NoSchedule' } as const;

/** For a Pod that may run there. */
export const toleration = { key: taint.key, operator: 'Exists' } as const;

/** The container, and the query of the request. */
type LogOf = (container: string, query: URLSearchParams) => string;

/** Returns its name. */
export async function startNode(t: Teardown, client: Client, namespace: string, logOf: LogOf): Promise<string> {
  const { certificate, key } = makeCertificate();
  const kubelet = createServer({ cert: certificate, key }, ({ url = '' }, response) => {
    const { pathname, searchParams } = new URL(url, 'https://kubelet');
    response.end(logOf(pathname.split('/').at(-1) ?? '', searchParams));
  });
  await new Promise<void>((resolve) => kubelet.listen(0, '127.0.0.1', resolve));
  t.teardown(() => kubelet.close());
  const name = `node-${namespace}`;
  must(await client.create('/api/v1/nodes', { metadata: { name } }));
  t.teardown(() => client.delete(`/api/v1/nodes/${name}`));
  // Admission has added the taint of a Node that is not ready, and no controller of the tests takes it away.
  must(await client.patch(`/api/v1/nodes/${name}`, { spec: { taints: [taint] } }));
  const now = new Date().toISOString().replace(/\.\d+/, '');
  const status = {
    addresses: [{ type: 'InternalIP', address: '127.0.0.1' }],
    daemonEndpoints: { kubeletEndpoint: { Port: (kubelet.address() as AddressInfo).port } },
    conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: now, lastTransitionTime: now }],
  };
  must(await client.patch(`/api/v1/nodes/${name}/status`, { status }));
  return name;
}
