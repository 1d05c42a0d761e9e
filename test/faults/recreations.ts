// Stories with changes that recreate their objects: an immutable ConfigMap, and a Secret whose type may not change.
import { at, type JsonObject } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { change, recreating } from '../support/targets.ts';
import { canaryOf, type Names } from './names.ts';
import { askedBack, green, single } from './stories.ts';
import { base64, type Given, type Story } from './story.ts';

const secret = { apiVersion: 'v1', kind: 'Secret' };

function given(names: Names): readonly Given[] {
  const { b, d } = names;
  const labels = { team: 'shop' };
  const fixed = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: b, labels }, immutable: true, data: { color: 'blue' } };
  const data = { color: base64('blue'), canary: base64(canaryOf(names)) };
  const typed = { ...secret, metadata: { name: d, labels }, type: 'example.org/one', data };
  return [{ object: fixed }, { object: typed, applied: { data: { applied: base64('yes') } } }];
}

const typedAnew: JsonObject = { type: 'example.org/two', data: { color: base64('green') } };

function changes({ a, b, d }: Names): readonly JsonObject[] {
  return [
    recreating(b, { metadata: { labels: { team: 'shop' } }, immutable: true, data: green }),
    change('Create', a, { data: { made: 'yes' } }),
    recreating(d, typedAnew, secret),
  ];
}

const both = { given, transactions: single(changes) };

export const recreateCommit: Story = {
  ...both,
  id: 'recreate-commit',
  events: [],
  end: 'Committed',
  content: ({ a, b, d }) =>
    new Map<string, JsonObject | undefined>([
      [a, { data: { made: 'yes' } }],
      [b, { immutable: true, data: green }],
      [d, typedAnew],
    ]),
};

export const recreateRollback: Story = { ...both, id: 'recreate-rollback', events: [askedBack], end: 'RolledBack' };

/** Who takes a name between the halves keeps it: all else is undone, and the former object is left out. */
const recreateTaken: Story = {
  ...both,
  id: 'recreate-taken',
  events: [
    {
      when: (status) => JSON.stringify(at(status, 'items')).includes('"deleted":true'),
      act: async ({ stranger }, { b, namespace }) => {
        const path = `/api/v1/namespaces/${namespace}/configmaps`;
        must(await stranger.create(path, { metadata: { name: b }, data: { whose: 'theirs' } }, { fieldManager: 'stranger' }));
      },
    },
  ],
  end: 'Failed',
  content: ({ b }) => new Map([[b, { data: { whose: 'theirs' } }]]),
};

export const recreations: readonly Story[] = [recreateCommit, recreateRollback, recreateTaken];
