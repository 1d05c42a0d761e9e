// No output shows the values of Secrets. Each value is a canary; everything that can go wrong with a Secret does, and the API server is made
// to quote values in its refusals. Then every object of every kind is searched, the log down to its last level, the figures and
// the answers of the hook.
import t, { type Test } from 'tap';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { partial } from '../support/round-trip.ts';
import { snapshotPath } from '../support/snapshots.ts';
import { account, type Stage } from '../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../support/stepping.ts';
import { change } from '../support/targets.ts';
import { everything, findings, formsOf, openWorld, type World } from './canaries.ts';

const admission = '/apis/admissionregistration.k8s.io/v1';
const secret = { kind: 'Secret' };

/** A policy that refuses writes of some Secrets of the stage's ServiceAccount, and quotes what they hold. */
async function quoteRefusals({ client, namespace }: Stage, t: Test): Promise<void> {
  const name = `quote-${namespace}`;
  t.teardown(async () => {
    await client.delete(`${admission}/validatingadmissionpolicybindings/${name}`);
    await client.delete(`${admission}/validatingadmissionpolicies/${name}`);
  });
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['secrets'], operations: ['CREATE', 'UPDATE', 'DELETE'] };
  const who = `request.userInfo.username == 'system:serviceaccount:${namespace}:${account}'`;
  const messageExpression =
    "'refused: ' + (object == null ? oldObject : object).data.map(key, (object == null ? oldObject : object).data[key]).join(' ')";
  const spec = {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [{ name: 'of-the-transactions', expression: who }],
    validations: [
      { expression: "!request.name.startsWith('never')", messageExpression },
      { expression: "request.dryRun == true || !request.name.startsWith('late')", messageExpression },
      {
        expression:
          "request.operation != 'UPDATE' || oldObject.data.?undo.orValue('') == '' || !request.name.startsWith('stuck')",
        messageExpression,
      },
    ],
  };
  must(await client.create(`${admission}/validatingadmissionpolicies`, { metadata: { name }, spec }));
  const matchResources = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } };
  must(
    await client.create(`${admission}/validatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'], matchResources },
    }),
  );
  const probe = { metadata: { name: 'never' }, stringData: { key: 'probe' } };
  const path = `/api/v1/namespaces/${namespace}/secrets`;
  const own = client.asServiceAccount(namespace, account);
  await waitFor(async () => {
    const answer = await own.create(path, probe, { dryRun: 'All' });
    return answer.code === 422 && answer.text.includes(Buffer.from('probe').toString('base64'));
  }, 'the policy to be in force and to quote');
}

const content = (value: string, more: JsonObject = {}): JsonObject => ({ stringData: { key: value, other: value }, ...more });

async function make({ stage, fresh }: World, ...names: readonly string[]): Promise<void> {
  for (const name of names) must(await stage.client.create(stage.path('secrets'), { metadata: { name }, ...content(fresh()) }));
}

async function ends({ stage }: World, name: string, phase: string, message: RegExp): Promise<void> {
  const { status } = await stepToEnd(stage, name);
  t.match(status, { phase, message }, name);
}

/** Refused before the first change: by validation, by a field that cannot be changed, by a policy, by another kind of content. */
async function refusals(world: World): Promise<void> {
  const { stage, fresh } = world;
  await make(world, 'typed', 'never-patched', 'never-deleted');
  must(await stage.client.create(stage.path('secrets'), { metadata: { name: 'fixed' }, immutable: true, ...content(fresh()) }));
  const label = (): JsonObject => ({ metadata: { labels: { value: `${fresh()}!` } }, ...content(fresh()) });
  const tried: readonly (readonly [string, JsonObject])[] = [
    ['r-label', change('Create', 'odd', label(), secret)],
    ['r-field', change('Create', 'odder', { [fresh()]: fresh() }, secret)],
    ['r-type', change('Patch', 'typed', { type: fresh() }, secret)],
    ['r-value', change('Patch', 'typed', { data: { key: `${fresh()} is no base64` } }, secret)],
    ['r-shape', change('Patch', 'typed', { data: fresh() }, secret)],
    ['r-immutable', change('Patch', 'fixed', content(fresh()), secret)],
    ['r-policy', change('Patch', 'never-patched', content(fresh()), secret)],
    ['r-create', change('Create', 'never-created', content(fresh()), secret)],
    ['r-delete', change('Delete', 'never-deleted', undefined, secret)],
    ['r-exists', change('Create', 'typed', content(fresh()), secret)],
    ['r-version', change('Update', 'typed', { ...content(fresh()), metadata: { resourceVersion: '1' } }, secret)],
  ];
  for (const [name, one] of tried) {
    await stage.transaction(name, [one]);
    await ends(world, name, 'Failed', /./);
  }
}

/** Refused among the changes, changed by others in between, and undone. */
async function troubles(world: World): Promise<void> {
  const { stage, fresh, elsewhere } = world;
  await make(world, 'early', 'late-patched', 'raced', 'edited', 'stuck', 'gone');
  const far = `/api/v1/namespaces/${elsewhere}/configmaps`;
  must(await stage.client.create(far, { metadata: { name: 'far' }, data: { key: fresh() } }));
  const early = change('Patch', 'early', content(fresh()), secret);
  await stage.transaction('late', [early, change('Patch', 'late-patched', content(fresh()), secret)]);
  await ends(world, 'late', 'RolledBack', /./);

  await stage.transaction('race', [early, change('Patch', 'raced', content(fresh()), secret)]);
  await stepUntil(stage, 'race', 'Committing');
  const edit = (name: string): Promise<unknown> =>
    stage.client
      .patch(stage.path(`secrets/${name}`), { stringData: { key: fresh(), undo: 'x' } }, 'merge', { fieldManager: 'a-person' })
      .then(must);
  await edit('raced');
  await ends(world, 'race', 'RolledBack', /./);

  await stage.transaction('undo', [
    change('Patch', 'edited', content(fresh()), secret),
    change('Patch', 'stuck', { stringData: { undo: fresh() } }, secret),
    change('Delete', 'gone', undefined, secret),
    change('Create', 'made', content(fresh()), secret),
    change('Patch', 'far', { data: { key: fresh() } }, { namespace: elsewhere }),
  ]);
  await ends(world, 'undo', 'Committed', /./);
  await edit('edited');
  await edit('made');
  must(await stage.client.create(stage.path('secrets'), { metadata: { name: 'gone' }, ...content(fresh()) }));
  await stage.annotate('undo', { 'tx.janus.io/request-rollback': 'whole' });
  t.match((await stepToEnd(stage, 'undo')).status, { phase: 'Committed', undo: { reason: 'UndoRefused' } });
  await stage.annotate('undo', { 'tx.janus.io/request-rollback': 'yes', ...partial });
  await stepUntil(stage, 'undo', 'Failed');
  await ends(world, 'undo', 'Failed', /./);
  await stage.annotate('undo', { 'tx.janus.io/retry-rollback': 'yes' });
  await stepUntil(stage, 'undo', 'Failed');
}

/** A snapshot that is gone, and one that was changed. */
async function tampered(world: World): Promise<void> {
  const { stage, fresh } = world;
  await make(world, 'kept');
  await stage.transaction('broken', [change('Patch', 'kept', content(fresh()), secret)]);
  await stepUntil(stage, 'broken', 'Prepared');
  const path = await snapshotPath(stage, 'broken');
  must(await stage.client.patch(path, { metadata: { finalizers: null } }));
  must(await stage.client.delete(path));
  await step(stage, 'broken');
  await ends(world, 'broken', 'RolledBack', /snapshot/);
}

t.test('no output shows the values of Secrets', async (t) => {
  const world = await openWorld(t);
  await quoteRefusals(world.stage, t);
  const { stage, values, log, answers, elsewhere } = world;
  await refusals(world);
  await troubles(world);
  await tampered(world);
  t.ok(values.length > 25, `${values.length} canaries`);
  await waitFor(async () => (await stage.client.list(stage.path('events'))).items.length > 10, 'the Events');

  const places = new Map(await everything(stage.client));
  const { items } = await stage.client.list(stage.path('secrets'));
  const belongs = [
    ...items.map((item) => `/api/v1/secrets ${stage.namespace}/${textAt(item, 'metadata', 'name')}`),
    `/api/v1/configmaps ${elsewhere}/far`,
  ];
  t.ok(findings(places, values, []).length >= 8, 'the search finds them where they belong');
  places.set('log', log.join(''));
  places.set('answers', answers.join('\n'));
  places.set('figures', await (await fetch(`${stage.hookUrl}/metrics`)).text());
  t.ok(log.length > 50 && answers.length > 50 && places.size > 100, `${places.size} places`);
  t.same(findings(places, values, belongs), [], 'and nowhere else');
  t.ok(values.every((value) => formsOf(value).length === 6));
});
