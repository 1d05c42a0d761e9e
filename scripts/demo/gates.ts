// The fourth act: a release whose Pods do not become ready. The control plane has no nodes, so a stand-in acts as the kubelet.
import { at, isList, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Client, must, waitFor } from '../../test/support/client.ts';
import { running, startKubelet, waiting } from '../../test/support/kubelet.ts';
import { conditionOf } from '../../test/support/stage.ts';
import { changesOf, checkAsBefore, checkLocks, create, isInOrder, showChanges } from './acts.ts';
import type { Checks } from './checks.ts';
import { deployment, look } from './shop.ts';
import { explain, heading, literal, print, progress } from './terminal.ts';
import type { Undo } from './undo.ts';
import { watchTransaction } from './watch.ts';
import type { World } from './world.ts';

const deployV4 = '../examples/rollback/deploy-v4.yaml';
const missingImage = 'nginx:1.29-no-such-tag';

export async function upOrUndone(world: World, checks: Checks, undo: Undo): Promise<void> {
  const { client } = world;
  heading('4. Up, or undone');
  if (await hasNodes(client)) {
    explain(`Left out: it writes the status of Pods as a kubelet would, and this cluster has nodes, whose kubelets do. Try
      examples/rollback/deploy-v4.yaml there once the engine is installed.`);
    return;
  }
  explain(`Version 4 (examples/rollback/deploy-v4.yaml) names an image that does not exist. The API server accepts that, so both
    changes are applied. But the change of the Deployment has a gate: the engine waits until the Deployment is ready, for at most 5
    seconds. Then it undoes both changes, and reports why.`);
  print();
  literal(await changesOf(deployV4));
  print();
  await startPods(world, undo);
  const before = await look(client);
  const { status, phases } = await watchTransaction(world, await create(client, deployV4));
  print();
  showChanges(before, await look(client));
  print();
  const { reason, message } = whyNot(status);
  checks.that('deploy-v4 is RolledBack', textAt(status, 'phase') === 'RolledBack', status);
  checks.that(
    'both changes had been applied when the engine waited',
    isInOrder(phases, ['Committing', 'RollingBack', 'RolledBack']) &&
      textAt(status, 'message')?.startsWith('rolled back 2 changes') === true,
    [...phases, textAt(status, 'message')],
  );
  checks.that('its condition Succeeded is False, with the reason GateTimeout', reason === 'GateTimeout', reason);
  checks.that('its message names the Pod, and why it does not start', message.includes('ImagePullBackOff'), message);
  await checkAsBefore(checks, client, before);
  await checkLocks(checks, client);
}

/** Whether the cluster runs Pods. Then the demo must not act as the kubelet. */
async function hasNodes(client: Client): Promise<boolean> {
  return (await client.list('/api/v1/nodes', { limit: 1 })).items.length > 0;
}

/** From now on Pods run, except those with the missing image. */
async function startPods({ client }: World, undo: Undo): Promise<void> {
  const kubelet = startKubelet({ teardown: (stop) => undo.add(async () => stop()) }, client, 'shop');
  const missing = waiting('ImagePullBackOff', `Back-off pulling image "${missingImage}"`);
  kubelet.play('app=web-server', (pod, now) => (imageOfPod(pod) === missingImage ? missing : running)(pod, now));
  const isUp = async (): Promise<boolean> =>
    conditionOf(at(must(await client.get(deployment)), 'status') as JsonObject, 'Available') === 'True';
  await waitFor(isUp, 'the Deployment web-server to be available');
  progress('there are no nodes: from now on the demo writes the status of the Pods, as a kubelet would');
}

function imageOfPod(pod: JsonObject): string | undefined {
  return textAt(first(at(pod, 'spec', 'containers')), 'image');
}

function first(list: Json | undefined): Json | undefined {
  return isList(list) ? list[0] : undefined;
}

function whyNot(status: JsonObject): { readonly reason: string; readonly message: string } {
  const conditions = at(status, 'conditions');
  const succeeded = isList(conditions) ? conditions.find((one) => textAt(one, 'type') === 'Succeeded') : undefined;
  return { reason: textAt(succeeded, 'reason') ?? '', message: textAt(succeeded, 'message') ?? '' };
}
