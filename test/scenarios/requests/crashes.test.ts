// Requests survive a crash between any two calls: a run without one counts them, then the engine dies at each in turn, right
// after the API server has done what it was asked to, and another one goes on. The Transaction always ends, always in one way.
import t, { type Test } from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must } from '../../support/client.ts';
import { type Engines, openEngines } from '../../support/engine.ts';
import { partial } from '../../support/round-trip.ts';
import { everyNth } from '../../support/selection.ts';
import { conditionOf, type Stage, startStage, statusOf } from '../../support/stage.ts';
import { adopt, step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const green = { data: { color: 'green' } };
const request = { 'tx.janus.io/request-rollback': 'now' };
const retry = { 'tx.janus.io/retry-rollback': 'now' };
const automatic = { 'tx.janus.io/automatic-rollback': 'true' };

interface Request {
  readonly title: string;
  /** Brings the Transaction to where it is asked for, and asks. */
  readonly ask: (stage: Stage, name: string) => Promise<unknown>;
  readonly handled: Readonly<Record<string, string>>;
  readonly gone?: boolean;
}

const requests: readonly Request[] = [
  { title: 'request-rollback of a Committed one', handled: request, ask: askCommitted },
  { title: 'request-rollback of a running one', handled: request, ask: askRunning },
  { title: 'retry-rollback', handled: { ...request, ...retry }, ask: askAgain },
  { title: 'automatic-rollback', handled: {}, ask: askByDeletion, gone: true },
];

async function askCommitted(stage: Stage, name: string): Promise<void> {
  await stepToEnd(stage, name);
  await stage.annotate(name, request);
}

async function askRunning(stage: Stage, name: string): Promise<void> {
  await stepUntil(stage, name, 'Committing');
  await stage.annotate(name, request);
}

/** Somebody has changed what was changed, and has thought better of it. */
async function askAgain(stage: Stage, name: string): Promise<void> {
  const path = stage.path(`configmaps/${name}-0`);
  const paint = async (color: string): Promise<unknown> => must(await stage.client.patch(path, { data: { color } }));
  await stepToEnd(stage, name);
  await paint('violet');
  await stage.annotate(name, { ...request, ...partial });
  await stepUntil(stage, name, 'Failed');
  await stepToEnd(stage, name);
  await paint('blue');
  await stage.annotate(name, retry);
}

async function askByDeletion(stage: Stage, name: string): Promise<void> {
  await adopt(stage, name);
  await stepUntil(stage, name, 'Committing');
  await stage.annotate(name, automatic);
  must(await stage.client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${name}`));
}

class Crash extends Error {}

interface Faulty {
  readonly wrap: (cluster: Cluster) => Cluster;
  readonly writes: () => number;
}

/** Dies when the API server has done the write of that number. */
function dyingAfter(number: number): Faulty {
  let writes = 0;
  return {
    writes: () => writes,
    wrap: (cluster) => ({
      ...cluster,
      send: async (write) => {
        const answer = await cluster.send(write);
        writes += 1;
        if (writes === number) throw new Crash(`after write ${number}`);
        return answer;
      },
    }),
  };
}

interface Run {
  readonly engines: Engines;
  readonly stage: Stage;
  readonly request: Request;
  readonly name: string;
  /** Which write it dies after; or after which call it dies, before its answer is stored. */
  readonly dies: { readonly write?: number; readonly call?: number };
}

/** A guard against an endless loop. A call on a busy machine may end by its deadline before it has done anything. */
const mostCalls = 400;

/** Gives how many writes and calls the request took. */
async function drive(run: Run): Promise<{ readonly writes: number; readonly calls: number }> {
  const { engines, name, dies } = run;
  const faulty = dyingAfter(dies.write ?? 0);
  let engine = engines.start({ wrap: faulty.wrap });
  for (let calls = 0; calls < mostCalls; calls += 1) {
    if (await isOver(run)) return { writes: faulty.writes(), calls };
    const survived = calls + 1 === dies.call ? await engine.call(name).then(() => false) : await survives(engine, name);
    if (!survived) engine = engines.start();
  }
  throw new Error(`no end after ${mostCalls} calls: ${JSON.stringify(statusOf(await run.stage.read(name)))}`);
}

/** One step, and the pause that it asks for. */
async function survives(engine: Stage, name: string): Promise<boolean> {
  try {
    const { resyncAfterSeconds } = await step(engine, name);
    await new Promise((resolve) => setTimeout(resolve, 1000 * Math.min(1, resyncAfterSeconds)));
    return true;
  } catch (error) {
    if (error instanceof Crash) return false;
    throw error;
  }
}

async function isOver({ stage, name, request: { handled, gone } }: Run): Promise<boolean> {
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${name}`;
  const answer = await stage.client.get(path);
  if (answer.code === 404 || gone === true) return answer.code === 404;
  const status = statusOf(must(answer));
  const isHandled = Object.entries(handled).every(([key, value]) => textAt(status, 'handledAnnotations', key) === value);
  return isHandled && conditionOf(status, 'Finished') === 'True';
}

t.test('another process finishes a Transaction after a crash', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const engines = await openEngines(t, stage, { stepDeadline: 2_000, writeTimeout: 1_500 });
  t.jobs = requests.length;
  await Promise.all(
    requests.map((request, index) => t.test(request.title, (t) => everywhere(t, { engines, stage, request }, index))),
  );
  t.same(await stage.leases(), [], 'no lock is left');
});

async function everywhere(t: Test, parts: Omit<Run, 'name' | 'dies'>, index: number): Promise<void> {
  const whole = await runOnce(t, { ...parts, name: `whole-${index}`, dies: {} });
  t.comment(`${whole.writes} writes in ${whole.calls} calls`);
  t.ok(whole.writes > 3 && whole.calls > 2, 'there is something to die after');
  const runs = [
    ...numbers(whole.writes).map((write) => ({ name: `write-${index}-${write}`, dies: { write } })),
    ...numbers(whole.calls).map((call) => ({ name: `call-${index}-${call}`, dies: { call } })),
  ];
  await Promise.all(everyNth(2, runs).map((run) => runOnce(t, { ...parts, ...run })));
}

function numbers(most: number): readonly number[] {
  return Array.from({ length: most }, (_, index) => index + 1);
}

async function runOnce(t: Test, run: Run): ReturnType<typeof drive> {
  const { stage, name, request } = run;
  const targets = [`${name}-0`, `${name}-1`];
  await createConfigMaps(stage, targets.slice(0, 1));
  const paths = targets.map((target) => stage.path(`configmaps/${target}`));
  const before = await portraits(stage.client, paths);
  await stage.transaction(name, [change('Patch', targets[0] ?? '', green), change('Create', targets[1] ?? '', green)]);
  await request.ask(stage, name);
  const taken = await drive(run);
  const status = request.gone === true ? {} : statusOf(await stage.read(name));
  const where = JSON.stringify(run.dies);
  t.same(withoutPainter(await portraits(stage.client, paths)), withoutPainter(before), `all is as before: ${where}`);
  if (request.gone !== true) t.match(status, { phase: 'RolledBack' }, `rolled back: ${where}`);
  return taken;
}

/** The person who painted it owns the color. */
function withoutPainter(shown: readonly unknown[]): unknown {
  return shown.map((one) => (one === undefined ? undefined : { ...(one as JsonObject), managedFields: undefined }));
}
