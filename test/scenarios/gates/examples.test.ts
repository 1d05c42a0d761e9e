// The releases with gates of manifests/examples and examples/rollback, on the real controllers, with a stand-in for kubelets.
import t from 'tap';
import { at, isList, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { applyObject, readManifest } from '../../support/install.ts';
import { running, startKubelet, terminated, waiting } from '../../support/kubelet.ts';
import { itemsOf, portrait } from '../../support/round-trip.ts';
import { conditionOf, type Stage, startStage, statusOf } from '../../support/stage.ts';

const stage = await startStage(t);
const { client, namespace, path } = stage;
const kubelet = startKubelet(t, client, namespace);
const web = path('apps/v1/deployments/web-server');
const own = (text: string): string => text.replaceAll(/(?<=name(space)?: )shop\b/g, namespace);

async function release({ transaction }: Stage, file: string): Promise<string> {
  const [manifest = {}] = await readManifest(file, own);
  const [name, spec] = [textAt(manifest, 'metadata', 'name') ?? '', at(manifest, 'spec') as JsonObject];
  await transaction(name, at(spec, 'changes') as readonly JsonObject[], { spec });
  return name;
}

async function imageOf(): Promise<string | undefined> {
  const containers = at(must(await client.get(web)), 'spec', 'template', 'spec', 'containers');
  return isList(containers) ? textAt(containers[0], 'image') : undefined;
}

t.before(async () => {
  for (const object of await readManifest('examples/shop.yaml', own)) must(await applyObject(client, object));
  const deployer = client.asServiceAccount(namespace, 'deploy-sa');
  await waitFor(async () => (await deployer.get(path('pods'))).code === 200, 'the Role to be in force');
  const images: JsonObject = { 'nginx:1.29-no-such-tag': 'ImagePullBackOff' };
  kubelet.play('app=web-server', (pod, now) => {
    const [first] = at(pod, 'spec', 'containers') as readonly JsonObject[];
    const reason = textAt(images, textAt(first, 'image') ?? '');
    return (reason === undefined ? running : waiting(reason, 'Back-off pulling the image'))(pod, now);
  });
  const isUp = async (): Promise<boolean> => conditionOf(statusOf(must(await client.get(web))), 'Available') === 'True';
  await waitFor(isUp, 'the shop to be up');
});

t.test('release-7: the image waits for the migration, and the end waits for the Pods', async (t) => {
  const job = 'batch.kubernetes.io/job-name=migrate-7';
  kubelet.play(job, running);
  const name = await release(stage, 'examples/release-7.yaml');
  const found = async (): Promise<string | undefined> => textAt(itemsOf(statusOf(await stage.read(name)))[0], 'gate', 'found');
  await waitFor(async () => (await found())?.includes('runs'), 'the Job to be seen running');
  t.equal(await imageOf(), 'nginx:1.28');
  kubelet.play(job, terminated(0));
  t.match(await stage.finished(name), { phase: 'Committed', items: [{ gate: { passed: true } }, { gate: { passed: true } }] });
  t.equal(await imageOf(), 'nginx:1.29-alpine');
});

t.test('deploy-v4: the engine undoes a Deployment that does not become ready, and the status says why', async (t) => {
  const paths = [path('configmaps/app-config'), web];
  const look = () => Promise.all(paths.map((one) => portrait(stage, one)));
  const before = await look();
  const name = await release(stage, '../examples/rollback/deploy-v4.yaml');
  const status = await stage.finished(name);
  t.equal(textAt(status, 'phase'), 'RolledBack');
  const conditions = at(status, 'conditions') as readonly JsonObject[];
  const why = conditions.find((one) => textAt(one, 'type') === 'Succeeded');
  t.match(why, {
    reason: 'GateTimeout',
    message: /web-server did not become ready within 5s: .*Pod web-server-\S+: .*ImagePullBackOff/,
  });
  t.match(itemsOf(status)[1], { error: { reason: 'GateTimeout' } });
  const isAsBefore = async (): Promise<boolean> => JSON.stringify(await look()) === JSON.stringify(before);
  await waitFor(isAsBefore, 'the controller to have gone back').catch(() => undefined);
  t.same(await look(), before);
});
