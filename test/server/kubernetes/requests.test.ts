// From writes to requests, without a cluster: the path, query and body, and the names that are never sent.
import t from 'tap';
import type { Location, Resource, Write } from '../../../hooks/objects/cluster.ts';
import { impersonationHeaders } from '../../../server/kubernetes/impersonation.ts';
import { collectionPath, groupVersionPath, objectPath } from '../../../server/kubernetes/paths.ts';
import { requestOfWrite } from '../../../server/kubernetes/requests.ts';

const deployments: Resource = {
  group: 'apps',
  version: 'v1',
  plural: 'deployments',
  kind: 'Deployment',
  namespaced: true,
  verbs: [],
  statusSubresource: true,
};
const clusterRoles: Resource = {
  ...deployments,
  group: 'rbac.authorization.k8s.io',
  plural: 'clusterroles',
  kind: 'ClusterRole',
};
const configMaps: Resource = { ...deployments, group: '', plural: 'configmaps', kind: 'ConfigMap' };
const web: Location = { resource: deployments, namespace: 'shop', name: 'web' };
const identity = { kind: 'engine' } as const;
const precondition = { uid: 'u-1', resourceVersion: '7' };
const object = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web', labels: { a: 'b' } } };

t.test('a write has the path of its object', async (t) => {
  t.equal(objectPath(web), '/apis/apps/v1/namespaces/shop/deployments/web');
  t.equal(objectPath(web, 'status'), '/apis/apps/v1/namespaces/shop/deployments/web/status');
  t.equal(objectPath({ resource: configMaps, namespace: 'shop', name: 'a.b' }), '/api/v1/namespaces/shop/configmaps/a.b');
  t.equal(
    objectPath({ resource: clusterRoles, name: 'system:node' }),
    '/apis/rbac.authorization.k8s.io/v1/clusterroles/system%3Anode',
  );
  t.equal(collectionPath(deployments, undefined), '/apis/apps/v1/deployments');
  t.equal(groupVersionPath('v1'), '/api/v1');
  t.equal(groupVersionPath('apps/v1'), '/apis/apps/v1');
});

const impossible = ['', '.', '..', 'a/b', 'web/status', '../secrets/x', 'a%2Fb', '%', 'a\ud800'];

for (const name of impossible)
  t.test(`the port puts the name ${JSON.stringify(name)} into no path`, async (t) => {
    t.equal(objectPath({ ...web, name }), undefined);
    t.equal(objectPath({ ...web, namespace: name }), undefined);
    t.equal(groupVersionPath(`${name}/v1`), undefined);
    const create: Write = { verb: 'create', identity, location: { ...web, name }, object, fieldManager: 'm' };
    t.equal(requestOfWrite(create, { timeout: 1000, dryRun: false }).path, undefined, 'nor created');
  });

t.test('odd names stay inside their segment', async (t) => {
  t.equal(objectPath({ ...web, name: 'a?b=c#d' }), '/apis/apps/v1/namespaces/shop/deployments/a%3Fb%3Dc%23d');
  t.equal(objectPath({ ...web, name: 'a\r\nb' }), '/apis/apps/v1/namespaces/shop/deployments/a%0D%0Ab');
  t.equal(groupVersionPath('a/b/c'), undefined);
});

t.test('every write has a timeout, and preconditions in the place that the API server reads', async (t) => {
  const options = { timeout: 10_000, dryRun: false };
  t.same(requestOfWrite({ verb: 'create', identity, location: web, object, fieldManager: 'm' }, options), {
    method: 'POST',
    path: '/apis/apps/v1/namespaces/shop/deployments',
    query: { fieldManager: 'm', fieldValidation: 'Strict' },
    contentType: 'application/json',
    body: object,
    lifetime: 10_000,
  });
  t.same(requestOfWrite({ verb: 'update', identity, location: web, object, precondition, fieldManager: 'm' }, options), {
    method: 'PUT',
    path: '/apis/apps/v1/namespaces/shop/deployments/web',
    query: { fieldManager: 'm', fieldValidation: 'Strict' },
    contentType: 'application/json',
    body: { ...object, metadata: { ...object.metadata, ...precondition } },
    lifetime: 10_000,
  });
  t.same(requestOfWrite({ verb: 'apply', identity, location: web, object, precondition, fieldManager: 'm' }, options), {
    method: 'PATCH',
    path: '/apis/apps/v1/namespaces/shop/deployments/web',
    query: { fieldManager: 'm', fieldValidation: 'Strict', force: 'true' },
    contentType: 'application/apply-patch+yaml',
    body: { ...object, metadata: { ...object.metadata, ...precondition } },
    lifetime: 10_000,
  });
  t.same(requestOfWrite({ verb: 'delete', identity, location: web, precondition }, options), {
    method: 'DELETE',
    path: '/apis/apps/v1/namespaces/shop/deployments/web',
    contentType: 'application/json',
    body: { apiVersion: 'v1', kind: 'DeleteOptions', preconditions: precondition, propagationPolicy: 'Background' },
    lifetime: 10_000,
  });
});

t.test('a write of the status goes to the subresource', async (t) => {
  const write: Write = {
    verb: 'update',
    identity,
    location: web,
    object,
    precondition,
    fieldManager: 'm',
    subresource: 'status',
  };
  t.match(requestOfWrite(write, { timeout: 10_000, dryRun: false }).path, /\/web\/status$/);
});

t.test('a dry run is requested in the body of a delete, and in the query of other verbs', async (t) => {
  const options = { timeout: 1000, dryRun: true };
  const create = requestOfWrite({ verb: 'create', identity, location: web, object, fieldManager: 'm' }, options);
  t.match(create.query, { dryRun: 'All' });
  const deletion = requestOfWrite({ verb: 'delete', identity, location: web, precondition }, options);
  t.match(deletion, { query: { dryRun: 'All' }, body: { dryRun: ['All'] } });
});

t.test('the location names the object, whatever the content says', async (t) => {
  const renamed = { ...object, metadata: { name: 'another' } };
  const write: Write = { verb: 'create', identity, location: web, object: renamed, fieldManager: 'm' };
  t.match(requestOfWrite(write, { timeout: 1000, dryRun: false }).body, { metadata: { name: 'web' } });
});

t.test('a request impersonates its identity', async (t) => {
  t.same(impersonationHeaders({ kind: 'engine' }), {});
  t.same(impersonationHeaders({ kind: 'serviceAccount', namespace: 'shop', name: 'de.ployer' }), {
    'impersonate-user': 'system:serviceaccount:shop:de.ployer',
  });
});

for (const odd of ['', 'a:b', 'a\r\nImpersonate-Group: system:masters', 'ä', 'A', 'a b', '-a', 'a'.repeat(254)])
  t.test(`the port impersonates no user named ${JSON.stringify(odd.slice(0, 20))}`, async (t) => {
    t.equal(impersonationHeaders({ kind: 'serviceAccount', namespace: 'shop', name: odd }), undefined);
    t.equal(impersonationHeaders({ kind: 'serviceAccount', namespace: odd, name: 'a' }), undefined);
  });
