// Package transactions beside Crossplane, as far as its controllers need not run: what is paused when, what a revision says, what the
// Lock says, who ends a try, and when package transactions wait. crossplane.test.ts is beside a real one.
import t from 'tap';
import { held, withPackages } from '../../hooks/crossplane/model/holder.ts';
import type { Reader } from '../../hooks/objects/cluster.ts';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import type { CrossplaneMode } from '../../server/config.ts';
import { suitsCrossplane } from '../../server/crossplane.ts';
import { makeCertificate } from '../support/certificate.ts';
import { must, waitFor } from '../support/client.ts';
import { convertedThings } from '../support/conversion.ts';
import { createDeployment } from '../support/crossplane.ts';
import { startAdmission } from '../support/denying-admission.ts';
import { definitionPath, lockPath, packagePath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';
import { inAllOnly } from '../support/selection.ts';

t.setTimeout(900_000);

const world = await startPackageWorld(t, {
  environment: { JANUS_PACKAGES_CROSSPLANE: 'beside' },
  isBalanced: true,
  before: (client) => createDeployment(client, '2.3.4'),
});
const { client, source } = world;
const paused = 'crossplane.io/paused';
const annotation = (object: JsonObject, name: string): string | undefined => textAt(object, 'metadata', 'annotations', name);
const provider = async (name: string): Promise<JsonObject> => must(await client.get(packagePath('providers', name)));
const revisionPath = (name: string, digest: string): string =>
  packagePath('providerrevisions', `${name}-${digest.slice('sha256:'.length, 'sha256:'.length + 12)}`);
const versions = async (): Promise<readonly string[]> => {
  const packages = at(must(await client.get(lockPath)), 'packages');
  return (isList(packages) ? packages : [])
    .map((one) => `${textAt(one, 'source')?.split('/').at(-1)} ${textAt(one, 'version')}`)
    .sort();
};

const admission = await startAdmission(
  {
    client,
    name: 'beside',
    user: 'system:serviceaccount:janus-packages:janus-packages',
    rule: { apiGroups: ['pkg.crossplane.io'], apiVersions: ['*'], resources: ['*'] },
    probe: () =>
      client
        .asServiceAccount('janus-packages', 'janus-packages')
        .create(
          packagePath('providers'),
          { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata: { name: 'probe' }, spec: { package: 'a.b/c:v1' } },
          { dryRun: 'All' },
        ),
  },
  t,
);

interface Seen {
  readonly name: string;
  readonly object: JsonObject;
}

/** What the writes of package transactions said of revisions and of the Lock, in order. */
const seen: string[] = [];
let meanwhile: (seen: Seen) => Promise<JsonObject | undefined> = async () => undefined;
admission.decide(async ({ name, resource, operation, dryRun, object }) => {
  if (dryRun || operation === 'DELETE') return undefined;
  if (resource === 'providerrevisions')
    seen.push(`${at(object, 'spec', 'revision')} ${textAt(object, 'spec', 'desiredState')} ${holdOf(object)}`);
  const packages = at(object, 'packages');
  if (resource === 'locks' && isList(packages)) seen.push(`Lock ${packages.map((one) => textAt(one, 'version')).join()}`);
  return meanwhile({ name, object });
});

function holdOf(object: JsonObject): string {
  return annotation(object, paused) === 'true' ? 'paused' : 'not paused';
}

/** Each line once, where it comes first after another one. */
function story(): readonly string[] {
  return seen.splice(0).filter((one, index, all) => one !== all[index - 1]);
}

const group = 'root.example.org';
const schema = (...names: readonly string[]): object => ({
  type: 'object',
  properties: Object.fromEntries(names.map((name) => [name, { type: 'string' }])),
});
const fields = ['one', 'two', 'three', 'four'];
const publish = (minor: number): Promise<string> =>
  world.publish({
    name: 'root',
    tag: `v1.${minor}.0`,
    objects: [definitionOf('things', group, schema(...fields.slice(0, minor + 1)))],
  });
const digests = [await publish(0), await publish(1), await publish(2), await publish(3)] as const;
const install = (name: string, minor: number): Promise<JsonObject> =>
  world.install(name, `${source('root')}:v1.${minor}.0`, { packageName: 'root', retryLimit: 1 });

t.test('Crossplane gets a revision once the Lock is written, and never the Package', async (t) => {
  await install('first', 0);
  t.equal(conditionIn(await world.finished('first'), 'Ready')?.status, 'True');
  t.same(story().slice(-5), ['1 Inactive paused', '1 Active paused', 'Lock v1.0.0', '1 Active not paused', 'Lock v1.0.0']);
  t.equal(annotation(await provider('root'), paused), 'true');
  t.match(must(await client.get(revisionPath('root', digests[0]))), {
    spec: {
      desiredState: 'Active',
      image: `${source('root')}@${digests[0]}`,
      skipDependencyResolution: true,
      tlsServerSecretName: 'root-tls-server',
      tlsClientSecretName: 'root-tls-client',
      commonLabels: { 'pkg.crossplane.io/transaction': 'first' },
    },
  });
  t.same(await versions(), ['root v1.0.0']);
});

t.test('an update: the revision that leaves is paused before its objects change, and until the Lock is written', async (t) => {
  await install('second', 1);
  t.equal(conditionIn(await world.finished('second'), 'Ready')?.status, 'True');
  const told = story();
  t.same(told.filter((one) => /^\d/.test(one)).slice(0, 4), [
    '2 Inactive paused',
    '1 Active paused',
    '2 Active paused',
    '1 Inactive paused',
  ]);
  const written = told.indexOf('Lock v1.1.0');
  t.same(
    told.slice(0, written).filter((one) => one.endsWith('not paused')),
    [],
  );
  t.same(
    told
      .slice(written)
      .filter((one) => one.endsWith('not paused'))
      .toSorted(),
    ['1 Inactive not paused', '2 Active not paused'],
  );
  t.same(await versions(), ['root v1.1.0']);
});

t.test('a try that fails leaves no pause behind', inAllOnly, async (t) => {
  const before = must(await client.get(revisionPath('root', digests[1])));
  meanwhile = async ({ object }) =>
    at(object, 'spec', 'revision') === 3 && textAt(object, 'spec', 'desiredState') === 'Active'
      ? { code: 403, message: 'not today' }
      : undefined;
  await install('refused', 2);
  const status = await world.finished('refused');
  t.equal(conditionIn(status, 'Installed')?.reason, 'InstallationFailed', JSON.stringify(status));
  const after = must(await client.get(revisionPath('root', digests[1])));
  t.same([at(after, 'spec'), at(after, 'metadata', 'annotations')], [at(before, 'spec'), at(before, 'metadata', 'annotations')]);
  t.equal((await client.get(revisionPath('root', digests[2]))).code, 404);
  t.same(await versions(), ['root v1.1.0']);
  seen.length = 0;
});

for (const [how, value, said] of [
  ['by another value', 'false', /which it had; impatient has written another value/],
  ['without a trace', null, /which it had; somebody has removed it, and managedFields do not show who/],
] as const)
  t.test(`a Package that somebody unpauses meanwhile, ${how}, ends the try, which says who did it`, inAllOnly, async (t) => {
    const annotations = { [paused]: value };
    meanwhile = async ({ object }) => {
      const isNext = at(object, 'spec', 'revision') === 3 && textAt(object, 'spec', 'desiredState') === 'Active';
      const path = packagePath('providers', 'root');
      if (isNext) must(await client.patch(path, { metadata: { annotations } }, 'merge', { fieldManager: 'impatient' }));
      return undefined;
    };
    const name = value === null ? 'removed' : 'unpaused';
    await install(name, 2);
    const status = await world.finished(name);
    t.match(conditionIn(status, 'Installed')?.message, /^Provider root: expected the annotation crossplane\.io\/paused=true, /);
    t.match(conditionIn(status, 'Installed')?.message, said);
    meanwhile = async () => undefined;
    t.match(must(await client.get(revisionPath('root', digests[1]))), { spec: { desiredState: 'Active' } });
  });

t.test('the next package transaction starts from the present objects', inAllOnly, async (t) => {
  await install('again', 2);
  t.equal(conditionIn(await world.finished('again'), 'Ready')?.status, 'True');
  t.equal(annotation(await provider('root'), paused), 'true');
  t.same(await versions(), ['root v1.2.0']);
  seen.length = 0;
});

const isActivation = (object: JsonObject, number: number): boolean =>
  at(object, 'spec', 'revision') === number && textAt(object, 'spec', 'desiredState') === 'Active';

t.test(
  'a policy that refuses to unpause a revision keeps no Lock, and Crossplane gets the revision later',
  inAllOnly,
  async (t) => {
    const [, , , digest] = digests;
    let isRefused = true;
    meanwhile = async ({ object }) =>
      isRefused && isActivation(object, 4) && holdOf(object) === 'not paused' ? { code: 403, message: 'not today' } : undefined;
    await install('held-up', 3);
    const status = await world.finished('held-up');
    const path = revisionPath('root', digest);
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    t.match(conditionIn(status, 'Installed'), {
      status: 'True',
      message: /Crossplane does not run it yet.*ProviderRevision root-.*not today/,
    });
    t.match(conditionIn(status, 'Synced'), { status: 'False', message: /ProviderRevision root-.*not today/ });
    t.same(await versions(), ['root v1.3.0']);
    const holder = 'pkg.crossplane.io/current-transaction';
    t.equal(annotation(must(await client.get(lockPath)), holder), undefined, 'the Lock is released');
    const former = must(await client.get(revisionPath('root', digests[2])));
    t.equal(annotation(former, paused), undefined, 'the other revision is handed over');
    isRefused = false;
    // A change of the Lock wakes package transactions.
    must(await client.patch(lockPath, { metadata: { annotations: { 'test.janus.io/touched': 'yes' } } }));
    await waitFor(async () => annotation(must(await client.get(path)), paused) === undefined, 'the revision to be unpaused');
    const isSaid = async (): Promise<boolean> => conditionIn(statusOf(await world.read('held-up')), 'Synced')?.status === 'True';
    await waitFor(isSaid, 'the conditions to say so');
    meanwhile = async () => undefined;
    seen.length = 0;
  },
);

t.test('a holder that is gone and had written the Lock: its revisions are handed over by the next one', inAllOnly, async (t) => {
  const path = revisionPath('root', digests[3]);
  const pausedFor = { [paused]: 'true', 'packages.janus.io/paused-for': 'gone' };
  must(await client.patch(path, { metadata: { annotations: pausedFor } }));
  const lock = must(await client.get(lockPath));
  const packages = at(lock, 'packages');
  const taken = held(withPackages(lock, isList(packages) ? (packages as readonly JsonObject[]) : []), {
    name: 'gone',
    uid: 'gone',
    number: 90,
  });
  must(
    await client.update(lockPath, {
      ...taken,
      metadata: {
        ...(at(taken, 'metadata') as JsonObject),
        annotations: { ...(at(taken, 'metadata', 'annotations') as JsonObject), 'packages.janus.io/holder-has-written': 'true' },
      },
    }),
  );
  await world.publish({ name: 'other', tag: 'v1.0.0' });
  await world.install('after', `${source('other')}:v1.0.0`, { packageName: 'other' });
  t.equal(conditionIn(await world.finished('after'), 'Ready')?.status, 'True');
  t.equal(annotation(must(await client.get(path)), paused), undefined);
});

t.test('a dry run hands nothing over', inAllOnly, async (t) => {
  const path = revisionPath('root', digests[2]);
  const left = { [paused]: 'true', 'packages.janus.io/paused-for': 'gone' };
  must(await client.patch(path, { metadata: { annotations: left } }));
  seen.length = 0;
  await world.install('dry', `${source('root')}:v1.3.0`, { packageName: 'root', dryRun: true });
  t.equal(textAt(await world.finished('dry'), 'phase'), 'Succeeded');
  t.equal(annotation(must(await client.get(path)), paused), 'true');
  t.same(
    story().filter((one) => /^\d/.test(one)),
    [],
    'no revision is written',
  );
  await install('for-good', 3);
  await world.finished('for-good');
  t.equal(annotation(must(await client.get(path)), paused), undefined, 'the next package transaction does');
});

t.test('revisionActivationPolicy Manual: Crossplane gets the revision by a package transaction only', inAllOnly, async (t) => {
  const digest = await world.publish({ name: 'manual', tag: 'v1.0.0', objects: [definitionOf('hands', group)] });
  const path = revisionPath('manual', digest);
  const spec = { revisionActivationPolicy: 'Manual' };
  const installManual = async (name: string): Promise<void> => {
    await world.install(name, `${source('manual')}:v1.0.0`, { packageName: 'manual', spec });
    t.equal(conditionIn(await world.finished(name), 'Ready')?.status, 'True');
  };
  await installManual('manual-1');
  t.match(must(await client.get(path)), { spec: { desiredState: 'Inactive' }, metadata: { annotations: { [paused]: 'true' } } });
  await install('between', 3);
  await world.finished('between');
  const active = must(await client.patch(path, { spec: { desiredState: 'Active' } }));
  t.equal(annotation(active, paused), 'true', 'the end of another package transaction leaves it paused');
  await installManual('manual-2');
  t.match(must(await client.get(path)), { spec: { desiredState: 'Active' } });
  t.equal(annotation(must(await client.get(path)), paused), undefined);
  t.match((await versions()).join(), /manual v1\.0\.0/);
});

/** Writes the authority into a CRD once it has the revision, as Crossplane does; returns the authority. */
async function playCrossplane(name: string, digest: string, path: string): Promise<string> {
  const isGiven = async (): Promise<boolean> => {
    const answer = await client.get(revisionPath(name, digest));
    return answer.code === 200 && textAt(answer.body, 'spec', 'desiredState') === 'Active' && holdOf(answer.body) !== 'paused';
  };
  await waitFor(isGiven, 'Crossplane to get the revision');
  const caBundle = Buffer.from(makeCertificate().certificate).toString('base64');
  must(await client.patch(path, { spec: { conversion: { webhook: { clientConfig: { caBundle } } } } }));
  return caBundle;
}

t.test('a conversion webhook: the Service of the package, and the authority that Crossplane writes', inAllOnly, async (t) => {
  const group = 'converted.example.org';
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'MutatingWebhookConfiguration',
    metadata: { name: 'mutating' },
  };
  const publishConverted = (tag: string, ...more: readonly string[]): Promise<string> =>
    world.publish({ name: 'converted', tag, objects: [convertedThings(group, ...more), configuration] });
  const digest = await publishConverted('v1.0.0');
  await publishConverted('v1.1.0', 'two');
  seen.length = 0;
  await world.install('converted-1', `${source('converted')}:v1.0.0`, { packageName: 'converted' });
  const path = definitionPath(`things.${group}`);
  const caBundle = await playCrossplane('converted', digest, path);
  t.notOk(
    story().some((one) => one.startsWith('Lock v1.0.0')),
    'the Lock is not written before the authority is there',
  );
  t.equal(conditionIn(await world.finished('converted-1'), 'Ready')?.status, 'True');
  const clientConfig = async (): Promise<unknown> =>
    at(must(await client.get(path)), 'spec', 'conversion', 'webhook', 'clientConfig');
  const service = { name: 'converted', namespace: 'crossplane-system', path: '/convert', port: 9443 };
  t.same(await clientConfig(), { service, caBundle });
  const configurations = await client.list('/apis/admissionregistration.k8s.io/v1/mutatingwebhookconfigurations');
  t.same(configurations.items, [], 'Crossplane makes it');
  await world.install('converted-2', `${source('converted')}:v1.1.0`, { packageName: 'converted' });
  t.equal(conditionIn(await world.finished('converted-2'), 'Ready')?.status, 'True');
  t.same(await clientConfig(), { service, caBundle });
});

const deployment = (version: string | undefined, more: JsonObject = {}): JsonObject => ({
  metadata: {
    namespace: 'crossplane-system',
    name: 'crossplane',
    labels: version === undefined ? {} : { 'app.kubernetes.io/version': version },
  },
  spec: { template: { spec: { containers: [{ args: ['core', 'start'] }] } }, ...more },
});
const rights: JsonObject = {
  metadata: { name: 'rbac' },
  spec: { template: { spec: { containers: [{ args: ['rbac', 'start'] }] } } },
};

const clusters: readonly (readonly [
  what: string,
  mode: CrossplaneMode,
  found: readonly JsonObject[],
  why: RegExp | undefined,
  version?: string,
])[] = [
  ['alone', 'absent', [], undefined],
  ['alone, beside what only grants rights', 'absent', [rights], undefined],
  ['alone, beside one that is scaled down', 'absent', [deployment('2.3.4', { replicas: 0 })], undefined],
  [
    'alone, beside a running one',
    'absent',
    [rights, deployment('2.3.4')],
    /expected no running package manager .* found Deployment crossplane-system\/crossplane \(2\.3\.4\); set beside/,
  ],
  ['a running one that leaves packages alone', 'idle', [deployment('1.20.0')], undefined],
  ['beside v2', 'beside', [deployment('2.0.0')], undefined],
  ['beside a candidate of v2.4', 'beside', [deployment('2.4.0-rc.0')], undefined],
  ['beside v1', 'beside', [deployment('1.20.0')], /from v2\.0\.0 on, found Deployment .*\(1\.20\.0\); upgrade/],
  ['beside none', 'beside', [], /found no Deployment with the label/],
  ['beside one that is scaled down', 'beside', [deployment('2.3.4', { replicas: 0 })], /found no Deployment with the label/],
  ['beside one without a version', 'beside', [deployment(undefined)], /set JANUS_CROSSPLANE_VERSION/],
  ['beside one without a version, which is set', 'beside', [deployment(undefined)], undefined, 'v2.3.4'],
];
for (const [what, mode, found, why, crossplane = ''] of clusters)
  t.test(`whether package transactions wait: ${what}`, async (t) => {
    const reader = {
      listMetadata: async () => ({ kind: 'ok', items: found, complete: true, next: '', size: 0, serverTime: 0 }),
    } as unknown as Reader;
    const unset = {
      authority: undefined,
      trustedRoot: undefined,
      proxy: '',
      noProxy: [],
      webhookSecret: '',
      own: 'none',
    } as const;
    const config = { namespace: 'janus-packages', cacheDirectory: '', httpHosts: [], crossplane, mode, ...unset };
    const answer = await suitsCrossplane(reader, config);
    t.equal(answer.kind, why === undefined ? 'ok' : 'fault');
    if (mode === 'beside' && answer.kind === 'ok') t.equal(answer.namespace, 'crossplane-system');
    if (answer.kind === 'fault' && why !== undefined) t.match(answer.fault, why);
  });
