// What Argo CD and Flux take a Transaction for, in every phase: health.lua and the actions by gopher-lua, which Argo CD runs them by, and
// the expressions for Flux by the CEL library. The statuses are those that the engine answers in examples/hook.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { celEnv, parse as parseCel, plan } from '@bufbuild/cel';
import t from 'tap';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { at, isList, isObject, type Json, type JsonObject, textAt, withPath } from '../../hooks/model/json.ts';
import { kstatusOf } from '../support/kstatus.ts';
import { buildLua } from '../tools/gitops/gitops.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'examples/argocd/resource_customizations/tx.janus.io/Transaction');
const lua = await buildLua((line) => process.stderr.write(`${line}\n`));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** A Transaction with the status of each answer, and one that no call has seen. */
const objects: Readonly<Record<string, JsonObject>> = {
  untouched: transactionWith({ observedGeneration: -1 }),
  ...Object.fromEntries(
    readdirSync(join(root, 'examples/hook'), { withFileTypes: true })
      .filter((entry) => entry.isDirectory())
      .map(({ name }) => [name, transactionWith(answeredIn(name))]),
  ),
};

function answeredIn(name: string): JsonObject {
  const text = read(`examples/hook/${name}/answer.json`)
    .replaceAll('{time}', '2026-01-31T12:00:00Z')
    .replaceAll(/"\{duration\}"/g, '"1s"');
  return { ...(at(JSON.parse(text) as Json, 'status') as JsonObject), observedGeneration: 1 };
}

function transactionWith(status: JsonObject): JsonObject {
  const spec = { serviceAccountName: 'deployer', changes: [] };
  return { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name: 'example', generation: 1 }, spec, status };
}

/** As a literal of Lua. */
function luaOf(value: Json): string {
  if (isList(value)) return `{${value.map(luaOf).join(', ')}}`;
  if (isObject(value))
    return `{${Object.entries(value)
      .map(([key, one]) => `[${JSON.stringify(key)}] = ${luaOf(one)}`)
      .join(', ')}}`;
  return value === null ? 'nil' : typeof value === 'string' ? textOf(value) : String(value);
}

// In decimal: Lua 5.1 reads no other escape.
function textOf(text: string): string {
  return `"${[...Buffer.from(text)].map((byte) => `\\${String(byte).padStart(3, '0')}`).join('')}"`;
}

/** Runs a script over the global `obj`, and gives what the expression of `result` is then. */
function run(script: string, object: JsonObject, result: string): string {
  const program = `obj = ${luaOf(object)}\nlocal result = dofile(${textOf(join(folder, script))})\nio.write(${result})`;
  const directory = t.testdir({ 'program.lua': program });
  const { status, stdout, stderr } = spawnSync(lua, [join(directory, 'program.lua')], { encoding: 'utf8' });
  if (status !== 0) throw new Error(`${script}: ${stdout}${stderr}`);
  return stdout;
}

const healthOf = (object: JsonObject): readonly string[] =>
  run('health.lua', object, 'result.status .. "\\n" .. (result.message or "")').split('\n');

/** By what is stored once the call is answered. */
function expectedOf(object: JsonObject): string {
  const conditions = at(object, 'status', 'conditions');
  const is = (type: string): boolean =>
    isList(conditions) && conditions.some((one) => textAt(one, 'type') === type && textAt(one, 'status') === 'True');
  if (!is('Finished')) return 'Progressing';
  return textAt(object, 'status', 'phase') === 'Committed' ? 'Healthy' : 'Degraded';
}

const byKstatus: Readonly<Record<string, string>> = { InProgress: 'Progressing', Current: 'Healthy', Failed: 'Degraded' };

t.test('health.lua', async (t) => {
  const seen = new Set<string>();
  for (const [name, object] of Object.entries(objects)) {
    const [status = '', message = ''] = healthOf(object);
    t.equal(status, expectedOf(object), name);
    t.equal(status, byKstatus[kstatusOf(object)], `${name}: kstatus agrees`);
    if (status === 'Degraded') t.ok(message.includes(textAt(object, 'status', 'message') ?? '-'), message);
    seen.add(`${textAt(object, 'status', 'phase') ?? 'none'} ${status}`);
  }
  t.same([...seen].sort(), [
    'Committed Healthy',
    'Committed Progressing', // its locks are still held
    'Committing Progressing',
    'Failed Degraded',
    'Prepared Progressing',
    'Preparing Progressing',
    'RolledBack Degraded',
    'RollingBack Progressing',
    'none Progressing',
  ]);
  const pending = withPath(objects.preparing ?? {}, ['status', 'phase'], 'Pending');
  t.equal(healthOf(pending)[0], 'Progressing');
  t.equal(healthOf(withPath(objects.committed ?? {}, ['metadata', 'generation'], 2))[0], 'Progressing', 'of another generation');
  t.equal(healthOf(withPath(objects.committed ?? {}, ['status'], undefined))[0], 'Progressing', 'without a status');
});

const allowed: Readonly<Record<string, readonly string[]>> = {
  Committed: ['undo'],
  Failed: ['retry'],
  RolledBack: [],
  RollingBack: [],
};

t.test('actions: which are offered, and what they write', async (t) => {
  const offered =
    '(function() local on = {} for name, action in pairs(result) do if not action.disabled then on[#on + 1] = name end end return table.concat(on, ",") end)()';
  for (const [name, object] of Object.entries(objects)) {
    const phase = textAt(object, 'status', 'phase');
    const expected = phase === undefined ? [] : (allowed[phase] ?? ['abort']);
    t.equal(run('actions/discovery.lua', object, offered), expected.join(','), name);
  }
  const annotations = { undo: 'request-rollback', abort: 'request-rollback', retry: 'retry-rollback' };
  for (const [action, annotation] of Object.entries(annotations)) {
    const written = run(
      `actions/${action}/action.lua`,
      objects.committed ?? {},
      `result.metadata.annotations["tx.janus.io/${annotation}"]`,
    );
    t.match(written, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, action);
  }
});

t.test('the test data in the layout of Argo CD', async (t) => {
  const tests = Object.entries(objects).map(([name, object]) => {
    const [status = '', message = ''] = healthOf(object);
    return { healthStatus: { status, message }, inputPath: `testdata/${name}.yaml` };
  });
  const files = {
    'health_test.yaml': stringify({ tests }, { lineWidth: 0 }),
    ...Object.fromEntries(
      Object.entries(objects).map(([name, object]) => [`testdata/${name}.yaml`, stringify(object, { lineWidth: 0 })]),
    ),
  };
  for (const [path, text] of Object.entries(files)) {
    if (process.env.JANUS_WRITE_EXAMPLES === '1') writeFileSync(join(folder, path), text);
    t.same(parse(readFileSync(join(folder, path), 'utf8')), parse(text), `${path}: JANUS_WRITE_EXAMPLES=1 writes it`);
  }
});

t.test('healthCheckExprs for Flux', async (t) => {
  const [kustomization] = parseAllDocuments(read('examples/flux/shop.yaml')).map((document) => document.toJS() as Json);
  const [exprs] = at(kustomization, 'spec', 'healthCheckExprs') as readonly JsonObject[];
  const names = { inProgress: 'Progressing', failed: 'Degraded', current: 'Healthy' };
  for (const [name, object] of Object.entries(objects)) {
    const holds = Object.entries(names).filter(
      ([key]) => plan(celEnv(), parseCel(textAt(exprs, key) ?? ''))(object as never) === true,
    );
    t.same(
      holds.map(([, health]) => health),
      [expectedOf(object)],
      name,
    );
  }
});
