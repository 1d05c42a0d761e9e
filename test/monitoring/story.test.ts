// The story that `kubectl describe tx` shows, on the real API server: in order, complete, once, without secrets.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { type } from '../support/kubectl.ts';
import { startStage } from '../support/stage.ts';
import { stepToEnd, stepUntil, storeStatus } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

const stage = await startStage(t, { withoutLoop: true });
const { client, namespace } = stage;
const canary = 'hunter2-canary';

/** The Events as they are listed, once the last of them is there; kubectl sorts them by time, and this list is stable. */
async function storyOf(name: string, end: string): Promise<readonly string[]> {
  const uid = textAt(await stage.read(name), 'metadata', 'uid') ?? '';
  const events = await waitFor(async () => {
    const { items } = await client.list(stage.path('events'), { fieldSelector: `involvedObject.uid=${uid}` });
    return items.some((event) => textAt(event, 'reason') === end) ? items : undefined;
  }, `the Event ${end} of ${name}`);
  const time = (event: JsonObject): string => textAt(event, 'lastTimestamp') ?? '';
  return events
    .toSorted((one, other) => time(one).localeCompare(time(other)))
    .map((event) => `${textAt(event, 'type')} ${textAt(event, 'reason')}: ${textAt(event, 'message')}`);
}

/** The Events as kubectl describes them. */
async function described(name: string): Promise<string> {
  const { output } = await type(`kubectl -n ${namespace} describe tx ${name}`, '.', { KUBECONFIG: stage.kubeconfig });
  return output.split('\nEvents:')[1] ?? output;
}

function agrees(shown: string, story: readonly string[]): boolean {
  const places = story.map((sentence) => shown.indexOf(sentence.slice(sentence.indexOf(': ') + 2)));
  return places.every((place, index) => place >= 0 && place > (places[index - 1] ?? -1));
}

t.test('committed, then undone on request', async (t) => {
  await createConfigMaps(stage, ['a', 'b']);
  must(await client.create(stage.path('secrets'), { metadata: { name: 'key' }, stringData: { password: 'old' } }));
  const secret = {
    type: 'Patch',
    target: { apiVersion: 'v1', kind: 'Secret', name: 'key' },
    content: { stringData: { password: canary } },
  };
  await stage.transaction('release', [change('Patch', 'a', { data: { color: 'red' } }), change('Delete', 'b'), secret]);
  await stepToEnd(stage, 'release');
  await stage.annotate('release', { 'tx.janus.io/request-rollback': '1' });
  await stepUntil(stage, 'release', 'RolledBack');
  const story = await storyOf('release', 'RolledBack');
  t.same(story, [
    'Normal LocksAcquired: acquired 3 locks',
    'Normal Prepared: 3 changes checked, their prior states are stored',
    'Normal ChangeApplied: change 1 of 3 (Patch ConfigMap a)',
    'Normal ChangeApplied: change 2 of 3 (Delete ConfigMap b)',
    'Normal ChangeApplied: change 3 of 3 (Patch Secret key)',
    'Normal Committed: all 3 changes are applied',
    'Normal RollbackStarted: rolling back 3 applied changes: a rollback was requested',
    'Normal ChangeRestored: undone: change 3 of 3 (Patch Secret key)',
    'Normal ChangeRestored: undone: change 2 of 3 (Delete ConfigMap b)',
    'Normal ChangeRestored: undone: change 1 of 3 (Patch ConfigMap a)',
    'Normal RolledBack: rolled back 3 changes: a rollback was requested',
  ]);
  t.notMatch(story.join('\n'), canary);
  const shown = await described('release');
  t.ok(agrees(shown, story), shown);
});

t.test('a change fails, an undo is in conflict', async (t) => {
  await createConfigMaps(stage, ['c', 'd']);
  await stage.transaction(
    'conflict',
    ['c', 'd'].map((name) => change('Patch', name, { data: { color: 'red' } })),
  );
  await stepUntil(stage, 'conflict', 'Committing');
  const theirs = (name: string, color: string): Promise<unknown> =>
    client.patch(stage.path(`configmaps/${name}`), { data: { color } }, 'merge', { fieldManager: 'their-tool' });
  await theirs('c', 'green');
  await theirs('d', 'green');
  await stepToEnd(stage, 'conflict');
  const story = await storyOf('conflict', 'Failed');
  const shape = story.map((sentence) => sentence.split(' ').slice(0, 2).join(' '));
  t.same(shape, [
    'Normal LocksAcquired:',
    'Normal Prepared:',
    'Normal ChangeApplied:',
    'Warning ChangeFailed:',
    'Warning RollbackStarted:',
    'Warning RollbackConflict:',
    'Warning Failed:',
  ]);
  t.match(story[3], /^Warning ChangeFailed: change 2 of 2 \(Patch ConfigMap d\): .*data\.color/);
  t.match(story[5], /^Warning RollbackConflict: change 1 of 2 \(Patch ConfigMap c\): .*their-tool/);
  t.match(story[6], /set tx\.janus\.io\/retry-rollback to try again; keep the Transaction until then/);
});

t.test('a waiting Transaction says so once, for any number of calls and replicas', async (t) => {
  await createConfigMaps(stage, ['e']);
  const change_ = change('Patch', 'e', { data: { color: 'red' } });
  await stage.transaction('holder', [change_]);
  await stepUntil(stage, 'holder', 'Preparing');
  await stage.transaction('waiter', [change_]);
  const [first] = [await stage.call('waiter'), await stage.call('waiter')];
  await storeStatus(stage, 'waiter', first.body);
  for (let time = 0; time < 3; time += 1) await stage.call('waiter');
  await stepToEnd(stage, 'holder');
  await stepToEnd(stage, 'waiter');
  const story = await storyOf('waiter', 'Committed');
  t.match(story, [
    /^Normal LockWaiting: waiting until \S+: ConfigMap \S+\/e is locked by Transaction \S+\/holder$/,
    /^Normal LocksAcquired: acquired 1 lock$/,
    /^Normal Prepared: /,
    /^Normal ChangeApplied: change 1 of 1 /,
    /^Normal Committed: the change is applied$/,
  ]);
  t.equal(story.length, 5);
});

t.test('the Events of many changes fit on a page', async (t) => {
  const names = Array.from({ length: 25 }, (_, index) => `many-${index + 1}`);
  const created = names.map((name) => ({
    type: 'Create',
    target: { apiVersion: 'v1', kind: 'ConfigMap', name },
    content: { data: { color: 'red' } },
  }));
  await stage.transaction('many', created);
  await stepUntil(stage, 'many', 'Committed');
  const story = await storyOf('many', 'Committed');
  t.equal(story.length, 12);
  t.equal(
    story[3],
    'Normal ChangeApplied: changes 4 to 6 of 25: Create ConfigMap many-4, Create ConfigMap many-5, Create ConfigMap many-6',
  );
  const { items } = await client.list(stage.path('events'), { fieldSelector: 'involvedObject.name=many' });
  t.ok(items.every((event) => at(event, 'count') === 1));
  t.ok(agrees(await described('many'), story));
});
