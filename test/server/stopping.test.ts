// SIGTERM in the middle of a change: the hook as a process, with the API server keeping the write of a target waiting.
import t from 'tap';
import { textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { get, hookEnvironment, post, ready, startHookProcess } from '../support/hook-process.ts';
import { engineNamespace, readManifest } from '../support/install.ts';
import { startSlowAdmission } from '../support/slow-admission.ts';
import { startStage } from '../support/stage.ts';
import { stepUntil, storeStatus } from '../support/stepping.ts';
import { change, createConfigMaps } from '../support/targets.ts';

const stage = await startStage(t, { withoutLoop: true });
const { client } = stage;
const start = () => startHookProcess(t, hookEnvironment(t, stage.engineKubeconfig, engineNamespace));

t.test('the hook finishes its current change and refers other calls to another replica, which goes on', async (t) => {
  const admission = await startSlowAdmission(stage, t);
  await createConfigMaps(stage, ['a', 'b']);
  await stage.transaction(
    'stopped',
    ['a', 'b'].map((name) => change('Patch', name, { data: { color: 'green' } })),
  );
  await stepUntil(stage, 'stopped', 'Prepared');
  const [leaving, staying] = [start(), start()];
  const [left, right] = await Promise.all([leaving, staying].map(async (hook) => ready(await hook.address())));
  const bodyOf = async () => ({
    controller: {},
    parent: await stage.read('stopped'),
    children: {},
    related: {},
    finalizing: false,
  });

  const held = admission.hold('a');
  const inHand = post(`${left}/sync`, await bodyOf());
  await held.arrived;
  leaving.process.kill('SIGTERM');
  await waitFor(() => leaving.output().includes('draining'), 'the hook to shut down');
  t.match(await get(`${left}/readyz`), { code: 503, text: /shutting down/ });
  t.equal((await get(`${left}/healthz`)).code, 200, 'or kubelet would kill it');
  const late = await post(`${left}/sync`, await bodyOf());
  t.match(late, { statusCode: 429, headers: { 'retry-after': '1', connection: 'close' } });
  await late.body.dump();
  t.equal(
    (await post(`${left}/sync`, '{}', { 'content-type': 'application/json' })).statusCode,
    401,
    'callers without a token get no such answer',
  );
  t.equal(leaving.process.exitCode, null, 'it waits for the write');

  held.release();
  const answer = await inHand;
  t.equal(answer.statusCode, 200);
  must(await storeStatus(stage, 'stopped', (await answer.body.json()) as never));
  t.equal(await leaving.ended, 0);
  t.match(leaving.output(), /"msg":"shut down"/);
  const version = textAt(must(await client.get(stage.path('configmaps/a'))), 'metadata', 'resourceVersion');

  for (let phase = ''; phase !== 'Committed'; ) {
    const next = await post(`${right}/sync`, await bodyOf());
    phase = textAt(must(await storeStatus(stage, 'stopped', (await next.body.json()) as never)), 'status', 'phase') ?? '';
  }
  t.equal(textAt(must(await client.get(stage.path('configmaps/a'))), 'metadata', 'resourceVersion'), version, 'written once');
  t.match(must(await client.get(stage.path('configmaps/b'))), { data: { color: 'green' } });
  staying.process.kill('SIGTERM');
  t.equal(await staying.ended, 0);
});

t.test('the Deployment leaves the hook time to stop, and the Service time to remove it', async (t) => {
  const [deployment] = await readManifest('deployment.yaml');
  const [budget] = await readManifest('pod-disruption-budget.yaml');
  const { spec } = deployment as never as { spec: { replicas: number; template: { spec: PodSpec; metadata: object } } };
  const pod = spec.template.spec;
  const [drain, flush] = [35, 2];
  const sleep = pod.containers[0]?.lifecycle.preStop.sleep.seconds ?? 0;
  t.ok(sleep > 0 && sleep + drain + flush < pod.terminationGracePeriodSeconds);
  t.equal(spec.replicas, 2);
  t.match(budget, { spec: { maxUnavailable: 1, selector: { matchLabels: { 'app.kubernetes.io/name': 'janus' } } } });
  t.match(spec.template.metadata, { labels: { 'app.kubernetes.io/name': 'janus' } });
});

interface PodSpec {
  readonly terminationGracePeriodSeconds: number;
  readonly containers: readonly { readonly lifecycle: { readonly preStop: { readonly sleep: { readonly seconds: number } } } }[];
}
