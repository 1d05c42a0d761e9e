// Gates of Deployments and Jobs: Kubernetes' own controllers act, a stand-in for kubelets writes the status of the Pods.
import t from 'tap';
import { type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { crashLooping, running, terminated, waiting } from '../../support/kubelet.ts';
import { itemsOf, portrait } from '../../support/round-trip.ts';
import { step, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';
import { gated, openPlace, type Place, verdict } from './place.ts';
import { deployment, deployments, labels, template, waitsFor, web } from './scene.ts';

const settings = 'configmaps/settings';
const job = 'batch/v1/jobs/migrate';

const badImage = {
  ...template({ container: { image: 'registry.example/app:none' } }),
  metadata: { labels: { ...labels, release: 'two' } },
};

function migration(): JsonObject {
  const spec = { backoffLimit: 0, template: template({ restartPolicy: 'Never' }) };
  return { apiVersion: 'batch/v1', kind: 'Job', metadata: { name: 'migrate' }, spec };
}

const behind = change('Create', 'behind', { data: { made: 'yes' } });

/** The Deployment runs, and there is a ConfigMap besides. */
async function release({ kubelet, make, reaches }: Place): Promise<void> {
  kubelet.play('app=web', running);
  await make(settings, { metadata: { name: 'settings' }, data: { color: 'blue' } });
  await make(web, deployment());
  await reaches(web, 'Progressing', 'NewReplicaSetAvailable');
}

t.test('a gate passes when its Deployment becomes ready', async (t) => {
  const place = await openPlace(t);
  const { stage, kubelet, reaches, isThere, opens } = place;
  await stage.transaction('up', [gated('Create', deployment()), behind]);
  t.match(itemsOf((await opens('up', 0)).status), [{ state: 'Applied' }, { state: 'Prepared' }]);
  await step(stage, 'up');
  t.notOk(await isThere('configmaps/behind'));
  kubelet.play('app=web', running);
  await reaches(web, 'Progressing', 'NewReplicaSetAvailable');
  const { phase, status } = await stepToEnd(stage, 'up');
  t.equal(phase, 'Committed');
  t.match(itemsOf(status)[0], { gate: { passed: true } });
  t.ok(await isThere('configmaps/behind'));
});

/** A release with an image that cannot be pulled, up to its end. */
async function pullInVain(place: Place): Promise<{ readonly pod: string; readonly status: JsonObject }> {
  const { stage, kubelet, opens, pod } = place;
  kubelet.play('release=two', waiting('ImagePullBackOff', 'Back-off pulling image'));
  const patch = { ...deployment(), spec: { template: badImage } };
  const changes = [change('Patch', 'settings', { data: { color: 'green' } }), gated('Patch', patch, { timeout: '1s' }), behind];
  await stage.transaction('bad', changes);
  await opens('bad', 1);
  const name = await pod(waitsFor('ImagePullBackOff'));
  return { pod: name, status: (await stepUntil(stage, 'bad', 'RollingBack')).status };
}

t.test('the engine restores all objects if an image cannot be pulled, and says why', async (t) => {
  const place = await openPlace(t);
  const { stage, isThere } = place;
  await release(place);
  const paths = [stage.path(settings), stage.path(web)];
  const before = await Promise.all(paths.map((path) => portrait(stage, path)));
  const { pod, status } = await pullInVain(place);
  const message = new RegExp(`did not become ready within 1s: .*Pod ${pod}: container app is waiting \\(ImagePullBackOff\\)`);
  t.match(verdict(status, 1), {
    succeeded: { status: 'False', reason: 'GateTimeout', message },
    error: { reason: 'GateTimeout', message },
  });
  const end = await stepToEnd(stage, 'bad');
  t.equal(end.phase, 'RolledBack');
  t.match(verdict(end.status, 1), { succeeded: { status: 'False', reason: 'GateTimeout', message } });
  t.same(await Promise.all(paths.map((path) => portrait(stage, path))), before);
  t.notOk(await isThere('configmaps/behind'));
});

t.test('the engine rolls back without rights on Pods and Events, and the message names the unreadable objects', async (t) => {
  const verbs = ['get', 'create', 'update', 'patch', 'delete'];
  const place = await openPlace(t, [
    { apiGroups: ['apps'], resources: ['deployments', 'replicasets'], verbs: [...verbs, 'list'] },
    { apiGroups: [''], resources: ['configmaps'], verbs },
  ]);
  const { stage } = place;
  await release(place);
  const paths = [stage.path(settings), stage.path(web)];
  const before = await Promise.all(paths.map((path) => portrait(stage, path)));
  const { status } = await pullInVain(place);
  const message = /Pods could not be read \(Forbidden\)\. Events could not be read \(Forbidden\)\./;
  t.match(verdict(status, 1), { succeeded: { reason: 'GateTimeout', message }, error: { message } });
  t.match(await stepToEnd(stage, 'bad'), { phase: 'RolledBack' });
  t.same(await Promise.all(paths.map((path) => portrait(stage, path))), before);
});

t.test('a rollout that exceeds its deadline fails long before the gate times out', async (t) => {
  const { stage, kubelet, opens, pod, reaches, isThere } = await openPlace(t);
  kubelet.play('app=web', waiting('ErrImagePull'));
  await stage.transaction('slow', [gated('Create', deployment({ progressDeadlineSeconds: 5 }), { timeout: '1h' })]);
  await opens('slow', 0);
  const name = await pod(waitsFor('ErrImagePull'));
  await reaches(web, 'Progressing', 'ProgressDeadlineExceeded');
  const { phase, status } = await stepToEnd(stage, 'slow');
  t.equal(phase, 'RolledBack');
  const message = new RegExp(`ProgressDeadlineExceeded.*Pod ${name}: container app is waiting \\(ErrImagePull\\)`);
  t.match(verdict(status, 0), { succeeded: { status: 'False', reason: 'GateFailed', message }, error: { message } });
  t.notOk(await isThere(web));
});

t.test('the engine rolls back if a quota admits no Pod', async (t) => {
  const { stage, make, opens, reaches, isThere } = await openPlace(t);
  await make('resourcequotas/none', { metadata: { name: 'none' }, spec: { hard: { pods: '0' } } });
  await stage.transaction('full', [gated('Create', deployment(), { timeout: '1s' })]);
  await opens('full', 0);
  await reaches(web, 'ReplicaFailure');
  const { phase, status } = await stepToEnd(stage, 'full');
  t.equal(phase, 'RolledBack');
  const message = /ReplicaFailure=True \(FailedCreate\): pods "web-.*exceeded quota: none.*There is no Pod\./;
  t.match(verdict(status, 0), { succeeded: { reason: 'GateTimeout', message }, error: { message } });
  t.notOk(await isThere(web));
});

t.test('the engine waits during a crash loop, because the container may recover', async (t) => {
  const { stage, kubelet, opens, pod, reaches } = await openPlace(t);
  kubelet.play('app=web', crashLooping(3));
  await stage.transaction('loops', [gated('Create', deployment())]);
  await opens('loops', 0);
  await pod(waitsFor('CrashLoopBackOff'));
  t.match(await step(stage, 'loops'), { phase: 'Committing', status: { items: [{ gate: { found: /0 of 1/ } }] } });
  kubelet.play('app=web', running);
  await reaches(web, 'Progressing', 'NewReplicaSetAvailable');
  t.match(await stepToEnd(stage, 'loops'), { phase: 'Committed' });
});

t.test('the changes after a Job wait for its end', async (t) => {
  const { stage, kubelet, opens, pod, reaches, isThere } = await openPlace(t);
  await stage.transaction('migrate', [gated('Create', migration()), behind]);
  await opens('migrate', 0);
  kubelet.play('app=web', running);
  await pod((one) => textAt(one, 'status', 'phase') === 'Running');
  t.match(await step(stage, 'migrate'), { phase: 'Committing', status: { items: [{ gate: { passed: undefined } }, {}] } });
  t.notOk(await isThere('configmaps/behind'));
  kubelet.play('app=web', terminated(0));
  await reaches(job, 'Complete');
  t.match(await stepToEnd(stage, 'migrate'), { phase: 'Committed' });
  t.ok(await isThere('configmaps/behind'));
});

t.test('the engine rolls back when a Job fails', async (t) => {
  const { stage, kubelet, opens, reaches, isThere } = await openPlace(t);
  kubelet.play('app=web', terminated(42));
  await stage.transaction('fails', [change('Create', 'early', { data: {} }), gated('Create', migration()), behind]);
  await opens('fails', 1);
  await reaches(job, 'Failed');
  const { phase, status } = await stepToEnd(stage, 'fails');
  t.equal(phase, 'RolledBack');
  const message = /BackoffLimitExceeded.*Pod migrate-\S+: container app ended with exit code 42 \(Error\)/;
  t.match(verdict(status, 1), { succeeded: { reason: 'GateFailed', message }, error: { reason: 'GateFailed', message } });
  for (const path of [job, 'configmaps/early', 'configmaps/behind']) t.notOk(await isThere(path), path);
});

t.test('the final gates pass for a ready Deployment and fail for an unready one', async (t) => {
  const { stage, kubelet, opens, pod, isThere } = await openPlace(t);
  kubelet.play('app=web', running);
  const two = { ...labels, app: 'api' };
  const api = deployment({ selector: { matchLabels: two }, template: { ...template(), metadata: { labels: two } } });
  const changes = [
    gated('Create', deployment()),
    gated('Create', { ...api, metadata: { name: 'api' } }, { at: 'AtEnd', timeout: '1s' }),
  ];
  await stage.transaction('beside', changes);
  await opens('beside', 1);
  kubelet.play('app=api', waiting('CreateContainerConfigError'));
  await pod(waitsFor('CreateContainerConfigError'));
  const { phase, status } = await stepToEnd(stage, 'beside');
  t.equal(phase, 'RolledBack');
  t.match(verdict(status, 1), { error: { reason: 'GateTimeout', message: /Pod api-.*CreateContainerConfigError/ } });
  for (const name of ['web', 'api']) t.notOk(await isThere(`${deployments}/${name}`), name);
});
