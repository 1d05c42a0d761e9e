// The command line against answers that an API server gives seldom: pure of any control plane.
import type { IncomingMessage } from 'node:http';
import t from 'tap';
import { startAnswers, status, typed } from './here.ts';

const resources = {
  kind: 'APIResourceList',
  groupVersion: 'v1',
  resources: [
    { name: 'configmaps', kind: 'ConfigMap', namespaced: true, verbs: ['get', 'list', 'create', 'patch', 'update', 'delete'] },
    { name: 'namespaces', kind: 'Namespace', namespaced: false, verbs: ['get', 'list', 'create', 'patch', 'update', 'delete'] },
  ],
};

/** A cluster that serves ConfigMaps and Namespaces, lets everybody do everything, and has nothing in it. */
function empty({ method, url = '' }: IncomingMessage) {
  if (url.startsWith('/api/v1?') || url === '/api/v1') return { body: resources };
  if (url.includes('selfsubjectaccessreviews')) return { code: 201, body: { status: { allowed: true } } };
  if (method === 'POST' || method === 'PATCH') return undefined;
  return status(404, 'NotFound');
}

t.test('rbac prints no Role where not all permissions are known', async (t) => {
  const seen: string[] = [];
  const server = await startAnswers(t, (request) => {
    seen.push(`${request.method} ${request.url}`);
    if (request.method === 'PATCH') return status(503, 'ServiceUnavailable');
    return empty(request) ?? status(404, 'NotFound');
  });
  const found = await typed(t, ['rbac', '-f', 'cm.json', '--service-account', 'deployer'], { server });
  t.same([found.code, found.out], [1, ''], JSON.stringify([found, seen], null, 1));
  t.match(found.err, /^janus: Not all permissions are known, and no Role is printed: not all changes could be tried \(Serv/m);
});
