// An undo writes twice: the content, then who owns it. The engine dies before and after each of its writes, and somebody else
// writes at that very point, by the death of the engine or between two writes of a living one. In the end the object is as if
// there had never been a Transaction: as its twin, which only the other writer has touched, managedFields included.
import t, { type Test } from 'tap';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { type Answer, must } from '../../support/client.ts';
import { dying, happening, untilDeathOrEnd, type WritePoint, writesOf } from '../../support/death.ts';
import { type Engines, openEngines } from '../../support/engine.ts';
import { comparable, type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

type Type = 'Update' | 'Patch' | 'Delete' | 'Apply';

/** What somebody writes; the path of the object is given. */
type Act = (stage: Stage, path: string) => Promise<Answer>;

const by = (fieldManager: string): { readonly fieldManager: string } => ({ fieldManager });

const acts: Readonly<Record<string, Act>> = {
  'another field': ({ client }, path) => client.patch(path, { data: { theirs: 'yes' } }, 'merge', by('their-tool')),
  'an annotation': ({ client }, path) =>
    client.patch(path, { metadata: { annotations: { seen: 'yes' } } }, 'merge', by('their-tool')),
  'another field of a former owner': ({ client }, path) =>
    client.patch(path, { data: { more: 'yes' } }, 'merge', by('kubectl-create')),
  'our field again': ({ client }, path) => client.patch(path, { data: { color: 'red' } }, 'merge', by('their-tool')),
};

/** Before the second write is after the first one. */
const points: readonly WritePoint[] = [
  { write: 1, side: 'before' },
  { write: 1, side: 'after' },
  { write: 2, side: 'after' },
];

interface Run {
  readonly stage: Stage;
  readonly engines: Engines;
  readonly type: Type;
  /** Whether another manager changes values of the change before the undo, and the undo overwrites them. */
  readonly isOverwritten: boolean;
  readonly point: WritePoint;
  readonly act: Act | undefined;
}

// As tools do it: a file applied by kubectl before there was server-side apply, and one key by a tool that has it.
async function create({ client, path }: Stage, name: string): Promise<void> {
  const object = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, labels: { team: 'shop' } },
    data: { color: 'blue', size: 'small' },
  };
  must(await client.create(path('configmaps'), object, { fieldManager: 'kubectl-create' }));
  must(
    await client.patch(path(`configmaps/${name}`), { data: { size: 'large' } }, 'merge', {
      fieldManager: 'kubectl-client-side-apply',
    }),
  );
  const applied = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { applied: 'yes' } };
  must(await client.apply(path(`configmaps/${name}`), applied, { fieldManager: 'gitops' }));
}

const content = { data: { color: 'green', applied: 'ours', extra: 'ours' } };

async function show({ client, path }: Stage, name: string): Promise<unknown> {
  const object = must(await client.get(path(`configmaps/${name}`)));
  const named = { ...object, metadata: { ...(object.metadata as JsonObject), name: 'either' } };
  return comparable(named, true);
}

/** Somebody's write to an object that may not be there right now; the twin is written only where the object was. */
async function writeBoth({ stage, act }: Run, name: string): Promise<void> {
  const written = await act?.(stage, stage.path(`configmaps/${name}`));
  if (written === undefined || written.code === 404) return;
  must(written);
  must((await act?.(stage, stage.path(`configmaps/${name}-twin`))) ?? written);
}

async function setUp({ stage, type, isOverwritten }: Run, name: string): Promise<void> {
  await create(stage, name);
  await create(stage, `${name}-twin`);
  // An Apply under the manager of another tool, whose own entry is restored.
  const spec = type === 'Apply' ? { fieldManager: 'gitops' } : {};
  await stage.transaction(name, [change(type, name, type === 'Delete' ? undefined : content)], { spec });
  await stepUntil(stage, name, 'Committed');
  await stepToEnd(stage, name);
  if (isOverwritten) {
    const edit = { data: { color: 'red', applied: 'edited' } };
    must(await stage.client.patch(stage.path(`configmaps/${name}`), edit, 'merge', by('kubectl-edit')));
  }
  const choice = isOverwritten ? { 'tx.janus.io/undo-overwrite': `ConfigMap/${name}` } : {};
  await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes', ...choice });
}

async function showAsTwin(t: Test, { stage }: Run, name: string): Promise<void> {
  const { phase, status } = await stepToEnd(stage, name);
  t.equal(phase, 'RolledBack', status.message as string);
  t.same(await show(stage, name), await show(stage, `${name}-twin`), 'as if there had been no Transaction');
}

async function dieAndGoOn(t: Test, run: Run, name: string): Promise<void> {
  await setUp(run, name);
  const mortal = run.engines.start({ wrap: dying(writesOf(name), run.point) });
  await untilDeathOrEnd(mortal, name);
  await writeBoth(run, name);
  await showAsTwin(t, { ...run, stage: run.engines.start() }, name);
}

async function writeInBetween(t: Test, run: Run, name: string): Promise<void> {
  await setUp(run, name);
  const disturbed = run.engines.start({ wrap: happening(writesOf(name), run.point, () => writeBoth(run, name)) });
  await showAsTwin(t, { ...run, stage: disturbed }, name);
}

/**
 * A writer that overwrites our value before our first write causes a conflict. If the status does not yet show a complete undo, some
 * writes after our last write look like earlier writes, or like a creation by another writer: they are conflicts too.
 */
function isPossible(what: string, { type, point }: Run): boolean {
  // Its annotation makes the map of annotations, which without it the other one would make, and own.
  if (type === 'Apply' && what === 'an annotation' && point.side === 'before') return false;
  if (what === 'our field again') return point.write === 1 && point.side === 'after';
  return type !== 'Delete' || point.write === 1 || what === 'an annotation';
}

type Case = readonly [name: string, body: (t: Test) => Promise<void>];

function casesOf(run: Run, name: string): readonly Case[] {
  const what = `${run.type}${run.isOverwritten ? ' that overwrites later values' : ''}`;
  const where = `${run.point.side} write ${run.point.write} of the undo of ${what}`;
  const possible = Object.entries(acts).filter(([what]) => isPossible(what, run));
  return [
    [`the engine dies ${where}`, (t) => dieAndGoOn(t, run, name)],
    ...possible.flatMap(([what, act], index): readonly Case[] => [
      [`the engine dies ${where}, somebody writes ${what}`, (t) => dieAndGoOn(t, { ...run, act }, `${name}-${index}-dead`)],
      [`somebody writes ${what} ${where}`, (t) => writeInBetween(t, { ...run, act }, `${name}-${index}`)],
    ]),
  ];
}

t.test('the undo goes on after a crash between two writes', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  const alone = (['Update', 'Patch', 'Delete', 'Apply'] as const).map((type) => ({ type, isOverwritten: false }));
  const cases = [...alone, { type: 'Apply', isOverwritten: true } as const].flatMap((undone) =>
    points.flatMap((point) => {
      const name = `${undone.isOverwritten ? 'overwritten' : undone.type}-${point.write}-${point.side}`;
      return casesOf({ ...{ stage, engines, point, act: undefined }, ...undone }, name.toLowerCase());
    }),
  );
  t.jobs = 4;
  await Promise.all(cases.map(([name, body]) => t.test(name, body)));
  t.same(await stage.leases(), []);
});
