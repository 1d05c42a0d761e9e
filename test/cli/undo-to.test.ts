// janus undo --to: back to an earlier release in one Transaction. The packed program, the engine and the API server are real.
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { Ajv } from 'ajv';
import t from 'tap';
import { at, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import historySchema from '../../schemas/history.schema.json' with { type: 'json' };
import schema from '../../schemas/undo-plan.schema.json' with { type: 'json' };
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { inAllOnly } from '../support/selection.ts';
import { account, type Stage, startStage } from '../support/stage.ts';
import { change, portraits } from '../support/targets.ts';

const stage = await startStage(t);
const cli = await openCli(t, stage.kubeconfig);
const ajv = new Ajv({ strict: false });
const [validate, validateHistory] = [ajv.compile(schema), ajv.compile(historySchema)];

const config = (color: string, name = 'config') => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name } },
  data: { color },
});
const service = (port: number) => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: 'web' } },
  spec: { selector: { app: 'web' }, ports: [{ port }] },
});
const secret = (key: string) => ({ apiVersion: 'v1', kind: 'Secret', metadata: { name: 'key' }, stringData: { key } });
const labels = { app: 'web' };
const deployment = (image: string, replicas: number) => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'web' } },
  spec: {
    ...{ replicas, selector: { matchLabels: labels } },
    template: { metadata: { labels }, spec: { containers: [{ name: 'c', image }] } },
  },
});
const apply = (...contents: readonly JsonObject[]) => contents.map((content) => ({ type: 'Apply', content }));
const places = ['configmaps/config', 'services/web', 'secrets/key', 'configmaps/extra'];

/** An app in a namespace of its own, and the command line in it. */
function openApp(on: Stage) {
  const where = ['-n', on.namespace];
  const all = `/apis/tx.janus.io/v1alpha1/namespaces/${on.namespace}/transactions`;
  const names = async () => (await on.client.list(all)).items.map((one) => textAt(one, 'metadata', 'name') ?? '').toSorted();
  return {
    where,
    async commit(name: string, changes: readonly JsonObject[], fieldManager = 'shop'): Promise<void> {
      await on.transaction(name, changes, { spec: { fieldManager } });
      t.match(await on.finished(name), { phase: 'Committed' }, name);
    },
    undo: (...words: readonly string[]) => cli.run(['undo', ...words, ...where]),
    janus: (...words: readonly string[]) => cli.run([...words, ...where]),
    names,
    /** Waits until these are the only Transactions: a deleted one has a finalizer. */
    only: (expected: readonly string[]) =>
      waitFor(
        async () => {
          return (await names()).join() === expected.toSorted().join() ? true : undefined;
        },
        `${expected.join(', ')} to be all Transactions`,
      ),
    show: () => portraits(on.client, places.map(on.path), true),
    data: async (name: string) => textAt((await on.client.get(on.path(`configmaps/${name}`))).body, 'data', 'color'),
  };
}

const createdIn = (out: string): string => /^transaction\.tx\.janus\.io\/(shop-[a-z0-9]{5}) created$/m.exec(out)?.[1] ?? '';

t.test('four releases', async (t) => {
  const { commit, undo, janus, names, only, show, where } = openApp(stage);
  await commit('rel-1', apply(config('blue'), service(80), secret('one')));
  const first = await show();
  await commit('rel-2', apply(config('red'), service(81), secret('two'), config('red', 'extra')));
  await commit('rel-3', [...apply(config('green'), secret('three')), change('Delete', 'web', undefined, { kind: 'Service' })]);
  await commit('rel-4', apply(config('gold'), config('gold', 'extra')));
  const last = await show();
  const releases = ['rel-1', 'rel-2', 'rel-3', 'rel-4'];

  await t.test('the plan says what comes back, and nothing is left of it', async (t) => {
    const data = await undo('--to', 'rel-1', '--plan', '-o', 'json');
    t.ok(validate(JSON.parse(data.out)), data.out + data.err);
    t.match(JSON.parse(data.out), {
      ...{ kind: 'UndoPlan', to: 'rel-1', undoes: ['rel-4', 'rel-3', 'rel-2'], verdict: 'changes' },
      counts: { restore: 2, recreate: 1, delete: 1, blocked: 0 },
    });
    for (const text of ['one', 'two', 'three']) t.notOk(data.out.includes(Buffer.from(text).toString('base64')), 'sealed');
    const { code, out } = await undo('rel-3', '--to', 'rel-1', '--plan');
    t.equal(code, 1, out);
    t.match(out, /^Plan of the rollback to \S+\/rel-1: undoes rel-4, rel-3, rel-2$/m);
    t.match(out, /^~ ConfigMap config\n {4}data\.color {3}"gold" -> "blue"$/m);
    t.match(out, /^- delete +ConfigMap extra$/m);
    t.match(out, /^\+ recreate +Service web$/m);
    t.match(out, / No object was changed\. {3}exit 1$/m);
    const body = await stage.read('rel-1');
    const spec = { serviceAccountName: account, fieldManager: 'shop', rollback: { to: 'rel-1' } };
    const file = cli.write(
      'back.json',
      JSON.stringify({ ...body, metadata: { name: 'back', labels: stage.label }, spec, status: undefined }),
    );
    t.match(await janus('plan', '-f', file), {
      code: 1,
      out: /^Plan of the rollback to \S+\/rel-1: undoes rel-4, rel-3, rel-2$/m,
    });
    await only(releases);
    t.same(await show(), last);
  });

  await t.test('bad input is refused, and nothing is written', async (t) => {
    await commit('other', apply(config('blue', 'other')), 'billing');
    await stage.transaction('alone', apply(config('blue', 'alone')));
    await stage.finished('alone');
    const before = await names();
    const can = /a rollback can go to rel-4, rel-3, rel-2, rel-1\. Nothing was written\.$/m;
    const rows: readonly (readonly [readonly string[], number, RegExp])[] = [
      [
        ['--to', 'nobody'],
        1,
        // Of several apps the creation orders them, in whole seconds.
        /There is no Transaction nobody in namespace \S+: a rollback can go to (?:(?:other|rel-[1-4])(?:, )?){5}\./,
      ],
      [['rel-4', '--to', 'nobody'], 1, /nobody does not exist/],
      [['rel-4', '--to', 'nobody'], 1, can],
      [['rel-4', '--to', 'other'], 1, /other has another spec\.fieldManager than shop/],
      [['rel-4', '--to', 'other'], 1, can],
      [
        ['--to', 'rel-4'],
        1,
        /rel-4 is the newest Transaction with spec\.fieldManager shop: nothing is to undo\. Nothing was written\./,
      ],
      [['rel-2', '--to', 'rel-3'], 1, /Transaction rel-2 is not newer than rel-3: newer are rel-4\. Nothing was written\./],
      [['nobody', '--to', 'rel-1'], 1, /There is no Transaction nobody/],
      [['--to', 'alone'], 1, /alone has no spec\.fieldManager/],
      [['--to', 'rel-4', '--plan'], 2, /is the newest/],
      [
        ['--to', 'rel-1', '--keep', 'ConfigMap/nobody'],
        3,
        /names ConfigMap\/nobody, which is no object.*No object was changed\./,
      ],
      [['--to', 'rel-1', '--digest', '0'.repeat(64)], 3, /The plan has another digest/],
      [['--to', 'rel-1', '--gate', '25h'], 64, /--gate takes a timeout/],
    ];
    for (const [words, code, err] of rows) t.match(await undo(...words, '--yes'), { code, err }, words.join(' '));
    t.match(await undo('--to', 'rel-1'), { code: 64, err: /Undo rel-4, rel-3, rel-2\? There is no terminal to ask: give --yes/ });
    await only(before);
    t.same(await show(), last);
  });

  await t.test('a release below others: one command is offered', async (t) => {
    const { code, out } = await undo('rel-2', '--plan');
    t.equal(code, 2, out);
    t.match(out, /^ {2}janus undo rel-2 -n \S+ --to rel-1 {3}undoes it with all that is newer\.$/m);
    t.notMatch(out, /Undo first|--keep|--overwrite|--partial/);
    t.match((await undo('rel-1', '--plan')).out, /janus undo rel-1 -n \S+ --to '' {3}undoes it/);
  });

  let name = '';

  await t.test('one Transaction goes back, and all say so', async (t) => {
    const watching = cli.start(['list', '--watch', ...where]);
    await waitFor(() => /^rel-4 /m.test(watching.out()), 'the list');
    const { code, out, err } = await undo('--to', 'rel-1', '--yes');
    t.equal(code, 0, out + err);
    name = createdIn(out);
    await waitFor(() => new RegExp(`^rel-2 +shop +Committed.* undone by ${name} `, 'm').test(watching.out()), 'the row of rel-2');
    watching.process.kill('SIGINT');
    t.match(await watching.finished, {
      code: 130,
      out: new RegExp(`^${name} +shop +Committed.* undid rel-4, rel-3, rel-2 `, 'm'),
    });
    t.match(out, new RegExp(`${name} was committed after .*\\n +It undid rel-4, rel-3, rel-2\\.\\n +janus undo ${name} -n`));
    t.same(await show(), first);
    const spec = at(await stage.read(name), 'spec');
    t.match(spec, { fieldManager: 'shop', gate: {}, rollback: { to: 'rel-1', digest: /^[0-9a-f]{64}$/ } });
    const listed = (await janus('list')).out;
    t.match(listed, new RegExp(`^${name} +shop +Committed.* undid rel-4, rel-3, rel-2 `, 'm'));
    for (const one of ['rel-2', 'rel-3', 'rel-4'])
      t.match(listed, new RegExp(`^${one} +shop +Committed.* undone by ${name} `, 'm'), one);
    t.notMatch(listed, /^rel-1 .*undone by/m);
    t.match(
      (await janus('status', 'rel-3')).out,
      new RegExp(`rel-3 is undone by ${name}: janus undo ${name} -n \\S+ brings\\s+it back\\.`),
    );
    t.match((await janus('history')).out, new RegExp(`rel-4 .* undone by ${name}$`, 'm'));
    t.match((await janus('history', 'configmap/extra')).out, new RegExp(`rel-2 .* Applied; undone by ${name}$`, 'm'));
    const history = JSON.parse((await janus('history', '-o', 'json')).out);
    t.ok(validateHistory(history), JSON.stringify(validateHistory.errors));
    const records = new Map((history.transactions as JsonObject[]).map((one) => [one.name, one]));
    t.match(records.get(name), { undoes: ['rel-4', 'rel-3', 'rel-2'] });
    t.match(records.get('rel-2'), { undoneBy: name });
    t.match((await undo('rel-2', '--plan')).out, new RegExp(`It is undone by ${name}: janus undo ${name} -n`));
  });

  await t.test('its undo brings the releases back, and all say so', async (t) => {
    const planned = (await undo(name, '--plan')).out;
    t.match(planned, new RegExp(`^Plan of the undo of \\S+/${name}: brings back rel-4, rel-3, rel-2$`, 'm'));
    const undone = await undo(name, '--yes', '--wait');
    t.match(undone, { code: 0, out: /rel-4, rel-3, rel-2 are there again\./ }, undone.out + undone.err);
    t.same(await show(), last);
    const listed = (await janus('list')).out;
    t.match(listed, new RegExp(`^${name} +shop +RolledBack.*rel-4, rel-3, rel-2 are there again`, 'm'));
    t.notMatch(listed, /undone by/);
    t.notMatch((await janus('status', 'rel-3')).out, /undone by/);
    t.notMatch((await janus('history')).out, /undone by/);
  });

  await t.test('before the first release, as data', async (t) => {
    const { code, out, err } = await undo('rel-4', '--to', '', '--yes', '--no-gate', '-o', 'json');
    t.equal(code, 0, err);
    const { transactions, ...outcome } = JSON.parse(out);
    t.match(outcome, { command: 'undo', exitCode: 0 });
    t.match(transactions, [{ name: /^shop-/, phase: 'Committed' }]);
    t.equal(at(await stage.read(transactions[0].name), 'spec', 'gate'), undefined);
    for (const place of places) t.equal((await stage.client.get(stage.path(place))).code, 404, place);
  });
});

t.test('a hotfix is one decision in one command', inAllOnly, async (t) => {
  const live = await startStage(t);
  const { commit, undo, only, data } = openApp(live);
  for (const number of ['1', '2', '3']) await commit(`rel-${number}`, apply(config(number, 'one'), config(number, 'two')));
  must(
    await live.client.patch(live.path('configmaps/two'), { data: { color: 'violet' } }, 'merge', {
      fieldManager: 'kubectl-edit',
    }),
  );
  const refused = await undo('--to', 'rel-1', '--yes');
  t.equal(refused.code, 3, refused.out + refused.err);
  t.match(refused.out, /^! ConfigMap two {2}RollbackConflict$/m);
  t.match(refused.out, /data\.color {3}before "2", released "3", now "violet", by kubectl-edit$/m);
  t.match(refused.out, /--overwrite ConfigMap\/two .*\n.*--keep ConfigMap\/two .*\n.*--partial .* leaves the others\.$/m);
  t.match(refused.out, / No object was changed\. {3}exit 3$/m);
  await only(['rel-1', 'rel-2', 'rel-3']);

  const { digest } = JSON.parse((await undo('--to', 'rel-1', '--keep', 'ConfigMap/two', '--plan', '-o', 'json')).out);
  const kept = await undo('--to', 'rel-1', '--keep', 'ConfigMap/two', '--yes', '--digest', digest);
  t.equal(kept.code, 0, kept.out + kept.err);
  t.same([await data('one'), await data('two')], ['1', 'violet']);
  t.match(await undo(createdIn(kept.out), '--yes', '--wait'), { code: 0 });
  t.same([await data('one'), await data('two')], ['3', 'violet']);

  const partial = await undo('--to', 'rel-1', '--partial', '--yes');
  t.equal(partial.code, 0, partial.out + partial.err);
  t.same([await data('one'), await data('two')], ['1', 'violet']);
  t.match(await undo(createdIn(partial.out), '--yes', '--wait'), { code: 0 });

  t.equal((await undo('--to', 'rel-1', '--overwrite', 'configmap/two', '--yes')).code, 0);
  t.same([await data('one'), await data('two')], ['1', '1']);
});

t.test('a Transaction of another app is in the way, and named', inAllOnly, async (t) => {
  const live = await startStage(t);
  const { commit, undo, data } = openApp(live);
  for (const number of ['1', '2']) await commit(`rel-${number}`, apply(config(number, 'one')));
  await live.transaction('bill', [change('Patch', 'one', { data: { color: 'bill' } })], { spec: { fieldManager: 'billing' } });
  t.match(await live.finished('bill'), { phase: 'Committed' });
  const refused = await undo('--to', 'rel-1', '--yes');
  t.match(refused, { code: 3, out: /^! ConfigMap one .*\n.*\/bill/m }, refused.out + refused.err);
  t.match(refused.out, /--overwrite ConfigMap\/one/);
  t.match((await undo('rel-2', '--plan')).out, /Undo first, in this order: bill\./, 'no rollback of this app undoes it');
  t.equal((await undo('--to', 'rel-1', '--overwrite', 'ConfigMap/one', '--yes')).code, 0);
  t.equal(await data('one'), '1');
});

t.test('Deployments: one rollout, and the plan holds although their controller writes meanwhile', inAllOnly, async (t) => {
  const live = await startStage(t);
  const { commit, undo } = openApp(live);
  const read = async () => must(await live.client.get(live.path('apps/v1/deployments/web')));
  const revision = (object: JsonObject) => textAt(object, 'metadata', 'annotations', 'deployment.kubernetes.io/revision');
  const rolledOut = (before?: JsonObject) =>
    waitFor(async () => {
      const now = await read();
      const isSeen = at(now, 'status', 'observedGeneration') === at(now, 'metadata', 'generation');
      return isSeen && revision(now) !== revision(before ?? {}) ? now : undefined;
    }, 'the controller to have rolled it out');
  for (const number of [1, 2, 3]) {
    const before = number === 1 ? undefined : await read();
    await commit(`rel-${number}`, apply(deployment(`web:${number}`, 0)));
    await rolledOut(before);
  }
  const planned = async (...words: readonly string[]) => JSON.parse((await undo(...words, '--plan', '-o', 'json')).out);
  const both = async () => [await planned('rel-3'), await planned('--to', 'rel-1')];
  const first = await both();
  const before = await read();
  // The controller makes another ReplicaSet, and writes the annotation and the status of the Deployment.
  for (const one of (await live.client.list(live.path('apps/v1/replicasets'))).items)
    must(await live.client.delete(live.path(`apps/v1/replicasets/${textAt(one, 'metadata', 'name')}`)));
  await rolledOut(before);
  const second = await both();
  for (const [index, one] of first.entries()) {
    t.match(one, { verdict: 'changes', digest: /^[0-9a-f]{64}$/ });
    t.equal(second[index]?.digest, one.digest);
  }
  const generation = Number(at(await read(), 'metadata', 'generation'));
  const undone = await undo('--to', 'rel-1', '--yes');
  t.match(undone, { code: 0, out: /1 ready/ }, undone.out + undone.err);
  const [container] = listAt(await read(), 'spec', 'template', 'spec', 'containers');
  t.equal(textAt(container, 'image'), 'web:1');
  t.equal(at(await read(), 'metadata', 'generation'), generation + 1);
});

t.test('a rollback that does not become ready takes itself back', inAllOnly, async (t) => {
  const live = await startStage(t);
  const { commit, undo } = openApp(live);
  await commit('rel-1', apply(deployment('web:1', 1)));
  await commit('rel-2', apply(deployment('web:2', 0)));
  const { code, out, err } = await undo('--to', 'rel-1', '--yes', '--gate', '1s');
  t.equal(code, 3, out + err);
  t.match(out, /was rolled back after [\s\S]*rel-2 is there again\.\n +Correct the cause, then run janus undo again\./);
  const found = must(await live.client.get(live.path('apps/v1/deployments/web')));
  t.match(at(found, 'spec'), { replicas: 0, template: { spec: { containers: [{ image: 'web:2' }] } } });
});

t.test('Ctrl-C says what goes on, and what is there', async (t) => {
  const live = await startStage(t);
  const { commit, where, undo, names, only } = openApp(live);
  await commit('rel-1', apply(deployment('web:1', 1)));
  await commit('rel-2', apply(deployment('web:2', 0)));

  await t.test('after the rollback is created: it goes on', async (t) => {
    const running = cli.start(['undo', '--to', 'rel-1', ...where, '--yes']);
    await waitFor(() => /not ready/.test(running.out()), 'the gate');
    running.process.kill('SIGINT');
    const { code, out, err } = await running.finished;
    const name = createdIn(out);
    t.equal(code, 130, out + err);
    t.match(out, new RegExp(`${name} is committing after [\\s\\S]*it\\s+continues\\.`));
    const after = `janus status ${name} -n \\S+\\s+--watch\\s+follows it\\.\\s+janus\\s+abort\\s+${name} -n \\S+\\s+stops it, and\\s+undoes it\\.`;
    t.match(out, new RegExp(after));
    t.match(await cli.run(['abort', name, ...where, '--yes', '--wait']), { code: 0 });
    await only(['rel-1', 'rel-2', name]);
  });

  // The rollback has the labels of the release, and no engine serves a Transaction without them.
  const unserved = { metadata: { labels: Object.fromEntries(Object.keys(live.label).map((key) => [key, null])) } };
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${live.namespace}/transactions/rel-1`;
  must(await live.client.patch(path, unserved as unknown as JsonObject, 'merge'));
  const known = await names();

  await t.test('without an engine there is no plan, and no Transaction is left', async (t) => {
    t.match(await undo('--to', 'rel-1', '--plan', '--timeout', '1s'), {
      code: 3,
      err: /^janus: The engine has not answered the request for a plan of a rollback .* in 1 s\. No object was changed\. janus doctor checks the engine\.\n$/,
    });
    await only(known);
  });

  await t.test('before the plan: nothing was written', async (t) => {
    const running = cli.start(['undo', '--to', 'rel-1', ...where, '--yes']);
    await waitFor(async () => (await names()).some((name) => name.startsWith('shop-plan-')), 'the Transaction of the plan');
    running.process.kill('SIGINT');
    t.match(await running.finished, { code: 130, out: '', err: 'janus: Interrupted: no object was changed.\n' });
    await only(known);
  });
});

const shellPath = `${cli.programs}:${dirname(process.execPath)}:/usr/bin:/bin`;
const hasScript = /util-linux/.test(
  spawnSync('script', ['--version'], { encoding: 'utf8', env: { PATH: shellPath } }).stdout ?? '',
);

t.test('at a terminal the plan comes before the question', hasScript ? {} : { skip: true }, async (t) => {
  const live = await startStage(t);
  const { commit, where, only, data } = openApp(live);
  for (const number of ['1', '2', '3']) await commit(`rel-${number}`, apply(config(number)));
  const typed = async (reply: string) => {
    const line = ['janus', 'undo', '--to', 'rel-1', ...where].map((word) => `'${word}'`).join(' ');
    const use = { node: 'script', bare: true, typing: true, env: { PATH: shellPath, TERM: 'xterm' } } as const;
    const running = cli.start(['-qec', line, '/dev/null'], use);
    await waitFor(() => running.out().includes('[y/N]'), 'the question');
    await only(['rel-1', 'rel-2', 'rel-3']);
    running.process.stdin?.write(reply);
    return running.finished;
  };
  t.match(await typed('n\r'), {
    code: 1,
    out: /Plan of the rollback to [\s\S]*Undo rel-3, rel-2: changes 1 object back\. Continue\? \[y\/N\][\s\S]*Nothing was changed\./,
  });
  t.match(await typed('\u0003'), { code: 130, out: /Nothing was changed\./ });
  t.same(await data('config'), '3');
  await only(['rel-1', 'rel-2', 'rel-3']);
  t.match(await typed('y\r'), { code: 0, out: /was committed after/ });
  t.equal(await data('config'), '1');
});
