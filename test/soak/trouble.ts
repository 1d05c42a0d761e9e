// The faults of a seed: in calls of the API server and of the hook, a second engine, a stranger who writes, and users who change
// their mind.

import type { JsonObject } from '../../hooks/objects/json.ts';
import { store } from '../faults/drive.ts';
import { wrongAnswers } from '../faults/errors.ts';
import { allTargets, transactionsOf } from '../faults/evidence.ts';
import { Crash, type Fault, type PortCall } from '../faults/port.ts';
import { callFor, type HookFault, type Run, type RunOptions, read, startEngine } from '../faults/run.ts';
import { base64, pathOfTransaction } from '../faults/story.ts';
import { must } from '../support/client.ts';
import { fields } from './plan.ts';
import { type Chance, chanceOf } from './random.ts';

/** Faults stop after that many calls of the API server, or of the hook: then every Transaction must end. */
const troubledPortCalls = 1_500;
const troubledHookCalls = 250;

/** How often a fault strikes: one call in that many. */
const every = { portCall: 40, targetCall: 6, hookCall: 6 };

export function troubleOf(seed: number, run: () => Run): RunOptions {
  const callSecond = secondEngine(run);
  const gap = (chance: Chance, call: PortCall): Promise<void> => {
    const dice = chance.next();
    if (dice < 0.45) return strangerWrites(run(), chance, call);
    return dice < 0.75 ? callSecond(chance) : mindChanges(run(), chance);
  };
  return {
    faults: (call) => {
      const chance = chanceOf(seed, 4, call.number);
      // Few of the calls write targets, and these matter most.
      const often = call.identity === 'serviceAccount' && call.method !== 'allowed' ? every.targetCall : every.portCall;
      if (call.number > troubledPortCalls || !chance.happens(1 / often)) return undefined;
      return portFault(chance, call, () => gap(chance, call));
    },
    hookFaults: hookFaultsOf(seed),
  };
}

/** Another process, which is called for any of the Transactions. Its answer is stored at once, later or never. */
function secondEngine(run: () => Run): (chance: Chance) => Promise<void> {
  let engine: ReturnType<typeof startEngine> | undefined;
  // Without it, a gap in the second engine's own call could call that engine again, and both would wait for each other for ever.
  let isCalled = false;
  const ring = async (key: string, parent: JsonObject, chance: Chance): Promise<void> => {
    const { world, board, lateAnswers } = run();
    engine ??= startEngine(world, board);
    const reply = await engine(callFor(parent, board.hookCall));
    const fate = chance.below(3);
    if (fate === 0) await store(run(), key, reply);
    if (fate === 1) lateAnswers.push({ due: board.hookCall + chance.below(4), name: key, reply });
  };
  return async (chance) => {
    const key = chance.oneOf(transactionsOf(run()));
    const parent = await read(run(), key);
    if (parent === undefined || isCalled) return;
    isCalled = true;
    await ring(key, parent, chance)
      .catch((error: unknown) => {
        if (!(error instanceof Crash)) throw error;
        engine = undefined;
      })
      .finally(() => {
        isCalled = false;
      });
  };
}

const transient = wrongAnswers.filter(({ isTransient }) => isTransient);
const refusals = wrongAnswers.filter(({ id }) => ['403', '422'].includes(id));

function portFault(chance: Chance, { method, identity }: PortCall, act: () => Promise<void>): Fault {
  const isWrite = method === 'send';
  const kinds = [
    'before',
    'after',
    'lost',
    'unsent',
    'fails',
    'delay',
    'gap',
    'gap',
    'gap',
    ...(isWrite ? ['late', 'late'] : []),
  ];
  const kind = chance.oneOf(kinds);
  switch (kind) {
    case 'before':
    case 'after':
    case 'lost':
    case 'unsent':
      return { kind };
    case 'late':
      return { kind, calls: chance.oneOf([1, 5, 20, 60, 10_000]), crash: chance.happens(0.5) };
    case 'fails': {
      const isRefused = isWrite && identity === 'serviceAccount' && chance.happens(0.3);
      return { kind, failure: chance.oneOf(isRefused ? refusals : transient).failure };
    }
    case 'delay':
      return chance.happens(0.5)
        ? { kind, of: 'request', milliseconds: chance.below(900) }
        : { kind, of: 'answer', milliseconds: chance.below(5_000) };
    default:
      return { kind: 'gap', act };
  }
}

function hookFaultsOf(seed: number): ReadonlyMap<number, HookFault> {
  const chance = chanceOf(seed, 5);
  const kinds: readonly (() => HookFault)[] = [
    () => ({ kind: 'unstored', crash: chance.happens(0.5) }),
    () => ({ kind: 'skipped' }),
    () => ({ kind: 'doubled' }),
    () => ({ kind: 'stored late', calls: 1 + chance.below(12) }),
    () => ({ kind: 'stale', stored: chance.happens(0.5) }),
  ];
  const numbers = Array.from({ length: troubledHookCalls }, (_, index) => index + 1);
  return new Map(
    numbers.flatMap((number) => (chance.happens(1 / every.hookCall) ? [[number, chance.oneOf(kinds)()] as const] : [])),
  );
}

// Mostly to the object of the call: just before it is read, tried or written.
async function strangerWrites(run: Run, chance: Chance, call: PortCall): Promise<void> {
  const all = allTargets(run);
  const at = all.filter(({ name }) => name === call.name);
  const { kind, path } = chance.oneOf(at.length > 0 && chance.happens(0.8) ? at : all);
  const { stranger } = run.world;
  const [dice, value] = [chance.next(), `theirs${chance.below(1_000)}`];
  if (dice < 0.08 && kind !== 'Deployment') {
    await stranger.delete(path);
    return;
  }
  const field = chance.happens(0.4) ? chance.oneOf(fields) : `theirs${chance.below(3)}`;
  const patch = dice < 0.3 ? { metadata: { annotations: { [field]: value } } } : valuesOf(kind, { [field]: value });
  const answer = await stranger.patch(path, patch, 'merge', { fieldManager: 'stranger' });
  if (answer.code !== 404) must(answer);
}

function valuesOf(kind: string, values: Readonly<Record<string, string>>): Parameters<Run['world']['stranger']['patch']>[1] {
  switch (kind) {
    case 'ConfigMap':
      return { data: values };
    case 'Secret':
      return { data: Object.fromEntries(Object.entries(values).map(([key, value]) => [key, base64(value)])) };
    case 'Deployment':
      return { spec: { template: { metadata: { annotations: values } } } };
    case 'ClusterRole':
      return { metadata: { labels: values } };
    default:
      return { spec: values };
  }
}

/** Requests a rollback or its retry for a Transaction, or deletes it. */
async function mindChanges(run: Run, chance: Chance): Promise<void> {
  const key = chance.oneOf(transactionsOf(run));
  const path = pathOfTransaction(run.names, key);
  const { controller } = run.world;
  const name = chance.happens(0.7) ? 'request-rollback' : 'retry-rollback';
  const annotations = { [`tx.janus.io/${name}`]: `v${chance.below(100)}` };
  const answer = chance.happens(0.15)
    ? await controller.delete(path)
    : await controller.patch(path, { metadata: { annotations } });
  if (answer.code !== 404) must(answer);
  // That wakes Metacontroller, like an answer that is stored late without a change.
  run.lateAnswers.push({ due: run.board.hookCall, name: key, reply: { kind: 'retry', retryAfterSeconds: 0, because: 'a test' } });
}
