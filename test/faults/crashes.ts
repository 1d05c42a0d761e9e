// The process dies, an answer is lost, or a write lands late: at every call, and in pairs.
import { type Calm, type Case, caseOf } from './case.ts';
import { hookCases, upTo } from './hook-faults.ts';
import type { Story } from './story.ts';

export function crashes(id: string, story: Story, { calls, hookCalls }: Calm): readonly Case[] {
  const atCalls = calls.flatMap(({ number }) => (['before', 'after'] as const).map((kind) => crash(id, story, number, kind)));
  return [...atCalls, ...hookCases([id, story.id], story, hookCalls, { kind: 'unstored', crash: true })];
}

/** A death at each request once: one after a read leaves what the one before the next request leaves. */
export function deathAtEach(id: string, story: Story, { calls }: Calm): readonly Case[] {
  return calls.flatMap(({ number, method }) =>
    (method === 'send' ? (['before', 'after'] as const) : (['before'] as const)).map((kind) => crash(id, story, number, kind)),
  );
}

function crash(id: string, story: Story, number: number, kind: 'before' | 'after'): Case {
  return caseOf([id, story.id, number, kind], story, { faults: new Map([[number, { kind }]]) });
}

/** In calls of the port; the last value means after everything is over, as far as the lifetime of the write allows. */
const lateBy = [1, 12, 60, 10_000];

export function lostAnswers(id: string, story: Story, { calls }: Calm): readonly Case[] {
  const writes = calls.filter(({ method }) => method === 'send');
  return writes.flatMap(({ number }) => [
    ...(['lost', 'unsent'] as const).map((kind) =>
      caseOf([id, story.id, number, kind], story, { faults: new Map([[number, { kind }]]) }),
    ),
    ...lateBy.flatMap((later) =>
      [false, true].map((crash) =>
        caseOf([id, story.id, number, `late${later}${crash ? '-crash' : ''}`], story, {
          faults: new Map([[number, { kind: 'late', calls: later, crash }]]),
        }),
      ),
    ),
  ]);
}

/** A fault at a write, and another one soon after, counted in the run with the first fault. */
export function pairs(story: Story, { calls }: Calm): readonly Case[] {
  const writes = calls.filter(({ method }) => method === 'send').map(({ number }) => number);
  const kinds = [{ kind: 'after' }, { kind: 'unsent' }, { kind: 'late', calls: 6, crash: true }] as const;
  return writes.flatMap((first) =>
    kinds.flatMap((one) =>
      upTo(12).flatMap((distance) =>
        kinds.map((other) =>
          caseOf(['S03', story.id, first, one.kind, `+${distance}`, other.kind], story, {
            faults: new Map([
              [first, one],
              [first + distance, other],
            ]),
          }),
        ),
      ),
    ),
  );
}
