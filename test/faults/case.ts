// One thing to try, and what it belongs to.
import type { Evidence } from './evidence.ts';
import { violations } from './invariants.ts';
import type { PortCall } from './port.ts';
import type { Run, RunOptions } from './run.ts';
import type { Story } from './story.ts';

/** What a run without faults came to. */
export interface Calm {
  readonly calls: readonly PortCall[];
  readonly hookCalls: number;
}

export interface Case {
  readonly id: string;
  readonly story: Story;
  readonly options: RunOptions | ((run: () => Run) => RunOptions);
  readonly judge?: (evidence: Evidence) => readonly string[];
}

export interface Scenario {
  readonly id: string;
  readonly what: string;
  readonly stories: readonly Story[];
  readonly casesOf: (story: Story, calm: Calm) => readonly Case[];
}

export function caseOf(id: readonly (string | number)[], story: Story, options: Case['options'], judge = violations): Case {
  return { id: id.join(':'), story, options, judge };
}
