// A gate that fails before its timeout, because the containers of a new Pod do not start.
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import t, { type Test } from 'tap';
import type { Cluster } from '../../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { parseTime } from '../../../hooks/objects/time.ts';
import { waitFor } from '../../support/client.ts';
import { running, startKubelet, waiting } from '../../support/kubelet.ts';
import { itemsOf } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { gated, verdict } from './place.ts';
import { deployment, hasCondition, labels, template, web } from './scene.ts';

/** One address in front of hooks that answer calls in turn, like replicas behind a Service. */
async function inTurn(t: Test, urls: readonly string[]): Promise<string> {
  let calls = 0;
  const server = createServer(async (request, response) => {
    const url = urls[calls++ % urls.length];
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk as Buffer);
    const headers = { ...request.headers } as Record<string, string>;
    for (const name of ['host', 'connection', 'content-length', 'transfer-encoding']) delete headers[name];
    const answer = await fetch(`${url}${request.url}`, { method: 'POST', headers, body: Buffer.concat(chunks) });
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(await answer.text());
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  t.teardown(() => server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

/** A stage with a loop whose calls go to two hooks, and the lists of Pods that these make as a ServiceAccount. */
async function startReplicas(t: Test, rules?: readonly JsonObject[]) {
  const lists: string[] = [];
  const wrap = (cluster: Cluster): Cluster => ({
    ...cluster,
    listMetadata(resource, namespace, identity, options) {
      if (identity.kind === 'serviceAccount') lists.push(resource.plural);
      return cluster.listMetadata(resource, namespace, identity, options);
    },
  });
  const [first, second] = [await startStage(t, { withoutLoop: true, wrap }), await startStage(t, { withoutLoop: true, wrap })];
  const url = await inTurn(t, [first.hookUrl, second.hookUrl]);
  const stage = await startStage(t, { hooks: async () => url, ...(rules === undefined ? {} : { rules }) });
  return { stage, lists, kubelet: startKubelet(t, stage.client, stage.namespace) };
}

const next = {
  ...template({ container: { image: 'registry.example/app:none' } }),
  metadata: { labels: { ...labels, release: 'two' } },
};

/** The second release of the Deployment. */
const release = (gate: JsonObject) => gated('Patch', { ...deployment(), spec: { template: next } }, gate);

/** The first release, which runs. */
async function runFirst({ client, path }: Stage): Promise<void> {
  await client.create(path('apps/v1/deployments'), deployment(), { fieldManager: 'kubectl-create' });
  const isThere = async () => hasCondition((await client.get(path(web))).body, 'Progressing', 'NewReplicaSetAvailable');
  await waitFor(isThere, 'the first release to run');
}

const timeOf = (status: JsonObject, name: string): number => parseTime(textAt(status, name)) ?? Number.NaN;

t.test('a bad image under a gate of 5 minutes is undone in less than 40 s, although two hooks answer in turn', async (t) => {
  const { stage, lists, kubelet } = await startReplicas(t);
  kubelet.play('app=web', running);
  await runFirst(stage);
  const specOf = async () => at((await stage.client.get(stage.path(web))).body, 'spec');
  const before = await specOf();
  kubelet.play('release=two', waiting('ErrImagePull', 'manifest unknown'));
  await stage.transaction('bad', [release({ at: 'AtEnd', timeout: '5m' })]);
  const seen = async () => textAt(itemsOf(at(await stage.read('bad'), 'status') as JsonObject)[0], 'gate', 'pod', 'found');
  const found = await waitFor(seen, 'the Pod to be seen', { timeoutMs: 30_000 });
  t.match(found, /^Pod web-\S+: container app is waiting \(ErrImagePull\): manifest unknown$/);
  kubelet.play('release=two', waiting('ImagePullBackOff', 'Back-off pulling image'));
  const status = await stage.finished('bad', { timeoutMs: 60_000 });
  t.match(verdict(status, 0), {
    succeeded: { status: 'False', reason: 'GateFailed' },
    error: {
      message: /a container that has not started for \d\ds .*; Pod web-\S+: container app is waiting \(ImagePullBackOff\)/,
    },
  });
  const took = timeOf(status, 'completionTime') - timeOf(status, 'startTime');
  t.ok(took >= 20_000 && took < 40_000, `${took} ms`);
  // One every 10 s, one of the diagnosis, and at the first two times perhaps one of each hook.
  const pods = lists.filter((plural) => plural === 'pods').length;
  t.ok(pods >= 3 && pods <= 6, `${pods} lists of Pods`);
  t.same(await specOf(), before);
});
