// Members of sets and keys of list items are values: of Secrets, and of objects in another namespace, no path in a message holds them.
// Each way to a conflict, at every position of every kind of list.
import t, { type Test } from 'tap';
import { at, isList, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { partial } from '../support/round-trip.ts';
import { stepToEnd, stepUntil } from '../support/stepping.ts';
import { change, type TargetParts } from '../support/targets.ts';
import { everything, findings, openWorld, type World } from './canaries.ts';
import { installHolders, type Position, positions, typeOf } from './lists.ts';

/** A value of its own in every position of the content. */
function contentFor(world: World, { content }: Position): JsonObject {
  const [value, more] = [world.fresh(), world.fresh()];
  // Long enough that no certificate holds it by chance: its base64 forms lose up to 8 characters.
  const number = 10 ** 14 + Math.floor(Math.random() * 9e14);
  world.values.push(String(number));
  return content(value, number, more);
}

function collection({ elsewhere }: World, { apiVersion, plural }: Position): string {
  return `${apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`}/namespaces/${elsewhere}/${plural}`;
}

function named(content: JsonObject, position: Position, name: string): JsonObject {
  return withPath({ ...typeOf(position), ...content }, ['metadata', 'name'], name);
}

async function make(world: World, position: Position, name: string): Promise<void> {
  const { client } = world.stage;
  must(
    await client.create(collection(world, position), named(contentFor(world, position), position, name), {
      fieldManager: 'a-person',
    }),
  );
}

/** A person puts other values into the same places. */
async function edit(world: World, position: Position, name: string): Promise<void> {
  const path = `${collection(world, position)}/${name}`;
  const { client } = world.stage;
  const content = contentFor(world, position);
  must(await client.patch(path, content, 'merge', { fieldManager: 'another-person' }));
}

function about({ elsewhere }: World, { apiVersion, kind }: Position): TargetParts {
  return { apiVersion, kind, namespace: elsewhere };
}

function errorsOf(status: JsonObject): readonly string[] {
  const items = at(status, 'items');
  return (isList(items) ? items : []).map((item) => textAt(item, 'error', 'message') ?? '');
}

/** That what was said leads to the position, so that its values would have been shown. */
function isTold(t: Test, message: string | undefined, { what, isWhole }: Position, conflict: RegExp): void {
  t.match(message, conflict, what);
  t.match(message, isWhole ? /\(by / : /\[…\]/, `${what}: the message names the path`);
}

// The engine refuses to set an owner that does not exist, and does not show its name.
function isAllowed(type: 'Create' | 'Update' | 'Delete'): (position: Position) => boolean {
  return ({ what }) => type === 'Delete' || !what.includes('owner');
}

async function refusedOwners(t: Test, world: World): Promise<void> {
  for (const [index, position] of positions.filter((one) => !isAllowed('Update')(one)).entries()) {
    const name = `owned-${index}`;
    await make(world, position, name);
    await world.stage.transaction(name, [change('Update', name, contentFor(world, position), about(world, position))]);
    const { status } = await stepToEnd(world.stage, name);
    t.match(status, { phase: 'Failed', message: /is given an object/ }, position.what);
  }
}

async function editedBefore(t: Test, world: World, type: 'Delete' | 'Update'): Promise<void> {
  for (const [index, position] of positions.filter(isAllowed(type)).entries()) {
    const name = `before-${type.toLowerCase()}-${index}`;
    await make(world, position, name);
    const content = type === 'Delete' ? undefined : contentFor(world, position);
    await world.stage.transaction(name, [change(type, name, content, about(world, position))]);
    await stepUntil(world.stage, name, 'Prepared');
    await edit(world, position, name);
    const { status } = await stepToEnd(world.stage, name);
    isTold(t, errorsOf(status)[0], position, /was changed by someone else/);
  }
}

async function undone(world: World, name: string): Promise<readonly string[]> {
  await world.stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes', ...partial });
  await stepUntil(world.stage, name, 'Failed');
  const { status } = await stepToEnd(world.stage, name);
  return errorsOf(status);
}

interface Subject {
  readonly position: Position;
  readonly own: string;
  /** What our change writes. */
  readonly content: JsonObject;
}

/** The causes of a conflict in the undo of each type: other content, taken-over content, another object under the name. */
const interventions: Readonly<Record<'Create' | 'Update' | 'Delete', (world: World, subject: Subject) => Promise<void>>> = {
  Create: (world, { position, own }) => edit(world, position, own),
  Update: async (world, { position, own, content }) => {
    const path = `${collection(world, position)}/${own}`;
    const options = { fieldManager: 'another-person', force: true };
    must(await world.stage.client.apply(path, named(content, position, own), options));
  },
  Delete: (world, { position, own }) => make(world, position, own),
};

async function editedAfter(t: Test, world: World, type: 'Create' | 'Update' | 'Delete'): Promise<void> {
  const name = `after-${type.toLowerCase()}`;
  // What finalizers keep would be waited for, and owners are no content of a recreated object.
  const fitting = positions.filter(isAllowed('Update')).filter(({ what }) => type === 'Update' || !what.includes('finalizer'));
  const subjects = fitting.map((position, index) => ({
    position,
    own: `${name}-${index}`,
    content: contentFor(world, position),
  }));
  if (type !== 'Create') for (const { position, own } of subjects) await make(world, position, own);
  const contentOf = ({ content }: Subject): JsonObject | undefined => (type === 'Delete' ? undefined : content);
  const changes = subjects.map((one) => change(type, one.own, contentOf(one), about(world, one.position)));
  await world.stage.transaction(name, changes);
  await stepToEnd(world.stage, name);
  for (const subject of subjects) await interventions[type](world, subject);
  const errors = await undone(world, name);
  for (const [index, { position }] of subjects.entries()) isTold(t, errors[index], position, /others|someone else/);
}

/** Refused by the schema, which names what it refuses by its path: a member that is there twice, a key that is there twice. */
async function refusedTwice(t: Test, world: World): Promise<void> {
  const value = world.fresh();
  const [position] = positions;
  if (position === undefined) return;
  const specs: readonly JsonObject[] = [
    { set: [value, value] },
    { one: [{ name: value }, { name: value }] },
    { map: { entry: { set: [value, value] } } },
    // Keys of the content are no values: its author wrote them.
    { set: [{ key: value }] },
    { scalar: [value] },
  ];
  for (const [index, spec] of specs.entries())
    for (const type of ['Create', 'Patch', 'Update']) {
      const name = `twice-${index}-${type.toLowerCase()}`;
      if (type !== 'Create') await make(world, position, name);
      await world.stage.transaction(name, [change(type, name, { spec }, about(world, position))]);
      const { status } = await stepToEnd(world.stage, name);
      t.match(status, { phase: 'Failed', message: /was refused by a dry run/ });
    }
}

t.test('no path holds a value of a sealed object', async (t) => {
  const world = await openWorld(t);
  await installHolders(world.stage.client);
  const { stage, log, answers } = world;
  for (const type of ['Delete', 'Update'] as const) await editedBefore(t, world, type);
  for (const type of ['Create', 'Update', 'Delete'] as const) await editedAfter(t, world, type);
  await refusedTwice(t, world);
  await refusedOwners(t, world);
  await waitFor(async () => (await stage.client.list(stage.path('events'))).items.length > 10, 'the Events');

  const places = new Map(await everything(stage.client));
  const own = [...places.keys()].filter((place) => place.includes(` ${world.elsewhere}/`));
  t.ok(findings(places, world.values, []).length >= 10, 'the search finds them where they belong');
  places.set('log', log.join(''));
  places.set('answers', answers.join('\n'));
  places.set('figures', await (await fetch(`${stage.hookUrl}/metrics`)).text());
  t.ok(log.length > 50 && answers.length > 50 && world.values.length > 200, `${world.values.length} values`);
  t.same(findings(places, world.values, own), [], 'and nowhere else');
});
