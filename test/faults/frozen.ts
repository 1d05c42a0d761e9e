// Two hooks, two Transactions over common objects. The first hook is frozen at each of its requests, for longer than spec.lockTimeout.
// The second hook serves the other Transaction meanwhile: the locks stay held, or somebody deletes the Leases. Then the first hook wakes
// up, or is replaced. After both are undone, everything is as before: no state with half of a Transaction counts as a prior state.
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must } from '../support/client.ts';
import { change } from '../support/targets.ts';
import { type Calm, type Case, caseOf } from './case.ts';
import { turn } from './drive.ts';
import { allTargets, type Evidence, itemsOf } from './evidence.ts';
import { isAsBefore, violations } from './invariants.ts';
import { lifeOfLocks, removeLeases } from './locks.ts';
import type { Names } from './names.ts';
import { advance } from './port.ts';
import { type Run, read, startEngine } from './run.ts';
import { green } from './stories.ts';
import { pathOfTransaction, type Story } from './story.ts';

function applied(name: string, data: JsonObject): JsonObject {
  return { type: 'Apply', content: { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data } };
}

const byFirst = ({ a, b, c }: Names): ReadonlyMap<string, JsonObject> =>
  new Map([
    [b, { data: { color: 'red', applied: 'yes' } }],
    [c, { data: { ...green, applied: 'yes' } }],
    [a, { data: green }],
  ]);

const patched: Story = {
  id: 'frozen-patches',
  transactions: ({ run, rival, a, b, c }) => ({
    [run]: [
      change('Patch', b, { data: { color: 'red' } }),
      change('Patch', c, { data: green }),
      change('Create', a, { data: green }),
    ],
    [rival]: [change('Patch', c, { data: { color: 'black' } }), change('Patch', b, { data: { color: 'black' } })],
  }),
  asleep: ({ rival }) => [rival],
  events: [],
  end: 'Committed',
  content: byFirst,
};

export const frozenStories: readonly Story[] = [
  patched,
  {
    ...patched,
    id: 'frozen-shared-manager',
    transactions: ({ run, rival, a, b, c }) => ({
      [run]: [applied(b, { color: 'red' }), applied(c, green), applied(a, green)],
      [rival]: [applied(c, { color: 'black' }), applied(b, { color: 'black' })],
    }),
    spec: { fieldManager: 'release' },
  },
  {
    ...patched,
    id: 'frozen-deletes',
    transactions: (names) => ({
      ...patched.transactions(names),
      [names.rival]: [change('Delete', names.a), change('Delete', names.b)],
    }),
  },
];

interface Meanwhile {
  /** Somebody deletes the Leases; otherwise they stay held. */
  readonly isFree?: true;
  /** The other Transaction is undone before the first hook goes on. */
  readonly isUndone?: true;
  /** The first hook never wakes up. It keeps no record of the writes of its call. */
  readonly isDead?: true;
}

const meanwhiles: Readonly<Record<string, Meanwhile>> = {
  held: {},
  free: { isFree: true },
  'free-and-undone': { isFree: true, isUndone: true },
  'free-and-dead': { isFree: true, isDead: true },
  'free-undone-and-dead': { isFree: true, isUndone: true, isDead: true },
};

/** Who is undone first. An undo that the other Transaction blocks is tried again after that one's undo. */
const orders = ['first', 'rival'] as const;

export function frozenCases(story: Story, { calls }: Calm): readonly Case[] {
  return calls.flatMap(({ number }) =>
    Object.entries(meanwhiles).flatMap(([how, given]) =>
      orders.map((order) =>
        caseOf(
          ['S12', story.id, number, how, order],
          story,
          (run) => ({
            faults: new Map([[number, { kind: given.isDead ? 'before' : 'gap', act: () => meanwhile(run(), given) }]]),
            afterwards: () => undoBoth(run(), order),
          }),
          allAsBefore,
        ),
      ),
    ),
  );
}

async function meanwhile(run: Run, { isFree, isUndone }: Meanwhile): Promise<void> {
  await advance(run.world.cluster, run.board, lifeOfLocks);
  if (isFree) await removeLeases(run);
  run.asleep.delete(run.names.rival);
  const other: Run = { ...run, engine: startEngine(run.world, run.board) };
  await toRest(other, run.names.rival);
  if (isUndone) await undo(other, run.names.rival);
}

/** Calls for one Transaction, until nothing is left to do for it. A Transaction may wait for a lock for so many calls. */
const mostCalls = 40;

async function toRest(run: Run, name: string): Promise<void> {
  for (let calls = 0; calls < mostCalls; calls += 1) if (await turn(run, name)) return;
}

async function undoBoth(run: Run, order: (typeof orders)[number]): Promise<void> {
  const { run: first, rival } = run.names;
  for (const name of order === 'first' ? [first, rival, first] : [rival, first, rival]) await undo(run, name);
}

async function undo(run: Run, name: string): Promise<void> {
  const status = ((await read(run, name)) as JsonObject | undefined)?.status as JsonObject | undefined;
  const [phase, isLeft] = [textAt(status, 'phase'), itemsOf(status).some(({ left }) => left === true)];
  if (phase !== 'Committed' && !(phase === 'Failed' && isLeft)) return;
  const annotation = phase === 'Committed' ? 'tx.janus.io/request-rollback' : 'tx.janus.io/retry-rollback';
  const value = `at ${run.board.hookCall}`;
  must(
    await run.world.controller.patch(pathOfTransaction(run.names, name), { metadata: { annotations: { [annotation]: value } } }),
  );
  await toRest(run, name);
}

/** What follows from a single end does not hold: the Transactions follow each other. */
const aboutOneEnd = /^I(1|4|6|7|9|14|15) /;

function allAsBefore(evidence: Evidence): readonly string[] {
  const ends = [...evidence.ends].flatMap(([name, status]) => {
    const [phase, message] = [textAt(status, 'phase'), textAt(status, 'message') ?? ''];
    // The rival sleeps until the first hook is frozen.
    const isUndone =
      phase === undefined || phase === 'RolledBack' || (phase === 'Failed' && message.startsWith('nothing was applied'));
    return isUndone ? [] : [`${name} ends as ${phase}: ${message}`];
  });
  const others = violations(evidence).filter((text) => !aboutOneEnd.test(text));
  return [...ends, ...allTargets(evidence).flatMap((target) => isAsBefore(evidence, target)), ...others];
}
