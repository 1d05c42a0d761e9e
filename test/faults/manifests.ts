// Stories of plain manifests: an Apply creates one object and patches two, one of which another release of this field manager
// has written before.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import type { Names } from './names.ts';
import { askedBack, blue, green, single } from './stories.ts';
import type { Story } from './story.ts';

const manifest = (name: string, data: JsonObject): JsonObject => ({
  type: 'Apply',
  content: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, creationTimestamp: null }, data },
});

function release({ a, b, c }: Names): readonly JsonObject[] {
  // The key `applied`, which the manager has set in b and c, is no longer named.
  return [manifest(b, green), manifest(a, { made: 'yes' }), manifest(c, { color: 'blue', size: 'large' })];
}

/** The manager under which the objects were applied before. */
const shared = { fieldManager: 'gitops' };

export const applied: Story = {
  id: 'applied',
  transactions: single(release),
  spec: shared,
  events: [],
  end: 'Committed',
  content: ({ a, b, c }) =>
    new Map<string, JsonObject>([
      [a, { data: { made: 'yes' } }],
      [b, { data: green }],
      [c, { data: { color: 'blue', size: 'large' } }],
    ]),
};

export const appliedAndUndone: Story = {
  id: 'applied-and-undone',
  transactions: single(release),
  spec: shared,
  events: [askedBack],
  end: 'RolledBack',
};

/** Under the manager of the Transaction itself. */
const appliedAlone: Story = { id: 'applied-alone', transactions: single(release), events: [askedBack], end: 'RolledBack' };

/** Another client creates the object just before the creating Apply, under this manager. */
const createdBefore: Story = {
  id: 'created-before',
  transactions: single(release),
  spec: shared,
  events: [
    {
      before: ({ what }, { a }) => what === `send apply ConfigMap ${a}`,
      act: async ({ stranger }, { a, namespace }) => {
        const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: a }, data: { whose: 'theirs' } };
        must(await stranger.apply(`/api/v1/namespaces/${namespace}/configmaps/${a}`, object, { fieldManager: 'gitops' }));
      },
    },
  ],
  end: 'RolledBack',
  content: ({ a, b, c }) =>
    new Map([
      [a, { data: { whose: 'theirs' } }],
      [b, { data: blue }],
      [c, { data: blue }],
    ]),
};

export const manifestStories: readonly Story[] = [applied, appliedAndUndone, appliedAlone, createdBefore];
