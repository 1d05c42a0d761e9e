// All scenarios of the campaign, with one replayable id for each case (`S02:commit4:17:after`). If faults go through all calls, a
// run without faults counts these calls first.

import { adversaryCases } from './adversary/cases.ts';
import { adversaryStories } from './adversary/stories.ts';
import { badInputCases } from './bad-input.ts';
import type { CountedScenario, Scenario } from './case.ts';
import { containerCases, containers } from './containers.ts';
import { crashes, lostAnswers, pairs } from './crashes.ts';
import { deletionCases } from './deletions.ts';
import { foreignCases } from './foreign.ts';
import { frozenCases, frozenStories } from './frozen.ts';
import { gatedCommit, gateStories } from './gates.ts';
import { generatedCases } from './generated.ts';
import { lateAnswers, skips, staleCalls } from './hook-faults.ts';
import { deathsInWindows, hundred, hundredCancelled } from './hundred.ts';
import { limitCases } from './listed.ts';
import { lockCases, takenOver, takeoverCases } from './locks.ts';
import { applied, appliedAndUndone, manifestStories } from './manifests.ts';
import { matrixCases } from './matrix.ts';
import { oneWayCases } from './one-way.ts';
import { overlapCases, overlaps } from './overlaps.ts';
import { recreateCommit, recreateRollback, recreations } from './recreations.ts';
import { rollbackCases, rollbackStories } from './releases.ts';
import { sourceStories } from './sources.ts';
import {
  cancelMidCommit,
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
import { waveStories } from './waves.ts';
import { everWrong, onceWrong } from './wrong-answers.ts';

const most = [commit4, failAt3, requestRollback, cancelMidCommit, deleteMidCommit, contention];
const two = [commit4, requestRollback];

const counted: readonly CountedScenario[] = [
  {
    id: 'S02',
    what: 'crash before, after and between all calls',
    stories: [...most, ...waveStories, ...gateStories, ...manifestStories, ...recreations, ...sourceStories],
    casesOf: (story, calm) => crashes('S02', story, calm),
  },
  { id: 'S03', what: 'two faults in one run', stories: [commit2, rollback2], casesOf: pairs },
  {
    id: 'S04',
    what: 'the answer of a write is lost',
    stories: [...most, ...waveStories, gatedCommit, ...manifestStories, recreateCommit, recreateRollback],
    casesOf: (story, calm) => lostAnswers('S04', story, calm),
  },
  {
    id: 'S05',
    what: 'each wrong answer at each call, once and for ever',
    stories: two,
    casesOf: (story, calm) => [...onceWrong(story, calm), ...everWrong(story, calm)],
  },
  {
    id: 'S06',
    what: 'stale and duplicate calls',
    stories: [...most, ...waveStories, ...gateStories, recreateRollback],
    casesOf: staleCalls,
  },
  {
    id: 'S07',
    what: 'calls that are not made, answers that are not stored',
    stories: [...most, recreateRollback],
    casesOf: skips,
  },
  {
    id: 'S08',
    what: 'one step by two engines at once',
    stories: [commit4, failAt3, requestRollback, ...waveStories, ...gateStories, appliedAndUndone, ...recreations],
    casesOf: twoEngineCases,
  },
  { id: 'S09', what: 'answers are stored late', stories: [...most, recreateRollback], casesOf: lateAnswers },
  {
    id: 'S10',
    what: 'somebody writes between any two requests',
    stories: [...two, commitWidgets, rollbackWidgets, applied, appliedAndUndone, recreateCommit, recreateRollback],
    casesOf: foreignCases,
  },
  { id: 'S11', what: 'Transactions over common objects', stories: overlaps, casesOf: overlapCases },
  {
    id: 'S12',
    what: 'locks that expire, vanish, are taken over; a frozen process',
    stories: [...two, gatedCommit, ...takenOver, ...frozenStories],
    casesOf: (story, calm) => lockCasesOf(story)(story, calm),
  },
];

function lockCasesOf(story: Story): CountedScenario['casesOf'] {
  if (frozenStories.includes(story)) return frozenCases;
  return takenOver.includes(story) ? takeoverCases : lockCases;
}

const windowsOfHundred: CountedScenario = {
  id: 'S22',
  what: 'a crash at each request of a window of a hundred changes',
  stories: [hundred, hundredCancelled],
  casesOf: (story, calm) => deathsInWindows('S22', story, calm),
};

const containersWithFaults: CountedScenario = {
  id: 'S15',
  what: 'a Namespace and its contents, a definition and its instances, a repeated object',
  stories: containers,
  casesOf: containerCases,
};

export const scenarios: readonly Scenario[] = [
  { id: 'S01', what: 'types of change, there and absent, of eight kinds', cases: matrixCases },
  ...counted,
  { id: 'S13', what: 'deletion in each phase, in each way', cases: deletionCases },
  { id: 'S14', what: 'bad input', cases: badInputCases },
  containersWithFaults,
  { id: 'S16', what: 'what cannot be undone', cases: oneWayCases },
  { id: 'S17', what: 'generated objects and changes, undone, with a fault', cases: generatedCases },
  { id: 'S18', what: 'snapshots and statuses of released versions (none is released yet)', cases: [] },
  {
    id: 'S21',
    what: 'an adversary with all rights on ConfigMaps, sources included, and Events, and no others',
    stories: adversaryStories,
    casesOf: adversaryCases,
  },
  windowsOfHundred,
  {
    id: 'S25',
    what: 'a rollback over releases: a crash before and after each request, and of its undo',
    stories: rollbackStories,
    casesOf: rollbackCases,
  },
  { id: 'S24', what: 'limits of size', cases: limitCases },
];
