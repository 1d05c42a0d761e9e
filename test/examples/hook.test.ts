// Each example of examples/hook unchanged: its objects, its way to the phase, its request by its own curl, its answer.
// After a deliberate change of answers JANUS_WRITE_EXAMPLES=1 writes them again; format them then.
import { execFile } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import t, { type Test } from 'tap';
import { parseAllDocuments } from 'yaml';
import { at, isList, isObject, type Json, type JsonObject, textAt, withKey } from '../../hooks/objects/json.ts';
import { phases } from '../../hooks/transactions/model/phase.ts';
import { must } from '../support/client.ts';
import { hookToken } from '../support/hook-token.ts';
import { applyObject, engineNamespace } from '../support/install.ts';
import { pathWithKubectl } from '../support/kubectl.ts';
import { everyNth } from '../support/selection.ts';
import { callHook, startStage } from '../support/stage.ts';

const run = promisify(execFile);
const examples = join(import.meta.dirname, '..', '..', 'examples', 'hook');
const stage = await startStage(t, { withoutLoop: true });
const { client, hookUrl } = stage;

const transactionPath = (namespace: string): string => `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/example`;
const text = (...path: readonly string[]): string => readFileSync(join(...path), 'utf8');
const isThere = (program: string): Promise<boolean> =>
  run('sh', ['-c', `command -v ${program}`]).then(
    () => true,
    () => false,
  );
// The name under which `kubectl apply` owns fields, which an answer may give.
const asByKubectl = { fieldValidation: 'Strict', fieldManager: 'kubectl-client-side-apply' };
const hasCurl = await isThere('curl');

/** Folder of a phase: `RollingBack` is `rolling-back`. */
const folderOf = (phase: string): string => phase.replace(/(?<=.)[A-Z]/g, '-$&').toLowerCase();

/** One for each phase, and what else a call can find in one. */
const all = [...phases.map((phase) => ({ phase, name: folderOf(phase) })), { phase: 'Committing', name: 'waiting' }];

t.test('there is one example for each phase, and one that waits', async (t) => {
  const folders = readdirSync(examples, { withFileTypes: true }).filter((entry) => entry.isDirectory());
  t.same(folders.map((folder) => folder.name).sort(), all.map(({ name }) => name).sort());
});

for (const { phase, name } of everyNth(2, all)) {
  const folder = join(examples, name);
  const namespace = `hook-${name}`;

  t.test(`${name}: the example answers as it says`, async (t) => {
    t.teardown(() => remove(namespace));
    for (const document of parseAllDocuments(text(folder, 'objects.yaml'))) {
      const object = document.toJS() as Json;
      if (isObject(object)) must(await applyObject(client, object, asByKubectl));
    }
    for (const step of stepsOf(folder)) await take(step, namespace);
    const before = must(await client.get(transactionPath(namespace)));
    t.equal(textAt(before, 'status', 'phase') ?? 'Pending', phase, 'the Transaction is in the phase of the example');
    const found = masked(JSON.parse(await ask(folder, textAt(before, 'metadata', 'uid') ?? '')) as Json);
    const file = join(folder, 'answer.json');
    if (process.env.JANUS_WRITE_EXAMPLES === '1') writeFileSync(file, `${JSON.stringify(found, undefined, 2)}\n`);
    t.same(found, JSON.parse(readFileSync(file, 'utf8')));
  });
}

const turn = /^\.\.\/turn\.sh (\S+)$/;
const annotation = /^kubectl -n (\S+) annotate tx example (\S+)=(\S+)$/;

/** The lines of before.sh, where there is one. */
function stepsOf(folder: string): readonly string[] {
  if (!readdirSync(folder).includes('before.sh')) return [];
  const lines = text(folder, 'before.sh').trim().split('\n');
  return lines.filter((line) => !line.startsWith('#') && line !== 'set -e');
}

/** What a line of before.sh does, without kubectl. */
async function take(step: string, namespace: string): Promise<void> {
  const [, annotated, key, value] = annotation.exec(step) ?? [];
  const named = annotated ?? turn.exec(step)?.[1];
  if (named !== namespace) throw new Error(`expected a turn or an annotation in ${namespace}, found ${step}`);
  const path = transactionPath(namespace);
  if (key !== undefined && value !== undefined) {
    must(await client.patch(path, { metadata: { annotations: { [key]: value } } }));
    return;
  }
  const parent = must(await client.get(path));
  const request = { controller: {}, parent, children: {}, related: {}, finalizing: false };
  const { body } = await callHook(hookUrl, '/sync', request);
  must(await client.update(`${path}/status`, withKey(parent, 'status', at(body, 'status'))));
}

/** The answer to request.json: by curl.sh where curl is there. */
async function ask(folder: string, uid: string): Promise<string> {
  if (hasCurl) {
    const env = { PATH: process.env.PATH, HOOK: hookUrl, HOOK_TOKEN: hookToken, TRANSACTION_UID: uid };
    return (await run('sh', ['curl.sh'], { cwd: folder, env })).stdout;
  }
  const request = JSON.parse(text(folder, 'request.json').replace('{uid}', uid)) as JsonObject;
  return (await callHook(hookUrl, '/sync', request)).text;
}

const times = [
  'since',
  'readySince',
  'lastTransitionTime',
  'startTime',
  'completionTime',
  'rollbackStartedAt',
  'unsettledAt',
  'rollbackObservedAt',
  'locksReturnedAt',
];

const timeInText = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ/g;

const masks: Readonly<Record<string, readonly [string, RegExp]>> = Object.fromEntries([
  ...[...times, 'waitingUntil'].map((key) => [key, ['{time}', /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/]]),
  ['duration', ['{duration}', /^(\d+m)?(\d+s)?$/]],
  ...['digest', 'specDigest'].map((key) => [key, ['{digest}', /^[0-9a-f]{64}$/]]),
  ['uid', ['{uid}', /^[0-9a-f-]{36}$/]],
  ['settledWriter', ['{writer}', /^[0-9a-f-]{36}\/\d+$/]],
  ['resourceVersion', ['{version}', /^\d+$/]],
  // How many kinds there are depends on the cluster.
  ['note', ['{kinds that the ServiceAccount may not list}', /^objects of these kinds may have been deleted with it, .* more$/]],
  ['name', ['example-rollback-{suffix}', /^example-rollback-[0-9a-f]{20}$/]],
]);

/** An answer with placeholders where each run has another value. */
function masked(value: Json): Json {
  if (isList(value)) return value.map(masked);
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, inner]) => [key, maskedField(key, inner)]));
}

function maskedField(key: string, value: Json): Json {
  // It grows with the wait.
  if (key === 'resyncAfterSeconds' && typeof value === 'number' && value > 0) return '{seconds}';
  if (key === 'message' && typeof value === 'string') return value.replaceAll(timeInText, '{time}');
  const [mask, expected] = masks[key] ?? [];
  if (mask === undefined) return masked(value);
  if (typeof value !== 'string' || !expected?.test(value))
    throw new Error(`${key}: expected a value for ${mask}, found ${JSON.stringify(value)}`);
  return mask;
}

async function remove(namespace: string): Promise<void> {
  await client.delete(transactionPath(namespace));
  const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
  for (const item of (await client.list(configMaps)).items)
    await client.patch(`${configMaps}/${textAt(item, 'metadata', 'name')}`, { metadata: { finalizers: null } });
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${engineNamespace}/leases`;
  for (const lease of (await client.list(leases)).items)
    if (textAt(lease, 'spec', 'holderIdentity')?.startsWith(`${namespace}/`))
      await client.delete(`${leases}/${textAt(lease, 'metadata', 'name')}`);
  await client.delete(`/api/v1/namespaces/${namespace}`);
}

const byHand = hasCurl ? {} : { skip: 'needs curl' };

for (const phase of ['RolledBack', 'Failed'])
  t.test(`${phase}: the scripts bring a Transaction there, as a person would run them`, byHand, async (t) => {
    const folder = copyFor(t, 'by-hand', folderOf(phase));
    const namespace = `by-hand-${folderOf(phase)}`;
    t.teardown(() => remove(namespace));
    const env = {
      PATH: await pathWithKubectl(),
      HOME: process.env.HOME,
      KUBECONFIG: stage.kubeconfig,
      HOOK: hookUrl,
      HOOK_TOKEN: hookToken,
    };
    await run('kubectl', ['apply', '-f', 'objects.yaml'], { cwd: folder, env });
    await run('./before.sh', [], { cwd: folder, env });
    const uid = textAt(must(await client.get(transactionPath(namespace))), 'metadata', 'uid');
    const { stdout } = await run('./curl.sh', [], { cwd: folder, env: { ...env, TRANSACTION_UID: uid } });
    // The name of a lock ends in a hash of the namespace too.
    const comparable = (answer: string): Json =>
      JSON.parse(answer.replaceAll(/(?<="janus-lock-[^"]+-)[0-9a-f]+(?=")/g, '{hash}'));
    t.same(comparable(JSON.stringify(masked(JSON.parse(stdout)))), comparable(text(folder, 'answer.json')));
  });

/** The examples with namespaces of another name, so that both kinds of test have their own. */
function copyFor(t: Test, prefix: string, folder: string): string {
  const directory = mkdtempSync(join(tmpdir(), 'janus-examples-'));
  t.teardown(() => rmSync(directory, { recursive: true }));
  cpSync(examples, directory, { recursive: true });
  const own = join(directory, folder);
  for (const file of readdirSync(own)) {
    const path = join(own, file);
    writeFileSync(path, text(path).replaceAll(`hook-${folder}`, `${prefix}-${folder}`));
  }
  return own;
}
