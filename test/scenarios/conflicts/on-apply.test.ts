// What somebody else does between the snapshot and the change x type of the change -> the change goes on, or it is a conflict that
// names the paths. Conflict is about content: writes of status, annotations or other fields than the changed ones cause no conflict.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { type Answer, must, waitFor } from '../../support/client.ts';
import { everyNth } from '../../support/selection.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil } from '../../support/stepping.ts';
import { table } from '../../support/table.ts';
import { change } from '../../support/targets.ts';

const kind = { apiVersion: 'apps/v1', kind: 'Deployment' };
const by = { fieldManager: 'their-tool' };

// A paused Deployment: its controller writes status, and nothing else.
function spec(image: string): JsonObject {
  const template = { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image }] } };
  return { paused: true, replicas: 1, selector: { matchLabels: { app: 'web' } }, template };
}

function metadataOf(name: string): JsonObject {
  return { name, labels: { team: 'shop' }, finalizers: ['example.org/first'] };
}

/** Update and Patch change the image and nothing else. */
const contents: Readonly<Record<string, (name: string) => JsonObject | undefined>> = {
  Update: (name) => ({ metadata: metadataOf(name), spec: spec('example.org/web:2') }),
  Patch: () => ({ spec: { template: { spec: { containers: [{ name: 'web', image: 'example.org/web:2' }] } } } }),
  Delete: () => undefined,
};

type Act = (stage: Stage, where: string, name: string) => Promise<Answer>;

const merge =
  (patch: JsonObject, subresource = ''): Act =>
  ({ client }, where) =>
    client.patch(`${where}${subresource}`, patch, 'merge', by);

const image = (name: string): JsonObject => ({ spec: { template: { spec: { containers: [{ name: 'web', image: name }] } } } });

async function removed(stage: Stage, where: string): Promise<Answer> {
  must(await stage.client.patch(where, { metadata: { finalizers: null } }));
  const answer = await stage.client.delete(where);
  await waitFor(async () => (await stage.client.get(where)).code === 404, `${where} to be gone`);
  return answer;
}

const owner = { apiVersion: 'v1', kind: 'ConfigMap', name: 'kube-root-ca.crt' };

const acts: Readonly<Record<string, Act>> = {
  nothing: ({ client }, where) => client.get(where),
  'status written': merge({ status: { conditions: [{ type: 'Seen', status: 'True', reason: 'A', message: 'b' }] } }, '/status'),
  'annotation written': merge({ metadata: { annotations: { seen: 'yes' } } }),
  'a field shared': ({ client }, where, name) =>
    client.apply(where, { ...kind, metadata: { name }, ...image('example.org/web:1') }, by),
  'our field set': ({ client }, where) => client.patch(where, image('example.org/web:9'), 'strategic', by),
  'our field set as we do': ({ client }, where) => client.patch(where, image('example.org/web:2'), 'strategic', by),
  'another field set': merge({ spec: { minReadySeconds: 5 } }),
  'container added': ({ client }, where) =>
    client.patch(
      where,
      { spec: { template: { spec: { containers: [{ name: 'side', image: 'example.org/side' }] } } } },
      'strategic',
      by,
    ),
  scaled: merge({ spec: { replicas: 4 } }, '/scale'),
  'label set': merge({ metadata: { labels: { team: 'theirs' } } }),
  'finalizer added': merge({ metadata: { finalizers: ['example.org/first', 'example.org/second'] } }),
  'owner added': async (stage, where) => {
    const uid = textAt(must(await stage.client.get(stage.path(`configmaps/${owner.name}`))), 'metadata', 'uid') ?? '';
    return merge({ metadata: { ownerReferences: [{ ...owner, uid }] } })(stage, where, '');
  },
  'deletion begun': ({ client }, where) => client.delete(where),
  deleted: removed,
  'made again': async (stage, where, name) => {
    await removed(stage, where);
    return stage.client.create(stage.path('apps/v1/deployments'), {
      ...kind,
      metadata: metadataOf(name),
      spec: spec('example.org/web:1'),
    });
  },
};

// `goes on`, or what the message of the conflict must hold, with commas between.
const rows = table<'meanwhile' | 'Update' | 'Patch' | 'Delete'>(`
meanwhile              | Update                                     | Patch                                      | Delete
nothing                | goes on                                    | goes on                                    | goes on
status written         | goes on                                    | goes on                                    | goes on
annotation written     | goes on                                    | goes on                                    | goes on
a field shared         | goes on                                    | goes on                                    | goes on
our field set          | containers[name=web].image (by their-tool) | containers[name=web].image (by their-tool) | containers[name=web].image (by their-tool)
our field set as we do | goes on                                    | containers[name=web].image (by their-tool) | containers[name=web].image (by their-tool)
another field set      | spec.minReadySeconds (by their-tool)       | goes on                                    | spec.minReadySeconds (by their-tool)
container added        | containers[name=side] (by their-tool)      | goes on                                    | containers[name=side] (by their-tool)
scaled                 | goes on                                    | goes on                                    | goes on
label set              | metadata.labels.team (by their-tool)       | goes on                                    | metadata.labels.team (by their-tool)
finalizer added        | finalizers["example.org/second"] (by their-tool) | goes on                              | finalizers["example.org/second"] (by their-tool)
owner added            | goes on                                    | goes on                                    | metadata.ownerReferences
deletion begun         | is being deleted by someone else           | is being deleted by someone else           | goes on
deleted                | was deleted by someone else                | was deleted by someone else                | goes on
made again             | was deleted and recreated              | was deleted and recreated              | was deleted and recreated
`);

interface Cell {
  readonly type: string;
  readonly meanwhile: string;
  readonly verdict: string;
}

const cells: readonly Cell[] = rows.flatMap(({ meanwhile, ...verdicts }) =>
  Object.entries(verdicts).map(([type, verdict]) => ({ type, meanwhile, verdict })),
);

async function runCell(t: Test, stage: Stage, { type, meanwhile, verdict }: Cell): Promise<void> {
  const { client, path } = stage;
  const name = `${type}-${meanwhile}`.toLowerCase().replaceAll(' ', '-');
  const where = path(`apps/v1/deployments/${name}`);
  const object = { ...kind, metadata: metadataOf(name), spec: spec('example.org/web:1') };
  must(await client.create(path('apps/v1/deployments'), object, { fieldManager: 'kubectl-create' }));
  t.teardown(() => client.patch(where, { metadata: { finalizers: null } }));
  await waitFor(async () => at(must(await client.get(where)), 'status', 'observedGeneration') === 1, 'its controller');
  const first = change('Create', `${name}-first`, { data: { a: 'b' } });
  await stage.transaction(name, [first, change(type, name, contents[type]?.(name), kind)]);
  await stepUntil(stage, name, 'Committing');
  must((await acts[meanwhile]?.(stage, where, name)) ?? (await client.get('/none')));
  const { body: found } = await client.get(where);
  const { status, phase } = await stepToEnd(stage, name);
  const message = textAt(status, 'message') ?? '';
  if (verdict === 'goes on') return void t.equal(phase, 'Committed', message);
  t.equal(phase, 'RolledBack', message);
  for (const told of verdict.split(',')) t.ok(message.includes(told), `"${told}" in: ${message}`);
  t.ok(message.includes(`Deployment ${stage.namespace}/${name}`), 'the object is named');
  t.same(contentOf((await client.get(where)).body), contentOf(found), 'nothing of it was written');
  t.equal((await client.get(path(`configmaps/${name}-first`))).code, 404, 'what came before is undone');
}

/** All but what its controller may write at any time. */
function contentOf({ status: _status, metadata, ...rest }: JsonObject): JsonObject {
  return { ...rest, uid: at(metadata, 'uid') ?? null, labels: at(metadata, 'labels') ?? null };
}

t.test('the engine reports conflicts on apply', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  t.jobs = 4;
  await Promise.all(
    everyNth(2, cells).map((cell) => t.test(`${cell.type}, ${cell.meanwhile}: ${cell.verdict}`, (t) => runCell(t, stage, cell))),
  );
  t.same(await stage.leases(), []);
});

t.test('a Create conflicts with any existing object', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  for (const [name, object] of [
    ['equal', { data: { a: 'b' } }],
    ['other', { data: { c: 'd' } }],
  ] as const) {
    await stage.transaction(name, [change('Create', `${name}-first`, {}), change('Create', name, { data: { a: 'b' } })]);
    await stepUntil(stage, name, 'Committing');
    must(await client.create(path('configmaps'), { metadata: { name }, ...object }));
    t.match(await stepToEnd(stage, name), {
      phase: 'RolledBack',
      status: { message: /was created by someone else after it was checked/ },
    });
    t.match(must(await client.get(path(`configmaps/${name}`))), object, 'theirs stays');
    t.equal((await client.get(path(`configmaps/${name}-first`))).code, 404);
  }
});
