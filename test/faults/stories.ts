// The base runs: what is changed, what happens besides, and how it must end whatever goes wrong with the engine.
import { at, type JsonObject, textAt } from '../../hooks/model/json.ts';
import { must } from '../support/client.ts';
import { change } from '../support/targets.ts';
import type { Names } from './names.ts';
import type { World } from './world.ts';

export interface StoryEvent {
  /** When it happens: the first time that a status is stored for which this holds. */
  readonly when: (status: JsonObject) => boolean;
  readonly act: (world: World, names: Names) => Promise<unknown>;
}

export type EndPhase = 'Committed' | 'RolledBack' | 'gone';

export interface Story {
  readonly id: string;
  /** The changes of each of its Transactions, by its name. */
  readonly transactions: (names: Names) => Readonly<Record<string, readonly JsonObject[]>>;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly events: readonly StoryEvent[];
  readonly end: EndPhase;
  /** `data` of the targets at the end, undefined for one that is not there; left out: as before. */
  readonly data?: (names: Names) => ReadonlyMap<string, JsonObject | undefined>;
}

const green = { color: 'green', size: 'large' };
const blue = { color: 'blue', applied: 'yes' };

function fourChanges({ a, b, c, d }: Names): readonly JsonObject[] {
  return [
    change('Create', a, { data: { made: 'yes' } }),
    change('Update', b, { metadata: { labels: { team: 'shop' } }, data: green }),
    change('Patch', c, { data: green }),
    change('Delete', d),
  ];
}

function single(changes: (names: Names) => readonly JsonObject[]): Story['transactions'] {
  return (names) => ({ [names.run]: changes(names) });
}

const isFinished = (phase: string) => (status: JsonObject) =>
  textAt(status, 'phase') === phase && JSON.stringify(at(status, 'items')).includes('lockLease') === false;

const requested = { 'tx.janus.io/request-rollback': 'yes' };

export const commit4: Story = {
  id: 'commit4',
  transactions: single(fourChanges),
  events: [],
  end: 'Committed',
  data: ({ a, b, c, d }) =>
    new Map<string, JsonObject | undefined>([
      [a, { made: 'yes' }],
      [b, green],
      [c, { ...blue, ...green }],
      [d, undefined],
    ]),
};

export const failAt3: Story = {
  id: 'fail-at-3',
  transactions: single((names) => {
    const [create, update, patch, remove] = fourChanges(names) as [JsonObject, JsonObject, JsonObject, JsonObject];
    return [update, patch, create, remove];
  }),
  events: [
    {
      when: (status) => textAt(status, 'progress') === '1/4',
      act: async ({ stranger, namespace }, { a }) => {
        const path = `/api/v1/namespaces/${namespace}/configmaps`;
        must(await stranger.create(path, { metadata: { name: a }, data: { whose: 'theirs' } }, { fieldManager: 'stranger' }));
      },
    },
  ],
  end: 'RolledBack',
  data: ({ a }) => new Map([[a, { whose: 'theirs' }]]),
};

export const requestRollback: Story = {
  id: 'request-rollback',
  transactions: single(fourChanges),
  events: [
    {
      when: isFinished('Committed'),
      act: async ({ controller, namespace }, { run }) =>
        must(await controller.patch(transactionPath(namespace, run), { metadata: { annotations: requested } })),
    },
  ],
  end: 'RolledBack',
};

export const deleteMidCommit: Story = {
  id: 'delete-mid-commit',
  transactions: single(fourChanges),
  annotations: { 'tx.janus.io/automatic-rollback': 'true' },
  events: [
    {
      when: (status) => textAt(status, 'progress') === '2/4',
      act: async ({ controller, namespace }, { run }) => must(await controller.delete(transactionPath(namespace, run))),
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
};

/** Two changes, for faults in pairs. */
export const commit2: Story = {
  id: 'commit2',
  transactions: single((names) => fourChanges(names).slice(0, 2)),
  events: [],
  end: 'Committed',
  data: ({ a, b }) =>
    new Map<string, JsonObject | undefined>([
      [a, { made: 'yes' }],
      [b, green],
    ]),
};

export const rollback2: Story = {
  id: 'rollback2',
  transactions: single((names) => fourChanges(names).slice(1, 3)),
  events: requestRollback.events,
  end: 'RolledBack',
};

export const stories: readonly Story[] = [commit4, failAt3, requestRollback, deleteMidCommit, contention, commit2, rollback2];

export function transactionPath(namespace: string, name: string): string {
  return `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`;
}
