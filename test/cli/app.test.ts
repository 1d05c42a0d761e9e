// An app by its name alone, and what janus render prints: through the packed program, kubectl and a terminal.
import { dirname } from 'node:path';
import t from 'tap';
import { parse } from 'yaml';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { pathWithKubectl } from '../support/kubectl.ts';
import { inAllOnly } from '../support/selection.ts';
import { account, startStage } from '../support/stage.ts';

const stage = await startStage(t);
const cli = await openCli(t, stage.kubeconfig);
const [[key = '', value = '']] = Object.entries(stage.label) as [[string, string]];
const label = `${key}=${value}`;
const where = ['-n', stage.namespace];
const env = { PATH: `${cli.programs}:${dirname(process.execPath)}:${await pathWithKubectl()}` };
const object = (kind: string, more: JsonObject) => ({ apiVersion: 'v1', kind, metadata: { name: 'shop' }, ...more });
const objects = [object('ConfigMap', { data: { color: 'red' } }), object('Secret', { stringData: { color: 'red' } })];
cli.write('app/all.json', objects.map((one) => JSON.stringify(one)).join('\n---\n'));
cli.write('plain/all.json', JSON.stringify(objects[0]));
const janus = (...words: readonly string[]) => cli.run([...words, ...where]);

t.test('the Namespace names the ServiceAccount, unless an option does', async (t) => {
  t.match(await janus('apply', '-f', 'app/', 'shop'), {
    code: 64,
    err: /tx\.janus\.io\/service-account of the Namespace.* has none\. To create one with its rights: janus rbac --service-account NAME -f \S+ .*\| kubectl apply -f -\n$/,
  });
  t.match(await cli.run(['apply', '-f', 'app/', 'shop', '-n', 'no-such']), {
    code: 1,
    err: /^janus: Namespace no-such does not exist: /,
  });
  const metadata = { annotations: { 'tx.janus.io/service-account': account } };
  must(await stage.client.patch(`/api/v1/namespaces/${stage.namespace}`, { metadata }, 'merge'));
  t.match(await janus('plan', '-f', 'app/', 'shop'), {
    code: 1,
    out: new RegExp(`as ServiceAccount ${stage.namespace}/${account}`),
  });
});

t.test('the name of an app is the field manager, and the beginning of the name', async (t) => {
  const { code, out, err } = await janus('apply', '-f', 'app/', 'shop', '--keep-logs', '--label', label);
  t.equal(code, 0, err);
  const [, name = ''] = /^transaction\.tx\.janus\.io\/(shop-[a-z0-9]{5}) created\n$/.exec(out) ?? [];
  t.match((await stage.finished(name)).phase, 'Committed');
  const spec = at(await stage.read(name), 'spec');
  t.match(spec, { serviceAccountName: account, fieldManager: 'shop', gate: { keepLogs: true }, lockWait: '6m' });
  const roles = JSON.parse((await janus('rbac', '-f', 'app/', 'shop', '-o', 'json')).out);
  t.equal(textAt(roles.items[1], 'metadata', 'name'), `janus:${stage.namespace}:shop`);
  const whole = cli.write('whole.json', JSON.stringify({ ...(await stage.read(name)), metadata: { name: 'a' } }));
  t.match(await janus('apply', '-f', whole, 'shop'), {
    code: 64,
    err: /"shop" cannot change a Transaction that is read from a file/,
  });
});

t.test('a second release of an app waits for the gate of the first, and commits then', async (t) => {
  const queue = { apiVersion: 'v1', kind: 'Service', metadata: { name: 'line' } };
  const spec = { type: 'LoadBalancer', selector: { app: 'line' }, ports: [{ port: 80 }] };
  const file = cli.write('line/all.json', JSON.stringify({ ...queue, spec }));
  const start = (name: string) =>
    cli.start(['apply', '-f', file, 'line', '--gate', '10m', '--name', name, '--wait', '--label', label, ...where]);
  const messageOf = async (name: string) => textAt(await stage.read(name), 'status', 'message') ?? '';
  const first = start('line-1');
  await waitFor(async () => /^waiting for Service /.test(await messageOf('line-1')), 'the gate of the first');
  const second = start('line-2');
  await waitFor(async () => /is locked by Transaction .*line-1/.test(await messageOf('line-2')), 'the second to wait');
  t.equal(textAt(await stage.read('line-2'), 'spec', 'lockWait'), '11m', 'longer than the gate of the first');
  const ready = { status: { loadBalancer: { ingress: [{ ip: '192.0.2.1' }] } } };
  must(await stage.client.patch(stage.path('services/line/status'), ready, 'merge'));
  for (const { finished } of [first, second]) t.match(await finished, { code: 0, out: /was committed after/ });
  const listed = (await janus('list', '-l', label)).out.split('\n');
  t.match(listed[0], /^NAME +APP +PHASE /);
  t.match(listed[1], /^line-2 +line +Committed /, 'the newest first');
  t.match(await janus('history', 'line', '-l', label), { code: 0, out: /^NAMESPACE .*\n\S+ +line-2 .*\n\S+ +line-1 [^\n]*\n$/ });
  t.match(await janus('history', 'line', '-l', 'none=such'), { code: 0, out: '', err: /^No Transactions of app line in / });
});

t.test('what a release takes is said by plan, apply and status, and an app takes over another only by name', async (t) => {
  const api = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'api' }, data: { color: 'red' } };
  const file = cli.write('api/all.json', JSON.stringify(api));
  const apply = (app: string, ...more: readonly string[]) =>
    janus('apply', '-f', file, app, '--no-gate', '--wait', '--label', label, ...more);
  t.match(await apply('shop'), { code: 0 });
  const edit = { data: { color: 'hotfix' } };
  must(await stage.client.patch(stage.path('configmaps/api'), edit, 'merge', { fieldManager: 'kubectl-edit' }));
  const took = 'took 1 field: ConfigMap api color "hotfix" (kubectl-edit)';
  const takes = /Takes 1 field: ConfigMap api color "hotfix" \(kubectl-edit\)\./;
  t.match(await janus('plan', '-f', file, 'shop'), { code: 1, out: takes });
  t.match(await janus('plan', '-f', file, 'shop', '--strict', '-o', 'markdown'), { code: 2, out: /Takes 1 field: .*hotfix/ });
  t.match(await apply('shop', '--field-conflicts', 'fail'), { code: 2, out: /kubectl-edit/ }, 'fail takes nothing');
  const forced = await apply('shop', '--field-conflicts=force', '-o', 'json');
  t.equal(forced.code, 0, forced.err);
  const { transactions } = JSON.parse(forced.out);
  t.match(transactions, [{ changes: [{ took: { count: 1, texts: ['color "hotfix" (kubectl-edit)'] } }] }]);
  t.match((await janus('status', transactions[0].name)).out.replaceAll(/\s+/g, ' '), `It ${took}.`);
  t.match(await janus('plan', '-f', file, 'other'), { code: 2, out: /OtherApp .* applied by another app, shop: / });
  t.match(await apply('other'), { code: 2, out: /another app, shop: / });
  t.match(await apply('other', '--take-over', 'stranger'), { code: 2, out: /another app, shop: / });
  t.match(await apply('shop', '--take-over', 'stranger'), { code: 2, out: /stranger has applied none of the objects, shop did/ });
  t.match(await apply('other', '--take-over', 'shop'), { code: 0 });
});

t.test('values of --field-conflicts, --take-over and --keep-logs that mean nothing are wrong use', async (t) => {
  const wrong = (...more: readonly string[]) => janus('apply', '-f', 'plain/', ...more);
  t.match(await wrong('shop', '--field-conflicts=other'), { code: 64, err: /Allowed choices are fail, force/ });
  t.match(await wrong('--take-over', 'shop'), { code: 64, err: /--take-over needs the name of the app that takes over/ });
  t.match(await wrong('shop', '--take-over', 'shop'), { code: 64, err: /names the app itself/ });
  t.match(await wrong('shop', '--keep-logs', '--no-gate'), {
    code: 64,
    err: /--keep-logs keeps what a failed gate finds: give --gate/,
  });
  t.match(await wrong('shop', '--take-over', 'a', '--field-conflicts=fail'), { code: 64, err: /leave one of them out/ });
});

t.test('at a terminal apply of an app follows the Transaction', inAllOnly, async (t) => {
  const typed = `janus apply -f plain/ shop --no-gate --label ${label} ${where.join(' ')}`;
  const { code, out } = await cli.run(['-qec', typed, '/dev/null'], {
    node: 'script',
    bare: true,
    env: { ...env, TERM: 'xterm' },
  });
  t.equal(code, 0, out);
  t.match(out, /was committed after/);
  const [, name = ''] = /(shop-[a-z0-9]{5}) created/.exec(out) ?? [];
  t.equal(at(await stage.read(name), 'spec', 'gate'), undefined);
});

t.test('render prints the objects that apply would create, the Secret with contents first', async (t) => {
  const words = ['render', '-f', 'app/', 'shop', '--label', label];
  t.match(await janus('render', '-f', 'app/'), { code: 64, err: /render needs a name/ });
  t.match(await janus(...words), { code: 0, out: /name: shop-[a-z0-9]{5}-contents\n/ });
  const printed = await janus(...words, '--name', 'rendered');
  t.equal(printed.code, 0, printed.err);
  const { items } = parse(printed.out) as { readonly items: readonly JsonObject[] };
  t.same(
    items.map((one) => [one.kind, textAt(one, 'metadata', 'name'), at(one, 'metadata', 'ownerReferences')]),
    [
      ['Secret', 'rendered-contents', undefined],
      ['Transaction', 'rendered', undefined],
    ],
  );
  const create = await cli.run(['-euo', 'pipefail', '-c', 'kubectl create -f -'], {
    node: 'bash',
    bare: true,
    env,
    input: printed.out,
  });
  t.equal(create.code, 0, create.err);
  t.match((await stage.finished('rendered')).phase, 'Committed');
  const again = await janus('apply', '-f', 'app/', 'shop', '--name', 'rendered', '--label', label);
  t.match(again, { code: 0, out: /rendered unchanged/ }, again.err);
});
