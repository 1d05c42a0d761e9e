// A Transaction is deleted, in the background, in every phase. By default it stops there and leaves what is applied; with the
// annotation for it, a running one is undone first; one that is rolling back finishes that in any case. It never hangs, and
// no trace of the engine is left.
import t, { type Test } from 'tap';
import { at, isList, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { everyNth } from '../../support/selection.ts';
import { snapshotOf, snapshotParts } from '../../support/snapshots.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { adopt, step, stepToEnd, stepUntil, stepUntilGone } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

interface Cell {
  readonly phase: string;
  /** The annotation automatic-rollback. */
  readonly automatic: boolean;
}

/** How a Transaction gets into a phase, by hand; and what of it is there once it was deleted: how many of its changes. */
interface Way {
  readonly reach: (stage: Stage, name: string) => Promise<unknown>;
  readonly left: (automatic: boolean) => number;
}

const nothing = (): number => 0;

const ways: Readonly<Record<string, Way>> = {
  'no phase yet': { reach: adopt, left: nothing },
  Pending: { reach: waitForLock, left: nothing },
  Preparing: { reach: (stage, name) => stepUntil(stage, name, 'Preparing'), left: nothing },
  Prepared: { reach: (stage, name) => stepUntil(stage, name, 'Prepared'), left: nothing },
  Committing: { reach: reachSecond, left: (automatic) => (automatic ? 0 : 2) },
  Committed: { reach: (stage, name) => stepUntil(stage, name, 'Committed'), left: () => 4 },
  'Committed and at rest': { reach: stepToEnd, left: () => 4 },
  RollingBack: { reach: reachRollingBack, left: nothing },
  RolledBack: { reach: reachRolledBack, left: nothing },
  Failed: { reach: reachFailed, left: () => 1 },
};

const cells: readonly Cell[] = Object.keys(ways).flatMap((phase) => [
  { phase, automatic: false },
  { phase, automatic: true },
]);

const request = { 'tx.janus.io/request-rollback': 'yes' };

/** Another Transaction holds one of the locks. */
async function waitForLock(stage: Stage, name: string): Promise<void> {
  await stage.transaction(`${name}-holder`, [change('Patch', `${name}-a`, { data: { color: 'red' } })]);
  await stepUntil(stage, `${name}-holder`, 'Preparing');
  await stepUntil(stage, name, 'Pending');
}

async function reachSecond(stage: Stage, name: string): Promise<void> {
  await stepUntil(stage, name, 'Committing');
  await step(stage, name);
}

async function reachRollingBack(stage: Stage, name: string): Promise<void> {
  await reachSecond(stage, name);
  await stage.annotate(name, request);
  await stepUntil(stage, name, 'RollingBack');
}

async function reachRolledBack(stage: Stage, name: string): Promise<void> {
  await reachRollingBack(stage, name);
  await stepUntil(stage, name, 'RolledBack');
}

/** What somebody has changed since cannot be undone: the first change is left. */
async function reachFailed(stage: Stage, name: string): Promise<void> {
  await reachSecond(stage, name);
  must(await stage.client.patch(stage.path(`configmaps/${name}-a`), { data: { color: 'violet' } }));
  await stage.annotate(name, request);
  await stepUntil(stage, name, 'Failed');
}

t.test('a Transaction is deleted', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  t.jobs = 4;
  await Promise.all(
    everyNth(3, cells).map(({ phase, automatic }, index) => {
      const way = ways[phase] ?? { reach: stepToEnd, left: nothing };
      const title = `in ${phase}${automatic ? ', with automatic-rollback' : ''}`;
      return t.test(title, (t) => run(t, stage, { ...way, name: `deleted-${index}`, automatic }));
    }),
  );
});

interface Run extends Way {
  readonly name: string;
  readonly automatic: boolean;
}

async function run(t: Test, stage: Stage, { name, automatic, reach, left }: Run): Promise<void> {
  const { client } = stage;
  const names = ['a', 'b', 'c', 'd'].map((suffix) => `${name}-${suffix}`);
  const [patched = '', updated = '', deleted = '', created = ''] = names;
  await createConfigMaps(stage, [patched, updated, deleted]);
  const show = (): Promise<readonly unknown[]> =>
    portraits(
      client,
      names.map((name) => stage.path(`configmaps/${name}`)),
    );
  const before = await show();
  const green = { data: { color: 'green', size: 'large' } };
  const annotations: Record<string, string> = automatic ? { 'tx.janus.io/automatic-rollback': 'true' } : {};
  await stage.transaction(
    name,
    [
      change('Patch', patched, green),
      change('Update', updated, green),
      change('Delete', deleted),
      change('Create', created, green),
    ],
    { annotations },
  );
  await reach(stage, name);
  await remove(stage, name);
  const after = await show();
  const remaining = left(automatic);
  t.same(after.slice(remaining), before.slice(remaining), 'what was not applied, or was undone, is as before');
  t.equal(
    after.slice(0, remaining).filter((object, index) => isUntouched(object, before[index])).length,
    0,
    'the others are changed',
  );
  t.notMatch(
    managersOf(must(await client.get(stage.path(`configmaps/${patched}`)))),
    /janus/,
    'no field manager of the engine stays',
  );
  await showClean(t, stage, name);
}

async function remove(stage: Stage, name: string): Promise<void> {
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${name}`;
  must(await stage.client.delete(path, { propagationPolicy: 'Background' }));
  await stepUntilGone(stage, name);
}

function isUntouched(after: unknown, before: unknown): boolean {
  return JSON.stringify(after) === JSON.stringify(before);
}

function managersOf(object: JsonObject): string {
  const entries = at(object, 'metadata', 'managedFields');
  return isList(entries) ? entries.map((entry) => textAt(entry, 'manager')).join(' ') : '';
}

async function showClean(t: Test, stage: Stage, name: string): Promise<void> {
  const held = (await stage.leases()).filter((lease) => lease.includes(`-${name}-`));
  const others = await stage.client.get(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${name}-holder`);
  t.equal(held.length, others.code === 200 ? 1 : 0, 'no lock is left, but of who holds one');
  const gone = async (): Promise<boolean> => (await snapshotParts(stage, name)).length === 0;
  t.ok(await waitFor(gone, 'the snapshot to be collected'), 'the snapshot goes with the Transaction');
}

t.test('the snapshot outlives whatever removes it first', async (t) => {
  const green = { data: { color: 'green' } };
  const annotations = { 'tx.janus.io/automatic-rollback': 'true' };

  /** Stops a Transaction with one of two changes applied, has something deleted, and waits until that has reached the snapshot. */
  async function interrupt(stage: Stage, deleted: string, options: JsonObject): Promise<readonly unknown[]> {
    const paths = ['a', 'b'].map((name) => stage.path(`configmaps/${name}`));
    await createConfigMaps(stage, ['a', 'b']);
    const before = await portraits(stage.client, paths);
    await stage.transaction('protected', [change('Patch', 'a', green), change('Update', 'b', green)], { annotations });
    await stepUntil(stage, 'protected', 'Committing');
    must(await stage.client.delete(deleted, options));
    await waitFor(
      async () => at(await snapshotOf(stage, 'protected'), 'metadata', 'deletionTimestamp'),
      'the snapshot to be wanted gone',
    );
    return before;
  }

  await t.test('a user deletes a Transaction in the foreground, dependents first', async (t) => {
    const stage = await startStage(t, { withoutLoop: true });
    const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/protected`;
    const before = await interrupt(stage, path, { propagationPolicy: 'Foreground' });
    t.ok((await stepUntilGone(stage, 'protected')).gone);
    t.same(
      await portraits(
        stage.client,
        ['a', 'b'].map((name) => stage.path(`configmaps/${name}`)),
      ),
      before,
    );
    await showClean(t, stage, 'protected');
  });

  await t.test('a user deletes a Transaction with its whole namespace', async (t) => {
    const stage = await startStage(t, { withoutLoop: true });
    const namespace = `/api/v1/namespaces/${stage.namespace}`;
    await interrupt(stage, namespace, {});
    t.ok((await stepUntilGone(stage, 'protected')).gone, 'there is nothing to undo in it, and nothing waits for that');
    t.same(await stage.leases(), []);
    t.ok(
      await waitFor(async () => (await stage.client.get(namespace)).code === 404, 'the namespace to go', { timeoutMs: 120_000 }),
    );
  });
});

// `kubectl delete --cascade=orphan`: its snapshot is nothing that anybody wants to keep.
t.test('a Transaction that is deleted with its dependents orphaned leaves no snapshot', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await createConfigMaps(stage, ['a']);
  await stage.transaction('orphaning', [change('Patch', 'a', { data: { color: 'green' } })]);
  await stepUntil(stage, 'orphaning', 'Committed');
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/orphaning`;
  must(await stage.client.delete(path, { propagationPolicy: 'Orphan' }));
  await stepUntilGone(stage, 'orphaning');
  const gone = async (): Promise<boolean> => (await snapshotParts(stage, 'orphaning')).length === 0;
  await t.resolves(waitFor(gone, 'the snapshot to go'));
});
