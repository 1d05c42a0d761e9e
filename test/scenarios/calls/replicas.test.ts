// Several replicas that are called in turn, and processes that live for one call only: no undo waits where every answer was stored,
// and what has been waited for once is not waited for again.
import t, { type Test } from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { type Engines, openEngines } from '../../support/engine.ts';
import { conditionOf, type Stage, startStage } from '../../support/stage.ts';
import { type Stepped, step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const green = { data: { color: 'green' } };
const request = { 'tx.janus.io/request-rollback': 'yes' };

/** By what an undo begins: each gets the names of three objects, the second and the third of which are there. */
interface Beginning {
  readonly title: string;
  readonly changes: (names: readonly [string, string, string]) => readonly JsonObject[];
  /** Steps until the undo is due. */
  readonly bring: (turn: Turn, name: string, targets: readonly string[]) => Promise<unknown>;
}

const usual: Beginning['changes'] = ([made, patched, removed]) => [
  change('Create', made, green),
  change('Patch', patched, green),
  change('Delete', removed),
];

const beginnings: readonly Beginning[] = [
  {
    title: 'a request after the end',
    changes: usual,
    bring: async (turn, name) => {
      await until(turn, name, ({ status }) => conditionOf(status, 'Finished') === 'True');
      await turn.stage.annotate(name, request);
    },
  },
  {
    title: 'a request on the way',
    changes: usual,
    bring: async (turn, name) => {
      await until(turn, name, ({ status }) => textAt(status, 'progress') === '1/3');
      await turn.stage.annotate(name, request);
    },
  },
  {
    title: 'a request before a Create',
    changes: ([made, patched, removed]) => [
      change('Patch', patched, green),
      change('Create', made, green),
      change('Delete', removed),
    ],
    bring: async (turn, name) => {
      await until(turn, name, ({ status }) => textAt(status, 'progress') === '1/3');
      await turn.stage.annotate(name, request);
    },
  },
  {
    title: 'a refusal',
    changes: ([made, patched, removed]) => [
      change('Create', made, green),
      change('Patch', patched, green),
      change('Delete', removed),
    ],
    bring: async (turn, name, [, , removed = '']) => {
      await until(turn, name, ({ status }) => textAt(status, 'progress') === '1/3');
      await turn.stage.client.patch(turn.stage.path(`configmaps/${removed}`), { data: { theirs: 'yes' } });
      await until(turn, name, ({ phase }) => phase === 'RollingBack');
    },
  },
];

/** Which engine takes the next step. */
interface Turn {
  readonly stage: Stage;
  readonly next: () => Stage;
}

function inTurn(stage: Stage, engines: Engines, replicas: number): Turn {
  const all = Array.from({ length: replicas }, () => engines.start());
  let calls = 0;
  return {
    stage,
    next: () => {
      calls += 1;
      return all[calls % replicas] ?? stage;
    },
  };
}

async function until(turn: Turn, name: string, isThere: (now: Stepped) => boolean): Promise<readonly Stepped[]> {
  const seen: Stepped[] = [];
  for (let steps = 0; steps < 60; steps += 1) {
    const now = await step(turn.next(), name);
    seen.push(now);
    if (isThere(now)) return seen;
  }
  throw new Error(`no end after 60 steps: ${JSON.stringify(seen.at(-1)?.status)}`);
}

t.test('an undo by replicas in turn waits no longer than an undo by one process', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage);
  for (const [index, beginning] of beginnings.entries()) {
    await t.test(beginning.title, async (t) => {
      const steps: number[] = [];
      for (const replicas of [1, 2, 3])
        steps.push(await undo(t, inTurn(stage, engines, replicas), beginning, `${index}-${replicas}`));
      t.comment(`calls with 1, 2 and 3 replicas: ${steps.join(', ')}`);
      t.ok(
        steps.every((count) => count <= (steps[0] ?? 0)),
        `no more calls than one replica takes: ${steps.join(', ')}`,
      );
    });
  }
});

/** How many calls the undo takes; none of them may wait. */
async function undo(t: Test, turn: Turn, { changes, bring }: Beginning, name: string): Promise<number> {
  const targets = [`made-${name}`, `patched-${name}`, `removed-${name}`] as const;
  await createConfigMaps(turn.stage, targets.slice(1));
  const paths = targets.map((target) => turn.stage.path(`configmaps/${target}`));
  await turn.stage.transaction(`tx-${name}`, changes(targets));
  await bring(turn, `tx-${name}`, targets);
  const seen = await until(
    turn,
    `tx-${name}`,
    ({ status }) => textAt(status, 'phase') !== 'Committed' && conditionOf(status, 'Finished') === 'True',
  );
  t.match(seen.at(-1), { phase: 'RolledBack' });
  const waits = seen.filter(({ resyncAfterSeconds }) => resyncAfterSeconds >= 0.1).map(({ status }) => textAt(status, 'message'));
  t.same(waits, [], 'no call waits');
  const [made] = await portraits(turn.stage.client, paths, true);
  t.equal(made, undefined, 'what was created is gone');
  return seen.length;
}

class Crash extends Error {
  override message = 'died';
}

t.test('the engine stores its wait: processes that live for only one call finish the Transaction', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage, { stepDeadline: 2_000, writeTimeout: 2_000 });
  const dying = (cluster: Cluster): Cluster => ({
    ...cluster,
    send: async (write) => {
      const answer = await cluster.send(write);
      if (write.identity.kind === 'serviceAccount') throw new Crash();
      return answer;
    },
  });
  await createConfigMaps(stage, ['patched']);
  const before = await portraits(stage.client, [stage.path('configmaps/patched')]);
  await stage.transaction('restarts', [change('Patch', 'patched', green), change('Create', 'made', green)]);
  await stepUntil(stage, 'restarts', 'Committing');
  await t.rejects(step(engines.start({ wrap: dying }), 'restarts'), { message: 'died' }, 'it dies with a request on its way');
  await stage.annotate('restarts', request);

  const observed = new Set<string>();
  let patchedBack = false;
  for (;;) {
    const now = await step(engines.start(), 'restarts');
    observed.add(textAt(now.status, 'rollbackObservedAt') ?? '');
    if (now.phase === 'RollingBack') patchedBack ||= textAt(now.status, 'progress') === '0/2';
    if (conditionOf(now.status, 'Finished') === 'True') break;
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
  t.equal([...observed].filter((time) => time !== '').length, 1, 'since when is stored once, however many processes wait');
  t.match((await stepToEnd(engines.start(), 'restarts')).status, { phase: 'RolledBack' });
  t.same(await portraits(stage.client, [stage.path('configmaps/patched')]), before, 'content and owners are as before');
  t.equal((await stage.client.get(stage.path('configmaps/made'))).code, 404);
  t.ok(patchedBack, 'the change before it was undone meanwhile');
});
