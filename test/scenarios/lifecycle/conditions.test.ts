// The conditions of each phase, as they are stored in the cluster: Transactions are driven through every phase, and every status on
// the way must be a row of the table.
import t, { type Test } from 'tap';
import { at, isList, type JsonObject, textAt, withKey } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { kstatusOf } from '../../support/kstatus.ts';
import { partial } from '../../support/round-trip.ts';
import { type Stage, startStage, statusOf } from '../../support/stage.ts';
import { adopt, type Stepped, step } from '../../support/stepping.ts';
import { table } from '../../support/table.ts';
import { change, createConfigMaps } from '../../support/targets.ts';

// `*` means the reason why it is undone or has failed.
const rows = table<
  'state' | 'Finished' | 'Succeeded' | 'Prepared' | 'Committed' | 'RolledBack' | 'Ready' | 'Reconciling' | 'Stalled'
>(`
  state                     | Finished              | Succeeded          | Prepared            | Committed         | RolledBack        | Ready                 | Reconciling      | Stalled
  Pending                   | False Pending         | Unknown Pending    | False NoSnapshot    | False Pending     | False Pending     | False Pending         | True Pending     | False Pending
  Preparing                 | False Preparing       | Unknown Preparing  | False NoSnapshot    | False Preparing   | False Preparing   | False Preparing       | True Preparing   | False Preparing
  Prepared                  | False Prepared        | Unknown Prepared   | True SnapshotStored | False Prepared    | False Prepared    | False Prepared        | True Prepared    | False Prepared
  Committing                | False Committing      | Unknown Committing | True SnapshotStored | False Committing  | False Committing  | False Committing      | True Committing  | False Committing
  Committed, locks held     | False ReleasingLocks  | True Committed     | True SnapshotStored | True Committed    | False Committed   | False ReleasingLocks  | True Committed   | False Committed
  Committed                 | True Committed        | True Committed     | True SnapshotStored | True Committed    | False Committed   | True Committed        | False Committed  | False Committed
  Committed, to be undone   | False WaitingForLocks | True Committed     | True SnapshotStored | True Committed    | False Committed   | False WaitingForLocks | True Committed   | False Committed
  RollingBack               | False RollingBack     | False *            | True SnapshotStored | False RollingBack | False RollingBack | False RollingBack     | True RollingBack | False RollingBack
  RolledBack, locks held    | False ReleasingLocks  | False *            | True SnapshotStored | False RolledBack  | True RolledBack   | False RolledBack      | True RolledBack  | False RolledBack
  RolledBack                | True RolledBack       | False *            | True SnapshotStored | False RolledBack  | True RolledBack   | False RolledBack      | False RolledBack | True *
  Failed, locks held        | False ReleasingLocks  | False *            | True SnapshotStored | False Failed      | False Failed      | False Failed          | True Failed      | False Failed
  Failed                    | True Failed           | False *            | True SnapshotStored | False Failed      | False Failed      | False Failed          | False Failed     | True *
  Failed, to be tried again | False WaitingForLocks | False *            | True SnapshotStored | False Failed      | False Failed      | False Failed          | True Failed      | False Failed
  Failed early, locks held  | False ReleasingLocks  | False *            | False NoSnapshot    | False Failed      | False Failed      | False Failed          | True Failed      | False Failed
  Failed early              | True Failed           | False *            | False NoSnapshot    | False Failed      | False Failed      | False Failed          | False Failed     | True *
`);

const types = ['Finished', 'Succeeded', 'Prepared', 'Committed', 'RolledBack', 'Ready', 'Reconciling', 'Stalled'] as const;

const ends = ['Committed', 'RolledBack', 'Failed'];

/** What waits by kstatus goes on at the ends only, and takes only one of them for success. */
const kstatusBy: Readonly<Record<string, string>> = {
  Committed: 'Current',
  RolledBack: 'Failed',
  Failed: 'Failed',
  'Failed early': 'Failed',
};

function stateOf(status: JsonObject): string {
  const phase = textAt(status, 'phase') ?? '';
  if (!ends.includes(phase)) return phase;
  const isEarly = phase === 'Failed' && at(status, 'rollbackRef') === undefined;
  return `${phase}${isEarly ? ' early' : ''}${locksOf(status, phase)}`;
}

function locksOf(status: JsonObject, phase: string): string {
  const items = at(status, 'items');
  if (!isList(items) || items.every((item) => at(item, 'lockLease') === undefined)) return '';
  if (!(textAt(status, 'message') ?? '').startsWith('waiting ')) return ', locks held';
  return phase === 'Failed' ? ', to be tried again' : ', to be undone';
}

function conditionsOf(status: JsonObject): Readonly<Record<string, string>> {
  const conditions = at(status, 'conditions') as readonly JsonObject[];
  return Object.fromEntries(conditions.map((one) => [one.type, `${one.status} ${one.reason}`]));
}

t.test('the conditions of each phase are those of the table', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const seen = new Set<string>();
  const look = (transaction: JsonObject): void => {
    const status = statusOf(transaction);
    const state = stateOf(status);
    const row = rows.find((one) => one.state === state);
    seen.add(state);
    const found = conditionsOf(status);
    t.equal(kstatusOf(transaction), kstatusBy[state] ?? 'InProgress', `kstatus of ${state}`);
    for (const type of types) {
      const wanted = row?.[type] ?? '';
      const isRight = wanted.endsWith('*') ? found[type]?.startsWith(wanted.slice(0, -1)) : found[type] === wanted;
      t.ok(isRight, `${state}: ${type} is ${found[type]}, expected ${wanted}`);
    }
  };
  await driveThrough(t, stage, look);
  t.same(
    rows.map(({ state }) => state).filter((state) => !seen.has(state)),
    [],
    'every row was met',
  );
});

t.test('kstatus takes a Transaction that no call has seen for one in progress', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  await stage.transaction('untouched', [change('Create', 'new', { data: {} })]);
  const untouched = await stage.read('untouched');
  t.same(statusOf(untouched), { observedGeneration: -1 });
  t.equal(kstatusOf(untouched), 'InProgress');
  t.equal(kstatusOf(withKey(untouched, 'status', undefined)), 'Current', 'and without the default for ready');
  await adopt(stage, 'untouched');
  t.equal(kstatusOf(await stage.read('untouched')), 'InProgress', 'nor does a finalizer make it ready');
});

const most = 50;

/** Steps, and looks at each status, until it is that state. */
async function until(stage: Stage, name: string, state: string, look: (transaction: JsonObject) => void): Promise<void> {
  for (let count = 0; count < most; count += 1) {
    const { status }: Stepped = await step(stage, name);
    look(await stage.read(name));
    if (stateOf(status) === state) return;
  }
  throw new Error(`${name} was never ${state}`);
}

async function driveThrough(t: Test, stage: Stage, look: (transaction: JsonObject) => void): Promise<void> {
  const { client } = stage;
  const go = (name: string, state: string): Promise<void> => until(stage, name, state, look);
  const patch = (name: string, color: string): JsonObject => change('Patch', name, { data: { color } });
  const ask = (name: string, request: string, value = 'yes'): Promise<void> =>
    stage.annotate(name, { [`tx.janus.io/${request}`]: value });
  await createConfigMaps(stage, ['a', 'b', 'c']);

  await stage.transaction('holder', [patch('b', 'red')]);
  await go('holder', 'Preparing');
  await stage.transaction('main', [patch('a', 'green'), patch('b', 'green')]);
  await go('main', 'Pending');
  await stage.transaction('hasty', [patch('b', 'violet')], { spec: { lockWait: '0s' } });
  await go('hasty', 'Failed early');
  await ask('holder', 'request-rollback');
  await go('holder', 'Failed early');
  await go('main', 'Committed');

  await stage.transaction('between', [patch('b', 'green')]);
  await go('between', 'Preparing');
  await stage.annotate('main', partial);
  await ask('main', 'request-rollback');
  await go('main', 'Committed, to be undone');
  await ask('between', 'request-rollback');
  await go('between', 'Failed early');
  must(await client.patch(stage.path('configmaps/a'), { data: { color: 'black' } }));
  await go('main', 'Failed');

  await stage.transaction('again', [patch('b', 'green')]);
  await go('again', 'Preparing');
  await ask('main', 'retry-rollback');
  await go('main', 'Failed, to be tried again');
  await ask('again', 'request-rollback');
  await go('again', 'Failed early');
  must(await client.patch(stage.path('configmaps/a'), { data: { color: 'blue' } }));
  await go('main', 'RolledBack');
  t.same(await stage.leases(), []);
}
