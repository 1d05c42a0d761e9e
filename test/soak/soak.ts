// Runs seeds: eight concurrent Transactions over twelve shared objects, while nearly everything goes wrong.
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { attempt } from '../faults/attempt.ts';
import type { Run } from '../faults/run.ts';
import type { World } from '../faults/world.ts';
import { evaluateSoak } from './evaluate.ts';
import { planOf } from './plan.ts';
import { troubleOf } from './trouble.ts';

export interface SeedResult {
  readonly seed: number;
  readonly violations: readonly string[];
  readonly portCalls: number;
  /** Calls of the hook that did more than wait, for the Transaction with the most. */
  readonly mostSteps: number;
  /** The same with the calls that only waited. */
  readonly mostCalls: number;
  readonly faults: number;
  /** Transactions by the phase and the reason of their end. */
  readonly ends: Readonly<Record<string, number>>;
  readonly seconds: number;
  /** Every call of the API server, for a replay. */
  readonly calls: readonly string[];
}

/** A Transaction of at most four changes with more steps than this runs in circles, whatever hit it. */
const mostSteps = 80;

export async function runSeed(world: World, seed: number, bytes = 0): Promise<SeedResult> {
  const start = performance.now();
  let faults = 0;
  const { story } = planOf(seed, bytes);
  const options = (run: () => Run) => {
    const trouble = troubleOf(seed, run);
    const { faults: strike } = trouble;
    if (typeof strike !== 'function') return trouble;
    const counted: typeof strike = (call) => {
      const fault = strike(call);
      if (fault !== undefined) faults += 1;
      return fault;
    };
    return { ...trouble, faults: counted };
  };
  const { run, evidence, violations, portCalls } = await attempt(world, story, options, evaluateSoak);
  world.audit.take(run.names.run); // what came after its end would pile up
  const steps = mostOf(evidence.hookCalls.filter(({ resyncAfterSeconds }) => resyncAfterSeconds === 0));
  const hot = steps > mostSteps ? [`I9 rest: ${steps} steps of one Transaction, at most ${mostSteps} expected`] : [];
  return {
    seed,
    violations: [...violations, ...hot],
    portCalls,
    mostSteps: steps,
    mostCalls: mostOf(evidence.hookCalls),
    faults,
    ends: counted([...evidence.ends.values()].map(endOf)),
    seconds: (performance.now() - start) / 1000,
    calls: evidence.portCalls.map(
      ({ number, hookCall, engine, what, outcome }) => `${number} [call ${hookCall}, engine ${engine}] ${what}: ${outcome}`,
    ),
  };
}

/** `Failed (LockHeld)` */
function endOf(status: JsonObject | undefined): string {
  const conditions = at(status, 'conditions');
  const succeeded = isList(conditions) ? conditions.find((one) => textAt(one, 'type') === 'Succeeded') : undefined;
  const phase = textAt(status, 'phase') ?? 'gone';
  return phase === 'gone' || phase === 'Committed' ? phase : `${phase} (${textAt(succeeded, 'reason')})`;
}

function mostOf(calls: readonly { readonly name: string }[]): number {
  return Math.max(0, ...Object.values(counted(calls.map(({ name }) => name))));
}

function counted(words: readonly string[]): Readonly<Record<string, number>> {
  return Object.fromEntries(Object.entries(Object.groupBy(words, (word) => word)).map(([word, all = []]) => [word, all.length]));
}
