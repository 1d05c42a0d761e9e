// What Argo CD and Flux take a Transaction for, in every phase: health.lua and the actions by gopher-lua, which Argo CD runs them by, and
// the expressions for Flux by the CEL library. The statuses are those that the engine answers in examples/hook.
import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { celEnv, parse as parseCel, plan } from '@bufbuild/cel';
import t from 'tap';
import { parse, parseAllDocuments, stringify } from 'yaml';
import { at, isList, isObject, type Json, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { kstatusOf } from '../support/kstatus.ts';
import { ran } from '../support/program.ts';
import { openWebhook } from '../support/webhook.ts';
import { buildGitops } from '../tools/gitops/gitops.ts';

const root = join(import.meta.dirname, '../..');
const folder = join(root, 'examples/argocd/resource_customizations/tx.janus.io/Transaction');
type Tap = Pick<typeof t, 'same'>;

interface Offer {
  readonly name: string;
  readonly disabled: boolean;
}

const { lua, notifications } = await buildGitops((line) => process.stderr.write(`${line}\n`));
const read = (path: string): string => readFileSync(join(root, path), 'utf8');

/** A Transaction with the status of each answer, and one that no call has seen. */
const objects: Readonly<Record<string, JsonObject>> = {
  untouched: transactionWith({ observedGeneration: -1 }),
  left: transactionWith(withItemLeft(answeredIn('failed'))),
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

/** Failed not before anything was applied, but in its undo. */
function withItemLeft(status: JsonObject): JsonObject {
  const message = 'rolled back 1 change, 1 not restored';
  const error = { reason: 'Conflict', message: 'ConfigMap app-config was changed by another writer meanwhile' };
  const items = [
    { target: 'ConfigMap app-config', state: 'NotRestored', left: true, error },
    { target: 'ConfigMap old-config', state: 'Restored', rolledBack: true },
  ];
  return { ...status, items, message };
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
  Failed: [],
  RolledBack: [],
  RollingBack: [],
};

function actionsFor(name: string, object: JsonObject): readonly string[] {
  const phase = textAt(object, 'status', 'phase');
  if (name === 'left') return ['retry'];
  return phase === undefined ? [] : (allowed[phase] ?? ['abort']);
}

/** Each with what it writes, and an object that it is offered for. */
const actions = [
  { action: 'undo', annotation: 'tx.janus.io/request-rollback', input: 'committed' },
  { action: 'abort', annotation: 'tx.janus.io/request-rollback', input: 'preparing' },
  { action: 'retry', annotation: 'tx.janus.io/retry-rollback', input: 'left' },
] as const;
const stamp = '2026-01-31T12:00:00Z';

t.test('actions: which are offered, and what they write', async (t) => {
  const offered =
    '(function() local on = {} for name, action in pairs(result) do if not action.disabled then on[#on + 1] = name end end return table.concat(on, ",") end)()';
  for (const [name, object] of Object.entries(objects))
    t.equal(run('actions/discovery.lua', object, offered), actionsFor(name, object).join(','), name);
  for (const { action, annotation, input } of actions) {
    const written = run(
      `actions/${action}/action.lua`,
      objects[input] ?? {},
      `result.metadata.annotations["${annotation}"] .. " " .. result.status.phase`,
    );
    t.match(written, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ /, action);
    t.ok(written.endsWith(` ${textAt(objects[input] ?? {}, 'status', 'phase')}`), 'the rest is as it was');
  }
});

const yamlOf = (value: unknown): string => stringify(value, { lineWidth: 0 });

/** The files of Argo CD's own tests of a customization, by their paths in the folder of the kind. */
function testFiles(): Readonly<Record<string, string>> {
  const tests = Object.entries(objects).map(([name, object]) => {
    const [status = '', message = ''] = healthOf(object);
    return { healthStatus: { status, message }, inputPath: `testdata/${name}.yaml` };
  });
  const discoveryTests = Object.entries(objects).map(([name, object]) => ({
    inputPath: `../testdata/${name}.yaml`,
    result: ['undo', 'retry', 'abort'].map((action) => ({
      name: action,
      disabled: !actionsFor(name, object).includes(action),
    })),
  }));
  const actionTests = actions.map(({ action, input }) => ({
    action,
    inputPath: `../testdata/${input}.yaml`,
    expectedOutputPath: `testdata/${action}.yaml`,
  }));
  const written = actions.map(({ action, annotation, input }) => {
    const object = withPath(objects[input] ?? {}, ['metadata', 'annotations'], { [annotation]: stamp });
    return [`actions/testdata/${action}.yaml`, yamlOf(object)] as const;
  });
  return {
    'health_test.yaml': yamlOf({ tests }),
    'actions/action_test.yaml': `# The time that an action writes is another one each time: of it only the form counts.\n${yamlOf({ discoveryTests, actionTests })}`,
    ...Object.fromEntries(Object.entries(objects).map(([name, object]) => [`testdata/${name}.yaml`, yamlOf(object)])),
    ...Object.fromEntries(written),
  };
}

function holds(t: Tap, path: string, text: string): void {
  if (process.env.JANUS_WRITE_EXAMPLES === '1') {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, text);
  }
  t.same(parse(readFileSync(path, 'utf8')), parse(text), `${path}: JANUS_WRITE_EXAMPLES=1 writes it`);
}

t.test('the test data in the layout of Argo CD', async (t) => {
  for (const [path, text] of Object.entries(testFiles())) holds(t, join(folder, path), text);
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((path) => path.endsWith('.yaml'));
  t.same(files.sort(), Object.keys(testFiles()).sort(), 'and no others');
});

t.test('the tests of actions, as Argo CD runs them', async (t) => {
  const inActions = (path: string): JsonObject => parse(readFileSync(join(folder, 'actions', path), 'utf8'));
  const { discoveryTests, actionTests } = inActions('action_test.yaml') as unknown as {
    readonly discoveryTests: readonly { readonly inputPath: string; readonly result: readonly Offer[] }[];
    readonly actionTests: readonly { readonly action: string; readonly inputPath: string; readonly expectedOutputPath: string }[];
  };
  for (const { inputPath, result } of discoveryTests)
    for (const { name, disabled } of result)
      t.equal(
        run('actions/discovery.lua', inActions(inputPath), `tostring(result["${name}"].disabled)`),
        String(disabled),
        inputPath,
      );
  for (const { action, inputPath, expectedOutputPath } of actionTests) {
    const expected = inActions(expectedOutputPath);
    const [[annotation = ''] = []] = Object.entries(at(expected, 'metadata', 'annotations') as JsonObject);
    const result = `result.metadata.annotations["${annotation}"]`;
    t.match(run(`actions/${action}/action.lua`, inActions(inputPath), result), /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$/, action);
    t.same(withPath(expected, ['metadata', 'annotations'], undefined), inActions(inputPath), 'and nothing else');
  }
});

t.test('argocd-cm.yaml holds the scripts as they are', async (t) => {
  const script = (path: string): string => readFileSync(join(folder, path), 'utf8');
  const definitions = actions.map(({ action: name }) => ({ name, 'action.lua': script(`actions/${name}/action.lua`) }));
  const kind = 'tx.janus.io_Transaction';
  const text = yamlOf({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'argocd-cm', namespace: 'argocd' },
    data: {
      [`resource.customizations.health.${kind}`]: script('health.lua'),
      [`resource.customizations.actions.${kind}`]: yamlOf({ 'discovery.lua': script('actions/discovery.lua'), definitions }),
    },
  });
  const comment =
    '# The customizations of resource_customizations/, as Argo CD reads them from its ConfigMap: docs/gitops.md says how to add them.\n';
  holds(t, join(root, 'examples/argocd/argocd-cm.yaml'), `${comment}${text}`);
});

t.test('a Transaction for each sync: under a name of its own, so none is deleted before the next', async (t) => {
  const { metadata } = parse(read('examples/argocd/sync-hook.yaml')) as JsonObject;
  t.same(metadata, { generateName: 'release-', annotations: { 'argocd.argoproj.io/hook': 'Sync' } });
});

const phases: Readonly<Record<string, string>> = { Progressing: 'Running', Healthy: 'Succeeded', Degraded: 'Failed' };

/** As Argo CD stores it once it has synced this Transaction. A hook decides about the sync, any other object about the health. */
function applicationOf(object: JsonObject, isHook: boolean): JsonObject {
  const [health = '', message = ''] = healthOf(object);
  const synced = { kind: 'Transaction', namespace: 'shop', name: 'example' };
  const phase = isHook ? (phases[health] ?? '') : 'Succeeded';
  const resource = isHook ? { ...synced, hookType: 'Sync', hookPhase: phase, message } : { ...synced, message: 'created' };
  return {
    ...{ apiVersion: 'argoproj.io/v1alpha1', kind: 'Application', metadata: { name: 'shop' } },
    status: {
      health: { status: isHook ? 'Healthy' : health },
      resources: isHook ? [] : [synced],
      operationState: { phase, finishedAt: stamp, syncResult: { resources: [resource] } },
    },
  };
}

t.test('notifications of Argo CD: what triggers them, and what reaches the webhook', async (t) => {
  const webhook = await openWebhook(t);
  const config = read('examples/notifications/argocd-notifications-cm.yaml').replaceAll('https://hooks.example.com', webhook.url);
  const directory = t.testdir({ 'config.yaml': config });
  const files = ['--config-map', join(directory, 'config.yaml'), '--secret', ':empty'];
  const run = async (application: JsonObject, ...words: readonly string[]) => {
    const file = join(directory, 'application.yaml');
    writeFileSync(file, yamlOf(application));
    return (await ran(notifications, [...words, file, ...files])).output;
  };
  for (const [name, object] of Object.entries(objects))
    for (const isHook of [false, true])
      for (const [trigger, health] of Object.entries({ committed: 'Healthy', degraded: 'Degraded' })) {
        const said = await run(applicationOf(object, isHook), 'trigger', 'run', `on-transaction-${trigger}`);
        t.match(said, /^CONDITION +RESULT\n/);
        t.equal(/ true$/m.test(said), expectedOf(object) === health, `${name}: ${said}`);
      }
  const application = applicationOf(objects['rolled-back'] ?? {}, true);
  const said = await run(application, 'template', 'notify', '--recipient=releases', 'transaction');
  const [, message = ''] = healthOf(objects['rolled-back'] ?? {});
  const body = { application: 'shop', health: 'Healthy', transactions: [`shop/example: ${message}`] };
  t.same(webhook.received, [{ path: '/argocd', body }], said);
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
