// What users ask of a Transaction by annotation: to stop and undo it while it runs, to undo it later, to try a failed undo again.
import t from 'tap';
import { at, isList, type JsonObject, textAt, withKey } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { partial } from '../../support/round-trip.ts';
import { conditionOf, type Stage, startStage } from '../../support/stage.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const green = { data: { color: 'green', size: 'large' } };
const undo = (value: string): Record<string, string> => ({ 'tx.janus.io/request-rollback': value });
const retry = (value: string): Record<string, string> => ({ 'tx.janus.io/retry-rollback': value });

interface Prepared {
  readonly names: readonly string[];
  readonly show: () => Promise<readonly unknown[]>;
}

async function setUp(stage: Stage, name: string): Promise<Prepared> {
  const names = ['a', 'b', 'c'].map((suffix) => `${name}-${suffix}`);
  const [patched = '', updated = '', created = ''] = names;
  await createConfigMaps(stage, [patched, updated]);
  await stage.transaction(name, [
    change('Patch', patched, green),
    change('Update', updated, green),
    change('Create', created, green),
  ]);
  return {
    names,
    show: () =>
      portraits(
        stage.client,
        names.map((one) => stage.path(`configmaps/${one}`)),
      ),
  };
}

t.test('the engine obeys requests', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client } = stage;

  for (const [phase, end] of [
    ['Pending', 'Failed'],
    ['Preparing', 'Failed'],
    ['Prepared', 'RolledBack'],
    ['Committing', 'RolledBack'],
  ] as const)
    await t.test(`a rollback requested in ${phase} ends as ${end}`, async (t) => {
      const { show } = await setUp(stage, `in-${phase}`.toLowerCase());
      const name = `in-${phase}`.toLowerCase();
      const before = await show();
      if (phase !== 'Pending') await stepUntil(stage, name, phase);
      await stage.annotate(name, undo('now'));
      const { status } = await stepToEnd(stage, name);
      t.match(status, { phase: end, handledAnnotations: undo('now') });
      t.equal(conditionOf(status, 'Succeeded'), 'False');
      t.same(await show(), before);
    });

  await t.test('the engine undoes a Committed Transaction on request, once', async (t) => {
    const { show } = await setUp(stage, 'committed');
    const before = await show();
    await stepToEnd(stage, 'committed');
    await stage.annotate('committed', undo('1'));
    t.match((await stepToEnd(stage, 'committed')).phase, /RollingBack|RolledBack|Committed/);
    const { status } = await stepUntil(stage, 'committed', 'RolledBack');
    t.match(status, { handledAnnotations: undo('1') });
    t.same(await show(), before);
    await stage.annotate('committed', undo('2'));
    t.match((await step(stage, 'committed')).status, { phase: 'RolledBack', message: status.message });
    t.match(ignoredIn(stage), /request-rollback="2" has no effect: everything is already rolled back/);
    const settled = await stepToEnd(stage, 'committed');
    t.equal((await step(stage, 'committed')).status.version, settled.status.version, 'it is at rest');
  });

  await t.test('an undo keeps edits of other writers', async (t) => {
    const { names } = await setUp(stage, 'edited');
    await stepToEnd(stage, 'edited');
    const [patched = '', updated = ''] = names.map((name) => stage.path(`configmaps/${name}`));
    for (const path of [patched, updated])
      must(await client.patch(path, { data: { theirs: 'yes' }, metadata: { labels: { theirs: 'yes' } } }));
    await stage.annotate('edited', undo('yes'));
    await stepUntil(stage, 'edited', 'RolledBack');
    for (const path of [patched, updated]) {
      const found = must(await client.get(path));
      t.same(found.data, { color: 'blue', applied: 'yes', theirs: 'yes' });
      t.match(found, { metadata: { labels: { team: 'shop', theirs: 'yes' } } });
      t.notMatch(managersOf(found), /janus/);
    }
    await stepToEnd(stage, 'edited');
  });

  await t.test('the engine retries a rollback conflict on request after a user has resolved it', async (t) => {
    const { names, show } = await setUp(stage, 'conflict');
    const before = await show();
    const [path = ''] = names.map((name) => stage.path(`configmaps/${name}`));
    await stepToEnd(stage, 'conflict');
    must(await client.patch(path, { data: { color: 'violet' } }, 'merge', { fieldManager: 'a-person' }));
    await stage.annotate('conflict', { ...undo('yes'), ...partial });
    await stepUntil(stage, 'conflict', 'Failed');
    const failed = await stepToEnd(stage, 'conflict');
    t.match(textAt(failed.status, 'message'), /ConfigMap \S+\/conflict-a was changed by others .*data.*color.*\(by a-person\)/);
    t.same((await show()).slice(1), before.slice(1), 'all others are undone');
    t.match(must(await client.get(path)), { data: { color: 'violet', size: 'large' } }, 'nothing of that object is written');
    for (const next of [await step(stage, 'conflict'), await step(stage, 'conflict')])
      t.same(next.status, failed.status, 'it is at rest');
    t.same(await stage.leases(), []);

    await stage.annotate('conflict', retry('too early'));
    await stepUntil(stage, 'conflict', 'RollingBack');
    t.match((await stepToEnd(stage, 'conflict')).status, { phase: 'Failed' }, 'nothing is resolved yet');

    must(await client.patch(path, { data: { color: 'blue' } }, 'merge', { fieldManager: 'a-person' }));
    await stage.annotate('conflict', retry('resolved'));
    const { status } = await stepUntil(stage, 'conflict', 'RolledBack');
    t.match(status, { handledAnnotations: { ...undo('yes'), ...retry('resolved') } });
    const [restored] = await show();
    t.same(withoutManagers(restored), withoutManagers(before[0]), 'its content is as before');
    t.notMatch(JSON.stringify(restored), /janus/, 'no trace of the engine is left');
    const { phase } = await stepToEnd(stage, 'conflict');
    t.equal(phase, 'RolledBack');
  });

  await t.test('a retry has no effect if no undo has failed', async (t) => {
    const { show } = await setUp(stage, 'fine');
    await stepToEnd(stage, 'fine');
    const before = await show();
    await stage.annotate('fine', retry('yes'));
    t.match((await step(stage, 'fine')).status, { phase: 'Committed', message: 'all 3 changes are applied' });
    t.match(ignoredIn(stage), /retry-rollback="yes" has no effect/);
    t.match((await stepToEnd(stage, 'fine')).status, { phase: 'Committed' });
    t.same(await show(), before);
  });
  t.same(await stage.leases(), []);
});

/** What the last call reports of a request that has no effect. */
function ignoredIn({ reports }: Stage): string {
  const events = reports.at(-1)?.events.filter(({ reason }) => reason === 'RequestIgnored') ?? [];
  return events.map(({ message }) => message).join(' ');
}

function managersOf(object: JsonObject): string {
  const entries = at(object, 'metadata', 'managedFields');
  return isList(entries) ? entries.map((entry) => textAt(entry, 'manager')).join(' ') : '';
}

function withoutManagers(shown: unknown): JsonObject {
  return withKey(shown as JsonObject, 'managedFields', undefined);
}
