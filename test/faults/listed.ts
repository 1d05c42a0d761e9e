// Scenarios that need no run of their own, or one without faults: size limits, and the faults found in an earlier implementation.
import type { JsonObject } from '../../hooks/model/json.ts';
import { faultsFoundElsewhere, missingTests } from '../faults-found-elsewhere.ts';
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

/** They are shown by tests of their own; here it is seen that those are there. */
export const elsewhereCases: readonly Case[] = faultsFoundElsewhere.map((fault) => ({
  id: `S23:${fault.fault.split(':')[0]}`,
  attempt: async () => ({ violations: missingTests(fault).map((test) => `there is no test ${test}`) }),
}));
