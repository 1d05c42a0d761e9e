// One case, and the group that it belongs to.
import { attempt } from './attempt.ts';
import type { Evidence } from './evidence.ts';
import { violations } from './invariants.ts';
import type { PortCall } from './port.ts';
import type { Run, RunOptions } from './run.ts';
import type { Story } from './story.ts';
import type { World } from './world.ts';

/** The result of a run without faults. */
export interface Calm {
  readonly calls: readonly PortCall[];
  readonly hookCalls: number;
}

export interface Outcome {
  readonly violations: readonly string[];
  /** Absent if the case has no run. */
  readonly evidence?: Evidence;
}

export interface Case {
  /** `S02:commit4:17:after`; the part between the first two colons is the story, or another group of cases. */
  readonly id: string;
  readonly attempt: (world: World) => Promise<Outcome>;
}

interface Titled {
  readonly id: string;
  readonly what: string;
}

/** Faults at every call of some stories, once the number of calls is known. */
export interface CountedScenario extends Titled {
  readonly stories: readonly Story[];
  readonly casesOf: (story: Story, calm: Calm) => readonly Case[];
}

interface ListedScenario extends Titled {
  readonly cases: readonly Case[];
}

export type Scenario = CountedScenario | ListedScenario;

type Options = RunOptions | ((run: () => Run) => RunOptions);

type Evaluate = (evidence: Evidence) => readonly string[];

export function caseOf(id: readonly (string | number)[], story: Story, options: Options, evaluate: Evaluate = violations): Case {
  return { id: id.join(':'), attempt: (world) => attempt(world, story, options, evaluate) };
}
