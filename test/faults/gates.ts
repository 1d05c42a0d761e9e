// Stories with gates: of a change before the next one, and at the end. A stand-in for the controller of the objects writes their status,
// after the stored status says that the engine found them not ready.
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Client, must } from '../support/client.ts';
import { change } from '../support/targets.ts';
import type { Names } from './names.ts';
import { placeOf } from './places.ts';
import { askBack, asWidget, blue, green, single } from './stories.ts';
import { type Given, type Story, type StoryEvent, threeObjects } from './story.ts';
import { widgets } from './widgets.ts';

const isReady = { condition: { type: 'Ready' } };
const isBroken = { condition: { type: 'Ready', status: 'False' } };
/** Longer than any fault: no process is frozen for so long. */
const patient = { ready: isReady, timeout: '2h' };

type Which = 'a' | 'c';

/** The controller of widgets has seen the spec that is stored, and says whether its object is ready. */
async function report(client: Client, { namespace }: Names, name: string, status: 'True' | 'False'): Promise<void> {
  const { path } = placeOf({ ...widgets.withStatus, metadata: { name } }, namespace);
  const live = must(await client.get(path));
  const conditions = [{ type: 'Ready', status, reason: 'Reported', message: 'as the story goes' }];
  const observedGeneration = at(live, 'metadata', 'generation') ?? 0;
  must(
    await client.patch(`${path}/status`, { status: { observedGeneration, conditions } }, 'merge', { fieldManager: 'widgets' }),
  );
}

/** The words of the last look at the gate of that change, as they are stored. */
function found(status: JsonObject, index: number): string {
  const items = at(status, 'items') as readonly JsonObject[] | undefined;
  return textAt(items?.[index], 'gate', 'found') ?? '';
}

function says(which: Which, status: 'True' | 'False', when: (status: JsonObject) => boolean): StoryEvent {
  return { when, act: ({ stranger }, names) => report(stranger, names, names[which], status) };
}

/** `c` has been ready before: what its status says must not be taken for the new state. */
function given(names: Names): readonly Given[] {
  return threeObjects(names).map(({ object }) => ({
    object: asWidget(object),
    applied: { spec: { applied: 'yes' } },
    since: (client) => report(client, names, textAt(object, 'metadata', 'name') ?? '', 'True'),
  }));
}

/** `a` before the others, `c` at the end; with these gates. */
function changes({ a, b, c, d }: Names, first: JsonObject, last: JsonObject): readonly JsonObject[] {
  return [
    { ...change('Create', a, { spec: green }, widgets.withStatus), gate: first },
    change('Update', b, { metadata: { labels: { team: 'shop' } }, spec: green }, widgets.withStatus),
    { ...change('Patch', c, { spec: green }, widgets.withStatus), gate: { at: 'AtEnd', ...last } },
    change('Delete', d, undefined, widgets.withStatus),
  ];
}

/** It is not ready at first, and then it is. */
const comesUp: readonly StoryEvent[] = [
  says('a', 'False', (status) => found(status, 0) !== ''),
  says('a', 'True', (status) => found(status, 0).includes('is False')),
];

/** The gates of the end are open, and the engine has read their objects. */
const atEnd = (status: JsonObject): boolean => found(status, 2) !== '';

const gated = { given, transactions: single((names) => changes(names, patient, patient)), spec: { timeout: '2h' } };

export const gatedCommit: Story = {
  ...gated,
  id: 'gated-commit',
  events: [...comesUp, says('c', 'True', atEnd)],
  end: 'Committed',
  content: ({ a, b, c, d }) =>
    new Map<string, JsonObject | undefined>([
      [a, { spec: green }],
      [b, { spec: green }],
      [c, { spec: { ...blue, ...green } }],
      [d, undefined],
    ]),
};

/** All is applied, and the object of the gate at the end is broken. */
export const gateFails: Story = {
  ...gated,
  id: 'gate-fails',
  transactions: single((names) => changes(names, patient, { ...patient, failed: isBroken })),
  events: [...comesUp, says('c', 'False', atEnd)],
  end: 'RolledBack',
};

/** The first change never comes up. */
const gateLate: Story = {
  ...gated,
  id: 'gate-late',
  transactions: single((names) => changes(names, { ready: isReady, timeout: '3s' }, patient)),
  events: [],
  end: 'RolledBack',
};

/** Its undo is requested while the first gate is open. */
const gateCancelled: Story = {
  ...gated,
  id: 'gate-cancelled',
  events: [{ when: (status) => found(status, 0) !== '', act: ({ controller }, names) => askBack(controller, names) }],
  end: 'RolledBack',
};

export const gateStories: readonly Story[] = [gatedCommit, gateFails, gateLate, gateCancelled];
