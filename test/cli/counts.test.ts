// Plan, result, history and the plan of the undo of one release count alike what it creates, changes, leaves and deletes.
import t from 'tap';
import { isList, type JsonObject } from '../../hooks/objects/json.ts';
import { openCli } from '../support/cli.ts';
import { must } from '../support/client.ts';
import { account, startStage } from '../support/stage.ts';

const stage = await startStage(t);
const cli = await openCli(t, stage.kubeconfig);
const janus = (...words: readonly string[]) => cli.run([...words, '-n', stage.namespace]);

const object = (name: string, color: string, kind = 'ConfigMap') => ({
  ...{ apiVersion: 'v1', kind, metadata: { name } },
  ...(kind === 'Secret' ? { stringData: { color } } : { data: { color } }),
});
const same = ['same-1', 'same-2', 'same-3'].map((name) => object(name, 'red'));
const first = [...same, object('same-4', 'red', 'Secret'), object('edited', 'red'), object('old', 'red')];
const second = [
  ...same,
  object('same-4', 'red', 'Secret'),
  object('edited', 'blue'),
  object('new', 'blue'),
  object('more', 'blue'),
];

/** A release of the app: the objects, and what it deletes. */
function release(name: string, applied: readonly JsonObject[], deleted: readonly string[] = []): string {
  const metadata = { name, namespace: stage.namespace, labels: stage.label };
  const deletes = deleted.map((one) => ({ type: 'Delete', target: { apiVersion: 'v1', kind: 'ConfigMap', name: one } }));
  const changes = [...applied.map((content) => ({ type: 'Apply', content })), ...deletes];
  const spec = { serviceAccountName: account, fieldManager: 'shop', changes };
  return cli.write(`${name}.json`, JSON.stringify({ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata, spec }));
}

t.test('one release has the same numbers in plan, result, history and undo plan', async (t) => {
  t.match(await janus('apply', '-f', release('one', first), '--wait'), { code: 0, out: /: 6 created\./ });
  const file = release('two', second, ['old']);
  const words = '2 created, 1 changed, 4 unchanged, 1 deleted';

  const plan = await janus('plan', '-f', file);
  t.match(plan.out, new RegExp(`^Planned: ${words}\\. Nothing was written\\.`, 'm'), plan.err);
  t.match(plan.out, /^ {2}none +4 objects$/m, 'what stays is one line');
  const result = await janus('apply', '-f', file, '--wait');
  t.match(result.out, new RegExp(`two was committed after \\S+: ${words}\\.`), result.err);
  t.match(result.out, /s 4 objects unchanged$/m, 'one line in a pipe, too');
  t.match((await janus('status', 'two')).out, /4 objects +unchanged +applied/);
  t.match((await janus('history')).out, / two .* \+2 ~1 =4 -1 /);
  const { transactions } = JSON.parse((await janus('history', '-o', 'json')).out);
  t.match(transactions[0], { name: 'two', operations: { created: 2, changed: 1, unchanged: 4, deleted: 1 } });

  const undo = await janus('undo', 'two', '--plan');
  t.match(undo.out, new RegExp(`^Plan of the undo of \\S+/two: ${words}\n`), undo.err);
  t.match(undo.out, /\n2 delete, 1 restore, 4 nothing, 1 recreate\. No object was changed\. {3}exit 1\n$/);
  t.match(undo.out, /^ {2}nothing +4 objects$/m);
  t.ok(undo.out.indexOf('restore ') < undo.out.indexOf('nothing '), 'rows that change come first');

  t.match(await janus('undo', 'two', '--wait', '--yes'), { code: 0, out: /4 objects nothing to undo$/m });
  t.match((await janus('history')).out, / two .* \+2 ~1 =4 -1 /, 'and after its undo');
});

t.test('a release that only writes marks changes nothing, and an undo plan has 40 lines at most', async (t) => {
  const again = release('three', [...first, ...second.slice(-2)]);
  t.match(await janus('apply', '-f', again, '--wait'), { code: 0, out: /: 2 created, 6 unchanged\./ });
  t.match(await janus('plan', '-f', release('four', first)), { code: 0, out: /^Planned: 6 unchanged\./m });
  t.match(await janus('apply', '-f', release('four', first), '--wait'), { code: 0, out: /: 6 unchanged\./ });
  t.match(await janus('undo', 'four', '--plan'), { code: 0, out: /\n6 nothing\. No object was changed\. {3}exit 0\n$/ });

  const many = (color: string) =>
    Array.from({ length: 30 }, (_, at) => ({ ...object(`many-${at}`, color), data: { a: color, b: color, c: color } }));
  for (const color of ['red', 'blue'])
    t.match(await janus('apply', '-f', release(color, [...same, ...many(color)]), '--wait'), { code: 0 });
  const { out } = await janus('undo', 'blue', '--plan');
  t.ok(out.trimEnd().split('\n').length <= 40, out);
  t.match(out, /\n30 restore, 3 nothing\. No object was changed\. {3}exit 1\n$/);
  t.match(out, /^ {2}and 10 more$/m);
  const { items } = JSON.parse((await janus('undo', 'blue', '--plan', '-o', 'json')).out);
  t.ok(isList(items) && items.length === 20);
});

t.test('a rollback counts what it changes, although the controller writes the object in between', async (t) => {
  const deployment = (image: string) => ({
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
    spec: {
      selector: { matchLabels: { app: 'web' } },
      template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } },
    },
  });
  const releaseOf = (name: string, image: string): string => release(name, [deployment(image), object('beside', 'red')]);
  t.match(await janus('apply', '-f', releaseOf('web-1', 'reg.example/web:1'), '--wait'), { code: 0 });
  const containers = [{ name: 'web', image: 'reg.example/web:hotfix' }];
  const hotfix = { spec: { template: { spec: { containers } } } };
  must(await stage.client.patch(stage.path('apps/v1/deployments/web'), hotfix, 'strategic', { fieldManager: 'kubectl-set' }));
  t.match(await janus('apply', '-f', releaseOf('web-2', 'reg.example/web:2'), '--wait'), {
    code: 0,
    out: /: 1 changed, 1 unchanged\./,
  });
  const { code, out, err } = await janus('undo', '--to', 'web-1', '--no-gate', '--yes', '--wait');
  t.equal(code, 0, err);
  const [, back = ''] = /(\S+) was committed after \S+: 1 changed, 1 unchanged\./.exec(out) ?? [];
  t.not(back, '', out);
  t.match((await janus('undo', back, '--plan')).out, /\n1 restore, 1 nothing\. No object was changed\./);
});
