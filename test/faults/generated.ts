// Generated objects and changes, from test/generated, with a crash, a lost answer or a late write at a random request: at the end all is as
// before, managedFields included.
import fc from 'fast-check';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Ending, type Plan, plan, type Target } from '../generated/arbitraries.ts';
import { withOwners } from '../generated/run.ts';
import { apiVersionOf, writeAs } from '../generated/world.ts';
import { chanceOf } from '../soak/random.ts';
import { pathIn } from '../support/stage.ts';
import { change } from '../support/targets.ts';
import { attempt } from './attempt.ts';
import type { Case } from './case.ts';
import { wrongAnswers } from './errors.ts';
import { type Evidence, itemsOf } from './evidence.ts';
import { honestEnd } from './honest.ts';
import type { Names } from './names.ts';
import { placeOf } from './places.ts';
import type { Fault, PortCall } from './port.ts';
import { askBack, askedBack, single } from './stories.ts';
import type { Given, Story, StoryEvent } from './story.ts';

export const generatedCases: readonly Case[] = Array.from({ length: 10_000 }, (_, seed) => ({
  id: `S17:${seed}`,
  attempt: async (world) => {
    const [drawn = { fieldManager: '', targets: [], ending: { kind: 'stopped', afterCall: 0 }, foreign: [] }] = fc.sample<Plan>(
      plan,
      {
        seed,
        numRuns: 1,
      },
    );
    const one = await withOwners({ client: world.controller, path: (suffix) => pathIn(world.namespace, suffix) }, drawn);
    return attempt(world, storyOf(one, seed), (run) => ({ faults: faultsOf(one, seed, () => run().names) }), evaluate);
  },
}));

function storyOf({ targets, ending, fieldManager }: Plan, seed: number): Story {
  return {
    id: `generated-${seed}`,
    given: (names) => targets.flatMap((target, index) => (target.isThere ? [givenOf(target, nameOf(names, index), names)] : [])),
    transactions: single((names) => targets.map((target, index) => changeOf(target, nameOf(names, index)))),
    ...(fieldManager === '' ? {} : { spec: { fieldManager } }),
    events: [askedBack, ...stopOf(ending)],
    end: 'RolledBack',
  };
}

function nameOf({ run }: Names, index: number): string {
  return `${run}-${index}`;
}

function givenOf({ kind, origin, history }: Target, name: string, { namespace }: Names): Given {
  const object = {
    ...origin,
    apiVersion: apiVersionOf(kind),
    kind,
    metadata: { ...(at(origin, 'metadata') as JsonObject), name },
  };
  const { path } = placeOf(object, namespace);
  return {
    object,
    since: async (client) => {
      for (const [number, write] of history.entries()) await writeAs(client, { path, kind, name }, write, `author-${number}`);
    },
  };
}

function changeOf({ type, kind, content, recreates }: Target, name: string): JsonObject {
  const made = change(type, name, type === 'Delete' ? undefined : content, { apiVersion: apiVersionOf(kind), kind });
  return recreates ? { ...made, whenImmutable: 'Recreate' } : made;
}

/** A rollback is requested after that many calls. */
function stopOf(ending: Ending): readonly StoryEvent[] {
  if (ending.kind !== 'stopped') return [];
  let calls = 0;
  const when = (): boolean => {
    calls += 1;
    return calls > ending.afterCall;
  };
  return [{ when, act: ({ controller }, names) => askBack(controller, names) }];
}

const kills: readonly Fault[] = [{ kind: 'before' }, { kind: 'after' }];
const others: readonly Fault[] = [
  { kind: 'lost' },
  { kind: 'unsent' },
  { kind: 'late', calls: 12, crash: true },
  { kind: 'late', calls: 60, crash: false },
];

/** Most runs have more requests than these. */
const requests = 80;

/** Every second process is killed. */
function strikeOf(seed: number): { readonly at: number; readonly fault: Fault } {
  const chance = chanceOf(seed);
  return { at: 1 + chance.below(requests), fault: chance.oneOf(chance.happens(0.5) ? kills : others) };
}

/** A fault at a random request, and the refusal of the change that the plan marks for it. */
function faultsOf({ ending }: Plan, seed: number, names: () => Names): (call: PortCall) => Fault | undefined {
  const refusal = wrongAnswers.find(({ id }) => id === '422')?.failure;
  const strike = strikeOf(seed);
  let isRefused = ending.kind !== 'refused';
  return ({ number, method, identity, name }) => {
    if (!isRefused && refusal !== undefined && ending.kind === 'refused' && method === 'send' && identity === 'serviceAccount') {
      isRefused = name === nameOf(names(), ending.change);
      if (isRefused) return { kind: 'fails', failure: refusal };
    }
    return number === strike.at ? strike.fault : undefined;
  };
}

/** Nobody else writes, so nothing may be left. */
function evaluate(evidence: Evidence): readonly string[] {
  const status = evidence.ends.get(evidence.names.run);
  const left = itemsOf(status).filter((item) => item.left === true);
  return [...honestEnd(evidence), ...(left.length > 0 ? [`${left.length} changes are left: ${textAt(status, 'message')}`] : [])];
}
