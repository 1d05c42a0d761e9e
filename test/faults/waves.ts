// A wave of five changes of one kind, which the engine sends side by side: all are made, one of them is refused, and all are undone.
import { type JsonObject, withKey } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { change } from '../support/targets.ts';
import type { Names } from './names.ts';
import { askedBack, blue, green, single } from './stories.ts';
import type { Story } from './story.ts';

function fiveInOneWave({ a, b, c }: Names): readonly JsonObject[] {
  const changes = [
    change('Update', b, { metadata: { labels: { team: 'shop' } }, data: green }),
    change('Patch', c, { data: green }),
    change('Create', a, { data: { made: 'yes' } }),
    change('Create', `${a}-4`, { data: { made: 'yes' } }),
    change('Apply', `${a}-5`, { data: { made: 'yes' } }),
  ];
  return changes.map((one) => withKey(one, 'wave', 0));
}

const made = { data: { made: 'yes' } };

const wave: Story = {
  id: 'wave',
  transactions: single(fiveInOneWave),
  events: [],
  end: 'Committed',
  content: ({ a, b, c }) =>
    new Map<string, JsonObject | undefined>([
      [a, made],
      [`${a}-4`, made],
      [`${a}-5`, made],
      [b, { data: green }],
      [c, { data: { ...blue, ...green } }],
    ]),
};

/** A stranger has the name of one change in the middle, and the others are in flight. */
const waveFails: Story = {
  id: 'wave-fails',
  transactions: single(fiveInOneWave),
  events: [
    {
      before: ({ what }, { a }) => what === `send create ConfigMap ${a}`,
      act: async ({ stranger }, { a, namespace }) => {
        const path = `/api/v1/namespaces/${namespace}/configmaps`;
        must(await stranger.create(path, { metadata: { name: a }, data: { whose: 'theirs' } }, { fieldManager: 'stranger' }));
      },
    },
  ],
  end: 'RolledBack',
  content: ({ a }) => new Map([[a, { data: { whose: 'theirs' } }]]),
};

const waveUndone: Story = { ...wave, id: 'wave-undone', events: [askedBack], end: 'RolledBack', content: () => new Map() };

export const waveStories: readonly Story[] = [wave, waveFails, waveUndone];
