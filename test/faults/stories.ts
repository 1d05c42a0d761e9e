// The basic stories: the changes, other events, and the expected end for any fault of the engine.
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Client, must } from '../support/client.ts';
import { change } from '../support/targets.ts';
import type { Names } from './names.ts';
import type { PortCall } from './port.ts';
import { type Story, type StoryEvent, threeObjects, transactionPath } from './story.ts';
import { widgets } from './widgets.ts';

export const green = { color: 'green', size: 'large' };
export const blue = { color: 'blue', applied: 'yes' };

export function fourChanges({ a, b, c, d }: Names): readonly JsonObject[] {
  return [
    change('Create', a, { data: { made: 'yes' } }),
    change('Update', b, { metadata: { labels: { team: 'shop' } }, data: green }),
    change('Patch', c, { data: green }),
    change('Delete', d, undefined, { kind: 'Secret' }),
  ];
}

export function single(changes: (names: Names) => readonly JsonObject[]): Story['transactions'] {
  return (names) => ({ [names.run]: changes(names) });
}

export const isFinished = (phase: string) => (status: JsonObject) =>
  textAt(status, 'phase') === phase && JSON.stringify(at(status, 'items')).includes('lockLease') === false;

/** Whether the progress is one of these: with two loops, a status may be replaced before the run has seen it. */
const hasDone =
  (...any: readonly string[]) =>
  (status: JsonObject): boolean =>
    any.includes(textAt(status, 'progress') ?? '');

const requested = { 'tx.janus.io/request-rollback': 'yes' };

/** A rollback is requested once the Transaction is Committed and finished. */
export const askedBack: StoryEvent = {
  when: isFinished('Committed'),
  act: ({ controller }, names) => askBack(controller, names),
};

export async function askBack(
  controller: Client,
  { run, namespace }: Names,
  choices: Readonly<Record<string, string>> = {},
): Promise<void> {
  const annotations = { ...requested, ...choices };
  must(await controller.patch(transactionPath(namespace, run), { metadata: { annotations } }));
}

export const commit4: Story = {
  id: 'commit4',
  transactions: single(fourChanges),
  events: [],
  end: 'Committed',
  content: ({ a, b, c, d }) =>
    new Map<string, JsonObject | undefined>([
      [a, { data: { made: 'yes' } }],
      [b, { data: green }],
      [c, { data: { ...blue, ...green } }],
      [d, undefined],
    ]),
};

/** A stranger creates an object under the name of a change that is about to be sent. */
export const nameTaken: StoryEvent = {
  before: ({ what }, { a }) => what === `send create ConfigMap ${a}`,
  act: async ({ stranger }, { a, namespace }) => {
    const path = `/api/v1/namespaces/${namespace}/configmaps`;
    must(await stranger.create(path, { metadata: { name: a }, data: { whose: 'theirs' } }, { fieldManager: 'stranger' }));
  },
};

export const failAt3: Story = {
  id: 'fail-at-3',
  transactions: single((names) => {
    const [create, update, patch, remove] = fourChanges(names) as [JsonObject, JsonObject, JsonObject, JsonObject];
    return [update, patch, create, remove];
  }),
  events: [{ ...nameTaken, when: hasDone('1/4', '2/4') }],
  end: 'RolledBack',
  content: ({ a }) => new Map([[a, { data: { whose: 'theirs' } }]]),
};

export const requestRollback: Story = {
  id: 'request-rollback',
  transactions: single(fourChanges),
  events: [askedBack],
  end: 'RolledBack',
};

// Two changes are made, and the third one is about to be sent.
function thirdChange({ what }: PortCall, { c }: Names): boolean {
  return what === `send apply ConfigMap ${c}`;
}

/** It is cancelled in the middle of its changes. */
export const cancelMidCommit: Story = {
  id: 'cancel-mid-commit',
  transactions: single(fourChanges),
  events: [{ before: thirdChange, act: ({ controller }, names) => askBack(controller, names) }],
  end: 'RolledBack',
};

export const deleteMidCommit: Story = {
  id: 'delete-mid-commit',
  transactions: single(fourChanges),
  annotations: { 'tx.janus.io/automatic-rollback': 'true' },
  events: [
    {
      when: hasDone('2/4', '3/4'),
      before: thirdChange,
      act: async ({ controller }, { run, namespace }) => must(await controller.delete(transactionPath(namespace, run))),
    },
  ],
  end: 'gone',
};

export const contention: Story = {
  id: 'contention',
  transactions: ({ run, rival, b, c }) => ({
    [run]: [change('Patch', b, { data: { last: 'run' } }), change('Patch', c, { data: { last: 'run' } })],
    [rival]: [change('Patch', c, { data: { last: 'rival' } }), change('Patch', b, { data: { last: 'rival' } })],
  }),
  events: [],
  end: 'Committed',
  isShared: true,
};

/** Two changes, for faults in pairs. */
export const commit2: Story = {
  id: 'commit2',
  transactions: single((names) => fourChanges(names).slice(0, 2)),
  events: [],
  end: 'Committed',
  content: ({ a, b }) =>
    new Map<string, JsonObject | undefined>([
      [a, { data: { made: 'yes' } }],
      [b, { data: green }],
    ]),
};

export const rollback2: Story = {
  id: 'rollback2',
  transactions: single((names) => fourChanges(names).slice(1, 3)),
  events: [askedBack],
  end: 'RolledBack',
};

export function asWidget(given: JsonObject): JsonObject {
  return { ...widgets.withStatus, metadata: at(given, 'metadata') ?? {}, spec: { color: 'blue' } };
}

/** The same three changes, of objects with a status subresource. */
export const commitWidgets: Story = {
  id: 'commit-widgets',
  given: (names) =>
    threeObjects(names).map(({ object }) => ({ object: asWidget(object), applied: { spec: { applied: 'yes' } } })),
  transactions: single(({ b, c, d }) => [
    change('Update', b, { metadata: { labels: { team: 'shop' } }, spec: green }, widgets.withStatus),
    change('Patch', c, { spec: green }, widgets.withStatus),
    change('Delete', d, undefined, widgets.withStatus),
  ]),
  events: [],
  end: 'Committed',
  content: ({ b, c, d }) =>
    new Map<string, JsonObject | undefined>([
      [b, { spec: green }],
      [c, { spec: { ...blue, ...green } }],
      [d, undefined],
    ]),
};

const { content: _committed, ...uncommitted } = commitWidgets;

export const rollbackWidgets: Story = { ...uncommitted, id: 'rollback-widgets', events: [askedBack], end: 'RolledBack' };
