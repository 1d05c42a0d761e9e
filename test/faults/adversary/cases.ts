// S21: each deed of the adversary at each request of the engine where it can matter, at all requests, after a crash, and during the
// deletion of the Transaction.
import { attempt } from '../attempt.ts';
import type { Calm, Case, Outcome } from '../case.ts';
import type { Evidence } from '../evidence.ts';
import type { Fault, PortCall } from '../port.ts';
import type { Run, RunOptions } from '../run.ts';
import { fromSources } from '../sources.ts';
import type { Story } from '../story.ts';
import type { World } from '../world.ts';
import { type Attempted, type Deed, deeds, markedTarget } from './deeds.ts';
import { asWithoutHim, brokenOrNot, refusedOrNot } from './evaluate.ts';
import { cleanUp, disturbed, type Scene, sceneOf } from './scene.ts';

/** When the adversary begins: at that request of the story or of its deletion, at the first request, or that many after a crash. */
interface Moment {
  readonly id: string;
  readonly from: number;
  readonly side?: 'answered';
  readonly crash?: true;
  readonly deletion?: true;
  /** Whether the adversary does it again at each request. */
  readonly always?: true;
}

const isStore = (call: PortCall): boolean => /^send create ConfigMap .*-rollback/.test(call.what);

export function adversaryCases(story: Story, { calls }: Calm): readonly Case[] {
  const cases = deeds
    .filter(({ needs }) => needs === needOf(story))
    .flatMap((deed, index) => momentsOf(deed, calls, index).map((moment) => caseOf(story, deed, moment, calls.length)));
  // Once everything is committed, nothing else reads a target: a mark on it changes no content.
  return story.end === 'Committed' ? [...cases, caseOf(story, markedTarget, atDeletion(1), calls.length)] : cases;
}

/** A story with something that others lack is there for that. */
function needOf(story: Story): Deed['needs'] {
  if (story.id === 'two-parts') return 'two parts';
  if (story === fromSources) return 'sources';
  return Object.keys(story.transactions(anyNames)).length > 1 ? 'two transactions' : undefined;
}

const anyNames = { run: 'run', rival: 'rival', a: 'a', b: 'b', c: 'c', d: 'd', namespace: 'shop', elsewhere: 'other' };

/** Each deed gets a share of the moments, so that every moment has its deeds. */
const share = 6;

function momentsOf(deed: Deed, calls: readonly PortCall[], index: number): readonly Moment[] {
  if (deed.afterCrash === true) return [1, 2, 3, 5, 8, 13].map((from) => ({ id: `crash+${from}`, from, crash: true }));
  const [first, last] = spanOf(deed, calls);
  const numbered = calls
    .filter(({ number }) => number >= first && number <= last)
    .filter(matters)
    .flatMap(sides);
  const some = numbered.filter((_, place) => place % share === index % share);
  const deletion = deed.when === 'before it is stored' ? [] : [1, 4, 8].map(atDeletion);
  return [...some, { id: 'always', from: first, always: true }, ...deletion];
}

function spanOf({ when }: Deed, calls: readonly PortCall[]): readonly [first: number, last: number] {
  const stored = calls.findLastIndex(isStore) + 1;
  if (when === 'before it is stored') return [1, stored];
  return [when === 'at any time' ? 1 : stored, calls.length];
}

function atDeletion(from: number): Moment {
  return { id: `deletion+${from}`, from, deletion: true };
}

/** The first request of each call, all requests for snapshots, and all writes: the moments between the others do not differ. */
function matters({ method, what, number, hookCall }: PortCall, index: number, all: readonly PortCall[]): boolean {
  const isFirst = all[index - 1]?.hookCall !== hookCall || number === 1;
  return isFirst || method === 'send' || method === 'listMetadata' || /ConfigMap .*-rollback/.test(what);
}

function sides({ number, method }: PortCall): readonly Moment[] {
  const before = { id: `${number}`, from: number };
  return method === 'send' ? [before, { id: `${number}+`, from: number, side: 'answered' }] : [before];
}

function caseOf(story: Story, deed: Deed, moment: Moment, calls: number): Case {
  const evaluate = evaluationOf(deed, moment, calls);
  const act = async (world: World): Promise<Outcome> => {
    let scene: Scene | undefined;
    const theScene = (run: () => Run): Scene => (scene ??= sceneOf(run()));
    const outcome = await attempt(world, story, (run) => optionsOf(deed, moment, () => theScene(run)), evaluate);
    if (scene !== undefined) await cleanUp(scene);
    const isIdle = moment.always === true && scene?.deeds.length === 0;
    return isIdle ? { ...outcome, violations: [...outcome.violations, 'he could never do it'] } : outcome;
  };
  return { id: ['S21', story.id, deed.id, moment.id].join(':'), attempt: act };
}

function evaluationOf(deed: Deed, moment: Moment, calls: number): (evidence: Evidence) => readonly string[] {
  if (deed.needs === 'sources') return refusedOrNot;
  if (deed.breaks) return (evidence) => brokenOrNot(evidence, deed.isOvertaken === true);
  return (evidence) => asWithoutHim(evidence, moment.always === true ? calls * 2 : calls);
}

function optionsOf(deed: Deed, moment: Moment, scene: () => Scene): RunOptions {
  const actor = actorOf(deed, moment, scene);
  return {
    ...(moment.deletion === true
      ? { whileDeleted: (number) => (number >= moment.from ? actor() : undefined) }
      : {
          faults:
            moment.crash === true ? crashing(actor, moment.from) : ({ number }) => (number >= moment.from ? actor() : undefined),
        }),
    bystanders: () => disturbed(scene()),
    timing: { stepDeadline: 20_000, writeTimeout: 10_000 },
  };
}

/** The process dies once the snapshot is stored; that many requests of the next process later the adversary begins. */
function crashing(actor: () => Fault | undefined, from: number): (call: PortCall) => Fault | undefined {
  let crashed: number | undefined;
  return (call) => {
    if (crashed === undefined && isStore(call)) {
      crashed = call.number;
      return { kind: 'after' };
    }
    return crashed !== undefined && call.number >= crashed + from ? actor() : undefined;
  };
}

/** The deeds run one at a time: parallel requests of the engine do not wait for each other's deeds. */
function actorOf({ id, begin }: Deed, { always, side }: Moment, scene: () => Scene): () => Fault | undefined {
  let attempted: Attempted = begin();
  let state: 'waiting' | 'acting' | 'done' = 'waiting';
  const act = async (): Promise<void> => {
    const isDone = await attempted(scene());
    if (isDone) scene().deeds.push(id);
    if (isDone && always === true) attempted = begin();
    state = isDone && always !== true ? 'done' : 'waiting';
  };
  return () => {
    if (state !== 'waiting') return undefined;
    state = 'acting';
    return { kind: 'gap', act, ...(side === 'answered' && { answered: true }) };
  };
}
