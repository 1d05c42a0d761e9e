// Each rule of the CRD, and of the policy beside it, with what it lets pass and what it refuses, and the words in which it does so.
import t from 'tap';
import { type JsonObject, withPath } from '../../hooks/objects/json.ts';
import { changeTypes } from '../../hooks/transactions/model/change.ts';
import { freeNamespace, must } from '../support/client.ts';
import { connectToCluster, installManifests } from '../support/install.ts';
import {
  holds,
  refusalIn,
  refusalOfCreate,
  sampleChange,
  sampleSpec,
  sampleTarget,
  sampleWith,
  transactionsIn,
  transactionWith,
  without,
} from './samples.ts';

const client = connectToCluster();
t.teardown(() => client.close());
await installManifests(client);

interface Row {
  readonly rule: string;
  readonly accepted: readonly JsonObject[];
  /** With what the API server must say. */
  readonly refused: readonly (readonly [JsonObject, string])[];
}

const target = (parts: JsonObject): JsonObject => sampleWith({ target: parts });
const change = (parts: JsonObject): JsonObject => sampleWith({ change: parts });
const spec = (parts: JsonObject): JsonObject => sampleWith({ spec: parts });
const typesBut = (...others: readonly string[]) => changeTypes.filter((type) => !others.includes(type));
const bare = without(sampleChange, 'content');
const changes = (...list: readonly JsonObject[]): JsonObject => spec({ changes: list });
const named = (name: string): JsonObject => transactionWith(sampleSpec, name);
const finalized = (finalizers: readonly string[]): JsonObject => withPath(named('copy'), ['metadata', 'finalizers'], finalizers);
const wrongName = 'spec.changes[0].target.name: Invalid value: "…": write the object\'s metadata.name';
const wrongAccount = 'spec.serviceAccountName: Invalid value: "…": write the name of a ServiceAccount';
const wrongNamespace = 'spec.changes[0].target.namespace: Invalid value: "…": write a namespace name';
const wrongVersion = 'spec.changes[0].target.apiVersion: Invalid value: "…": write the version, after the group and a slash';
const wrongKind = 'spec.changes[0].target.kind: Invalid value: "…": write the kind as in a manifest';

const rows: readonly Row[] = [
  {
    rule: 'there is at least one change',
    accepted: [changes(sampleChange)],
    refused: [
      [changes(), 'spec.changes in body should have at least 1 items'],
      [transactionWith(without(sampleSpec, 'changes')), 'spec.changes: Required value'],
      [without(named('sample'), 'spec'), 'spec: Required value'],
    ],
  },
  {
    rule: 'a type is one that the engine knows',
    accepted: changeTypes.map((type) => change({ type })),
    refused: [
      [change({ type: 'Replace' }), `supported values: ${changeTypes.map((type) => `"${type}"`).join(', ')}`],
      [changes(without(sampleChange, 'type')), 'spec.changes[0].type: Required value'],
    ],
  },
  {
    rule: 'content is required but for Delete',
    accepted: [
      changes({ ...bare, type: 'Delete' }),
      change({ type: 'Delete', content: { kind: 'ignored' } }),
      changes({ ...bare, type: 'Apply', contentFrom: {} }),
    ],
    refused: typesBut('Delete').map((type) => [changes({ ...bare, type }), 'spec.changes[0].content: Required value']),
  },
  {
    rule: 'a target is required but for Apply and Create',
    accepted: ['Apply', 'Create'].map((type) =>
      changes({ type, content: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } } }),
    ),
    refused: typesBut('Apply', 'Create').map((type) => [
      changes({ type, content: {} }),
      'spec.changes[0].target: Required value',
    ]),
  },
  {
    rule: 'a target has version, kind and name',
    accepted: [target({})],
    refused: ['apiVersion', 'kind', 'name'].map((key) => [
      change({ target: without(sampleTarget, key) }),
      `spec.changes[0].target.${key}: Required value`,
    ]),
  },
  {
    rule: 'a name is a segment of a path',
    accepted: ['system:node', 'Upper', '.hidden', '..two', '...', 'a b', 'é', 'a'.repeat(253)].map((name) => target({ name })),
    refused: [
      ...['.', '..', 'a/b', '%2f', '../secrets', 'a\u0000', 'a\nb', '\u007f'].map((name): readonly [JsonObject, string] => [
        target({ name }),
        wrongName,
      ]),
      [target({ name: '' }), 'should be at least 1 chars long'],
      [target({ name: 'a'.repeat(254) }), 'spec.changes[0].target.name: Too long: may not be … than 253'],
    ],
  },
  {
    rule: 'a namespace is a DNS label',
    accepted: [target({ namespace: 'kube-system' }), target({ namespace: 'a'.repeat(63) })],
    refused: [
      ...['Shop', 'a.b', '-a', 'a/b', '..'].map((namespace): readonly [JsonObject, string] => [
        target({ namespace }),
        wrongNamespace,
      ]),
      [target({ namespace: 'a'.repeat(64) }), 'Too long: may not be … than 63'],
    ],
  },
  {
    rule: 'an apiVersion is a version, perhaps of a group',
    accepted: ['v1', 'apps/v1', 'rbac.authorization.k8s.io/v1beta1'].map((apiVersion) => target({ apiVersion })),
    refused: ['apps/v1/x', '/v1', 'v1?a', '../v1', 'Apps/v1', 'apps/', '1'].map((apiVersion) => [
      target({ apiVersion }),
      wrongVersion,
    ]),
  },
  {
    rule: 'a kind is a kind, no subresource',
    accepted: ['ConfigMap', 'CSIDriver', 'my-kind'].map((kind) => target({ kind })),
    refused: ['pods/status', 'Config Map', 'deployments.apps', '-', '1st'].map((kind) => [target({ kind }), wrongKind]),
  },
  {
    rule: 'a Transaction changes neither Transactions nor Metacontroller',
    accepted: [target({ apiVersion: 'tx.example.org/v1' }), target({ apiVersion: 'apps/v1' })],
    refused: [
      [target({ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction' }), 'a Transaction cannot change kinds of tx.janus.io'],
      [target({ apiVersion: 'metacontroller.k8s.io/v1alpha1', kind: 'CompositeController' }), 'cannot change Metacontroller'],
    ],
  },
  {
    rule: 'a ServiceAccount name is a DNS subdomain',
    accepted: ['deploy-sa', 'a.b', 'a'.repeat(253)].map((serviceAccountName) => spec({ serviceAccountName })),
    refused: [
      ...['a:b', 'other/deploy-sa', 'Deploy', 'a\r\nb', 'é', 'a..b'].map((serviceAccountName): readonly [JsonObject, string] => [
        spec({ serviceAccountName }),
        wrongAccount,
      ]),
      [transactionWith(without(sampleSpec, 'serviceAccountName')), 'spec.serviceAccountName: Required value'],
      [spec({ serviceAccountName: 'a'.repeat(254) }), 'Too long: may not be … than 253'],
    ],
  },
  duration('lockTimeout', ['30s', '1h', '5m', '0.5m', '60m', '1m30s', '31000ms'], ['29s', '1h1s', '29999ms', '0s']),
  duration('lockWait', ['0s', '1h', '1ms', '0h', '500us', '500µs', '1ns'], ['61m', '1h1ns']),
  duration('timeout', ['1s', '24h', '1000ms', '23h59m59.9s'], ['999ms', '24h1ns', '0s', '999999999h']),
  {
    rule: 'a time to live is a number of seconds',
    accepted: [spec({ ttlSecondsAfterFinished: 0 }), spec({ ttlSecondsAfterFinished: 2147483647 })],
    refused: [
      [spec({ ttlSecondsAfterFinished: -1 }), 'should be greater than or equal to 0'],
      [spec({ ttlSecondsAfterFinished: 2147483648 }), 'should be less than or equal to 2147483647'],
      [spec({ ttlSecondsAfterFinished: '5m' }), 'must be of type integer'],
    ],
  },
  {
    rule: 'the name leaves room for the names made of it',
    accepted: [named('a'.repeat(230))],
    refused: [[named('a'.repeat(231)), 'metadata.name: Invalid value: "…": shorten metadata.name to at most 230 characters']],
  },
  {
    rule: 'a copy of a stored Transaction is not created: it has the finalizer of Metacontroller',
    accepted: [[], ['example.org/held'], ['metacontroller.io.example.org/held'], ['example.org/metacontroller.io']].map(
      finalized,
    ),
    refused: [['metacontroller.io/compositecontroller-janus'], ['example.org/held', 'metacontroller.io/other']].map(
      (finalizers) => [
        finalized(finalizers),
        `metadata.finalizers: Invalid value: "${finalizers.at(-1)}": a copy of a stored Transaction…To run it again on purpose, remove metadata.finalizers`,
      ],
    ),
  },
  {
    rule: 'content is free of rules: the hook says what it must be',
    accepted: [{}, [], 'text', 7, { metadata: { name: 'another' } }].map((content) => change({ content })),
    refused: [],
  },
];

function duration(key: string, accepted: readonly string[], outOfBounds: readonly string[]): Row {
  const malformed = ['5 minutes', '5', '-5m', '+5m', '1d', 'PT5M', '1.5.5h', '5m ', 'm'];
  return {
    rule: `${key} is a Go duration within bounds`,
    accepted: accepted.map((value) => spec({ [key]: value })),
    refused: [
      ...[...outOfBounds, ...malformed].map((value): readonly [JsonObject, string] => [
        spec({ [key]: value }),
        `spec.${key}: Invalid value: "${value}": write a duration from`,
      ]),
      [spec({ [key]: '' }), 'should be at least 1 chars long'],
    ],
  };
}

t.test('the message names the change, and does not repeat unprintable text', async (t) => {
  const at = (index: number, parts: JsonObject): JsonObject =>
    changes(...[0, 1, 2, 3].map((each) => ({ ...sampleChange, target: { ...sampleTarget, ...(each === index && parts) } })));
  const cases: readonly (readonly [JsonObject, string])[] = [
    [at(3, { name: 'a/b' }), 'spec.changes[3].target.name: Invalid value: "a/b": write the object\'s metadata.name'],
    [at(2, { kind: 'a\nb\u001b[31m\u2028c' }), 'spec.changes[2].target.kind: Invalid value: "a?b?[31m?c": write the kind'],
    [at(1, { namespace: '\n' }), 'spec.changes[1].target.namespace: Invalid value: "": write a namespace name'],
    [at(0, { apiVersion: 'é"/v1' }), 'spec.changes[0].target.apiVersion: Invalid value: "é"/v1": write the version'],
    [
      at(3, { apiVersion: 'tx.janus.io/v1' }),
      'spec.changes[3].target.apiVersion: Invalid value: "tx.janus.io/v1": a Transaction',
    ],
  ];
  for (const [transaction, words] of cases) t.match(await refusalOfCreate(client, transaction), words, label(transaction));
});

for (const { rule, accepted, refused } of rows) {
  t.test(rule, async (t) => {
    for (const transaction of accepted) t.equal(await refusalOfCreate(client, transaction), undefined, label(transaction));
    for (const [transaction, words] of refused) {
      const refusal = (await refusalOfCreate(client, transaction)) ?? 'it was accepted';
      t.ok(holds(refusal, words), label(transaction), { refusal, words });
    }
  });
}

function label(transaction: JsonObject): string {
  return JSON.stringify(transaction.spec ?? transaction).slice(0, 300);
}

t.test('spec is immutable', async (t) => {
  const path = transactionsIn(await freeNamespace(client, 'immutable', t));
  const two = { ...sampleChange, target: { ...sampleTarget, name: 'other', namespace: 'shop' } };
  const created = transactionWith({ ...sampleSpec, changes: [sampleChange, two], ttlSecondsAfterFinished: 60 });
  must(await client.create(path, created));
  const edits: readonly (readonly [string, JsonObject])[] = [
    ['a value in content', { op: 'replace', path: '/spec/changes/0/content/data/version', value: '2.1' }],
    [
      'a key of content for another',
      { op: 'move', from: '/spec/changes/0/content/data', path: '/spec/changes/0/content/binaryData' },
    ],
    ['a new key in content', { op: 'add', path: '/spec/changes/0/content/metadata', value: {} }],
    ['content', { op: 'replace', path: '/spec/changes/0/content', value: [] }],
    ['the order', { op: 'move', from: '/spec/changes/0', path: '/spec/changes/1' }],
    ['a change less', { op: 'remove', path: '/spec/changes/1' }],
    ['a target', { op: 'replace', path: '/spec/changes/0/target/name', value: 'another' }],
    ['a namespace', { op: 'remove', path: '/spec/changes/1/target/namespace' }],
    ['the ServiceAccount', { op: 'replace', path: '/spec/serviceAccountName', value: 'admin-sa' }],
    ['a duration', { op: 'replace', path: '/spec/timeout', value: '1h' }],
    ['the time to live', { op: 'remove', path: '/spec/ttlSecondsAfterFinished' }],
  ];
  for (const [what, edit] of edits) {
    const refusal = refusalIn(await client.patch(`${path}/sample`, [edit], 'json'));
    t.match(refusal, 'spec is immutable: delete this Transaction and create one with another name', what);
  }
  t.match(refusalIn(await client.patch(`${path}/sample`, [{ op: 'remove', path: '/spec' }], 'json')), 'spec: Required value');
  const annotated = await client.patch(`${path}/sample`, { metadata: { annotations: { 'tx.janus.io/request-rollback': '1' } } });
  t.equal(annotated.code, 200, 'but annotations can');
});
