// Each change type on an object that is not there and on one that is: what fits is done and can be undone to the last managed
// field; what does not fit fails before anything is written.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { changeTypes } from '../../../hooks/transactions/model/change.ts';
import { type Answer, must } from '../../support/client.ts';
import { everyNth } from '../../support/selection.ts';
import { conditionOf, type Stage, startStage } from '../../support/stage.ts';
import { change, portraits } from '../../support/targets.ts';

interface Kind {
  readonly kind: string;
  readonly apiVersion: string;
  /** Where objects of the kind are, and what their names begin with (cluster-wide names must be the stage's own). */
  readonly place: (stage: Stage) => { readonly collection: string; readonly prefix: string };
  readonly content: (color: string) => JsonObject;
}

const kinds: readonly Kind[] = [
  {
    kind: 'ConfigMap',
    apiVersion: 'v1',
    place: (stage) => ({ collection: stage.path('configmaps'), prefix: '' }),
    content: (color) => ({ data: { color } }),
  },
  {
    kind: 'Secret',
    apiVersion: 'v1',
    place: (stage) => ({ collection: stage.path('secrets'), prefix: '' }),
    content: (color) => ({ data: { color: Buffer.from(color).toString('base64') } }),
  },
  {
    kind: 'Service',
    apiVersion: 'v1',
    place: (stage) => ({ collection: stage.path('services'), prefix: 'web-' }),
    content: (color) => ({ spec: { selector: { color }, ports: [{ name: 'http', port: 80, targetPort: 8080 }] } }),
  },
  {
    kind: 'ClusterRole',
    apiVersion: 'rbac.authorization.k8s.io/v1',
    place: ({ namespace }) => ({ collection: '/apis/rbac.authorization.k8s.io/v1/clusterroles', prefix: `${namespace}:` }),
    content: (color) => ({ rules: [{ apiGroups: [''], resources: ['configmaps'], resourceNames: [color], verbs: ['get'] }] }),
  },
];

interface Cell {
  readonly type: (typeof changeTypes)[number];
  readonly exists: boolean;
}

const cells: readonly Cell[] = changeTypes.flatMap((type) => [
  { type, exists: false },
  { type, exists: true },
]);

t.test('the engine runs each change type on absent and on existing objects', async (t) => {
  const stage = await startStage(t);
  for (const kind of everyNth(2, kinds))
    await t.test(kind.kind, async (t) => {
      t.jobs = cells.length;
      await Promise.all(cells.map((cell) => t.test(nameOf(cell), runCell(stage, kind, cell))));
    });
  t.same(await stage.leases(), [], 'no lock is left');
});

function nameOf({ type, exists }: Cell): string {
  return `${type} of one that is ${exists ? 'there' : 'not there'}`;
}

function runCell(stage: Stage, kind: Kind, { type, exists }: Cell): (t: Test) => Promise<void> {
  const { apiVersion, kind: kindName } = kind;
  const { collection, prefix } = kind.place(stage);
  const name = `${prefix}${type}-${exists}`.toLowerCase();
  const path = `${collection}/${name}`;
  const transaction = `${kindName}-${type}-${exists}`.toLowerCase();
  const content = type === 'Delete' ? undefined : kind.content('green');
  const show = (): ReturnType<typeof portraits> => portraits(stage.client, [path], type === 'Delete');
  return async (t) => {
    t.teardown(() => stage.client.delete(path));
    const object = { apiVersion, kind: kindName, metadata: { name }, ...kind.content('blue') };
    if (exists) must(await stage.client.create(collection, object));
    const before = await show();
    await stage.transaction(transaction, [change(type, name, content, { kind: kindName, apiVersion })]);
    const status = await stage.finished(transaction);
    if (type !== 'Apply' && (type === 'Create') === exists) return showRefused(t, status, { name, before, after: await show() });
    t.match(status, { phase: 'Committed', progress: '1/1' });
    showDone(t, await stage.client.get(path), content);
    await stage.annotate(transaction, { 'tx.janus.io/request-rollback': 'yes' });
    await stage.phase(transaction, 'RolledBack');
    t.same(await show(), before, 'undone, it is as before');
    await stage.finished(transaction);
  };
}

function showDone(t: Test, found: Answer, content: JsonObject | undefined): void {
  if (content === undefined) t.equal(found.code, 404, 'it is gone');
  else t.match(found.body, content);
}

interface Seen {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
}

function showRefused(t: Test, status: JsonObject, { name, before, after }: Seen): void {
  t.equal(textAt(status, 'phase'), 'Failed');
  t.equal(conditionOf(status, 'Succeeded'), 'False');
  const message = textAt(status, 'message') ?? '';
  t.match(message, /^nothing was applied: spec\.changes\[0\]/);
  t.ok(message.includes(name), 'the message names the object');
  t.notOk(at(status, 'rollbackRef'), 'nothing was stored');
  t.same(after, before, 'nothing was written');
}
