// More stories, whose snapshots give the adversary more to do.
import { createHash } from 'node:crypto';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { change } from '../../support/targets.ts';
import { canaryOf, type Names } from '../names.ts';
import { fromSources } from '../sources.ts';
import { askedBack, blue, commit4, contention, deleteMidCommit, failAt3, green, requestRollback, single } from '../stories.ts';
import { base64, type Given, type Story } from '../story.ts';

const labels = { team: 'shop' };

/** A Secret, and objects of another namespace: readers of the Transaction's namespace must learn nothing of them. */
function abroad({ a, b, c, d, elsewhere }: Names): readonly JsonObject[] {
  return [
    change('Patch', b, { data: green }),
    change('Patch', d, { data: { color: base64('green') } }, { kind: 'Secret' }),
    change('Create', a, { data: { made: 'yes' } }, { namespace: elsewhere }),
    change('Delete', c, undefined, { kind: 'Secret', namespace: elsewhere }),
  ];
}

function givenAbroad(names: Names): readonly Given[] {
  const { b, c, d, elsewhere } = names;
  const data = { color: base64('blue'), canary: base64(canaryOf(names)) };
  return [
    { object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: b, labels }, data: { color: 'blue' } } },
    { object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: d, labels }, data } },
    { object: { apiVersion: 'v1', kind: 'Secret', metadata: { name: c, namespace: elsewhere, labels }, data } },
  ];
}

/** A text of about that many characters that does not compress. */
function noise(seed: string, length: number): string {
  const blocks = Math.ceil(length / 43);
  return Array.from({ length: blocks }, (_, index) => createHash('sha256').update(`${seed} ${index}`).digest('base64url')).join(
    '',
  );
}

/** Objects so large that their entries fill two ConfigMaps. */
function givenLarge({ b, c, d }: Names): readonly Given[] {
  return [b, c, d].map((name) => ({
    object: {
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name, labels },
      data: { color: 'blue', noise: noise(name, 400_000) },
    },
  }));
}

function largeChanges({ b, c, d }: Names): readonly JsonObject[] {
  return [change('Update', b, { metadata: { labels }, data: green }), change('Patch', c, { data: green }), change('Delete', d)];
}

const large: Story = {
  id: 'two-parts',
  given: givenLarge,
  transactions: single(largeChanges),
  events: [askedBack],
  end: 'RolledBack',
};

/** A story in which nothing is sealed: only tags protect the snapshot. */
const inTheClear: Story = {
  ...commit4,
  id: 'in-the-clear',
  given: ({ b, c, d }) =>
    [b, c, d].map((name) => ({
      object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, labels }, data: { color: 'blue', applied: 'yes' } },
    })),
  transactions: single(({ a, b, c, d }) => [
    change('Create', a, { data: { made: 'yes' } }),
    change('Update', b, { metadata: { labels }, data: green }),
    change('Patch', c, { data: green }),
    change('Delete', d),
  ]),
};

const outOfSight: Story = {
  id: 'abroad',
  given: givenAbroad,
  transactions: single(abroad),
  events: [askedBack],
  end: 'RolledBack',
};

export const adversaryStories: readonly Story[] = [
  commit4,
  inTheClear,
  failAt3,
  requestRollback,
  deleteMidCommit,
  outOfSight,
  contention,
  large,
  fromSources,
];

/** The content of a target once its change is applied. */
export function appliedContent(story: Story, names: Names): ReadonlyMap<string, JsonObject | undefined> {
  if (story === outOfSight) {
    const secret = { data: { color: base64('green'), canary: base64(canaryOf(names)) } };
    return new Map<string, JsonObject | undefined>([
      [names.b, { data: { color: 'green', size: 'large' } }],
      [names.d, secret],
      [names.a, { data: { made: 'yes' } }],
      [names.c, undefined],
    ]);
  }
  if (story === large) {
    const data = { ...green, noise: noise(names.c, 400_000) };
    return new Map<string, JsonObject | undefined>([
      [names.b, { data: green }],
      [names.c, { data }],
      [names.d, undefined],
    ]);
  }
  return commit4.content?.(names) ?? new Map([[names.c, { data: { ...blue, ...green } }]]);
}
