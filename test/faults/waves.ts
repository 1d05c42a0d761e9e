// A wave of five changes of one kind, which the engine sends side by side: all are made, one of them is refused, and all are undone.
import { type JsonObject, withKey } from '../../hooks/objects/json.ts';
import { change } from '../support/targets.ts';
import type { Names } from './names.ts';
import { askedBack, blue, green, nameTaken, single } from './stories.ts';
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
  events: [nameTaken],
  end: 'RolledBack',
  content: ({ a }) => new Map([[a, { data: { whose: 'theirs' } }]]),
};

const waveUndone: Story = { ...wave, id: 'wave-undone', events: [askedBack], end: 'RolledBack', content: () => new Map() };

export const waveStories: readonly Story[] = [wave, waveFails, waveUndone];
