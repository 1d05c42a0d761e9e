// A window of a hundred changes: the process dies at each of its requests; then the Transaction goes on, or was cancelled in the
// middle.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { change } from '../support/targets.ts';
import type { Calm, Case } from './case.ts';
import { deathAtEach } from './crashes.ts';
import type { Names } from './names.ts';
import { askBack, single } from './stories.ts';
import type { Given, Story } from './story.ts';

const count = 100;
const types = ['Patch', 'Create', 'Update', 'Patch'] as const;
const green = { data: { color: 'green' } };

function targets({ run }: Names): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${run}-w${index}`);
}

function typeOf(index: number): (typeof types)[number] {
  return types[index % types.length] ?? 'Patch';
}

function given(names: Names): readonly Given[] {
  return targets(names)
    .filter((_, index) => typeOf(index) !== 'Create')
    .map((name) => ({ object: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data: { color: 'blue' } } }));
}

const hundredOf: Pick<Story, 'transactions' | 'given' | 'mostCalls'> = {
  transactions: single((names) => targets(names).map((name, index) => change(typeOf(index), name, green))),
  given,
  mostCalls: 400,
};

export const hundred: Story = {
  ...hundredOf,
  id: 'hundred',
  events: [],
  end: 'Committed',
  content: (names) => new Map<string, JsonObject>(targets(names).map((name) => [name, green])),
};

export const hundredCancelled: Story = {
  ...hundredOf,
  id: 'hundred-cancelled',
  events: [
    {
      before: ({ what }, { run }) => what.startsWith('send ') && what.endsWith(` ${run}-w${count / 2}`),
      act: ({ controller }, names) => askBack(controller, names),
    },
  ],
  end: 'RolledBack',
};

/** A death at each request of the windows: from the first write of a target to the last, that of an undo included. */
export function deathsInWindows(id: string, story: Story, { calls, hookCalls }: Calm): readonly Case[] {
  const isOfTarget = ({ what }: Calm['calls'][number]): boolean => /^send .*-w\d+$/.test(what);
  const window = calls.slice(calls.findIndex(isOfTarget), calls.findLastIndex(isOfTarget) + 1);
  return deathAtEach(id, story, { calls: window, hookCalls });
}
