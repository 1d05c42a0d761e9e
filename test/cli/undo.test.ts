// janus undo --plan, --keep, --overwrite and --partial, by the packed program on the real API server. The test plays the engine: it stores
// the statuses that the command line must understand, whatever the engine of the day decides. undo-to.test.ts has --to.
import { spawnSync } from 'node:child_process';
import { dirname } from 'node:path';
import { Ajv } from 'ajv';
import t from 'tap';
import { at, type JsonObject, textAt, withKey } from '../../hooks/objects/json.ts';
import schema from '../../schemas/undo-plan.schema.json' with { type: 'json' };
import { openCli } from '../support/cli.ts';
import { freeNamespace, must, waitFor } from '../support/client.ts';
import { inAllOnly } from '../support/selection.ts';
import { account, startStage, statusOf } from '../support/stage.ts';

const stage = await startStage(t, { withoutLoop: true });
const cli = await openCli(t, stage.kubeconfig);
const where = ['-n', stage.namespace];
const path = (name: string, namespace = stage.namespace) =>
  `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`;
const validate = new Ajv({ strict: false }).compile(schema);

const planUndo = 'tx.janus.io/plan-undo';
const request = 'tx.janus.io/request-rollback';
const digest = 'a'.repeat(64);
const finished = (phase: string) => [{ type: 'Finished', status: 'True', reason: phase, message: phase }];

let second = 0;

/** Stored as Committed, a second after the one before. */
async function committed(
  name: string,
  targets: readonly string[],
  spec: JsonObject = { fieldManager: 'shop' },
  namespace = stage.namespace,
): Promise<void> {
  const content = { apiVersion: 'v1', kind: 'ConfigMap', data: { color: 'red' } };
  const changes = targets.map((target) => ({
    type: 'Apply',
    content: { ...content, metadata: { name: target, namespace: stage.namespace } },
  }));
  await stage.transaction(name, changes, { spec, namespace });
  second += 1;
  const completionTime = new Date(Date.UTC(2026, 0, 1, 0, 0, second)).toISOString().replace('.000', '');
  const items = targets.map((target) => ({ state: 'Applied', target: `ConfigMap ${target}`, committed: true }));
  const conditions = finished('Committed');
  await store(name, { phase: 'Committed', items, completionTime, startTime: completionTime, conditions }, namespace);
}

async function store(name: string, status: JsonObject, namespace = stage.namespace): Promise<void> {
  const live = must(await stage.client.get(path(name, namespace)));
  const before = statusOf(live);
  const version = typeof before.version === 'number' ? before.version + 1 : 1;
  must(await stage.client.update(`${path(name, namespace)}/status`, withKey(live, 'status', { ...before, ...status, version })));
}

const annotationsOf = async (name: string) => (at(await stage.read(name), 'metadata', 'annotations') ?? {}) as JsonObject;

/** Waits for a request that is not `before`, and answers it. Returns the annotations that it came with. */
async function answers(
  name: string,
  annotation: string,
  answer: JsonObject | undefined,
  more: JsonObject = {},
): Promise<JsonObject> {
  const before = handled.get(`${name} ${annotation}`);
  const annotations = await waitFor(async () => {
    const found = await annotationsOf(name);
    return found[annotation] === undefined || found[annotation] === before ? undefined : found;
  }, `${annotation} of ${name}`);
  const value = String(annotations[annotation]);
  handled.set(`${name} ${annotation}`, value);
  const undo =
    answer === undefined
      ? null
      : { request: { annotation, value }, reason: 'Planned', message: 'made', digest, items: [], ...answer };
  await store(name, { ...(undo === undefined ? {} : { undo }), handledAnnotations: { [annotation]: value }, ...more });
  return annotations;
}

const handled = new Map<string, string>();

const blockedItem = {
  ...{
    index: 1,
    verdict: 'Blocked',
    target: 'ConfigMap b',
    reason: 'RollbackConflict',
    message: 'kubectl-set wrote .data.color',
  },
  fields: [{ path: '.data.color', manager: 'kubectl-set', released: '"red"', now: '"violet"' }],
};
const good = {
  counts: { delete: 1, restore: 1, recreate: 1 },
  items: [
    { index: 0, verdict: 'Delete', target: 'ConfigMap a' },
    {
      index: 1,
      verdict: 'Restore',
      target: 'ConfigMap b',
      fields: [{ path: '.data.color', before: '"blue"', now: '"red"' }],
      moreFields: 2,
    },
    { index: 2, verdict: 'Recreate', target: 'ConfigMap c' },
  ],
};
const bad = { counts: { blocked: 1, delete: 2 }, items: [blockedItem], moreItems: 2 };

/** Runs the command while `engine` answers it. */
async function during<Played>(words: readonly string[], engine: () => Promise<Played>) {
  const running = cli.start(words);
  const [ended, played] = await Promise.all([running.finished, engine()]);
  return { ...ended, played };
}

t.test('undo requests a plan, shows it, and writes nothing else', async (t) => {
  await committed('planned', ['a', 'b', 'c']);
  await stage.annotate('planned', { 'tx.janus.io/undo-keep': 'ConfigMap/old', 'tx.janus.io/undo-partial': 'true' });
  const { code, out, played } = await during(['undo', 'planned', ...where, '--plan'], () => answers('planned', planUndo, good));
  t.equal(code, 1, out);
  t.match(out, /^Plan of the undo of .*\/planned: 3 changed\n/);
  t.match(out, /^- delete +ConfigMap a$/m);
  t.match(out, /^~ restore +ConfigMap b +3$/m);
  t.match(out, /^ {4}\.data\.color {3}"red" -> "blue"\n {4}and 2 more fields$/m);
  t.match(out, /^Digest a{64}\n1 delete, 1 restore, 1 recreate\. No object was changed\. {3}exit 1\n$/m);
  t.same(Object.keys(played as JsonObject), [planUndo], 'annotations of an earlier request are removed');
  const nothing = await during(['undo', 'planned', ...where, '--plan'], () =>
    answers('planned', planUndo, { counts: { nothing: 3 } }),
  );
  t.match(nothing, { code: 0, out: /3 nothing/ });
});

t.test('undo prints a plan as data', inAllOnly, async (t) => {
  const words = ['undo', 'planned', ...where, '--plan', '-o', 'json', '--keep', 'ConfigMap/c'];
  const { code, out, played } = await during(words, () => answers('planned', planUndo, bad));
  t.equal(code, 2);
  t.ok(validate(JSON.parse(out)), JSON.stringify(validate.errors));
  t.match(JSON.parse(out), {
    kind: 'UndoPlan',
    name: 'planned',
    verdict: 'refused',
    moreItems: 2,
    counts: { blocked: 1, keep: 0 },
  });
  t.match(played, { 'tx.janus.io/undo-keep': 'ConfigMap/c' });
  const unknown = await during(['undo', 'planned', ...where, '--plan', '-o', 'json'], () =>
    answers('planned', planUndo, { counts: { undecided: 1, delete: 2 } }),
  );
  t.match(unknown, { code: 3, out: /"verdict": "unknown"/ });
});

t.test('undo reports an engine that does not answer', inAllOnly, async (t) => {
  const { code, err, out } = await cli.run(['undo', 'planned', ...where, '--plan', '--timeout', '1s']);
  t.match(
    { code, err, out },
    {
      code: 3,
      out: '',
      err: /^janus: The engine has not answered .* in 1 s\. No object was changed\. janus doctor checks the engine\.\n$/,
    },
  );
});

t.test('the program refuses bad options and writes nothing', async (t) => {
  const before = textAt(await stage.read('planned'), 'metadata', 'resourceVersion');
  const rows: readonly (readonly [readonly string[], RegExp])[] = [
    [['--keep', 'web'], /--keep takes KIND\[\.GROUP\]\/\[NAMESPACE\/\]NAME, .*found "web"\. Nothing was written\./],
    [['--keep', 'ConfigMap/a,'], /found ""/],
    [['--overwrite', 'ConfigMap/a/b/c'], /--overwrite takes .*found "ConfigMap\/a\/b\/c"/],
    [['--overwrite', 'ConfigMap/A_B/c'], /found "ConfigMap\/A_B\/c"/],
    [['--keep', 'ConfigMap/a', '--keep', 'ConfigMap/b,ConfigMap/a'], /--keep names ConfigMap\/a twice/],
    [['--keep', 'ConfigMap/a', '--overwrite', 'ConfigMap/a'], /--keep and --overwrite both name ConfigMap\/a/],
    [['--digest', 'abc'], /--digest takes the 64 hex digits/],
    [['--plan', '--digest', digest], /--digest is for the undo itself/],
    [['--no-gate'], /--gate, --no-gate and --allow-irreversible need --to/],
    [['--to', 'any', '--unlisted', 'widgets.acme.test'], /--unlisted is for the undo of one Transaction/],
  ];
  for (const [words, err] of rows)
    t.match(await cli.run(['undo', 'planned', ...where, '--yes', ...words]), { code: 64, out: '', err }, words.join(' '));
  t.match(await cli.run(['undo', ...where, '--yes']), { code: 64, err: /undo takes the name of a Transaction, or --to/ });
  t.match(await cli.run(['undo', '--to', '', ...where, '--yes']), {
    code: 64,
    err: /An empty --to takes the app away: give the name/,
  });
  t.equal(textAt(await stage.read('planned'), 'metadata', 'resourceVersion'), before);
});

t.test('a request contains the given options, and removes the others', async (t) => {
  await committed('asked', ['a', 'b', 'c']);
  await stage.annotate('asked', { 'tx.janus.io/undo-partial': 'true', 'tx.janus.io/undo-digest': digest });
  const words = ['undo', 'asked', ...where, '--yes', '--wait', '--keep', 'ConfigMap/a,cm/b', '--keep', 'deploy/x/y'];
  const { code, out, played } = await during([...words, '--overwrite', 'configmaps/c'], async () => {
    const annotations = await answers('asked', request, { reason: 'UndoRefused', message: 'ConfigMap b was changed', ...bad });
    return annotations;
  });
  t.equal(code, 3, out);
  t.match(out, /^The engine refused it after \d:\d\d: no object was changed, and it is Committed as before\.$/m);
  t.match(
    out,
    /^! ConfigMap b {2}RollbackConflict\n {4}kubectl-set wrote \.data\.color\n {4}\.data\.color {3}before \(none\), released "red", now "violet", by kubectl-set$/m,
  );
  t.match(out, /--overwrite ConfigMap\/b .*\n.*--keep ConfigMap\/b .*\n.*--partial /);
  t.match((await cli.run(['status', 'asked', ...where])).out, /\nUndoRefused: ConfigMap b was changed\n$/);
  const { [request]: value, ...beside } = played as JsonObject;
  t.type(value, 'string');
  t.same(beside, {
    'tx.janus.io/undo-keep': 'ConfigMap/a,ConfigMap/b,Deployment.apps/x/y',
    'tx.janus.io/undo-overwrite': 'ConfigMap/c',
  });
  const changed = await during(['undo', 'asked', ...where, '--yes', '--wait', '--digest', digest, '--partial'], () =>
    answers('asked', request, { reason: 'PlanChanged', message: 'The plan has changed' }),
  );
  t.match(changed, { code: 3, out: /^The plan has changed\n.*undo asked -n \S+ --plan/m });
  t.match(changed.played, { 'tx.janus.io/undo-partial': 'true', 'tx.janus.io/undo-digest': digest });
});

t.test('undo shows the kept objects, and ends with success', inAllOnly, async (t) => {
  const items = ['Restored', 'Kept', 'Restored'].map((state) => ({
    state,
    ...(state === 'Kept' ? { kept: true } : { rolledBack: true, undone: true }),
  }));
  const words = ['undo', 'asked', ...where, '--yes', '--wait', '--keep', 'ConfigMap/b'];
  const end = { phase: 'RolledBack', items, conditions: finished('RolledBack') };
  const { code, out } = await during(words, () => answers('asked', request, undefined, end));
  t.match(
    { code, out },
    {
      code: 0,
      out: /ConfigMap b changed, kept\n[\s\S]*✓ asked was rolled back after .*\.\n {2}2 objects are as before\. 1 object is kept: ConfigMap b\./,
    },
  );
  t.match((await cli.run(['status', 'asked', ...where])).out, /^ = ConfigMap b {3}changed {4}kept$/m);
  t.match((await cli.run(['history', 'configmap/b', ...where])).out, /asked .* Apply +Kept/);
});

t.test('the program names later Transactions in the order in which to undo them', inAllOnly, async (t) => {
  await committed('low', ['base']);
  await committed('beside', ['other']);
  await committed('middle', ['base', 'upper'], {});
  await committed('top', ['upper']);
  const strangers = await freeNamespace(stage.client, 'strangers', t);
  await committed('above', ['upper'], { fieldManager: 'strangers' }, strangers);
  const later = {
    index: 0,
    verdict: 'Blocked',
    target: 'ConfigMap base',
    reason: 'LaterTransaction',
    message: 'middle changed it',
  };
  const answer = { counts: { blocked: 1 }, items: [later] };
  const { code, out } = await during(['undo', 'low', ...where, '--plan'], () => answers('low', planUndo, answer));
  t.match(
    { code, out },
    { code: 2, out: new RegExp(`^ {2}Undo first, in this order: ${strangers}/above, top, middle\\.$`, 'm') },
  );
  t.notMatch(out, /--overwrite/, 'a later Transaction is never overwritten');
});

const shellPath = `${cli.programs}:${dirname(process.execPath)}:/usr/bin:/bin`;
const hasScript = /util-linux/.test(
  spawnSync('script', ['--version'], { encoding: 'utf8', env: { PATH: shellPath } }).stdout ?? '',
);

t.test('the program shows the plan before its question, and sends its digest', hasScript ? {} : { skip: true }, async (t) => {
  await committed('shown', ['a', 'b', 'c']);
  const typed = async (answer: JsonObject, reply?: string) => {
    const line = ['janus', 'undo', 'shown', ...where].map((word) => `'${word}'`).join(' ');
    const use = { node: 'script', bare: true, typing: true, env: { PATH: shellPath, TERM: 'xterm' } } as const;
    const running = cli.start(['-qec', line, '/dev/null'], use);
    await answers('shown', planUndo, answer);
    if (reply !== undefined) {
      await waitFor(() => running.out().includes('[y/N]'), 'the question');
      running.process.stdin?.write(`${reply}\r`);
    }
    return running.finished;
  };
  const refused = await typed(bad);
  t.match(refused, { code: 3, out: /! ConfigMap b/ });
  t.notMatch(refused.out, /\[y\/N\]/);
  t.match(await typed(good, 'n'), {
    code: 1,
    out: /Plan of the undo of [\s\S]*Undo shown: deletes 1 object, changes 1 back, recreates 1\. Continue\? \[y\/N\][\s\S]*Nothing was changed\./,
  });
  t.equal((await annotationsOf('shown'))[request], undefined);
  const engine = answers('shown', request, { reason: 'UndoRefused', message: 'ConfigMap b was changed', ...bad });
  const [followed, asked] = await Promise.all([typed(good, 'y'), engine]);
  t.match(followed, { code: 3, out: /shown undo requested[\s\S]*The engine refused it after[\s\S]*! ConfigMap b/ }, 'it follows');
  t.match(asked, { [request]: /./, 'tx.janus.io/undo-digest': digest });
});

t.test('in a pipe, without --wait, undo waits until the engine has accepted or refused', async (t) => {
  await committed('piped', ['a', 'b', 'c']);
  const words = ['undo', 'piped', ...where, '--yes'];
  const refused = await during(words, () => answers('piped', request, { reason: 'UndoRefused', message: 'no', ...bad }));
  t.match(refused, { code: 3, out: /undo requested\n[\s\S]*The engine refused it after .*\n! ConfigMap b/ });
  await committed('unanswered', ['d']);
  t.match(await cli.run(['undo', 'unanswered', ...where, '--yes', '--timeout', '1s']), {
    code: 5,
    out: /The engine has not begun the undo of unanswered: /,
  });
  const items = ['a', 'b', 'c'].map(() => ({ state: 'Restoring', committed: true }));
  const rolling = { phase: 'RollingBack', items, conditions: [] };
  const accepted = await during(words, () => answers('piped', request, undefined, rolling));
  t.match(accepted, {
    code: 0,
    out: /piped is rolling back after .*; it continues\.[\s\S]*status piped -n \S+ --watch follows it\./,
  });
});

t.test('the engine itself undoes', inAllOnly, async (t) => {
  const live = await startStage(t);
  const place = ['-n', live.namespace];
  const [[label = '', value = '']] = Object.entries(live.label) as [[string, string]];
  const release = async (name: string, colors: Readonly<Record<string, string>>) => {
    const items = Object.entries(colors).map(([key, color]) => ({
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: key } },
      data: { color },
    }));
    const words = ['apply', '-f', '-', ...place, '--service-account', account, '--label', `${label}=${value}`, '--wait'];
    const input = JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
    t.match(await cli.run([...words, '--name', name, '--field-manager', 'shop'], { input }), { code: 0 }, name);
  };
  const colorOf = async (name: string) => {
    const answer = await live.client.get(live.path(`configmaps/${name}`));
    return answer.code === 404 ? 'gone' : textAt(answer.body, 'data', 'color');
  };
  const undo = (...words: readonly string[]) => cli.run(['undo', ...words, ...place]);
  await release('rel-1', { one: 'blue', two: 'blue' });
  await release('rel-2', { one: 'red', two: 'red', three: 'red' });
  await release('rel-3', { one: 'green', two: 'green', three: 'green' });

  const below = await undo('rel-2', '--plan');
  t.match(below, { code: 2, out: /^! ConfigMap one {2}LaterTransaction$/m });
  t.match(below.out, /^ {2}janus undo rel-2 -n \S+ --to rel-1 {3}undoes it with all that is newer\.$/m);
  t.notMatch(below.out, /--keep|--partial|Undo first/);

  must(
    await live.client.patch(live.path('configmaps/two'), { data: { color: 'violet' } }, 'merge', {
      fieldManager: 'kubectl-edit',
    }),
  );
  const plan = await undo('rel-3', '--plan', '-o', 'json');
  t.equal(plan.code, 2, plan.err);
  t.ok(validate(JSON.parse(plan.out)), JSON.stringify(validate.errors));
  t.match(JSON.parse(plan.out), { verdict: 'refused', counts: { blocked: 1, restore: 2 } });
  const refused = await undo('rel-3', '--yes', '--wait');
  t.match(refused, {
    code: 3,
    out: /! ConfigMap two {2}RollbackConflict[\s\S]*now "violet", by kubectl-edit[\s\S]*--keep ConfigMap\/two/,
  });
  t.match(await undo('rel-3', '--yes', '--wait', '--keep', 'ConfigMap/nobody'), {
    code: 3,
    out: /has no effect: .*ConfigMap\/nobody, which is no object of this Transaction/,
  });
  t.same([await colorOf('one'), await colorOf('two')], ['green', 'violet'], 'nothing was undone');

  const { digest: known } = JSON.parse((await undo('rel-3', '--plan', '-o', 'json', '--overwrite', 'configmap/two')).out);
  t.match(await undo('rel-3', '--yes', '--wait', '--digest', known), { code: 3 }, 'not the plan without --overwrite');
  const overwriting = ['rel-3', '--yes', '--wait', '--overwrite', 'configmap/two', '--digest'];
  t.match(await undo(...overwriting, '0'.repeat(64)), { code: 3, out: /undo rel-3 -n \S+ --plan/ });
  t.match(await undo(...overwriting, known), { code: 0, out: /was rolled back after/ });
  t.same([await colorOf('one'), await colorOf('two')], ['red', 'red']);

  t.match(await undo('rel-2', '--yes', '--wait', '--keep', 'ConfigMap/two'), { code: 0, out: /1 object is kept: ConfigMap two/ });
  t.same([await colorOf('one'), await colorOf('two'), await colorOf('three')], ['blue', 'red', 'gone']);
});
