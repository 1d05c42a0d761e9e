// Bad input: the API server or the hook refuses it with a reason, and nothing is written for it.
import { at, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { account } from '../support/stage.ts';
import { change } from '../support/targets.ts';
import type { Case } from './case.ts';
import { drive, letGo } from './drive.ts';
import { adopt, createRun, type Run, read } from './run.ts';
import { single } from './stories.ts';
import { type Story, transactionPath } from './story.ts';
import type { World } from './world.ts';

interface Input {
  readonly id: string;
  readonly changes?: readonly JsonObject[];
  readonly spec?: JsonObject;
}

const data = { data: { a: '1' } };

function target(id: string, parts: JsonObject): Input {
  return {
    id,
    changes: [{ type: 'Create', target: { apiVersion: 'v1', kind: 'ConfigMap', name: 'x', ...parts }, content: data }],
  };
}

function content(id: string, given: Json, type = 'Create'): Input {
  return { id, changes: [{ type, target: { apiVersion: 'v1', kind: 'ConfigMap', name: 'x' }, content: given }] };
}

function nested(depth: number): Json {
  return JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`) as Json;
}

function named(count: number): readonly JsonObject[] {
  return Array.from({ length: count }, (_, index) => change('Create', `x-${index}`, data));
}

const keys = (count: number): JsonObject => Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, '']));

const targets: readonly Input[] = [
  target('unknown-kind', { kind: 'Nothing' }),
  target('unknown-group', { apiVersion: 'nothing.example.org/v1' }),
  target('path-in-version', { apiVersion: 'apps/v1/../..' }),
  target('query-in-version', { apiVersion: 'v1?x=y' }),
  target('empty-name', { name: '' }),
  target('long-name', { name: 'x'.repeat(254) }),
  target('upper-case-name', { name: 'UPPER' }),
  target('dots', { name: '..' }),
  target('encoded-slash', { name: 'a%2fb' }),
  target('control-characters', { name: 'a\r\nX-Injected: 1' }),
  target('namespace-of-cluster-scoped', { kind: 'Namespace', namespace: 'default' }),
  target('namespace-with-path', { namespace: '../kube-system' }),
  target('own-transaction', { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction' }),
  target('lock', { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', namespace: 'janus-system' }),
  target('engine-namespace', { namespace: 'janus-system' }),
  target('engine-namespace-itself', { kind: 'Namespace', name: 'janus-system' }),
  target('metacontroller', { apiVersion: 'metacontroller.k8s.io/v1alpha1', kind: 'CompositeController' }),
  target('token-review', { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview' }),
  target('access-review', { apiVersion: 'authorization.k8s.io/v1', kind: 'SubjectAccessReview' }),
  target('event', { kind: 'Event' }),
  target('subresource', { kind: 'pods/exec' }),
  target('account-itself', { kind: 'ServiceAccount', name: account }),
];

const contents: readonly Input[] = [
  content('other-kind', { kind: 'Secret' }),
  content('other-version', { apiVersion: 'v2' }),
  content('other-name', { metadata: { name: 'y' } }),
  content('other-namespace', { metadata: { namespace: 'default' } }),
  content('uid', { metadata: { uid: 'u' } }),
  content('resource-version', { metadata: { resourceVersion: '1' } }),
  content('managed-fields', { metadata: { managedFields: [] } }),
  content('list', []),
  content('string', 'text'),
  content('null', null),
  content('none', null, 'Patch'),
  content('big-number', { data: { a: 9_007_199_254_740_992 } }),
  content('prototype-of-wrong-type', JSON.parse('{"data":{"__proto__":{"a":1}}}') as Json),
  content('deep', { data: nested(4_000) }),
  content('rather-deep', { data: nested(600) }),
  content('three-megabytes', { data: { a: 'x'.repeat(3 << 20) } }),
  content('many-keys', { data: keys(100_000) }),
];

const specs: readonly Input[] = [
  { id: 'no-changes', changes: [] },
  { id: 'same-object-twice', changes: [change('Create', 'x', data), change('Patch', 'x', data)] },
  { id: '501-changes', changes: named(501) },
  { id: 'unknown-type', changes: [{ ...change('Create', 'x', data), type: 'Replace' }] },
  { id: 'account-missing', spec: { serviceAccountName: 'nobody' } },
  { id: 'account-with-colon', spec: { serviceAccountName: 'other:deployer' } },
  { id: 'account-elsewhere', spec: { serviceAccountName: '../other/deployer' } },
  { id: 'account-empty', spec: { serviceAccountName: '' } },
  ...['timeout', 'lockTimeout', 'lockWait'].flatMap((field) =>
    ['-1s', '9999999h', '1', 'soon', '1e9s'].map((value) => ({ id: `${field}-${value}`, spec: { [field]: value } })),
  ),
  { id: 'zero-timeout', spec: { timeout: '0s' } },
  { id: 'zero-lock-timeout', spec: { lockTimeout: '0s' } },
  { id: 'negative-ttl', spec: { ttlSecondsAfterFinished: -1 } },
  { id: 'overflowing-ttl', spec: { ttlSecondsAfterFinished: 9_007_199_254_740_991 } },
  { id: 'unknown-order', spec: { order: 'sideways' }, changes: [] },
];

export const badInputCases: readonly Case[] = [...targets, ...contents, ...specs].map((input) => ({
  id: `S14:${input.id}`,
  attempt: async (world) => ({ violations: await attemptInput(world, input) }),
}));

async function attemptInput(world: World, { changes = named(1), spec = {}, id }: Input): Promise<readonly string[]> {
  const story: Story = { id, transactions: single(() => changes), given: () => [], events: [], end: 'Failed' };
  const run = createRun(world, story);
  const { namespace, run: name } = run.names;
  const object = { metadata: { name }, spec: { serviceAccountName: account, changes, ...spec } };
  const stored = await world.controller.create(transactionPath(namespace, name).replace(/\/[^/]+$/, ''), object);
  if (stored.code >= 400) return stored.code < 500 && stored.text !== '' ? [] : [`the API server answered ${stored.code}`];
  await adopt(world, transactionPath(namespace, name));
  return attemptStored(run);
}

async function attemptStored(run: Run): Promise<readonly string[]> {
  const failure = await drive(run).then(() => undefined, String);
  const status = at(await read(run, run.names.run), 'status');
  await letGo(run);
  const written = run.board.calls.filter(({ method }) => method === 'send').map(({ what }) => `for bad input: ${what}`);
  const [phase, reason] = [textAt(status, 'phase'), textAt(status, 'message') ?? ''];
  const isRefused = failure === undefined && phase === 'Failed' && reason !== '';
  return [...(isRefused ? [] : [`it ends as ${phase}: ${failure ?? reason}`]), ...written];
}
