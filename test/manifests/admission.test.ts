// The right to use a ServiceAccount: users try it without and with the right to impersonate it.
import t from 'tap';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Answer, type Client, freeNamespace, must, waitFor } from '../support/client.ts';
import { applyObject, connectToCluster, installManifests, readManifest } from '../support/install.ts';

const rbac = '/apis/rbac.authorization.k8s.io/v1';

function transaction(name: string, annotations: JsonObject = {}): JsonObject {
  const target = { apiVersion: 'v1', kind: 'ConfigMap', name: 'app' };
  const spec = { serviceAccountName: 'deployer', changes: [{ type: 'Delete', target }] };
  return { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name, annotations }, spec };
}

/** A user who may write Transactions in the namespace, and nothing else. */
async function createUser(client: Client, namespace: string, name: string, more: readonly JsonObject[] = []): Promise<Client> {
  const rules = [{ apiGroups: ['tx.janus.io'], resources: ['transactions'], verbs: ['*'] }, ...more];
  must(await client.create(`${rbac}/namespaces/${namespace}/roles`, { metadata: { name }, rules }));
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const subjects = [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: `${name}@${namespace}` }];
  must(await client.create(`${rbac}/namespaces/${namespace}/rolebindings`, { metadata: { name }, roleRef, subjects }));
  return client.asUser(`${name}@${namespace}`);
}

t.test('only a user who may impersonate a ServiceAccount can create a Transaction that uses it', async (t) => {
  const client = connectToCluster();
  t.teardown(() => client.close());
  await installManifests(client);
  for (const object of await readManifest('admission.yaml')) must(await applyObject(client, object));
  const namespace = await freeNamespace(client, 'admission', t);
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`;
  const impersonate = { apiGroups: [''], resources: ['serviceaccounts'], resourceNames: ['deployer'], verbs: ['impersonate'] };
  const writer = await createUser(client, namespace, 'writer');
  const deployer = await createUser(client, namespace, 'deployer', [impersonate]);
  const annotate = (who: Client, annotations: JsonObject): Promise<Answer> =>
    who.patch(`${path}/one`, { metadata: { annotations } });
  const isDenied = (answer: Answer): boolean =>
    answer.code === 403 && (textAt(answer.body, 'message') ?? '').includes('may not impersonate');
  // A policy takes effect a moment after it was written.
  await waitFor(
    async () => isDenied(await writer.create(path, transaction('probe'), { dryRun: 'All' })),
    'the policy to take effect',
  );

  await t.test('the policy judges a create', async (t) => {
    const denied = await writer.create(path, transaction('one'));
    t.equal(denied.code, 403);
    t.match(textAt(denied.body, 'message'), `may not impersonate ServiceAccount ${namespace}/deployer`);
    t.equal((await client.get(`${path}/one`)).code, 404);
    t.equal((await deployer.create(path, transaction('one'))).code, 201);
  });

  await t.test('the policy judges annotations that request an effect', async (t) => {
    t.ok(isDenied(await annotate(writer, { 'tx.janus.io/request-rollback': '1' })), 'set');
    t.equal((await annotate(deployer, { 'tx.janus.io/request-rollback': '1' })).code, 200);
    t.ok(isDenied(await annotate(writer, { 'tx.janus.io/request-rollback': '2' })), 'changed');
    t.ok(isDenied(await annotate(writer, { 'tx.janus.io/request-rollback': null })), 'removed');
    t.equal((await annotate(writer, { 'example.org/note': 'mine' })).code, 200, 'others are free');
  });

  await t.test('the policy accepts the name of a user from that user alone', async (t) => {
    const own = { 'tx.janus.io/created-by-user': `deployer@${namespace}` };
    const other = { 'tx.janus.io/created-by-user': `writer@${namespace}` };
    const by = (id: string, user: string) => ({ 'tx.janus.io/request-rollback': `${id} requested-by ${user}@${namespace}` });
    const refused = (answer: Answer, why: RegExp): void => {
      t.equal(answer.code, 403);
      t.match(textAt(answer.body, 'message'), why);
    };
    const copied = /created-by-user\]: names another user than deployer@\S+, who creates .*: remove this annotation/;
    refused(await deployer.create(path, transaction('copy', other)), copied);
    refused(await deployer.create(path, transaction('copy', { 'tx.janus.io/created-by-user': '' })), copied);
    refused(await deployer.create(path, transaction('copy', by('1', 'writer'))), /who makes this request: write a value without/);
    t.equal((await deployer.create(path, transaction('signed', own))).code, 201);
    const change = (name: string, annotations: JsonObject) => deployer.patch(`${path}/${name}`, { metadata: { annotations } });
    for (const annotations of [other, { 'tx.janus.io/created-by-user': null }])
      refused(await change('signed', annotations), /names who created this Transaction: leave it as it is/);
    refused(await change('one', own), /names who created this Transaction/);
    refused(await change('signed', by('1', 'writer')), /names another user than deployer@/);
    refused(await change('signed', by('1 requested-by writer', 'deployer')), /names another user than deployer@/);
    t.equal((await change('signed', by('1', 'deployer'))).code, 200);
    t.equal(
      (await deployer.patch(`${path}/signed`, { metadata: { finalizers: null } })).code,
      200,
      'the policy does not check a value that stays',
    );
    const admin = await client.patch(`${path}/signed`, { metadata: { labels: { app: 'shop' } } });
    t.equal(admin.code, 200, 'another user may write what else it has');
    t.equal((await client.patch(`${path}/signed`, { metadata: { annotations: by('2', 'deployer') } })).code, 403);
  });

  await t.test('the policy admits writes without effect', async (t) => {
    const finalizers = { metadata: { finalizers: ['example.org/held'] } };
    t.equal((await writer.patch(`${path}/one`, finalizers)).code, 200, 'finalizers, as Metacontroller sets them');
    t.equal((await writer.delete(`${path}/one`)).code, 200, 'deletion');
    t.equal((await writer.patch(`${path}/one`, { metadata: { finalizers: null } })).code, 200);
  });
});
