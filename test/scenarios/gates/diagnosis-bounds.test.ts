// What a diagnosis may not read or may not repeat, and how much it reads at the most.
import t from 'tap';
import type { Cluster, Identity, ListOptions, Resource } from '../../../hooks/objects/cluster.ts';
import { clock } from '../../../server/clock.ts';
import { crashLooping, waiting, warn } from '../../support/kubelet.ts';
import { canary } from '../../threats/canaries.ts';
import { deployment, deployments, mayListReplicaSets, startScene, template, waitsFor, web } from './scene.ts';

t.test('the diagnosis names the objects that the ServiceAccount may not read, and why', async (t) => {
  const scene = await startScene(t, [mayListReplicaSets]);
  scene.kubelet.play('app=web', waiting('ImagePullBackOff'));
  await scene.create(deployments, deployment());
  await scene.pods(waitsFor('ImagePullBackOff'));
  t.equal(await scene.diagnose(web), 'Pods could not be read (Forbidden). Events could not be read (Forbidden).');
  const stranger: Identity = { kind: 'serviceAccount', namespace: scene.namespace, name: 'stranger' };
  const nothing = 'ReplicaSets and their Pods could not be read (Forbidden). Events could not be read (Forbidden).';
  t.equal(await scene.diagnose(web, { identity: stranger }), nothing);
});

t.test('the diagnosis contains no name, message or value of a sealed object', async (t) => {
  const scene = await startScene(t);
  const secret = canary();
  scene.kubelet.play('app=web', (pod, now) => ({ ...crashLooping(7, secret)(pod, now), message: secret }));
  scene.kubelet.play('release=two', waiting('ImagePullBackOff', secret));
  scene.kubelet.play('release=three', waiting(secret, secret));
  const container = { image: `registry.example/${secret}`, env: [{ name: 'TOKEN', value: secret }], name: secret };
  await scene.create(deployments, deployment({ template: template({ container, annotations: { note: secret } }) }));
  const [pod] = await scene.pods(waitsFor('CrashLoopBackOff'));
  await warn(scene.client, pod, 'BackOff', secret);
  await warn(scene.client, pod, secret, secret);
  const looping = await scene.diagnose(web, { sealed: true });
  t.match(looping, /^Pod: container is waiting \(CrashLoopBackOff\), ended before \(Error\)\. Last Warning Events: /);
  const release = (name: string) => scene.patch(web, { spec: { template: { metadata: { labels: { release: name } } } } });
  await release('two');
  await scene.pods(waitsFor('ImagePullBackOff'));
  const pulling = await scene.diagnose(web, { sealed: true });
  t.equal(pulling, 'Pod: container is waiting (ImagePullBackOff).');
  await release('three');
  await scene.pods(waitsFor(secret));
  const odd = await scene.diagnose(web, { sealed: true });
  t.equal(odd, 'Pod: container is waiting.', 'a reason is in CamelCase, or the diagnosis omits it');
  for (const words of [looping, pulling, odd]) t.notMatch(words, /canary/);
});

t.test('the diagnosis makes at most six requests, with bounded answers', async (t) => {
  const scene = await startScene(t);
  scene.kubelet.play('app=web', waiting('ImagePullBackOff'));
  // Five Pods of 240 kB are more than one answer may have.
  const large = template({ annotations: { padding: 'x'.repeat(240_000) } });
  await scene.create(deployments, deployment({ replicas: 5, template: large }));
  await scene.pods(waitsFor('ImagePullBackOff'), 5);
  const requests: string[] = [];
  const words = await scene.diagnose(web, { reader: noted(scene.cluster, requests) });
  t.match(words, /^Pod web-\S+: container app is waiting \(ImagePullBackOff\)\.$/);
  t.strictSame(requests, ['replicasets', 'pods', 'pods', 'events', 'events', 'events']);
});

function noted(reader: Cluster, requests: string[]): Cluster {
  const listMetadata = (resource: Resource, namespace: string | undefined, identity: Identity, options: ListOptions) => {
    requests.push(resource.plural);
    return reader.listMetadata(resource, namespace, identity, options);
  };
  return { ...reader, listMetadata };
}

t.test('the diagnosis does not wait for a missing answer, and sends nothing afterwards', async (t) => {
  const scene = await startScene(t);
  await scene.create(deployments, deployment());
  const requests: string[] = [];
  const silent = { ...scene.cluster, listMetadata: () => new Promise<never>(() => undefined) };
  const words = await scene.diagnose(web, { reader: noted(silent, requests), clock });
  const late = 'ReplicaSets and their Pods could not be read (DeadlineExceeded). Events could not be read (DeadlineExceeded).';
  t.equal(words, late);
  t.strictSame(requests, ['replicasets']);
});

t.test('an exception in the diagnosis does not reach its caller', async (t) => {
  const scene = await startScene(t);
  await scene.create(deployments, deployment());
  const broken = { ...scene.cluster, listMetadata: () => Promise.reject(new TypeError('unexpected')) };
  t.equal(await scene.diagnose(web, { reader: broken }), 'The diagnosis has broken off (TypeError).');
});
