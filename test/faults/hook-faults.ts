// Faults in calls of the hook: stale, duplicate and missing calls, answers that are stored late or never.
import { type Calm, type Case, caseOf } from './case.ts';
import type { HookFault } from './run.ts';
import type { Story } from './story.ts';

export function hookCases(id: readonly string[], story: Story, hookCalls: number, fault: HookFault): readonly Case[] {
  return upTo(hookCalls).map((number) =>
    caseOf([...id, `call${number}`, fault.kind.replace(' ', '-')], story, { hookFaults: new Map([[number, fault]]) }),
  );
}

export function upTo(most: number): readonly number[] {
  return Array.from({ length: most }, (_, index) => index + 1);
}

/** Calls with each older state before each call, before one of them, and one call twice in parallel. */
export function staleCalls(story: Story, { hookCalls }: Calm): readonly Case[] {
  const doubled = { kind: 'doubled' } as const;
  return [
    caseOf(['S06', story.id, 'every', 'doubled'], story, { hookFaults: doubled }),
    ...hookCases(['S06', story.id], story, hookCalls, doubled),
    ...stale(story, hookCalls),
  ];
}

function stale(story: Story, hookCalls: number): readonly Case[] {
  return [false, true].flatMap((stored) => [
    caseOf(['S06', story.id, 'every', stored ? 'stored' : 'discarded'], story, { hookFaults: { kind: 'stale', stored } }),
    ...upTo(hookCalls).map((number) =>
      caseOf(['S06', story.id, `call${number}`, stored ? 'stored' : 'discarded'], story, {
        hookFaults: new Map([[number, { kind: 'stale', stored }]]),
      }),
    ),
  ]);
}

/** Every subset of at most three calls: each of them missing, or without effect on the status. */
export function skips(story: Story, { hookCalls }: Calm): readonly Case[] {
  const all = upTo(hookCalls);
  const subsets = all.flatMap((one) => [
    [one],
    ...all
      .filter((two) => two > one)
      .flatMap((two) => [[one, two], ...all.filter((three) => three > two).map((three) => [one, two, three])]),
  ]);
  const kinds = [{ kind: 'skipped' }, { kind: 'unstored', crash: false }] as const;
  return subsets.flatMap((subset) =>
    kinds.map((fault) =>
      caseOf(['S07', story.id, subset.join('+'), fault.kind], story, {
        hookFaults: new Map(subset.map((number) => [number, fault])),
      }),
    ),
  );
}

export function lateAnswers(story: Story, { hookCalls }: Calm): readonly Case[] {
  return upTo(hookCalls).flatMap((number) =>
    [1, 2, 3].map((later) =>
      caseOf(['S09', story.id, `call${number}`, `late${later}`], story, {
        hookFaults: new Map([[number, { kind: 'stored late', calls: later }]]),
      }),
    ),
  );
}
