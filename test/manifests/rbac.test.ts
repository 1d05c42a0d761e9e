// The rights of the engine: exactly these, and the API server agrees.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { freeNamespace, must } from '../support/client.ts';
import { connectToCluster, engineNamespace, installManifests, readManifest } from '../support/install.ts';

const client = connectToCluster();
t.teardown(() => client.close());
await installManifests(client);
const engine = client.asServiceAccount(engineNamespace, 'janus');

const everywhere = [
  'transactions.tx.janus.io: get list delete',
  'configmaps: get list create update delete',
  'serviceaccounts: get impersonate',
  'events: create',
];

const inItsNamespace = [
  'leases.coordination.k8s.io: get list create update delete',
  'secrets janus-sealing-key: get',
  'secrets: create',
];

t.test('the roles contain exactly these rules', async (t) => {
  const roles = (await readManifest('rbac.yaml')).filter((object) => object.kind === 'ClusterRole' || object.kind === 'Role');
  t.same(
    roles.map((role) => [
      role.kind,
      textAt(role, 'metadata', 'namespace'),
      (at(role, 'rules') as readonly JsonObject[]).map(inShort),
    ]),
    [
      ['ClusterRole', undefined, everywhere],
      ['Role', engineNamespace, inItsNamespace],
    ],
  );
});

function inShort(rule: JsonObject): string {
  const words = (key: string): string => ((rule[key] ?? []) as readonly string[]).join(' ');
  const [group, names] = [words('apiGroups'), words('resourceNames')];
  return `${words('resources')}${group && `.${group}`}${names && ` ${names}`}: ${words('verbs')}`;
}

interface Row {
  readonly reason: string;
  readonly allowed: boolean;
  readonly verb: string;
  readonly group?: string;
  readonly resource: string;
  readonly subresource?: string;
  readonly namespace?: string;
  readonly name?: string;
}

const rows: readonly Row[] = [
  { reason: 'act as a ServiceAccount', allowed: true, verb: 'impersonate', resource: 'serviceaccounts', namespace: 'shop' },
  { reason: 'act as a user', allowed: false, verb: 'impersonate', resource: 'users' },
  { reason: 'act as a group', allowed: false, verb: 'impersonate', resource: 'groups' },
  { reason: 'read a Transaction', allowed: true, verb: 'get', group: 'tx.janus.io', resource: 'transactions', namespace: 'shop' },
  { reason: 'write a Transaction', allowed: false, verb: 'update', group: 'tx.janus.io', resource: 'transactions' },
  {
    reason: 'write its status',
    allowed: false,
    verb: 'update',
    group: 'tx.janus.io',
    resource: 'transactions',
    subresource: 'status',
  },
  { reason: 'store a snapshot', allowed: true, verb: 'create', resource: 'configmaps', namespace: 'shop' },
  { reason: "read someone's Secret", allowed: false, verb: 'get', resource: 'secrets', namespace: 'shop', name: 'old-api-key' },
  {
    reason: 'read its key',
    allowed: true,
    verb: 'get',
    resource: 'secrets',
    namespace: engineNamespace,
    name: 'janus-sealing-key',
  },
  { reason: 'read a Secret beside it', allowed: false, verb: 'get', resource: 'secrets', namespace: engineNamespace, name: 'a' },
  { reason: 'list Secrets beside it', allowed: false, verb: 'list', resource: 'secrets', namespace: engineNamespace },
  { reason: 'lock', allowed: true, verb: 'create', group: 'coordination.k8s.io', resource: 'leases', namespace: engineNamespace },
  {
    reason: "take someone's Lease",
    allowed: false,
    verb: 'update',
    group: 'coordination.k8s.io',
    resource: 'leases',
    namespace: 'kube-system',
  },
  {
    reason: 'write a target as itself',
    allowed: false,
    verb: 'patch',
    group: 'apps',
    resource: 'deployments',
    namespace: 'shop',
  },
  {
    reason: 'read definitions',
    allowed: false,
    verb: 'get',
    group: 'apiextensions.k8s.io',
    resource: 'customresourcedefinitions',
  },
  { reason: 'do anything', allowed: false, verb: '*', group: '*', resource: '*' },
];

for (const { reason, allowed, ...attributes } of rows)
  t.test(`the engine may ${allowed ? '' : 'not '}${reason}`, async (t) => {
    const review = {
      apiVersion: 'authorization.k8s.io/v1',
      kind: 'SelfSubjectAccessReview',
      spec: { resourceAttributes: attributes },
    };
    const answer = must(await engine.create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review));
    t.equal(at(answer, 'status', 'allowed'), allowed);
  });

t.test('a ServiceAccount without rights may review its own permissions', async (t) => {
  const namespace = await freeNamespace(client, 'rbac', t);
  const review = { spec: { resourceAttributes: { verb: 'get', resource: 'secrets', namespace } } };
  const account = client.asServiceAccount(namespace, 'nobody');
  const answer = must(await account.create('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', review));
  t.equal(at(answer, 'status', 'allowed'), false);
});
