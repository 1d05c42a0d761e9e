// An admission webhook answers in whatever words it likes. They are quoted, and steer nothing: a Transaction that it refuses ends at
// once, undone exactly, with the reason of the HTTP code; nothing of it counts as the work of somebody else.
import t, { type Test } from 'tap';
import { at, isList, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { clean } from '../../hooks/objects/words.ts';
import { must, waitFor } from '../support/client.ts';
import { type DenyingAdmission, startDenyingAdmission } from '../support/denying-admission.ts';
import { partial } from '../support/round-trip.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { stepToEnd, stepUntil } from '../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../support/targets.ts';
import { canary } from './canaries.ts';

const policy = 'image must come from registry.example.org';

/** Reasons that policies give: sentences, words of the engine, words of the API server for something else, rubbish. */
const reasons: readonly string[] = [
  'denied by policy "no-latest": use a digest, please',
  'two\nlines and \u202eturned\u200b \u0007',
  'Gone',
  'Replaced',
  'Conflict',
  'RollbackConflict',
  'NotEmpty',
  'AlreadyExists',
  'NotFound',
  'Terminating',
  'Timeout',
  'Expired',
  '',
  `${'long'.repeat(2_000)}`,
];

const codes: readonly (readonly [code: number, reason: string])[] = [
  [400, 'BadRequest'],
  [403, 'Forbidden'],
  [404, 'Denied'],
  [409, 'Denied'],
  [410, 'Denied'],
  [418, 'Denied'],
  [422, 'Invalid'],
];

async function conflictsOf({ hookUrl }: Stage): Promise<readonly string[]> {
  const figures = await (await fetch(`${hookUrl}/metrics`)).text();
  return figures.split('\n').filter((line) => /^janus_conflicts_total\{|result="conflict"\} [1-9]/.test(line));
}

function itemOf(status: Json, index: number): Json | undefined {
  const items = at(status, 'items');
  return isList(items) ? items[index] : undefined;
}

interface World {
  readonly stage: Stage;
  readonly admission: DenyingAdmission;
}

async function openWorld(t: Test, log: string[] = []): Promise<World> {
  const stage = await startStage(t, { withoutLoop: true, logTo: { write: (line) => void log.push(line) } });
  await createConfigMaps(stage, ['a', 'b']);
  return { stage, admission: await startDenyingAdmission(stage, t) };
}

const green = (name: string): JsonObject => change('Patch', name, { data: { color: 'green' } });

function isClean(t: Test, status: JsonObject): void {
  const texts = [textAt(status, 'message') ?? '', textAt(itemOf(status, 0), 'error', 'message') ?? ''];
  t.same(texts.map(clean), texts, 'on one line, all of it visible');
}

t.test('the engine undoes all changes at once if one is denied, for any reason in the answer', async (t) => {
  const { stage, admission } = await openWorld(t);
  const paths = ['a', 'b'].map((name) => stage.path(`configmaps/${name}`));
  const before = await portraits(stage.client, paths);
  for (const [index, reason] of reasons.entries()) {
    admission.decide(({ name, dryRun }) => (name === 'b' && !dryRun ? { code: 403, reason, message: policy } : undefined));
    const name = `denied-${index}`;
    await stage.transaction(name, [green('a'), green('b')]);
    const { status } = await stepToEnd(stage, name);
    t.match(status, { phase: 'RolledBack' }, reason);
    t.match(itemOf(status, 1), { error: { reason: 'Forbidden' } }, reason);
    t.match(textAt(itemOf(status, 1), 'error', 'message'), policy);
    t.match(textAt(status, 'message'), policy);
    isClean(t, status);
    t.same(await portraits(stage.client, paths), before, 'everything is as it was');
  }
  t.same(await conflictsOf(stage), [], 'no other writer has changed it');
});

t.test('pre-flight refuses a change at once that is denied in the dry run', async (t) => {
  const { stage, admission } = await openWorld(t);
  for (const [index, [code, expected]] of codes.entries())
    for (const [at, reason] of ['no, thanks', 'Conflict', 'AlreadyExists'].entries()) {
      admission.decide(({ name, dryRun }) => (name === 'b' && dryRun ? { code, reason, message: policy } : undefined));
      const name = `tried-${index}-${at}`;
      const one = at === 1 ? change('Delete', 'b') : green('b');
      await stage.transaction(name, [green('a'), one]);
      const { status } = await stepToEnd(stage, name);
      t.match(status, { phase: 'Failed', message: new RegExp(policy) }, `${code} ${reason}`);
      t.match(itemOf(status, 1), { error: { reason: expected } }, `${code} ${reason}`);
    }
  t.same(await conflictsOf(stage), []);
});

t.test('a conflict in the form of the API server is tried again, and never shown as Denied', async (t) => {
  const { stage, admission } = await openWorld(t);
  let left = 0;
  let met = 0;
  const conflict = { code: 409, reason: 'Conflict', message: policy, details: { name: 'b', kind: 'configmaps' } };
  const meeting = (dry: boolean): void =>
    admission.decide(({ name, dryRun }) => {
      if (name !== 'b' || dryRun !== dry || left === 0) return undefined;
      left -= 1;
      met += 1;
      return conflict;
    });
  for (const dry of [true, false]) {
    const name = dry ? 'dry' : 'sent';
    meeting(dry);
    left = 2;
    await stage.transaction(`${name}-twice`, [green('b')]);
    t.match(await stepToEnd(stage, `${name}-twice`), { phase: 'Committed' });
    t.equal(left, 0);
    await stage.transaction(`${name}-back`, [change('Patch', 'b', { data: { color: 'red' } })]);
    t.match(await stepToEnd(stage, `${name}-back`), { phase: 'Committed' });
    [left, met] = [Number.POSITIVE_INFINITY, 0];
    await stage.transaction(name, [green('b')]);
    const { status } = await stepToEnd(stage, name);
    t.match(itemOf(status, 0), { error: { reason: 'Conflict', message: new RegExp(policy) } });
    t.equal(met, 3, 'tried three times');
  }
});

t.test('pre-flight refuses a Create at once that is denied as if the object existed', async (t) => {
  const { stage, admission } = await openWorld(t);
  for (const [index, [code, reason]] of (
    [
      [409, 'AlreadyExists'],
      [409, 'Conflict'],
      [404, 'NotFound'],
    ] as const
  ).entries()) {
    admission.decide(({ name }) => (name === 'new' ? { code, reason, message: policy } : undefined));
    await stage.transaction(`made-${index}`, [change('Create', 'new', { data: { a: 'b' } })]);
    const { status } = await stepToEnd(stage, `made-${index}`);
    t.match(itemOf(status, 0), { error: { reason: 'Denied', message: new RegExp(policy) } }, reason);
  }
});

t.test('a denied undo has the reason of its status code, in metrics and Events too', async (t) => {
  const { stage, admission } = await openWorld(t);
  await stage.transaction('undone', [green('a'), green('b')]);
  await stepToEnd(stage, 'undone');
  admission.decide(({ name, manager }) =>
    name === 'a' && manager.startsWith('janus-restore')
      ? { code: 403, reason: 'RollbackConflict', message: `${policy}\n\u202e` }
      : undefined,
  );
  await stage.annotate('undone', {
    'tx.janus.io/request-rollback': `a "word"\n${'x'.repeat(200_000)}`,
    ...partial,
  });
  await stepUntil(stage, 'undone', 'Failed');
  const { status } = await stepToEnd(stage, 'undone');
  t.match(itemOf(status, 0), { left: true, error: { reason: 'Forbidden', message: new RegExp(policy) } });
  t.match(itemOf(status, 1), { rolledBack: true });
  t.match(textAt(status, 'handledAnnotations', 'tx.janus.io/request-rollback'), /^sha256:[0-9a-f]{64}$/);
  isClean(t, status);
  const events = async (): Promise<readonly JsonObject[]> => (await stage.client.list(stage.path('events'))).items;
  await waitFor(async () => (await events()).some((event) => event.reason === 'Failed'), 'the Events');
  const reported = (await events()).map((event) => [textAt(event, 'reason'), textAt(event, 'message') ?? ''] as const);
  t.ok(reported.some(([reason, message]) => reason === 'Forbidden' && message.includes(policy)));
  t.notOk(reported.some(([reason]) => reason === 'RollbackConflict'));
  t.same(
    reported.map(([, message]) => clean(message)),
    reported.map(([, message]) => message),
  );
  t.same(await conflictsOf(stage), []);
});

const owned = (field: string, owner: string): JsonObject => ({
  reason: 'FieldManagerConflict',
  field,
  message: `conflict with "${owner}" using v1`,
});

t.test('the engine believes field owners in a message only if the API server names them', async (t) => {
  const { stage, admission } = await openWorld(t);
  const details = { causes: [owned('.data.color', 'kubectl')] };
  admission.decide(({ name }) => (name === 'b' ? { code: 409, reason: 'Conflict', message: policy, details } : undefined));
  const changes = [
    green('b'),
    change('Update', 'b', { data: {} }),
    change('Delete', 'b'),
    { ...green('b'), fieldConflicts: 'Force' },
  ];
  for (const [index, one] of changes.entries()) {
    await stage.transaction(`owned-${index}`, [green('a'), one]);
    const { status } = await stepToEnd(stage, `owned-${index}`);
    t.match(itemOf(status, 1), { error: { reason: 'Denied', message: new RegExp(policy) } });
  }
  t.same(await conflictsOf(stage), []);
});

t.test('a webhook cannot name owners of fields of a Secret', async (t) => {
  const log: string[] = [];
  const { stage, admission } = await openWorld(t, log);
  const value = canary();
  const secret = { metadata: { name: 's' }, stringData: { key: value } };
  must(await stage.client.create(stage.path('secrets'), secret, { fieldManager: 'their-tool' }));
  const causes = [owned('.data.key', value), owned('.data.key', 'their-tool'), owned(`.data.${value}`, value)];
  const details = { causes };
  admission.decide(({ name }) => (name === 's' ? { code: 409, reason: 'Conflict', message: value, details } : undefined));
  const patch = change('Patch', 's', { data: { other: 'bmV3' } }, { kind: 'Secret' });
  for (const fieldConflicts of ['Force', 'Fail']) {
    await stage.transaction(fieldConflicts.toLowerCase(), [{ ...patch, fieldConflicts }]);
    const { status } = await stepToEnd(stage, fieldConflicts.toLowerCase());
    t.match(status, { phase: 'Failed' });
    t.notOk(JSON.stringify(status).includes(value), JSON.stringify(status));
    if (fieldConflicts === 'Fail') t.match(textAt(status, 'message'), /\.data\[…\] \(by others\), \.data\[…\] \(by their-tool\)/);
  }
  const events = (await stage.client.get(stage.path('events'))).text;
  t.notOk([events, log.join('')].some((text) => text.includes(value)));
});

t.test('no output shows words of a webhook about a Secret, wherever it puts the value', async (t) => {
  const log: string[] = [];
  const { stage, admission } = await openWorld(t, log);
  const value = canary();
  must(await stage.client.create(stage.path('secrets'), { metadata: { name: 's' }, stringData: { key: value } }));
  const fields = [
    value,
    `data.${value}`,
    `data[${value}]`,
    `data[key]`,
    `metadata.labels.${value}.x`,
    `data["${value}"`,
    'data.key',
  ];
  for (const [index, code] of [400, 403, 409, 422].entries()) {
    admission.decide(({ name }) =>
      name === 's'
        ? {
            code,
            reason: value,
            message: value,
            details: { name: value, kind: value, causes: fields.map((field) => ({ field, message: value, reason: value })) },
          }
        : undefined,
    );
    await stage.transaction(`secret-${index}`, [change('Patch', 's', { stringData: { key: 'new' } }, { kind: 'Secret' })]);
    const { status } = await stepToEnd(stage, `secret-${index}`);
    t.match(status, { phase: 'Failed' });
    t.notOk(JSON.stringify(status).includes(value), JSON.stringify(status));
    t.match(textAt(status, 'message'), /data/, 'the fields that are known are named');
  }
  const events = (await stage.client.get(stage.path('events'))).text;
  t.notOk([events, log.join('')].some((text) => text.includes(value)));
});
