// What has gone wrong below an object, as the real controllers leave it and a stand-in for kubelets shows it.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { crashLooping, running, terminated, unready, waiting, warn } from '../../support/kubelet.ts';
import { canary, formsOf } from '../../threats/canaries.ts';
import { deployment, deployments, labels, nameOf, startScene, template, waitsFor, web } from './scene.ts';

t.test('the diagnosis names the Pod, its container, the reason and the Events if an image cannot be pulled', async (t) => {
  const scene = await startScene(t);
  scene.kubelet.play('app=web', waiting('ImagePullBackOff', 'Back-off pulling image "registry.example/app:1"'));
  await scene.create(deployments, deployment());
  const [pod] = await scene.pods(waitsFor('ImagePullBackOff'));
  await warn(scene.client, pod, 'Failed', 'Error: ErrImagePull');
  const expected = `Pod ${nameOf(pod)}: container app is waiting (ImagePullBackOff): Back-off pulling image "registry.example/app:1".`;
  t.equal(await scene.diagnose(web), `${expected} Last Warning Events: Pod (Failed): Error: ErrImagePull.`);
});

t.test('the diagnosis ignores Pods of an earlier ReplicaSet', async (t) => {
  const scene = await startScene(t);
  scene.kubelet.play('app=web', waiting('ErrImagePull'));
  await scene.create(deployments, deployment());
  const [old] = await scene.pods(waitsFor('ErrImagePull'));
  scene.kubelet.play('release=two', unready);
  await scene.patch(web, { spec: { template: { metadata: { labels: { ...labels, release: 'two' } } } } });
  const [young] = await scene.pods((pod) => textAt(pod, 'status', 'phase') === 'Running');
  t.ok(
    (await scene.list('pods')).some((pod) => nameOf(pod) === nameOf(old)),
    'the earlier one is still there',
  );
  t.equal(await scene.diagnose(web), `Pod ${nameOf(young)}: container app is not ready (ContainersNotReady).`);
});

t.test('the diagnosis quotes the ReplicaSet and the Events if a quota admits no Pod', async (t) => {
  const scene = await startScene(t);
  await scene.create('resourcequotas', { metadata: { name: 'none' }, spec: { hard: { pods: '0' } } });
  await scene.create(deployments, deployment());
  await scene.reaches(web, 'ReplicaFailure');
  const words = await scene.diagnose(web);
  t.match(words, /^ReplicaSet web-\w+: ReplicaFailure=True \(FailedCreate\): pods "web-\S+" is forbidden: exceeded quota: none/);
  t.match(words, /There is no Pod\. Last Warning Events: ReplicaSet \(FailedCreate\): Error creating: /);
  const sealed = await scene.diagnose(web, { sealed: true });
  t.equal(
    sealed,
    'ReplicaSet: ReplicaFailure=True (FailedCreate). There is no Pod. Last Warning Events: ReplicaSet (FailedCreate).',
  );
});

t.test('the diagnosis reports a rollout that exceeds its deadline', async (t) => {
  const scene = await startScene(t);
  await scene.create(deployments, deployment({ progressDeadlineSeconds: 1 }));
  await scene.reaches(web, 'Progressing', 'ProgressDeadlineExceeded');
  const [pod] = await scene.pods(() => true);
  t.equal(await scene.diagnose(web), `Pod ${nameOf(pod)} is not ready. Progressing=False (ProgressDeadlineExceeded).`);
});

t.test('the diagnosis reports a crash loop until the container recovers', async (t) => {
  const scene = await startScene(t);
  scene.kubelet.play('app=web', crashLooping(3));
  await scene.create(deployments, deployment());
  const [pod] = await scene.pods(waitsFor('CrashLoopBackOff'));
  const words = `Pod ${nameOf(pod)}: container app is waiting (CrashLoopBackOff), ended before with exit code 3 (Error).`;
  t.equal(await scene.diagnose(web), words);
  scene.kubelet.play('app=web', running);
  await scene.reaches(web, 'Progressing', 'NewReplicaSetAvailable');
  t.equal(await scene.diagnose(web), '', 'nothing is amiss any more');
});

const jobs = 'batch/v1/jobs';

function job(spec: JsonObject = {}): JsonObject {
  const base = { backoffLimit: 0, template: template({ restartPolicy: 'Never' }) };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'migrate' }, spec: { ...base, ...spec } };
}

t.test('the diagnosis reports how the Pod of a failed Job ended, but not its output', async (t) => {
  const scene = await startScene(t);
  const printed = canary();
  scene.kubelet.play('app=web', terminated(42, printed));
  await scene.create(jobs, job());
  await scene.reaches(`${jobs}/migrate`, 'Failed');
  const [pod] = await scene.pods(() => true);
  const words = await scene.diagnose(`${jobs}/migrate`);
  t.match(words, `Pod ${nameOf(pod)}: container app ended with exit code 42 (Error). Failed=True (BackoffLimitExceeded).`);
  t.match(words, 'Last Warning Events: Job (BackoffLimitExceeded): ');
  t.notOk(formsOf(printed).some((form) => words.includes(form)));
});

t.test('the diagnosis of a Job that completes is empty', async (t) => {
  const scene = await startScene(t);
  scene.kubelet.play('app=web', terminated(0));
  await scene.create(jobs, job());
  await scene.reaches(`${jobs}/migrate`, 'Complete');
  t.equal(await scene.diagnose(`${jobs}/migrate`), '');
});

const selector = {
  matchExpressions: [
    { key: 'app', operator: 'In', values: ['web', 'api'] },
    { key: 'tier', operator: 'NotIn', values: ['back'] },
    { key: 'app', operator: 'Exists' },
    { key: 'absent', operator: 'DoesNotExist' },
  ],
};

t.test('the diagnosis covers a StatefulSet, a ReplicaSet and a single Pod', async (t) => {
  const scene = await startScene(t);
  scene.kubelet.play('app=web', waiting('ErrImageNeverPull'));
  const spec = { replicas: 1, selector, template: template() };
  await scene.create('apps/v1/statefulsets', { metadata: { name: 'db' }, spec: { ...spec, serviceName: 'db' } });
  await scene.create('apps/v1/replicasets', { metadata: { name: 'bare' }, spec });
  await scene.create('pods', { metadata: { name: 'alone' }, spec: at(template(), 'spec') ?? {} });
  const pods = await scene.pods(waitsFor('ErrImageNeverPull'), 2);
  const ofSet = pods.map(nameOf).find((name) => name.startsWith('bare-'));
  const words = (name: string): string => `Pod ${name}: container app is waiting (ErrImageNeverPull).`;
  t.equal(await scene.diagnose('apps/v1/statefulsets/db'), words('db-0'));
  t.equal(await scene.diagnose('apps/v1/replicasets/bare'), words(ofSet ?? ''));
  t.equal(await scene.diagnose('pods/alone'), 'Pod alone is not ready.');
});

t.test('the diagnosis reports the Events of other kinds', async (t) => {
  const scene = await startScene(t);
  await scene.create('persistentvolumeclaims', {
    metadata: { name: 'data' },
    spec: { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } } },
  });
  await warn(scene.client, await scene.read('persistentvolumeclaims/data'), 'ProvisioningFailed', 'no such class');
  const words = 'Last Warning Events: PersistentVolumeClaim (ProvisioningFailed): no such class.';
  t.equal(await scene.diagnose('persistentvolumeclaims/data'), words);
});
