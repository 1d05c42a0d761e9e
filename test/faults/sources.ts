// Stories whose contents come from a ConfigMap and a Secret.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { asJson, asYaml, contentFrom, holderOf, type Manifest } from '../support/stored-manifests.ts';
import { change } from '../support/targets.ts';
import type { Names } from './names.ts';
import { askBack, commit4, green, isFinished, single } from './stories.ts';
import { type Given, type Story, threeObjects } from './story.ts';
import type { World } from './world.ts';

/** The name of the ConfigMap and of the Secret. */
export function sourceOf({ run }: Pick<Names, 'run'>): string {
  return `${run}-source`;
}

interface Held {
  readonly created: Manifest;
  readonly updated: Manifest;
  readonly patched: Manifest;
}

const objects = {
  created: { data: { made: 'yes' } },
  updated: { metadata: { labels: { team: 'shop' } }, data: green },
  patched: { data: green },
} as const;

function heldIn(names: Pick<Names, 'run'>): Held {
  const name = sourceOf(names);
  return {
    created: { kind: 'ConfigMap', name, key: 'created.yaml.gz', bytes: asYaml(objects.created), gzip: true },
    updated: { kind: 'ConfigMap', name, key: 'updated.json', bytes: asJson(objects.updated) },
    patched: { kind: 'Secret', name, key: 'patched', bytes: asYaml(objects.patched) },
  };
}

function given(names: Names): readonly Given[] {
  const { created, updated, patched } = heldIn(names);
  return [...threeObjects(names), { object: { ...holderOf(created), ...holderOf(updated) } }, { object: holderOf(patched) }];
}

function changes(names: Names): readonly JsonObject[] {
  const { created, updated, patched } = heldIn(names);
  const { a, b, c, d } = names;
  return [
    { ...change('Create', a), contentFrom: contentFrom(created) },
    { ...change('Update', b), contentFrom: contentFrom(updated) },
    { ...change('Apply', c), contentFrom: contentFrom(patched, null) },
    change('Delete', d, undefined, { kind: 'Secret' }),
  ];
}

/** As `commit4`, in every object. */
export const fromSources: Story = {
  ...commit4,
  id: 'from-sources',
  given,
  transactions: single(changes),
  sourced: ({ a, b, c }) =>
    new Map<string, JsonObject>([
      [a, objects.created],
      [b, objects.updated],
      [c, objects.patched],
    ]),
};

async function removeSources({ stranger }: World, names: Names): Promise<void> {
  for (const plural of ['configmaps', 'secrets'])
    must(await stranger.delete(`/api/v1/namespaces/${names.namespace}/${plural}/${sourceOf(names)}`));
}

const { content: _committed, ...uncommitted } = fromSources;

/** Undone after the contents of the sources are lost. */
const undoneWithoutSources: Story = {
  ...uncommitted,
  id: 'undone-without-sources',
  events: [
    {
      when: isFinished('Committed'),
      act: async (world, names) => {
        await removeSources(world, names);
        await askBack(world.controller, names);
      },
    },
  ],
  end: 'RolledBack',
};

export const sourceStories: readonly Story[] = [fromSources, undoneWithoutSources];
