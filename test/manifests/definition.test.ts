// The CRD: generated, accepted by the API server, described throughout, and short to write.
import { readFileSync } from 'node:fs';
import t from 'tap';
import { at, isList, isObject, type Json, textAt } from '../../hooks/objects/json.ts';
import { customResourceDefinition } from '../../schemas/custom-resource-definition.ts';
import type { Schema } from '../../schemas/schema.ts';
import { transaction } from '../../schemas/transaction.ts';
import { generatedManifests } from '../../scripts/generated-manifests.ts';
import { freeNamespace, must, waitFor } from '../support/client.ts';
import { connectToCluster, installManifests } from '../support/install.ts';
import { sampleSpec, transactionsIn, transactionWith } from './samples.ts';

const client = connectToCluster();
t.teardown(() => client.close());
await installManifests(client);

const definitionPath = `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${customResourceDefinition.metadata.name}`;

for (const [path, text] of Object.entries(generatedManifests))
  t.test(`the script generates manifests/${path}`, async (t) => {
    const committed = readFileSync(new URL(`../../manifests/${path}`, import.meta.url), 'utf8');
    t.equal(committed, text, 'run: npm run generate');
  });

// The rules of a CRD are evaluated at every update of a status too, over the whole spec: with 100 changes that was a third of
// the time of such a write. Spec is judged once, by manifests/admission-spec.yaml.
t.test('the CRD has no rules and no patterns for spec', async (t) => {
  const [version] = customResourceDefinition.spec.versions;
  const { spec, status } = version.schema.openAPIV3Schema.properties ?? {};
  t.notMatch(JSON.stringify(spec), /"(x-kubernetes-validations|pattern)":/);
  t.match(JSON.stringify(status), /"x-kubernetes-validations":.*phase and version/, 'unlike status');
  t.equal(version.schema.openAPIV3Schema['x-kubernetes-validations']?.length, 2, 'whose version is guarded');
});

t.test('the API server accepts the CRD without a warning', async (t) => {
  const stored = must(await client.get(definitionPath));
  const conditions = at(stored, 'status', 'conditions');
  const states = Object.fromEntries(
    (isList(conditions) ? conditions : []).map((one) => [textAt(one, 'type') ?? '', textAt(one, 'status')]),
  );
  t.match(states, { Established: 'True', NamesAccepted: 'True' });
  t.notOk('NonStructuralSchema' in states);
});

t.test('a Transaction gets the default durations', async (t) => {
  const namespace = await freeNamespace(client, 'defaults', t);
  const created = must(await client.create(transactionsIn(namespace), transactionWith(sampleSpec)));
  t.match(created.spec, { lockTimeout: '5m', lockWait: '1m', timeout: '30m' });
  t.notOk(at(created, 'spec', 'ttlSecondsAfterFinished'), 'and no time to live');
});

t.test('kubectl get shows the columns', async (t) => {
  const namespace = await freeNamespace(client, 'columns', t);
  const path = transactionsIn(namespace);
  const created = must(await client.create(path, transactionWith({ ...sampleSpec, fieldManager: 'shop' })));
  const status = {
    phase: 'Committing',
    version: 3,
    progress: '3/5',
    message: 'applying ConfigMap shop/app-config next',
    current: 'ConfigMap app-config',
    duration: '12s',
    waitingUntil: '2026-01-01T01:00:00Z',
    conditions: [
      { type: 'Succeeded', status: 'False', reason: 'Timeout' },
      { type: 'UndoRefused', status: 'True', reason: 'PlanChanged' },
      {
        type: 'Reconciling',
        status: 'True',
        reason: 'WaitingForGate',
        message: 'waiting for Job migrate',
        lastTransitionTime: '2026-01-01T00:00:00Z',
      },
    ],
    items: [{ committed: true }, { left: true, error: { reason: 'RollbackConflict', message: '' } }, { left: true }],
  };
  must(await client.patch(`${path}/sample/status`, { status }));
  const accept = { accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
  const table = must(await client.request('GET', path, { headers: accept }));
  const columns = at(table, 'columnDefinitions');
  const headers = (isList(columns) ? columns : []).map((one) => [textAt(one, 'name'), at(one, 'priority')]);
  t.same(headers, [
    ['Name', 0],
    ['App', 0],
    ['Phase', 0],
    ['Done', 0],
    ['Reason', 0],
    ['Undo', 0],
    ['Age', 0],
    ['Current', 1],
    ['Waiting', 1],
    ['Until', 1],
    ['Duration', 1],
    ['ServiceAccount', 1],
    ['Since', 1],
    ['Left', 1],
    ['UID', 1],
    ['Message', 1],
  ]);
  const rows = at(table, 'rows');
  const [name, app, phase, done, reason, undo, , ...wide] = (isList(rows) && (at(rows[0], 'cells') as readonly string[])) || [];
  t.same(
    [name, app, phase, done, reason, undo, ...wide],
    [
      'sample',
      'shop',
      'Committing',
      '3/5',
      'Timeout',
      'PlanChanged',
      status.current,
      'waiting for Job migrate',
      status.waitingUntil,
      '12s',
      'deploy-sa',
      '2026-01-01T00:00:00Z',
      'RollbackConflict',
      textAt(created, 'metadata', 'uid'),
      status.message,
    ],
  );
});

t.test('kubectl accepts the short names and the category', async (t) => {
  const resources = at(must(await client.get('/apis/tx.janus.io/v1alpha1')), 'resources');
  const [found] = (isList(resources) ? resources : []).filter((one) => textAt(one, 'name') === 'transactions');
  t.match(found, { shortNames: ['tx', 'jtx'], categories: ['janus'], namespaced: true });
});

t.test('every field has a description for kubectl explain', async (t) => {
  t.same(undescribed(transaction, 'transaction'), []);
});

t.test('the description of every field reaches kubectl explain', async (t) => {
  // The API server publishes it a moment after it serves the resource.
  const published = await waitFor(async () => {
    const document = await client.get('/openapi/v3/apis/tx.janus.io/v1alpha1');
    const found = at(document.body, 'components', 'schemas', 'io.janus.tx.v1alpha1.Transaction');
    return textAt(found, 'description') === transaction.description && found;
  }, 'the schema of Transactions to be published');
  t.same(undescribedAsPublished(at(published, 'properties', 'spec'), 'spec'), []);
  t.same(undescribedAsPublished(at(published, 'properties', 'status'), 'status'), []);
});

function undescribed(schema: Schema, path: string): readonly string[] {
  const children = [
    ...Object.entries(schema.properties ?? {}).map(([name, child]) => [`${path}.${name}`, child] as const),
    ...(schema.items ? [[`${path}[]`, schema.items] as const] : []),
  ];
  const below = children.flatMap(([name, child]) => undescribed(child, name));
  return schema.description ? below : [path, ...below];
}

function undescribedAsPublished(node: Json | undefined, path: string): readonly string[] {
  const properties = at(node, 'properties');
  const items = at(node, 'items');
  const below = [
    ...Object.entries(isObject(properties) ? properties : {}).flatMap(([name, child]) =>
      undescribedAsPublished(child, `${path}.${name}`),
    ),
    ...(isObject(items) ? undescribedAsPublished(items, `${path}[]`) : []),
  ];
  return textAt(node, 'description') ? below : [path, ...below];
}
