// The commands on the real API server, through the packed program: what they do, what they print into a pipe, how they exit.
import { spawnSync } from 'node:child_process';
import { readFileSync, truncateSync } from 'node:fs';
import { dirname, join } from 'node:path';
import t, { type Test } from 'tap';
import { parse } from 'yaml';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { openCli } from '../support/cli.ts';
import { freeNamespace, must, waitFor } from '../support/client.ts';
import { accountKubeconfig } from '../support/engine-identity.ts';
import { pathWithKubectl } from '../support/kubectl.ts';
import { everyNth, inAllOnly } from '../support/selection.ts';
import { account, startStage } from '../support/stage.ts';
import { change, createConfigMaps } from '../support/targets.ts';
import { installOldestNode } from '../tools/oldest-node/oldest-node.ts';

const stage = await startStage(t);
const cli = await openCli(t, stage.kubeconfig);
const [[key = '', value = '']] = Object.entries(stage.label) as [[string, string]];
const where = ['-n', stage.namespace];
/** For manifests: the label is that of the loop. */
const release = [...where, '--service-account', account, '--label', `${key}=${value}`];
const janus = (...words: readonly string[]) => cli.run(words);
const configMap = (name: string, data: JsonObject = { color: 'red' }) =>
  ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data }) as const;
const transactionsPath = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions`;
const names = async (path: string) => (await stage.client.list(path)).items.map((item) => textAt(item, 'metadata', 'name') ?? '');
const shellPath = `${cli.programs}:${dirname(process.execPath)}:/usr/bin:/bin`;
const never = { ready: { field: { path: '.data.never' } }, timeout: '5m' };

/** A file with a Transaction of the stage. */
function fileOf(name: string, changes: readonly JsonObject[]): string {
  const metadata = { name, namespace: stage.namespace, labels: { ...stage.label } };
  const object = {
    apiVersion: 'tx.janus.io/v1alpha1',
    kind: 'Transaction',
    metadata,
    spec: { serviceAccountName: account, changes },
  };
  return cli.write(`${name}.json`, JSON.stringify(object));
}

t.test('apply makes one Transaction of a folder, in the order of kinds, and follows it line by line', async (t) => {
  cli.write(
    'app/b.yaml',
    `${JSON.stringify(configMap('second'))}\n---\n${JSON.stringify({ ...configMap('account'), kind: 'ServiceAccount', data: undefined })}`,
  );
  const list = { apiVersion: 'v1', kind: 'List', items: [configMap('first', { big: 1 && 'x' })] };
  cli.write('app/deep/a.json', JSON.stringify(list));
  const { code, out, err } = await janus(
    'apply',
    '-f',
    'app',
    '-R',
    ...release,
    '--name',
    'folder',
    '--field-manager',
    'shop',
    '--wait',
  );
  t.equal(code, 0, out + err);
  t.match(out, /^transaction\.tx\.janus\.io\/folder created\n/);
  t.match(out, /^\d+\.\d\ds ConfigMap second created$/m);
  t.match(out, /\n✓ folder was committed after \d:\d\d: 3 created\.\n {2}janus undo folder -n \S+ takes it back\.\n$/);
  t.notOk(out.includes('\u001b') || err.includes('\u001b'), 'no escape code');
  const spec = at(await stage.read('folder'), 'spec');
  const changes = at(spec, 'changes') as readonly JsonObject[];
  t.same(
    changes.map((one) => `${textAt(one, 'type')} ${textAt(one, 'content', 'metadata', 'name')}`),
    ['Apply account', 'Apply second', 'Apply first'],
  );
  t.equal(textAt(spec, 'fieldManager'), 'shop');
});

t.test('apply follows an existing spec; another spec needs another name', async (t) => {
  const file = cli.write('again.json', JSON.stringify(configMap('again')));
  const words = ['apply', '-f', file, ...release, '--name', 'again'];
  t.match((await janus(...words, '--wait')).out, /again created/);
  const before = textAt(await stage.read('again'), 'metadata', 'resourceVersion');
  const second = await janus(...words, '--wait');
  t.match(second, { code: 0, out: /again unchanged\n[\s\S]*was committed after/ });
  cli.write('again.json', JSON.stringify(configMap('again', { color: 'green' })));
  t.match(await janus(...words), { code: 1, out: '', err: /^janus: Transaction again exists .* another spec.*--new-name\.\n$/ });
  t.equal(textAt(await stage.read('again'), 'metadata', 'resourceVersion'), before);
  t.match(await janus(...words, '--new-name', '--wait'), { code: 0, out: /again-2 created/ });
  t.match(await janus(...words, '--new-name'), { code: 0, out: /again-2 unchanged/ });
});

t.test('apply reports unchanged if the cluster has the released objects', async (t) => {
  const file = cli.write('rel.json', JSON.stringify(configMap('rel')));
  const other = cli.write('rel-b.json', JSON.stringify(configMap('rel', { color: 'green' })));
  const apply = (path: string, name: string, ...more: string[]) =>
    janus('apply', '-f', path, ...release, '--name', name, '--wait', ...more);
  t.match(await apply(file, 'rel-a'), { code: 0, out: /rel-a created/ });
  const second = await apply(file, 'rel-a');
  t.match(second, { code: 0, out: /rel-a unchanged/ }, second.err);

  await t.test('apply does not report unchanged after a later release', async (t) => {
    t.match(await apply(other, 'rel-b'), { code: 0, out: /rel-b created/ });
    t.match(await apply(file, 'rel-a'), {
      code: 1,
      out: '',
      err: /rel-a is Committed, but Transaction rel-b \(Committed since .*\) changed its objects later: .*--new-name/,
    });
    t.match(await apply(file, 'rel-a', '--new-name'), { code: 0, out: /rel-a-2 created/ });
    t.match(await apply(file, 'rel-a', '--new-name'), { code: 0, out: /rel-a-2 unchanged/ });
  });

  await t.test('apply does not report unchanged after an edit', inAllOnly, async (t) => {
    const edit = { data: { color: 'violet' } };
    must(await stage.client.patch(stage.path('configmaps/rel'), edit, 'merge', { fieldManager: 'kubectl-edit' }));
    t.match(await apply(file, 'rel-a-2'), {
      code: 1,
      out: '',
      err: /other clients have changed its objects: ConfigMap rel data\.color \(by kubectl-edit\)/,
    });
    t.match(await apply(file, 'rel-a-2', '--new-name'), { code: 0, out: /rel-a-2-2 created/ });
  });

  await t.test('a release that was undone frees its name, and stays', inAllOnly, async (t) => {
    t.match(await janus('undo', 'rel-a-2-2', ...where, '--wait', '--yes'), { code: 0 });
    const again = await apply(file, 'rel-a-2-2');
    t.match(again, { code: 0, out: /rel-a-2-2-2 created/, err: /rel-a-2-2 ended as RolledBack, and stays as a record/ });
    t.equal(textAt(await stage.read('rel-a-2-2'), 'status', 'phase'), 'RolledBack');
    const keep = ['--keep', 'ConfigMap/rel'];
    t.match(await janus('undo', 'rel-a-2-2-2', ...where, '--wait', '--yes', ...keep), {
      code: 0,
      out: /1 object is kept: ConfigMap rel/,
    });
    t.match(await apply(file, 'rel-a-2-2-2'), { code: 0, out: /rel-a-2-2-2-2 created/ }, 'also if an object was kept');
  });
});

t.test('apply exits with 2 after a refusal, and with 3 after a rollback', async (t) => {
  await createConfigMaps(stage, ['taken']);
  const refused = fileOf('refused', [change('Create', 'taken', configMap('taken'))]);
  t.match(await janus('apply', '-f', refused, '--wait'), {
    code: 2,
    out: /✗ refused failed after [\s\S]*\n {2}Nothing was applied: no object was changed\./,
  });
  const late = fileOf('late', [{ ...change('Create', 'late', configMap('late')), gate: { ...never, timeout: '1s' } }]);
  const { code, out } = await janus('apply', '-f', late, '--wait');
  t.equal(code, 3, out);
  t.match(out, /ConfigMap late deleted again, failed: GateTimeout\n/);
  t.match(
    out,
    /\n✗ late was rolled back after .*: ConfigMap \S+late did not become ready within 1s.*\n {2}1 object is as before \(1 deleted again\)\./,
  );
  t.equal(out.split('did not become ready').length, 2, 'the cause is there once');
});

t.test('apply exits with 5 if the Transaction runs on, with 130 after Ctrl-C, and abort undoes it', inAllOnly, async (t) => {
  const file = fileOf('waits', [{ ...change('Create', 'waits', configMap('waits')), gate: never }]);
  t.match(await janus('apply', '-f', file, '--wait', '--timeout', '2s'), { code: 5, out: /it continues\./ });
  const watching = cli.start(['status', 'waits', ...where, '-w']);
  await waitFor(() => watching.out().includes('waits created'), 'the watch to show it');
  watching.process.kill('SIGINT');
  t.match(await watching.finished, { code: 130, out: /it continues\./ });
  t.match(await janus('undo', 'waits', ...where, '-y'), {
    code: 1,
    err: /it is still running \(Committing\): janus abort waits/,
  });
  t.match(await janus('retry', 'waits', ...where, '-y'), { code: 1, err: /no rollback has left an object/ });
  t.match(await janus('abort', 'waits', ...where, '-y', '--wait'), {
    code: 0,
    out: /abort requested\n[\s\S]*✓ waits was rolled back after/,
  });
});

t.test('retry finishes an incomplete undo', async (t) => {
  await createConfigMaps(stage, ['kept']);
  const file = fileOf('undone', [change('Update', 'kept', configMap('kept', { color: 'red' }))]);
  t.equal((await janus('apply', '-f', file, '--wait')).code, 0);
  t.match(await janus('undo', 'undone', ...where), { code: 64, err: /There is no terminal to ask: give --yes/ });
  must(await stage.client.patch(stage.path('configmaps/kept'), { data: { color: 'violet' } }));
  t.match(await janus('undo', 'undone', ...where, '--yes', '--wait'), { code: 3, out: /ConfigMap kept {2}RollbackConflict/ });
  const { code, out } = await janus('undo', 'undone', ...where, '--yes', '--wait', '--partial');
  t.equal(code, 4, out);
  t.match(
    out,
    /✗ The undo of undone is incomplete after .*: 1 object is not restored\.\n {2}ConfigMap kept: .*\n[\s\S]*janus retry undone .* --keep ConfigMap\/kept /,
  );
  const before = textAt(await stage.read('undone'), 'metadata', 'resourceVersion');
  t.match(await janus('undo', 'undone', ...where, '--yes'), { code: 1, err: /janus retry undone tries again/ });
  t.match(await janus('abort', 'undone', ...where, '--yes'), { code: 1, err: /janus retry undone tries again/ });
  t.equal(textAt(await stage.read('undone'), 'metadata', 'resourceVersion'), before, 'nothing was written');
  t.match(await janus('retry', 'undone', ...where, '--yes', '--wait'), { code: 3 }, 'a fresh value, tried again');
  t.match(await janus('retry', 'undone', ...where, '--yes', '--wait', '--partial'), { code: 4 });
  t.match(await janus('apply', '-f', file, '--new-name'), {
    code: 0,
    err: /undone is Failed, with objects not restored: .* undone-2/,
  });
  t.match(await stage.finished('undone-2'), { phase: 'Committed' });
  t.match(await janus('undo', 'undone-2', ...where, '--yes', '--wait'), { code: 0 });
  must(await stage.client.patch(stage.path('configmaps/kept'), { data: { color: 'blue' } }));
  t.match(await janus('retry', 'undone', ...where, '--yes', '--wait'), { code: 0, out: /was rolled back after/ });
  t.match(await janus('retry', 'undone', ...where, '--yes'), { code: 1, err: /it is rolled back/ });
});

t.test('--confirm shows the plan; apply creates no Transaction that would be refused', inAllOnly, async (t) => {
  await createConfigMaps(stage, ['confirmed']);
  const good = fileOf('confirmed', [change('Update', 'confirmed', configMap('confirmed'))]);
  const shown = await janus('apply', '-f', good, '--confirm', '--yes', '--wait');
  t.match(shown, { code: 0, out: /^Plan of .*\/confirmed, as ServiceAccount [\s\S]*"blue" -> "red"[\s\S]*confirmed created\n/ });
  const silent = fileOf('unanswered', [change('Delete', 'confirmed')]);
  t.match(await janus('apply', '-f', silent, '--confirm'), { code: 64, err: /There is no terminal to ask: give --yes/ });
  const bad = fileOf('unwanted', [change('Create', 'confirmed', configMap('confirmed'))]);
  t.match(await janus('apply', '-f', bad, '--confirm', '--yes'), {
    code: 1,
    err: /The Transaction would be refused, so it is not created/,
  });
  const all = await names(transactionsPath);
  t.notOk(all.includes('unanswered') || all.includes('unwanted'));
});

const hasScript = /util-linux/.test(
  spawnSync('script', ['--version'], { encoding: 'utf8', env: { PATH: shellPath } }).stdout ?? '',
);
const asksOnly = hasScript ? inAllOnly : { skip: 'needs script of util-linux' };

/** As typed at a terminal, which `script` makes: what it prints there, and its exit code. Without `answer` it must not ask. */
async function atTerminal(words: readonly string[], answer?: string) {
  const line = ['janus', ...words].map((word) => `'${word}'`).join(' ');
  const use = { node: 'script', bare: true, typing: true, env: { PATH: shellPath, TERM: 'xterm' } } as const;
  const running = cli.start(['-qec', line, '/dev/null'], use);
  if (answer !== undefined) {
    await waitFor(() => running.out().includes('[y/N]') || running.process.exitCode !== null, `${line} to ask`);
    running.process.stdin?.write(`${answer}\r`);
  }
  const { code, out } = await running.finished;
  t.equal(out.includes('[y/N]'), answer !== undefined, line);
  return { code, out };
}

t.test('at a terminal apply --confirm, undo, abort and retry ask; no answer but yes writes anything', asksOnly, async (t) => {
  await createConfigMaps(stage, ['asked']);
  const file = fileOf('asked', [change('Update', 'asked', configMap('asked'))]);
  const waiting = fileOf('asked-waits', [{ ...change('Create', 'asked-waits', configMap('asked-waits')), gate: never }]);
  const annotations = async (name: string) => JSON.stringify(at(await stage.read(name), 'metadata', 'annotations') ?? {});
  const isUnasked = async (name: string) => t.notMatch(await annotations(name), /rollback/, `${name}: nothing was written`);

  const apply = ['apply', '-f', file, '--confirm'];
  t.match(await atTerminal(apply, 'n'), {
    code: 1,
    out: /Create this Transaction of 1 change .*The Transaction is not created/s,
  });
  t.equal((await stage.client.get(`${transactionsPath}/asked`)).code, 404);
  t.match(await atTerminal(apply, 'y'), { code: 0, out: /asked created/ });
  await stage.phase('asked', 'Committed');
  await stage.finished('asked');

  t.match(await atTerminal(['undo', 'asked', ...where], ''), {
    code: 1,
    out: /Undo asked: changes 1 object back\. Continue\?.*Nothing was changed\./s,
  });
  await isUnasked('asked');
  must(await stage.client.patch(stage.path('configmaps/asked'), { data: { color: 'violet' } }));
  t.match(await atTerminal(['undo', 'asked', ...where, '--wait']), { code: 3, out: /RollbackConflict/ }, 'refused, so not asked');
  await isUnasked('asked');
  t.match(await atTerminal(['undo', 'asked', ...where, '--wait', '--partial'], 'YES'), { code: 4, out: /undo requested/ });

  const retry = ['retry', 'asked', ...where, '--partial'];
  t.match(await atTerminal(retry, 'n'), {
    code: 1,
    out: /Undo what is left of asked: cannot undo 1 object\. Continue\?.*Nothing was changed\./s,
  });
  t.match(await janus(...retry), { code: 64, err: /There is no terminal to ask: give --yes/ });
  t.notMatch(await annotations('asked'), /retry-rollback/);
  t.match(await atTerminal(retry, 'y'), { code: 4, out: /retry requested[\s\S]*The undo of asked is incomplete/ }, 'followed');
  t.match(await annotations('asked'), /retry-rollback/);

  t.match(await janus('apply', '-f', waiting), { code: 0 });
  const abort = ['abort', 'asked-waits', ...where];
  t.match(await atTerminal(abort, 'nonsense'), { code: 1, out: /Stop asked-waits .*Nothing was changed\./s });
  t.match(await janus(...abort), { code: 64, err: /There is no terminal to ask: give --yes/ });
  await isUnasked('asked-waits');
  t.match(await atTerminal([...abort, '--yes']), { code: 0, out: /abort requested/ });
  t.match(await stage.finished('asked-waits'), { phase: 'RolledBack' });
});

t.test('--gate waits at the end; --recreate-immutable recreates; --delete-filled applies to the undo', inAllOnly, async (t) => {
  const labels = { app: 'idle' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'one', image: 'one' }] } };
  const spec = { selector: { matchLabels: labels }, template };
  // There are no nodes: its Pods never run.
  const idle = cli.write(
    'idle.json',
    JSON.stringify({ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'idle' }, spec }),
  );
  const gated = await janus('apply', '-f', idle, ...release, '--name', 'idle', '--gate', '1s', '--wait');
  t.match(gated, { code: 3, out: /Deployment idle deleted again, failed: GateTimeout/ });
  t.match(await stage.read('idle'), {
    spec: { gate: { timeout: '1s' } },
    status: { items: [{ error: { reason: 'GateTimeout' } }] },
  });
  t.match(await janus('apply', '-f', idle, ...release, '--name', 'bad-gate', '--gate', 'soon'), {
    code: 64,
    out: '',
    err: /--gate takes a timeout/,
  });
  const fixed = (color: string) => ({ ...configMap('fixed', { color }), immutable: true });
  const apply = (name: string, color: string, ...words: readonly string[]) =>
    cli.run(['apply', '-f', '-', ...release, '--name', name, '--field-manager', 'shop', '--wait', ...words], {
      input: JSON.stringify(fixed(color)),
    });
  t.match(await apply('fixed-1', 'red'), { code: 0 });
  const next =
    /cannot be changed in place \(data\.color red -> blue\).*whenImmutable: Recreate \(janus apply --recreate-immutable\).*field is immutable/;
  t.match(await apply('fixed-2', 'blue'), { code: 2, out: next });
  const planned = await cli.run(['plan', '-f', '-', ...release.slice(0, 4)], { input: JSON.stringify(fixed('blue')) });
  t.match(planned, { code: 2, out: next });
  t.match(await apply('fixed-3', 'blue', '--recreate-immutable', '--delete-filled'), { code: 0 });
  t.match(await stage.read('fixed-3'), { spec: { undo: { foreignContent: 'Delete' } } });
  t.equal(textAt(must(await stage.client.get(stage.path('configmaps/fixed'))), 'data', 'color'), 'blue');
});

t.test('--allow-irreversible allows irreversible changes; plan accepts it too', inAllOnly, async (t) => {
  const freeze = (words: readonly string[], verb = 'apply') =>
    cli.run([verb, '-f', '-', ...where, '--service-account', account, ...words], {
      input: JSON.stringify({ ...configMap('frozen'), immutable: true }),
    });
  await createConfigMaps(stage, ['frozen']);
  const how =
    /it becomes immutable; annotate .*tx\.janus\.io\/allow-irreversible=true to allow it \(for manifests: janus apply --allow-irreversible\)/;
  t.match(await freeze([], 'plan'), { code: 2, out: how });
  t.match(await freeze(['--allow-irreversible'], 'plan'), { code: 1 });
  const apply = ['--label', `${key}=${value}`, '--wait', '--name'];
  t.match(await freeze([...apply, 'freeze']), { code: 2, out: how });
  t.match(await freeze([...apply, 'freeze', '--allow-irreversible']), { code: 0, out: /freeze-2 created/ });
  t.equal(at(must(await stage.client.get(stage.path('configmaps/frozen'))), 'immutable'), true);
  const file = fileOf('whole', [change('Create', 'whole', configMap('whole'))]);
  t.match(await janus('apply', '-f', file, '--allow-irreversible'), {
    code: 64,
    err: /--allow-irreversible cannot change a Transaction/,
  });
});

t.test('apply refuses invalid input in one line, and creates nothing', async (t) => {
  const before = await names(transactionsPath);
  const many = { apiVersion: 'v1', kind: 'List', items: Array.from({ length: 501 }, (_, index) => configMap(`many-${index}`)) };
  const twice = { ...many, items: [configMap('one'), configMap('one')] };
  const large = { ...many, items: [configMap('large', { text: 'x'.repeat(1_600_000) })] };
  // etcd would take it: not with its status.
  const full = { ...many, items: many.items.slice(0, 500).map((one) => ({ ...one, data: { text: 'x'.repeat(2_200) } })) };
  const generated = { ...configMap(''), metadata: { generateName: 'one-' } };
  const own = { apiVersion: 'v1', kind: 'Namespace', metadata: { name: stage.namespace } };
  const secret = (name: string) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name },
    stringData: { text: 'x'.repeat(600_000) },
  });
  const secrets = { ...many, items: [secret('one'), secret('two')] };
  const rows: readonly (readonly [JsonObject, RegExp])[] = [
    [many, /^janus: The manifests hold 501 objects, and a Transaction takes at most 500/],
    [twice, /^janus: ConfigMap .*\/one occurs twice/],
    [large, /^janus: This Transaction would be refused \(TransactionTooLarge\): spec and annotations take 16\d{5} bytes/],
    [full, /^janus: This Transaction would be refused \(TransactionTooLarge\): .* room for the status of 500 changes/],
    [generated, /^janus: .* holds a ConfigMap with generateName/],
    [own, /^janus: .* holds Namespace .*, which also holds the Transaction/],
    [secrets, /^janus: The Secrets take 1\.2 MB in all, and one Secret holds at most 1 MiB/],
  ];
  for (const [object, words] of everyNth(3, rows)) {
    const { code, out, err } = await cli.run(['apply', '-f', '-', ...release], { input: JSON.stringify(object) });
    t.same([code, out, err.split('\n').length], [1, '', 2], err);
    t.match(err, words);
  }
  const refusedName = await cli.run(['apply', '-f', '-', ...release, '--name', 'No_Name'], {
    input: JSON.stringify(configMap('x')),
  });
  t.match(refusedName, { code: 64, out: '', err: /--name must have at most 230 lowercase letters, .*; found "No_Name"\./ });
  truncateSync(cli.write('huge.yaml', ''), 70_000_000);
  const huge = await janus('apply', '-f', 'huge.yaml', ...release);
  t.match(huge, {
    code: 1,
    out: '',
    err: /^janus: .*huge\.yaml takes 70 MB, and manifests may take 64 MiB: apply it in parts\.\n$/,
  });
  const again = cli.write('again-and-again.json', JSON.stringify(configMap('again')));
  t.match(await janus('apply', '-f', again, '-f', again, ...release), {
    code: 1,
    out: '',
    err: /ConfigMap .*\/again occurs twice/,
  });
  t.same(await names(transactionsPath), before);
  t.notOk(
    (await names(stage.path('secrets'))).some((name) => name.endsWith('-contents')),
    'and no Secret',
  );
});

t.test('list, history, status and version print Transactions and versions', async (t) => {
  const wide = await janus('list', ...where, '-o', 'wide');
  t.match(wide, { code: 0, out: /^NAME +APP +PHASE +DONE +REASON +UNDO +AGE +CURRENT/ });
  t.match(
    (await janus('list', '-A')).out,
    new RegExp(`^NAMESPACE +NAME[\\s\\S]*^${stage.namespace} +folder .*Committed +3/3`, 'm'),
  );
  const json = JSON.parse((await janus('list', ...where, '-o', 'json')).out);
  t.ok(isList(json.items) && json.items.length > 5);
  t.match(
    (await janus('status', 'late', ...where)).out,
    /^late · \S+ · rolled back 1\/1 undone · .*\n ✗ ConfigMap late {3}deleted again {3}failed: GateTimeout/,
  );
});

t.test('options choose the output of list, status and history, and its characters', inAllOnly, async (t) => {
  t.match(await janus('list', ...where, '-l', 'none=such'), { code: 0, out: '', err: /^No Transactions in namespace/ });
  t.match((await janus('list', ...where, '-l', `${key}=${value}`)).out, /^folder .*Committed/m);
  t.match(await janus('list', ...where, '-w', '-o', 'json'), { code: 64, err: /--watch prints rows: leave out -o json/ });
  t.match((await janus('list', ...where, '-o', 'name')).out, /^transaction\.tx\.janus\.io\/folder$/m);
  t.match((await cli.run(['status', 'late', ...where], { env: { LANG: 'C' } })).out, /^ x ConfigMap late/m);
  const always = await janus('status', 'late', ...where, '--color', 'always');
  t.ok(always.out.includes('\u001b[33mrolled back'), always.out);
  for (const more of [[], ['--color', 'never']])
    t.notOk((await janus('status', 'late', ...where, ...more)).out.includes('\u001b'));
  t.match(await janus('status', 'late', ...where, '--color', 'pink'), { code: 64 });
  t.match(
    (await janus('history', 'configmap/kept', ...where)).out,
    /undone +\d+[smh]\S* +RolledBack .* Update +Restored; undo requested by \S+$/m,
  );
  t.match((await janus('history', 'cm/kept', ...where, '-A')).out, /undone/);
  t.match(await janus('history', 'configmap/kept', '-A'), { out: '', err: /No Transactions/ }, 'that of another namespace');
  t.match(await janus('history', 'configmap/nobody', ...where), {
    code: 0,
    err: /No Transactions that change configmap\/nobody/,
  });
  t.match(await janus('version'), {
    code: 0,
    out: /^client \d+\.\d+\.\d+\nengine unknown: namespace janus-system has no Deployment janus; /,
  });
});

t.test('version names an equal, another, a missing and an unreadable version of the engine', inAllOnly, async (t) => {
  const { version } = JSON.parse(readFileSync(join(cli.folder, 'package.json'), 'utf8'));
  const labels = { app: 'janus' };
  const deployment = (image: string, version?: string) => ({
    metadata: { name: 'janus', ...(version && { labels: { 'app.kubernetes.io/version': version } }) },
    spec: {
      ...{ replicas: 0, selector: { matchLabels: labels } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'hook', image }] } },
    },
  });
  const namespace = await freeNamespace(stage.client, 'engine', t);
  const engine = ['--engine-namespace', namespace];
  const plan = ['plan', '-f', fileOf('versions', [change('Create', 'versions', configMap('versions'))]), ...engine];
  const collection = `/apis/apps/v1/namespaces/${namespace}/deployments`;
  const path = `${collection}/janus`;
  const warning = /^This program is version .* the engine .*: the engine may decide otherwise\.$/m;
  must(await stage.client.create(collection, deployment('registry.example/janus:0')));
  const digest = `registry.example:5000/janus@sha256:${'0'.repeat(64)}`;
  for (const [image, said, isWarned, label] of [
    [`registry.example:5000/janus:${version}`, version, false],
    ['registry.example/janus:99.1.0', '99.1.0', true],
    [`registry.example/janus:99.2.0@sha256:${'0'.repeat(64)}`, '99.2.0', true],
    ['registry.example:5000/janus', `unknown: Deployment ${namespace}/janus has no image with a version`, false],
    [digest, `unknown: Deployment ${namespace}/janus has no image with a version`, false],
    [digest, '99.3.0', true, '99.3.0'],
  ] as const) {
    must(await stage.client.patch(path, deployment(image, label)));
    t.match(await janus('version', ...engine), { code: 0, out: `client ${version}\nengine ${said}\n`, err: /^$/ }, image);
    const { code, out, err } = await janus(...plan);
    t.equal(code, 1, err);
    t.equal(warning.test(err), isWarned, err);
    if (isWarned) t.match(err, `version ${version}, the engine ${said}:`);
    t.equal(out.includes('(engine '), !said.startsWith('unknown'), image);
    t.notMatch(out, /^Not seen/m);
  }
  t.match(await janus('locks', ...engine), { code: 0, err: /^No object is locked\.\n/ });
  must(await stage.client.delete(path));
  const absent = await janus(...plan);
  t.match(absent, { code: 1, err: /^$/ }, 'no engine, no warning');
  const nowhere = `namespace ${namespace} has no Deployment janus; name the namespace of the engine with --engine-namespace`;
  t.match(absent.out, `\nNot seen     the locks: ${nowhere}\n`);
  t.match(await janus('version', ...engine), { code: 0, out: `client ${version}\nengine unknown: ${nowhere}\n` });
  const rules = [{ apiGroups: ['tx.janus.io'], resources: ['transactions'], verbs: ['get', 'list', 'watch'] }];
  const env = { KUBECONFIG: await reader(t, 'versions-viewer', rules) };
  const unreadable = await cli.run(['version', ...engine], { env });
  t.match(unreadable, { code: 0, out: /\nengine unknown: .*janus cannot be read \(Forbidden\)\n$/, err: /^$/ });
  t.match(await cli.run(['version', '--client', ...engine], { env }), { code: 0, out: `client ${version}\n` });
});

t.test('--kubeconfig, --context and -n choose as they do for kubectl', inAllOnly, async (t) => {
  const config = parse(readFileSync(stage.kubeconfig, 'utf8')) as { contexts: { name: string; context: JsonObject }[] };
  const [first] = config.contexts;
  const second = { name: 'second', context: { ...first?.context, namespace: stage.namespace } };
  const path = cli.write('two-contexts', JSON.stringify({ ...config, contexts: [first, second] }));
  const two = ['list', '--kubeconfig', path];
  t.match(await cli.run([...two, '--context', 'second'], { env: { KUBECONFIG: 'not-there' } }), {
    code: 0,
    out: /^folder .*Committed/m,
  });
  t.match(await janus(...two, '--context', 'second', '-n', 'kube-public'), {
    err: 'No Transactions in namespace kube-public.\n',
  });
  t.match(await janus(...two), { err: 'No Transactions in namespace default.\n' });
});

const leases = '/apis/coordination.k8s.io/v1/namespaces/janus-system/leases';

t.test('locks lists held, expired and leftover locks; without rights to Leases it reads Transactions', inAllOnly, async (t) => {
  const file = fileOf('holds', [{ ...change('Create', 'held', configMap('held')), gate: never }]);
  await janus('apply', '-f', file);
  await stage.phase('holds', 'Committing');
  const row = (name: string, holder: string, times: string, state: string) =>
    new RegExp(`^ConfigMap ${stage.namespace}/${name} +${stage.namespace}/${holder} +${times} +${state}$`, 'm');
  t.match((await janus('locks')).out, row('held', 'holds', '0:\\d\\d +(?:5:00|4:\\d\\d)', 'held'));
  // What an engine that ended leaves behind: its Leases, with their last renewal.
  const [name = ''] = await stage.leases();
  const lease = must(await stage.client.get(`${leases}/${name}`));
  const holder = textAt(lease, 'spec', 'holderIdentity') ?? '';
  const [place = '', , uid = ''] = holder.split('/');
  const old = new Date(Date.now() - 20 * 60_000).toISOString().replace('Z', '000Z');
  for (const [target, owner] of [
    ['left', `${place}/gone/${'0'.repeat(uid.length)}`],
    ['late', holder],
  ] as const) {
    const annotations = {
      ...(at(lease, 'metadata', 'annotations') as JsonObject),
      'tx.janus.io/target': `ConfigMap ${stage.namespace}/${target}`,
      'tx.janus.io/transaction': owner.split('/').slice(0, 2).join('/'),
    };
    const spec = { ...(at(lease, 'spec') as JsonObject), holderIdentity: owner, renewTime: old, acquireTime: old };
    const metadata = { name: `${name}-${target}`, labels: at(lease, 'metadata', 'labels') ?? {}, annotations };
    must(await stage.client.create(leases, { metadata, spec }));
  }
  const { out } = await janus('locks');
  t.match(out, row('left', 'gone', '\\d\\d:\\d\\d +-1\\d:\\d\\d', 'expired, its Transaction is gone'));
  t.match(out, row('late', 'holds', '\\d\\d:\\d\\d +-1\\d:\\d\\d', 'expired'));
  const elsewhere = await freeNamespace(stage.client, 'elsewhere', t);
  t.match(await janus('locks', '--engine-namespace', elsewhere), {
    code: 0,
    out: new RegExp(`^TARGET[\\s\\S]*\nConfigMap ${stage.namespace}/held +${stage.namespace}/holds +Committing$`, 'm'),
    err: `There is no lock, but namespace ${elsewhere} has no Deployment janus; name the namespace of the engine with --engine-namespace: `,
  });
  const rules = [
    { apiGroups: ['tx.janus.io'], resources: ['transactions'], verbs: ['get', 'list', 'watch'] },
    { apiGroups: ['coordination.k8s.io'], resources: ['leases'], verbs: ['list'] },
  ];
  const env = { KUBECONFIG: await reader(t, 'viewer', rules) };
  t.match(await cli.run(['locks', ...where, '--engine-namespace', stage.namespace], { env }), {
    code: 0,
    out: /^TARGET +WANTED BY +PHASE\nConfigMap \S+\/held /,
    err: /^There is no lock, but Deployment \S+ cannot be read \(Forbidden\), so whether the engine is there is unknown: these are the targets of running Trans/,
  });
  const seen = await cli.run(['locks', ...where], { env });
  t.match(seen, {
    code: 0,
    out: new RegExp(`^TARGET +WANTED BY +PHASE\nConfigMap ${stage.namespace}/held +${stage.namespace}/holds +Committing\n$`),
    err: /^You may not list leases in namespace janus-system \(Forbidden\): these are the targets of running Transactions\.\nYou may not list secrets in namespace .* \(Forbidden\)/,
  });
});

/** A kubeconfig for a ServiceAccount with these rights in the namespace. */
async function reader(t: Test, name: string, rules: readonly JsonObject[]): Promise<string> {
  const rbac = `/apis/rbac.authorization.k8s.io/v1/namespaces/${stage.namespace}`;
  must(await stage.client.create(stage.path('serviceaccounts'), { metadata: { name } }));
  must(await stage.client.create(`${rbac}/roles`, { metadata: { name }, rules }));
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const subjects = [{ kind: 'ServiceAccount', name, namespace: stage.namespace }];
  must(await stage.client.create(`${rbac}/rolebindings`, { metadata: { name }, roleRef, subjects }));
  const env = { KUBECONFIG: await accountKubeconfig(t, stage.client, stage.kubeconfig, stage.path(`serviceaccounts/${name}`)) };
  await waitFor(async () => (await cli.run(['list', ...where], { env })).code === 0, 'the binding to take effect');
  return env.KUBECONFIG;
}

t.test('the program reports missing Transactions and wrong options', inAllOnly, async (t) => {
  t.match(await janus('status', 'nobody', ...where), { code: 1, err: /^janus: There is no Transaction nobody in namespace / });
  t.match(await janus('list', '-n', 'nowhere'), { code: 1, err: /^janus: Namespace nowhere does not exist: / });
  t.match(await janus('list', '-n', 'nowhere', '-o', 'json'), { code: 1, out: '', err: /Namespace nowhere does not exist/ });
  t.match(await janus('status', '--bogus'), { code: 64 });
  t.match(await janus('bogus'), { code: 64 });
  t.match(await janus('undo'), { code: 64 });
  t.match(await janus('apply', '-f', 'none.yaml', ...release), { code: 1, err: /none\.yaml cannot be read \(ENOENT\)/ });
  t.match(await janus('apply', ...release), { code: 64, err: /Name the manifests/ });
  t.match(await cli.run(['list'], { env: { KUBECONFIG: '' } }), { code: 1, err: /There is no kubeconfig/ });
  const help = await cli.run(['--help'], { program: 'kubectl-janus' });
  t.match(help, { code: 0, out: /^Usage: kubectl janus / });
});

t.test('the shell completes names, for kubectl too', inAllOnly, async (t) => {
  t.match((await janus('__complete', 'undo', ...where, 'fol')).out, /^folder\n:4\n$/);
  const program = 'kubectl_complete-janus';
  t.match((await cli.run(['status', ...where, 'fol'], { program })).out, /^folder\n:4\n$/);
  t.match((await cli.run(['app'], { program })).out, /^apply\t.*\n:4\n$/);
  t.match((await janus('__complete', 'apply', '-f', '')).out, /^:0\n$/);
  for (const shell of ['bash', 'zsh', 'fish', 'powershell'])
    t.match(await janus('completion', shell), { code: 0, out: /__complete/ });
  t.match(await janus('completion', 'csh'), { code: 64 });
});

t.test('the script for PowerShell, which no test runs, is whole', inAllOnly, async (t) => {
  const { out } = await janus('completion', 'powershell');
  t.match(
    out,
    /^Register-ArgumentCompleter -Native -CommandName janus -ScriptBlock \{\n {2}param\(\$word, \$line, \$position\)\n/,
  );
  t.match(out, /^ {2}janus __complete @words 2>\$null \| Where-Object \{ \$_ -notmatch '\^:' \}/m);
  t.match(out, '-split "`t", 2', 'a tab, as PowerShell writes it');
  // What is quoted may hold anything; what remains opens and closes in turn.
  const bare = out.replaceAll(/'[^'\n]*'|"[^"\n]*"/g, '');
  t.notMatch(bare, /['"]/, 'every quote is closed');
  const open: string[] = [];
  const pairs: Readonly<Record<string, string>> = { ')': '(', '}': '{', ']': '[' };
  for (const sign of bare.match(/[(){}[\]]/g) ?? [])
    if (pairs[sign] === undefined) open.push(sign);
    else t.equal(open.pop(), pairs[sign], sign);
  t.same(open, []);
  const given = [...out.matchAll(/\$(\w+)/g)].map(([, name = '']) => name);
  const known = ['word', 'line', 'position', 'words', 'name', 'text', '_', 'null'];
  t.same(new Set(given), new Set(known), 'each variable is a parameter, or set');
});

/** Scripts that print what a shell offers for these words, the last of them begun. */
const shells: Readonly<Record<string, (words: readonly string[]) => readonly string[]>> = {
  bash: (words) => [
    '--norc',
    '-c',
    `source <(janus completion bash); COMP_WORDS=(janus ${words.join(' ')}); COMP_CWORD=${words.length}
    "$(complete -p janus | sed 's/.* -F \\([^ ]*\\) .*/\\1/')"; printf '%s\\n' "\${COMPREPLY[@]}"`,
  ],
  // Outside of a terminal its completion system does not run: what the script calls of it prints.
  zsh: (words) => [
    '-fc',
    `compdef() { shell=$1 }; _describe() { print -l -- "\${(@P)2}" }; source <(janus completion zsh)
    words=(janus ${words.join(' ')}); CURRENT=${words.length + 1}; $shell`,
  ],
  fish: (words) => ['--no-config', '-c', `janus completion fish | source; complete -C 'janus ${words.join(' ')}'`],
};

for (const [shell, asking] of Object.entries(shells)) {
  const isThere = spawnSync(shell, ['-c', 'exit 0'], { env: { PATH: shellPath } }).status === 0;
  t.test(
    `${shell} completes commands, options, names of the cluster`,
    isThere ? inAllOnly : { skip: `needs ${shell}` },
    async (t) => {
      const offered = async (...words: readonly string[]) => {
        const { out, err } = await cli.run(asking(words), { node: shell, bare: true, env: { PATH: shellPath } });
        t.equal(err, '');
        return out;
      };
      t.match(await offered('sta'), /^status\b.*\n$/);
      t.match(await offered('undo', ...where, 'fol'), /^folder\b.*\n$/);
      t.match(await offered('apply', '--serv'), /^--service-account\b.*\n$/);
      if (shell === 'bash') t.equal(await offered('apply', '-f', 'hug'), 'huge.yaml\n', 'and files');
    },
  );
}

t.test('kubectl runs the program as its plugin, and completes it', inAllOnly, async (t) => {
  const env = { PATH: `${cli.programs}:${dirname(process.execPath)}:${await pathWithKubectl()}` };
  const kubectl = (...words: readonly string[]) => cli.run(words, { node: 'kubectl', bare: true, env });
  t.match(await kubectl('janus', '--help'), { code: 0, out: /^Usage: kubectl janus / });
  t.match(await kubectl('janus', 'status', 'nobody', ...where), {
    code: 1,
    err: /^kubectl janus: There is no Transaction nobody/,
  });
  t.match(await kubectl('janus', 'list', ...where), { code: 0, out: /^folder .*Committed/m });
  t.match(await kubectl('__complete', 'janus', 'status', ...where, 'fol'), { code: 0, out: /^folder\n:4\n/ });
});

t.test('the oldest Node that the package names runs the program', inAllOnly, async (t) => {
  const node = await installOldestNode((line) => process.stderr.write(`${line}\n`));
  const { engines } = JSON.parse(readFileSync(join(cli.folder, 'package.json'), 'utf8'));
  t.match(spawnSync(node, ['--version'], { encoding: 'utf8' }).stdout, `v${engines.node.replace('>=', '')}.`);
  const old = (...words: readonly string[]) => cli.run(words, { node });
  t.match(await old('--help'), { code: 0, out: /^Usage: janus / });
  t.match(await old('version'), { code: 0, out: /^client \d/ });
  const file = fileOf('by-old-node', [change('Create', 'by-old-node', configMap('by-old-node'))]);
  t.match(await old('lint', '-f', file), { code: 0 });
  t.match(await old('plan', '-f', file), { code: 1, out: /^\+ create +ConfigMap/m });
  t.match(await old('apply', '-f', file, '--wait'), { code: 0 });
});
