// For `helm test`, run by the image's Node: a Transaction that creates a ConfigMap is committed, and both are removed.
import { readFileSync } from 'node:fs';

const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port, TOKEN_FILE, TEST_NAMESPACE: namespace } = process.env;
const authority = `${host.includes(':') ? `[${host}]` : host}:${port}`; // an IPv6 address goes in brackets
const headers = { authorization: `Bearer ${readFileSync(TOKEN_FILE, 'utf8')}`, 'content-type': 'application/json' };
const name = `janus-helm-test-${Math.random().toString(36).slice(2, 10)}`;
const transactions = `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`;

async function send(method, path, body) {
  const reply = await fetch(`https://${authority}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const object = await reply.json();
  if (!reply.ok) throw new Error(`${method} ${path}: ${object.message}`);
  return object;
}

async function ended() {
  for (const end = Date.now() + 60_000; Date.now() < end; await new Promise((resolve) => setTimeout(resolve, 500))) {
    const { status } = await send('GET', `${transactions}/${name}`);
    const is = (type) => status?.conditions?.some((one) => one.type === type && one.status === 'True');
    if (is('Finished')) return is('Succeeded') ? 'Committed' : `${status.phase}: ${status.message}`;
  }
  return 'not Finished within 60 s: does Metacontroller run, and does it reach the Service of the engine?';
}

const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { committed: 'yes' } };
const spec = { serviceAccountName: 'janus-helm-test', changes: [{ type: 'Apply', content }] };
await send('POST', transactions, { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name }, spec });
const end = await ended();
if (end === 'Committed') await send('DELETE', `/api/v1/namespaces/${namespace}/configmaps/${name}`);
await send('DELETE', `${transactions}/${name}`);
process.stdout.write(`Transaction ${namespace}/${name}: ${end}\n`);
process.exitCode = end === 'Committed' ? 0 : 1;
