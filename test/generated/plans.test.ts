// Generated plans on the real API server: each is made, then the engine commits with no other writer between. Both must reach one verdict,
// with equal reasons and messages, and equal states before and after; test/generated/plan-likeness.ts lists what they may differ
// in.
//
// `JANUS_PLANS=1000 npm test -- test/generated/plans.test.ts` makes a thousand. A failure prints its seed; with JANUS_TEST_SEED the same
// number of plans is made again, and the smallest case that fails is looked for.
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { createCallReads } from '../../hooks/transactions/reading/call-reads.ts';
import { clock } from '../../server/clock.ts';
import { createCluster } from '../../server/kubernetes/cluster.ts';
import { must } from '../support/client.ts';
import { openEngines, sealerOf } from '../support/engine.ts';
import { connectionOf } from '../support/kubeconfig.ts';
import { planParts } from '../support/planning.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { owners } from './arbitraries.ts';
import { reach } from './plan-reach.ts';
import { type Bench, planAndCommit } from './plan-run.ts';
import { accounts, drawn } from './planned.ts';
import { installWidgets } from './world.ts';

const inTheSuite = 70;
const plans = Number(process.env.JANUS_PLANS ?? inTheSuite);
const replayed = process.env.JANUS_TEST_SEED;
// The suite makes equal plans each time; a larger run makes new ones each time.
const seed = Number(replayed ?? (plans > inTheSuite ? Math.trunc(Math.random() * 2 ** 31) : 20_261_138));
const lanes = 4;

const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];
const rbac = '/apis/rbac.authorization.k8s.io/v1';

/** ServiceAccounts, each without some verbs. */
async function createAccounts({ client, namespace, path }: Stage, t: Test): Promise<void> {
  for (const [name, missing] of Object.entries(accounts)) {
    const own = `${namespace}-${name}`;
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: verbs.filter((verb) => !missing.some((one) => one === verb)) }];
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: own };
    const subjects = [{ kind: 'ServiceAccount', name, namespace }];
    must(await client.create(path('serviceaccounts'), { metadata: { name } }));
    must(await client.create(`${rbac}/clusterroles`, { metadata: { name: own }, rules }));
    must(await client.create(`${rbac}/clusterrolebindings`, { metadata: { name: own }, roleRef, subjects }));
    t.teardown(async () => {
      await client.delete(`${rbac}/clusterrolebindings/${own}`);
      await client.delete(`${rbac}/clusterroles/${own}`);
    });
  }
}

async function openBench(t: Test): Promise<Bench> {
  const stage = await startStage(t, { withoutLoop: true });
  await installWidgets(stage, t);
  await createAccounts(stage, t);
  await Promise.all(Object.keys(owners).map((name) => stage.client.create(stage.path('configmaps'), { metadata: { name } })));
  const engines = await openEngines(t, stage, { stepDeadline: 20_000, writeTimeout: 2_000, callBudget: 5_000, readAge: 1_000 });
  const own = createCluster(connectionOf(stage.engineKubeconfig), { writeTimeout: 10_000 });
  t.teardown(() => own.close());
  const callReads = createCallReads({ now: clock.monotonic, until: Number.POSITIVE_INFINITY, lists: new Map() });
  return {
    stage: engines.start(),
    parts: planParts(t, stage),
    source: { reader: own, packer: await sealerOf(own), callReads },
  };
}

t.test('plans', async (t) => {
  const bench = await openBench(t);
  const met: string[] = [];
  let made = 0;
  t.comment(`seed ${seed}`);
  t.jobs = lanes;
  const lane = (number: number): Promise<unknown> =>
    t.test(`lane ${number} of ${lanes}: JANUS_PLANS=${plans} JANUS_TEST_SEED=${seed}`, async (t) => {
      const property = fc.asyncProperty(drawn, async (one) => {
        made += 1;
        met.push(...(await planAndCommit(bench, one, `plan-${made}`)));
      });
      const settings = { seed: seed + number, numRuns: Math.ceil(plans / lanes), endOnFailure: replayed === undefined };
      const { failed, errorInstance, counterexample } = await fc.check(property, settings);
      t.notOk(failed, `${String(errorInstance ?? 'each is exact')}\n${JSON.stringify(counterexample ?? '')}`);
    });
  await Promise.all(Array.from({ length: lanes }, (_, number) => lane(number)));
  const times = reach.map((one) => [one, met.filter((other) => other === one).length] as const);
  t.comment(JSON.stringify(times));
  t.ok(made >= plans, `${made} plans`);
  const missed = times.flatMap(([one, count]) => (count === 0 ? [one] : []));
  t.same(plans < inTheSuite ? [] : missed, [], 'they have met all that there is');
});
