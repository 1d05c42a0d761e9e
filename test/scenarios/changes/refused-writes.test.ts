// A change of five fails when it is written, after its dry run had passed: for each position and each type of the failing
// change everything is as before, managedFields included. An admission policy refuses the write and lets the dry run pass.
import t, { type Test } from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { refuseWritesOf } from '../../support/refusal.ts';
import { everyNth } from '../../support/selection.ts';
import { conditionOf, type Stage, startStage } from '../../support/stage.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const types = ['Create', 'Update', 'Patch', 'Delete'] as const;
const positions = [0, 1, 2, 3, 4];

t.test('the engine rolls back after a failure of each change type at each position', async (t) => {
  const stage = await startStage(t);
  await refuseWritesOf(stage, 'refused-', t);
  t.jobs = 5;
  await Promise.all(
    types.flatMap((type) =>
      everyNth(2, positions).map((position) => t.test(`${type} fails as number ${position}`, run(stage, type, position))),
    ),
  );
  t.same(await stage.leases(), [], 'no lock is left');
});

interface Planned {
  readonly type: string;
  readonly name: string;
}

/** The others are of all types too, so that each type is undone in front of each failure. */
function plannedChanges(failing: string, position: number): readonly Planned[] {
  return positions.map((index) => {
    const type = types[(index + position) % types.length] ?? 'Patch';
    const suffix = `${failing}-${position}-${index}`.toLowerCase();
    return index === position ? { type: failing, name: `refused-${suffix}` } : { type, name: `fine-${suffix}` };
  });
}

function run(stage: Stage, failing: string, position: number): (t: Test) => Promise<void> {
  return async (t) => {
    const planned = plannedChanges(failing, position);
    const existing = planned.filter(({ type }) => type !== 'Create').map(({ name }) => name);
    await createConfigMaps(stage, existing);
    const show = (): Promise<readonly unknown[]> => Promise.all(planned.map((one) => portrait(stage, one, position)));
    const before = await show();
    const name = `${failing}-${position}`.toLowerCase();
    await stage.transaction(
      name,
      planned.map(({ type, name }) => change(type, name, type === 'Delete' ? undefined : { data: { color: 'green' } })),
    );
    const status = await stage.finished(name);
    t.equal(textAt(status, 'phase'), 'RolledBack');
    t.same(await show(), before, 'every object is as before');
    showTold(t, status, { failing, position, target: planned[position]?.name ?? '' });
  };
}

// The object whose change was refused was never touched, so even its identity is as before.
async function portrait(stage: Stage, { type, name }: Planned, position: number): Promise<unknown> {
  const isNew = type === 'Delete' && !name.startsWith('refused-') && Number(name.at(-1)) < position;
  const [found] = await portraits(stage.client, [stage.path(`configmaps/${name}`)], isNew);
  return found;
}

interface Told {
  readonly failing: string;
  readonly position: number;
  readonly target: string;
}

function showTold(t: Test, status: JsonObject, { failing, position, target }: Told): void {
  t.equal(conditionOf(status, 'Succeeded'), 'False');
  const message = textAt(status, 'message') ?? '';
  t.ok(message.includes(`${failing} of ConfigMap`) && message.includes(target), `the message names the change: ${message}`);
  const items = at(status, 'items') as readonly JsonObject[];
  const undone = items.filter((item) => at(item, 'rolledBack') === true && at(item, 'committed') === true).length;
  t.equal(undone, position, 'what came before it was applied, and taken back');
  t.ok(at(items[position], 'error'), 'the failed change carries the error');
}
