// -o json of every command, exit codes in the help, and the options of scripts: through the packed program, on one control plane.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t from 'tap';
import { engineCheck, kindCheck, metacontrollerChecks } from '../../cli/cluster/health.ts';
import type { Session } from '../../cli/cluster/session.ts';
import { commands } from '../../cli/command/registry.ts';
import { at, type JsonObject, withPath } from '../../hooks/objects/json.ts';
import { customResourceDefinition } from '../../schemas/custom-resource-definition.ts';
import { openCli } from '../support/cli.ts';
import { freeNamespace, must, waitFor } from '../support/client.ts';
import { fits } from '../support/documents.ts';
import { inAllOnly } from '../support/selection.ts';
import { account, startStage } from '../support/stage.ts';
import { change } from '../support/targets.ts';

const stage = await startStage(t);
const cli = await openCli(t, stage.kubeconfig);
const [[key = '', value = '']] = Object.entries(stage.label) as [[string, string]];
const where = ['-n', stage.namespace];
const given = [...where, '--service-account', account, '--field-manager', 'shop'];
const release = [...given, '--label', `${key}=${value}`];
const janus = (...words: readonly string[]) => cli.run(words);
const configMap = (name: string, data: JsonObject) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data });
const one = cli.write('one.json', JSON.stringify(configMap('one', { color: 'red' })));

async function data(schema: string, code: number, ...words: readonly string[]): Promise<JsonObject> {
  const found = await janus(...words, '-o', 'json');
  t.equal(found.code, code, `${words.join(' ')}: ${found.out}${found.err}`);
  const document = JSON.parse(found.out);
  t.ok(fits(schema, document), words.join(' '));
  return document;
}

t.test('every command prints its result as data', async (t) => {
  const applied = await data('outcome', 0, 'apply', '-f', one, ...release, '--name', 'one', '--ttl', '24h', '--wait');
  t.match(applied, {
    command: 'apply',
    exitCode: 0,
    transactions: [{ name: 'one', phase: 'Committed', changes: [{ name: 'one' }] }],
  });
  t.equal(at(await stage.read('one'), 'spec', 'ttlSecondsAfterFinished'), 86_400);
  t.match(await data('diff', 0, 'diff', 'one', ...where), { objects: [{ state: 'asReleased' }] });
  t.match(await data('history', 0, 'history', 'cm/one', ...where), {
    transactions: [
      {
        name: 'one',
        operations: { created: 1 },
        createdBy: 'janus-cli',
        createdByUser: /./,
        fieldManager: 'shop',
        changes: [{ type: 'Apply' }],
      },
    ],
  });
  t.match(
    (await janus('history', ...where)).out,
    /^NAMESPACE +TRANSACTION +AGE +PHASE +CHANGES +TOOK +BY.*\n.* one .* Committed +\+1 +\d+s +(?!unknown)\S+$/m,
  );
  t.match(await data('locks', 0, 'locks', ...where), { locks: [], orphans: [] });
  t.match(await data('version', 0, 'version'), { client: /^\d/, engine: /^unknown/ });
  t.notOk('engine' in (await data('version', 0, 'version', '--client')));
  const bad = {
    apiVersion: 'tx.janus.io/v1alpha1',
    kind: 'Transaction',
    metadata: { name: 'bad' },
    spec: { changes: [change('Update', 'x')] },
  };
  t.match(await data('lint', 2, 'lint', '-f', cli.write('bad.json', JSON.stringify(bad))), {
    findings: [{ place: /bad\.json:1:\d+/ }],
  });
  t.match(await data('plan', 0, 'plan', '-f', one, ...given), { changes: [{ operation: 'none' }] });
  t.match(JSON.parse((await janus('rbac', '-f', one, ...given, '-o', 'json')).out), {
    kind: 'List',
    items: [{ kind: 'ServiceAccount' }, { kind: 'Role' }, { kind: 'RoleBinding' }],
  });
  t.match(await janus('undo', 'one', ...where, '-o', 'json'), { code: 64, err: /give --yes/ });
  t.match(await data('outcome', 0, 'undo', 'one', ...where, '--wait', '--yes'), {
    command: 'undo',
    transactions: [{ phase: 'RolledBack' }],
  });
  const watched = await janus('status', 'one', ...where, '--watch', '-o', 'json');
  t.match(JSON.parse(watched.out), { kind: 'Transaction', status: { phase: 'RolledBack' } });
  const known = [
    'apply',
    'diff',
    'history',
    'locks',
    'version',
    'lint',
    'plan',
    'rbac',
    'render',
    'undo',
    'status',
    'list',
    'abort',
    'retry',
    'doctor',
  ];
  const others = commands.filter(({ name }) => !known.includes(name)).map(({ name }) => name);
  t.same(others, ['completion', '__complete'], 'no other command has data');
  for (const { name, options = [] } of commands.filter(({ name }) => known.includes(name)))
    t.ok(options.find(({ flags }) => flags.startsWith('-o,'))?.choices?.includes('json'), name);
});

t.test('hooks of Helm are refused, or left out and applied as ordinary objects', async (t) => {
  const hooked = (name: string, hook: string) => ({
    ...configMap(name, {}),
    metadata: { name, annotations: { 'helm.sh/hook': hook, 'argocd.argoproj.io/sync-wave': '3' } },
  });
  const file = cli.write(
    'hooks.json',
    `${JSON.stringify(hooked('before', 'pre-upgrade'))}\n---\n${JSON.stringify(hooked('try', 'test'))}`,
  );
  const words = ['apply', '-f', file, ...release, '--name', 'hooks', '--wait'];
  t.match(await janus(...words), { code: 1, out: '', err: /ConfigMap before \(pre-upgrade\) in .*, ConfigMap try \(test\)/ });
  t.match(await janus(...words, '--helm-hooks=ignore'), {
    code: 0,
    out: /hooks was committed after .*: 1 created\./,
    err: /left out, .*: ConfigMap try \(test\)\.\n.*ordinary objects, .*: ConfigMap before .*\n/,
  });
  t.equal((await stage.client.get(stage.path('configmaps/try'))).code, 404);
});

const transaction = (name: string, changes: readonly JsonObject[]) => ({
  ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction' },
  metadata: { name, namespace: stage.namespace, labels: { ...stage.label } },
  spec: { serviceAccountName: account, changes },
});

t.test('a Create takes its target from its content', async (t) => {
  const content = configMap('made', { color: 'red' });
  const create = cli.write('create.json', JSON.stringify(transaction('creates', [{ type: 'Create', content }])));
  t.match(await janus('plan', '-f', create), { code: 1, out: /create +ConfigMap .* made/ });
  t.match(await janus('apply', '-f', create, '--wait'), { code: 0, out: /creates was committed after .*: 1 created\./ });
  t.match(await janus('undo', 'creates', ...where, '--wait', '--yes'), { code: 0 });
  t.equal((await stage.client.get(stage.path('configmaps/made'))).code, 404);
});

t.test('messages name the field in the file of the user', inAllOnly, async (t) => {
  const content = configMap('made', { color: 'red' });
  const update = cli.write('update.json', JSON.stringify(transaction('updates', [{ type: 'Update', content }])));
  t.match(await janus('lint', '-f', update), {
    code: 2,
    out: /update\.json:1:\d+: Invalid: .*target is missing: write apiVersion, kind/,
  });
  const uid = { ...content, metadata: { name: 'made', uid: 'x' } };
  const bad = cli.write('uid.json', JSON.stringify(uid));
  const message = /content\.metadata\.uid cannot be set by an Apply: leave it out \(ConfigMap made in .*uid\.json\)/;
  t.match(await janus('apply', '-f', bad, ...release, '--name', 'bad'), { code: 1, err: message });
  t.match(await janus('plan', '-f', bad, ...given), { code: 2, out: message });
});

t.test('the help has the exit codes, and --version the version', async (t) => {
  t.match(await janus('plan', '--help'), {
    code: 0,
    out: /\nExit codes:\n {2}0 +it changes nothing\n {2}1 +it changes something\n/,
  });
  t.match(await janus('apply', '--help'), {
    out: /\n {2}4 +Failed, some objects are not restored\n[\s\S]*\n {2}64 +wrong use\n/,
  });
  t.match(await janus('--version'), { code: 0, out: /^\d+\.\d+\.\d+\n$/ });
});

t.test('doctor names what is wrong: absent, not ready, slow, without rights', async (t) => {
  const place = await freeNamespace(stage.client, 'doctor', t);
  const words = [...where, '--engine-namespace', place, '--metacontroller-namespace', place];
  const said = ({ checks }: JsonObject) =>
    Object.fromEntries(
      (checks as readonly JsonObject[]).map(({ name, state, message }) => [String(name), `${state}: ${message}`]),
    );
  const absent = said(await data('doctor', 1, 'doctor', ...words));
  t.match(absent, {
    CRD: /^ok: transactions\.tx\.janus\.io\/v1alpha1 has all fields/,
    engine: `wrong: there is no Deployment ${place}/janus`,
    Metacontroller: `wrong: there is no StatefulSet ${place}/metacontroller`,
    calls: /^ok: last call \d+s ago in namespace/,
    'your rights': /^ok: /,
  });
  const workload = (name: string, container: JsonObject): JsonObject => {
    const labels = { app: name };
    const template = { metadata: { labels }, spec: { containers: [container] } };
    return {
      metadata: { name, labels: { 'app.kubernetes.io/name': name } },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    };
  };
  const apps = `/apis/apps/v1/namespaces/${place}`;
  const slow = {
    name: 'metacontroller',
    image: 'reg.example/metacontroller:v4.17.2',
    args: ['--workers=50', '--client-go-qps=20'],
  };
  must(await stage.client.create(`${apps}/deployments`, workload('janus', { name: 'hook', image: 'reg.example/janus:9.9.9' })));
  must(await stage.client.create(`${apps}/statefulsets`, workload('metacontroller', slow)));
  const found = said(await data('doctor', 1, 'doctor', ...words, '--service-account', account));
  t.match(found, {
    engine: `wrong: ${place}/janus 0/2 ready, version 9.9.9`,
    Metacontroller: `wrong: ${place}/metacontroller 0/2 ready, version v4.17.2`,
    flags: 'wrong: Metacontroller is slow: give it --client-go-qps=1000 --client-go-burst=2000',
    [`ServiceAccount ${account}`]: /^ok: /,
  });
  const everywhere = said(await data('doctor', 1, 'doctor', ...where));
  t.match(everywhere.engine, `${place}/janus 0/2 ready, version 9.9.9`, 'found by its label');
  t.match(everywhere.Metacontroller, `${place}/metacontroller 0/2 ready`);
  t.match(said(await data('doctor', 1, 'doctor', '-n', 'no-such')).calls, /^wrong: Namespace no-such does not exist: /);
  const lines = await janus('doctor', ...words, '--service-account', 'nobody');
  t.match(lines, { code: 1, out: /^✗ ServiceAccount nobody +it does not exist in namespace/m });
});

t.test('a command that follows says that the engine does not answer, and why', async (t) => {
  const running = cli.start(['apply', '-f', one, ...given, '--name', 'unheard', '--wait']);
  await waitFor(() => /^The engine has made no call for/m.test(running.err()), 'the command to notice');
  t.match(
    running.err(),
    /^The engine has made no call for \d0 s: (no namespace has a Deployment with label app\.kubernetes\.io\/name=janus: install|\S+ 0\/\d+ ready).*\. {3}janus doctor$/m,
  );
  running.process.kill('SIGINT');
  t.equal((await running.finished).code, 130);
  t.match((await data('doctor', 1, 'doctor', ...where)).checks, [
    {},
    {},
    {},
    {},
    { name: 'calls', message: /1 without a call, such as Transaction unheard$/ },
  ]);
});

t.test('a plan for a script: its exit code, a summary, markdown', async (t) => {
  const odd = cli.write('odd.json', JSON.stringify(configMap('odd', { key: '</details> `| <b>' })));
  const plan = ['plan', '-f', odd, ...given];
  t.equal((await janus(...plan)).code, 1);
  const summary = await janus(...plan, '--exit-code=0', '--summary');
  t.match(summary, { code: 0, out: /\+ create +ConfigMap/ });
  t.notMatch(summary.out, /data\.key/);
  const markdown = await janus(...plan, '--exit-code=0', '-o', 'markdown');
  t.match(markdown, { code: 0, out: /^### Plan of .*: accepted\n[\s\S]*\n\| \+ \| ConfigMap \S+\/odd \| \d+ \|\n/ });
  t.match(markdown.out, /\n {4}data\.key +\(none\) -> "<\/details> `\| <b>"\n/, 'a value is in an indented block');
  t.notMatch(markdown.out, /^<\/details>.*\|/m);
});

t.test('--abort-on-timeout undoes a late release; list --failed leaves the release out', inAllOnly, async (t) => {
  const late = {
    ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name: 'late', labels: { ...stage.label } } },
    spec: {
      serviceAccountName: account,
      changes: [
        { ...change('Create', 'late', { data: {} }), gate: { ready: { field: { path: '.data.never' } }, timeout: '5m' } },
      ],
    },
  };
  const words = ['apply', '-f', cli.write('late.json', JSON.stringify(late)), ...where, '--abort-on-timeout'];
  t.match(await janus(...words, '--wait'), { code: 64, err: /needs --wait and --timeout/ });
  const found = await janus(...words, '--wait', '--timeout', '3s');
  t.match(found, { code: 3, err: /--timeout has passed: the command aborts the Transaction/ }, found.out);
  t.match(await janus('list', ...where, '--failed'), { code: 0, out: '', err: /^No Failed Transactions in namespace/ });
  const listed = await janus('list', ...where);
  t.match(listed.out, /^NAME +APP +PHASE +DONE +REASON +UNDO +AGE +WAITING FOR\n/);
});

t.test('-f takes a URL, within bounds', async (t) => {
  const server = createServer(({ url }, answer) => {
    if (url?.startsWith('/one.json')) answer.end(JSON.stringify(configMap('from-url', {})));
    else if (url === '/moved') answer.writeHead(302, { location: '/one.json' }).end();
    else if (url === '/large') void answer.writeHead(200).write(Buffer.alloc(65 * 1024 * 1024));
    else answer.writeHead(404).end();
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  t.teardown(() => {
    server.close();
    server.closeAllConnections();
  });
  const at = (path: string) => ['plan', '-f', `http://127.0.0.1:${(server.address() as AddressInfo).port}${path}`, ...given];
  t.match(await janus(...at('/one.json')), { code: 1, out: /ConfigMap.*from-url/ });
  t.match(await janus(...at('/moved')), { code: 1, out: /ConfigMap.*from-url/ });
  t.match(await janus(...at('/none?token=secret')), {
    code: 3,
    out: '',
    err: /^janus: http:\S+\/none answers 404: correct the URL/,
  });
  t.match(await janus(...at('/large')), { code: 3, err: /\/large has more than 64 MiB/ });
  t.match(await janus('plan', '-f', 'http://127.0.0.1:64999/x', ...given), { code: 3, err: /cannot be read \(ECONNREFUSED\)/ });
});

t.test(
  'doctor accepts what is ready and fast, names a CRD of another version, and what cannot be read is unknown',
  inAllOnly,
  async (t) => {
    const session = (answer: object) => ({ namespace: 'shop', cluster: { get: async () => answer } }) as unknown as Session;
    const found = (object: unknown) => session({ kind: 'ok', object });
    const crd = withPath(
      customResourceDefinition as unknown as JsonObject,
      ['spec', 'versions'],
      (at(customResourceDefinition as unknown as JsonObject, 'spec', 'versions') as readonly JsonObject[]).map((one) =>
        withPath(one, ['schema', 'openAPIV3Schema', 'properties', 'spec', 'properties', 'lockWait'], undefined),
      ),
    );
    t.match(await kindCheck(found(crd)), {
      state: 'wrong',
      message: /without spec\.lockWait: apply manifests\/crds of this version$/,
    });
    const args = ['--workers=50', '--client-go-qps=1000', '--client-go-burst=2000'];
    const fast = {
      status: { readyReplicas: 1 },
      spec: { replicas: 2, template: { spec: { containers: [{ name: 'metacontroller', args }] } } },
    };
    const places = { engineNamespace: 'janus-system', metacontrollerNamespace: 'metacontroller' };
    t.match(await engineCheck(found(fast), places), { state: 'ok', message: 'janus-system/janus 1/2 ready' });
    t.match(await metacontrollerChecks(found(fast), places), [{ state: 'ok' }, { name: 'flags', state: 'ok' }]);
    const failed = (kind: string, reason: string) => ({ kind: 'failed', failure: { kind, reason } });
    const forbidden = failed('refused', 'Forbidden');
    t.match(await engineCheck(session(forbidden), places), {
      state: 'unknown',
      message: /janus-system\/janus cannot be read \(Forbidden\)/,
    });
    const all = (answer: object, list: object) =>
      ({ cluster: { get: async () => answer, listMetadata: async () => list } }) as unknown as Session;
    t.match(await engineCheck(all(failed('absent', 'NotFound'), forbidden), {}), {
      state: 'unknown',
      message:
        'there is no Deployment janus-system/janus, and only that namespace was searched: you may not list deployments of all namespaces (Forbidden)',
    });
    const workload = (namespace: string, readyReplicas: number) => ({
      metadata: { namespace, name: 'engine' },
      status: { readyReplicas },
    });
    const items = [workload('one', 1), workload('two', 0)];
    t.match(await engineCheck(all(forbidden, { kind: 'ok', items }), {}), {
      state: 'wrong',
      message: /^two\/engine 0\/1 ready$/,
    });
    t.match(await engineCheck(all(forbidden, { kind: 'ok', items: [] }), {}), {
      state: 'wrong',
      message: /^no namespace has a Deployment/,
    });
  },
);
