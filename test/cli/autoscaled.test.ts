// An app whose number of replicas an autoscaler has, by the command line, as a pipeline works: apply, plan, diff, apply again, undo, and
// back over several releases. The real HorizontalPodAutoscaler controller scales, so the control plane is of its own: it has no metrics,
// and raises the number to the minimum of the autoscaler. Writers of status are busy all the while.
import t from 'tap';
import { managersOf } from '../../hooks/objects/content/fields.ts';
import { at, type JsonObject, listAt, textAt } from '../../hooks/objects/json.ts';
import { busyStatus } from '../support/busy-status.ts';
import { openCli } from '../support/cli.ts';
import { must, waitFor } from '../support/client.ts';
import { ownControlPlane } from '../support/own-control-plane.ts';
import { account, startStage } from '../support/stage.ts';

const plane = await ownControlPlane(t, { allControllers: true });
const busy = busyStatus();
const stage = await startStage(t, { wrap: busy.wrap });
const { client, path } = stage;
t.teardown(() => busy.begin(client, 0));
const cli = await openCli(t, plane.kubeconfig);
const where = ['-n', stage.namespace];
const [[key = '', value = '']] = Object.entries(stage.label) as [[string, string]];
const place = path('apps/v1/deployments/api');

const labels = { app: 'api' };
const manifests = (tag: string): readonly JsonObject[] => [
  {
    ...{ apiVersion: 'policy/v1', kind: 'PodDisruptionBudget', metadata: { name: 'api' } },
    spec: { minAvailable: 1, selector: { matchLabels: labels } },
  },
  {
    ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'api' } },
    spec: {
      ...{ replicas: 2, selector: { matchLabels: labels } },
      template: { metadata: { labels }, spec: { containers: [{ name: 'c', image: `reg.example/api:${tag}` }] } },
    },
  },
  {
    ...{ apiVersion: 'autoscaling/v2', kind: 'HorizontalPodAutoscaler', metadata: { name: 'api' } },
    spec: { scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'api' }, minReplicas: 3, maxReplicas: 6 },
  },
];
const common = [...where, '--service-account', account, '--field-manager', 'shop', '--no-gate'];
const given = (tag: string) => ({ input: JSON.stringify({ apiVersion: 'v1', kind: 'List', items: manifests(tag) }) });
const apply = (name: string, tag: string) =>
  cli.run(['apply', '-f', '-', 'shop', ...common, '--label', `${key}=${value}`, '--name', name, '--wait'], given(tag));
const undo = (...words: readonly string[]) => cli.run(['undo', ...words, ...where, '--yes', '--wait']);

async function seen(): Promise<JsonObject> {
  const found = must(await client.get(place));
  const [container] = listAt(found, 'spec', 'template', 'spec', 'containers');
  return { replicas: at(found, 'spec', 'replicas') ?? 0, image: textAt(container, 'image') ?? '' };
}

/** As the controller of the autoscaler does. */
async function scaleTo(replicas: number): Promise<void> {
  must(await client.patch(`${place}/scale`, { spec: { replicas } }, 'merge', { fieldManager: 'kube-controller-manager' }));
}

await t.test('the autoscaler scales what a first release has made', async (t) => {
  const made = await apply('r1', '1.1');
  t.equal(made.code, 0, made.out + made.err);
  await waitFor(async () => (await seen()).replicas === 3, 'the autoscaler to raise the number to its minimum');
  const scalers = managersOf(must(await client.get(place))).filter(({ subresource }) => subresource === 'scale');
  t.match(scalers, [{ name: 'kube-controller-manager' }]);
});

await t.test('plan and apply keep its number, and say so', async (t) => {
  const note = /spec\.replicas stays 3: HorizontalPodAutoscaler \S+\/api scales it, content says 2/;
  const planned = await cli.run(['plan', '-f', '-', 'shop', ...common], given('1.2'));
  t.match(planned, { code: 1, out: note }, planned.out + planned.err);
  t.notMatch(planned.out, /scales it again/);
  busy.begin(client, 5);
  const made = await apply('r2', '1.2');
  t.equal(made.code, 0, made.out + made.err);
  t.match(await seen(), { replicas: 3, image: 'reg.example/api:1.2' });
  t.match(listAt(await stage.read('r2'), 'status', 'items')[1], { note });
});

await t.test('diff finds no drift, and a second apply nothing to do', async (t) => {
  await scaleTo(5);
  const compared = await cli.run(['diff', 'r2', ...where]);
  t.equal(compared.code, 0, compared.out + compared.err);
  const again = await apply('r2', '1.2');
  t.match(again, { code: 0, out: /r2 unchanged/ }, again.out + again.err);
});

await t.test('undo restores the image, leaves the number, and names it', async (t) => {
  busy.begin(client, 5);
  const undone = await undo('r2');
  t.match(undone, { code: 0, out: /spec\.replicas stays 5 \(scaled by kube-controller-manager\)/ }, undone.out + undone.err);
  t.match(await seen(), { replicas: 5, image: 'reg.example/api:1.1' });
});

await t.test('back over several releases in one call', async (t) => {
  for (const tag of ['2', '3', '4']) {
    busy.begin(client, 5);
    const made = await apply(`s${tag}`, tag);
    t.equal(made.code, 0, made.out + made.err);
    await scaleTo(tag === '3' ? 4 : 6);
  }
  busy.begin(client, 5);
  const undone = await undo('--to', 'r1', '--no-gate');
  t.equal(undone.code, 0, undone.out + undone.err);
  t.match(await seen(), { replicas: 6, image: 'reg.example/api:1.1' });
});
