// Two engines make one step in parallel: the whole call of the second one runs in the gap before each call of the first one. Its
// answer is stored at once, or after that of the first one, or never.
import { type Calm, type Case, caseOf } from './case.ts';
import { store, storyGoesOn } from './drive.ts';
import { callFor, type Run, read, startEngine } from './run.ts';
import type { Story } from './story.ts';

const storings = ['stored', 'stored-after', 'discarded'] as const;
type Storing = (typeof storings)[number];

export function twoEngineCases(story: Story, { calls }: Calm): readonly Case[] {
  return calls.flatMap(({ number }) =>
    storings.map((storing) =>
      caseOf(['S08', story.id, number, storing], story, (run) => ({
        faults: new Map([[number, { kind: 'gap', act: () => secondEngine(run(), run().names.run, storing) }]]),
      })),
    ),
  );
}

/** A whole call for that Transaction, by another engine. */
export async function secondEngine(run: Run, name: string, storing: Storing): Promise<void> {
  const parent = await read(run, name);
  if (parent === undefined) return;
  const reply = await startEngine(run.world, run.board)(callFor(parent, run.board.hookCall));
  if (storing === 'stored') {
    await store(run, name, reply);
    await storyGoesOn(run);
  }
  if (storing === 'stored-after') run.lateAnswers.push({ due: run.board.hookCall, name, reply });
}
