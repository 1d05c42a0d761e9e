// Scenarios without faults: the limits of size.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { change } from '../support/targets.ts';
import { type Case, caseOf } from './case.ts';
import { askedBack, single } from './stories.ts';
import type { Story } from './story.ts';

function many(count: number, rest: Pick<Story, 'end' | 'events'>): Story {
  const changes = (run: string): readonly JsonObject[] =>
    Array.from({ length: count }, (_, index) => change('Create', `${run}-many-${index}`, { data: { number: `${index}` } }));
  return { id: `${count}-changes`, given: () => [], transactions: single(({ run }) => changes(run)), ...rest };
}

export const limitCases: readonly Case[] = [
  caseOf(['S24', '500-changes', 'committed-and-undone'], many(500, { events: [askedBack], end: 'RolledBack' }), {}),
];
