// The cases of each scenario: what is tried, one replayable id each (`S02:commit4:17:after`). A fault-free run of the story
// counts the calls; then every point is tried.
import { type Calm, type Case, caseOf, type Scenario } from './case.ts';
import { type WrongAnswer, wrongAnswers } from './errors.ts';
import { type Evidence, itemsOf } from './evidence.ts';
import { foreignCases } from './foreign.ts';
import { violations } from './invariants.ts';
import type { PortCall } from './port.ts';
import type { HookFault } from './run.ts';
import {
  commit2,
  commit4,
  commitWidgets,
  contention,
  deleteMidCommit,
  failAt3,
  requestRollback,
  rollback2,
  rollbackWidgets,
} from './stories.ts';
import type { Story } from './story.ts';
import { twoEngineCases } from './two-engines.ts';

const five = [commit4, failAt3, requestRollback, deleteMidCommit, contention];

export const scenarios: readonly Scenario[] = [
  { id: 'S02', what: 'crash before, after and between all calls', stories: five, casesOf: crashes },
  { id: 'S03', what: 'two faults in one run', stories: [commit2, rollback2], casesOf: pairs },
  { id: 'S04', what: 'the answer of a write is lost', stories: five, casesOf: lostAnswers },
  { id: 'S05', what: 'each wrong answer at each call, once', stories: [commit4, requestRollback], casesOf: errors },
  { id: 'S06', what: 'stale and duplicate calls', stories: five, casesOf: staleCalls },
  { id: 'S07', what: 'calls that are not made, answers that are not stored', stories: five, casesOf: skips },
  { id: 'S08', what: 'one step by two engines at once', stories: [commit4, failAt3, requestRollback], casesOf: twoEngineCases },
  { id: 'S09', what: 'answers are stored late', stories: five, casesOf: lateAnswers },
  {
    id: 'S10',
    what: 'somebody writes between any two calls',
    stories: [commit4, requestRollback, commitWidgets, rollbackWidgets],
    casesOf: foreignCases,
  },
];

function crashes(story: Story, { calls, hookCalls }: Calm): readonly Case[] {
  const atCalls = calls.flatMap(({ number }) =>
    (['before', 'after'] as const).map((kind) =>
      caseOf(['S02', story.id, number, kind], story, { faults: new Map([[number, { kind }]]) }),
    ),
  );
  return [...atCalls, ...hookCases(['S02', story.id], story, hookCalls, { kind: 'unstored', crash: true })];
}

function hookCases(id: readonly string[], story: Story, hookCalls: number, fault: HookFault): readonly Case[] {
  return upTo(hookCalls).map((number) =>
    caseOf([...id, `call${number}`, fault.kind.replace(' ', '-')], story, { hookFaults: new Map([[number, fault]]) }),
  );
}

function upTo(most: number): readonly number[] {
  return Array.from({ length: most }, (_, index) => index + 1);
}

/** In calls of the port; the last one is after all is over, as far as the time of the write allows. */
const lateBy = [1, 12, 60, 10_000];

function lostAnswers(story: Story, { calls }: Calm): readonly Case[] {
  const writes = calls.filter(({ method }) => method === 'send');
  return writes.flatMap(({ number }) => [
    ...(['lost', 'unsent'] as const).map((kind) =>
      caseOf(['S04', story.id, number, kind], story, { faults: new Map([[number, { kind }]]) }),
    ),
    ...lateBy.flatMap((later) =>
      [false, true].map((crash) =>
        caseOf(['S04', story.id, number, `late${later}${crash ? '-crash' : ''}`], story, {
          faults: new Map([[number, { kind: 'late', calls: later, crash }]]),
        }),
      ),
    ),
  ]);
}

/** A fault at a write and another one soon after, as numbered in the run as it is then. */
function pairs(story: Story, { calls }: Calm): readonly Case[] {
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

function errors(story: Story, { calls }: Calm): readonly Case[] {
  return calls.flatMap((call) =>
    wrongAnswers
      .filter((wrong) => isPossible(call, wrong))
      .map(({ id, failure, isTransient }) =>
        caseOf(
          ['S05', story.id, call.number, id],
          story,
          { faults: new Map([[call.number, { kind: 'fails', failure }]]) },
          isTransient ? violations : anyHonestEnd,
        ),
      ),
  );
}

// That something is not there is either true or a lie that nobody can see through; and what only reads conflicts with nothing.
function isPossible({ method }: PortCall, { failure }: WrongAnswer): boolean {
  const isWrite = method === 'send' || method === 'dryRun';
  return isWrite || !(failure.code === 409 || (failure.code === 404 && method.startsWith('get')));
}

/** A definitive refusal may end a Transaction otherwise; what it then says must be so: all is as before but what is said to be left. */
function anyHonestEnd(evidence: Evidence): readonly string[] {
  const [[transaction = '', status] = []] = evidence.ends;
  const phase = String(status?.phase);
  if (phase === evidence.story.end) return violations(evidence);
  const { content: _given, ...story } = evidence.story;
  const changes =
    story.transactions(evidence.names)[transaction]?.filter((_, index) => itemsOf(status)[index]?.left !== true) ?? [];
  const judged = violations({
    ...evidence,
    story: { ...story, end: 'RolledBack', transactions: () => ({ [transaction]: changes }) },
  });
  const ofTheStory = [...violations(evidence).filter((text) => /^I([2-9]|1[0-3])\b/.test(text))];
  return [...judged.filter((text) => !text.includes('ends as Failed') && !/^I([2-9]|1[0-3])\b/.test(text)), ...ofTheStory];
}

function staleCalls(story: Story, { hookCalls }: Calm): readonly Case[] {
  return [false, true].flatMap((stored) => [
    caseOf(['S06', story.id, 'every', stored ? 'stored' : 'discarded'], story, { hookFaults: { kind: 'stale', stored } }),
    ...upTo(hookCalls).map((number) =>
      caseOf(['S06', story.id, `call${number}`, stored ? 'stored' : 'discarded'], story, {
        hookFaults: new Map([[number, { kind: 'stale', stored }]]),
      }),
    ),
  ]);
}

/** Every subset of at most three calls, each of them left out or left without effect on the status. */
function skips(story: Story, { hookCalls }: Calm): readonly Case[] {
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

function lateAnswers(story: Story, { hookCalls }: Calm): readonly Case[] {
  return upTo(hookCalls).flatMap((number) =>
    [1, 2, 3].map((later) =>
      caseOf(['S09', story.id, `call${number}`, `late${later}`], story, {
        hookFaults: new Map([[number, { kind: 'stored late', calls: later }]]),
      }),
    ),
  );
}
