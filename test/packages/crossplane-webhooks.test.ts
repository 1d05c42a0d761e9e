// A package with a conversion webhook beside a real Crossplane. The test runs the server of the webhook, and the API server reaches it.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Client, must, waitFor } from '../support/client.ts';
import { authorityIn, convertedThings, reachable, startConversion, thingsOf } from '../support/conversion.ts';
import { crossplaneNamespace, withCrossplane } from '../support/crossplane.ts';
import { revisionOf, startCrossplaneWorld } from '../support/crossplane-world.ts';
import { createDriver } from '../support/package-driver.ts';
import { definitionPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, statusOf } from '../support/package-world.ts';

t.setTimeout(1_800_000);

const group = 'hooked.example.org';
const path = definitionPath(`things.${group}`);
const secretPath = (name: string): string => `/api/v1/namespaces/${crossplaneNamespace}/secrets/${name}-tls-server`;
const skip = withCrossplane.skip || (reachable === undefined && 'this machine has no address that an EndpointSlice may name');

/** A policy that refuses to create or to write a Secret. */
async function refuseSecret(client: Client, name: string): Promise<() => Promise<void>> {
  const policies = '/apis/admissionregistration.k8s.io/v1/validatingadmissionpolic';
  const metadata = { name: 'no-secret' };
  const resourceRules = [{ apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['secrets'] }];
  const validations = [{ expression: `object.metadata.name != '${name}'`, message: 'not that Secret' }];
  must(await client.create(`${policies}ies`, { metadata, spec: { matchConstraints: { resourceRules }, validations } }));
  must(await client.create(`${policies}ybindings`, { metadata, spec: { policyName: 'no-secret', validationActions: ['Deny'] } }));
  const secret = { metadata: { name } };
  const tried = () => client.create(`/api/v1/namespaces/${crossplaneNamespace}/secrets`, secret, { dryRun: 'All' });
  await waitFor(async () => (await tried()).code !== 201, 'the policy to be enforced');
  return async () => {
    for (const plural of ['ybindings', 'ies']) must(await client.delete(`${policies}${plural}/no-secret`));
    await waitFor(async () => (await tried()).code === 201, 'the policy to be gone');
  };
}

t.test('conversion webhooks beside Crossplane', { skip }, async (t) => {
  const whole = t;
  const { world, crossplane, lockEntries, healthy } = await startCrossplaneWorld(t, {
    apiServerFlags: ['--enable-aggregator-routing=true'],
  });
  const { client, source } = world;
  const service = { namespace: crossplaneNamespace, service: 'hooked' };
  const secret = async (): Promise<JsonObject> => must(await client.get(secretPath('hooked')));
  const authority = async (): Promise<string | undefined> => authorityIn(must(await client.get(path)));
  const isCurrent = async (): Promise<boolean> => (await authority()) === textAt(await secret(), 'data', 'tls.crt');
  const { path: instances, create, converts } = thingsOf(client, group);
  let server: Awaited<ReturnType<typeof startConversion>> | undefined;

  await t.test('a first install is Ready once the CRD has the authority', async (t) => {
    const digest = await world.publish({ name: 'hooked', tag: 'v1.0.0', objects: [convertedThings(group)] });
    await world.install('hooked-1', `${source('hooked')}:v1.0.0`, { packageName: 'hooked' });
    const status = await world.finished('hooked-1');
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    t.type(at(status, 'handOverTime'), 'string', 'Crossplane got the revision before the Lock was written');
    t.ok(await isCurrent(), 'no CRD was installed that cannot be converted');
    t.same(at(must(await client.get(path)), 'spec', 'conversion', 'webhook', 'clientConfig', 'service'), {
      ...{ name: 'hooked', namespace: crossplaneNamespace, path: '/convert', port: 9443 },
    });
    const revision = await healthy(revisionOf('hooked', digest));
    const left = ['crossplane.io/paused', 'packages.janus.io/paused-for'];
    t.same(
      left.filter((one) => textAt(revision, 'metadata', 'annotations', one) !== undefined),
      [],
    );
  });

  await t.test('instances are stored and read in both versions', async (t) => {
    server = await startConversion(whole, client, await secret(), service);
    await create('v1', 'stored', { one: 'a' });
    await create('v2', 'converted', { uno: 'b' });
    await converts('stored', { uno: 'a' }, { one: 'a' });
    await converts('converted', { uno: 'b' }, { one: 'b' });
    t.ok(server.answered() > 0);
  });

  await t.test('the authority follows the Secret', async (t) => {
    const before = await authority();
    must(await client.delete(secretPath('hooked')));
    await waitFor(async () => (await authority()) !== before && (await isCurrent()), 'Crossplane to renew the authority', {
      timeoutMs: 120_000,
    });
    t.not(await authority(), before);
    await server?.stop();
    server = await startConversion(whole, client, await secret(), service);
    await converts('stored', { uno: 'a' }, { one: 'a' });
  });

  await t.test('an update keeps the authority, and the instances', async (t) => {
    const before = must(await client.get(instances('v1', 'stored')));
    const digest = await world.publish({ name: 'hooked', tag: 'v1.1.0', objects: [convertedThings(group, 'more')] });
    await world.install('hooked-2', `${source('hooked')}:v1.1.0`, { packageName: 'hooked' });
    const status = await world.finished('hooked-2');
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    t.equal(at(status, 'handOverTime'), undefined);
    t.ok(await isCurrent());
    await healthy(revisionOf('hooked', digest));
    await converts('stored', { uno: 'a' }, { one: 'a' });
    t.strictSame(must(await client.get(instances('v1', 'stored'))), before);
  });

  await t.test('a Delete counts the instances, and deletes the CRD, while the webhook does not answer', async (t) => {
    await server?.stop();
    const remove = async (name: string): Promise<JsonObject> => {
      const spec = { change: 'Delete', delete: { source: source('hooked') }, retryLimit: 1 };
      const metadata = { name };
      must(await client.create(ptxPath(), { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata, spec }));
      return world.finished(name);
    };
    t.match(conditionIn(await remove('in-use'), 'Validated'), {
      status: 'False',
      message: /has 2 instances, such as "converted"/,
    });
    for (const name of ['stored', 'converted']) must(await client.delete(instances('v1', name)));
    const status = await remove('unused');
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    for (const gone of [path, packagePath('providers', 'hooked'), secretPath('hooked')])
      await waitFor(async () => (await client.get(gone)).code === 404, `${gone} to be gone`);
    t.same(await lockEntries(), []);
  });

  await t.test('a CRD that gets no authority ends the try after five minutes, undone', async (t) => {
    const allow = await refuseSecret(client, 'unserved-tls-server');
    const before = await lockEntries();
    const other = 'unserved.example.org';
    const digest = await world.publish({ name: 'unserved', tag: 'v1.0.0', objects: [convertedThings(other)] });
    const install = (name: string): Promise<JsonObject> =>
      world.install(name, `${source('unserved')}:v1.0.0`, { packageName: 'unserved', retryLimit: 1 });
    await install('unserved-1');
    const status = async (): Promise<JsonObject> => statusOf(await world.read('unserved-1'));
    await waitFor(async () => at(await status(), 'handOverTime') !== undefined, 'Crossplane to get the revision');
    const revision = packagePath('providerrevisions', revisionOf('unserved', digest));
    const isTried = async (): Promise<boolean> =>
      conditionIn(statusOf(must(await client.get(revision))), 'RevisionHealthy')?.status === 'False';
    await waitFor(isTried, 'Crossplane to try the revision');
    const driver = createDriver(t, world, { besideIn: crossplaneNamespace });
    driver.pass(300_000);
    const isOver = async (): Promise<boolean> => {
      await driver.step('unserved-1').catch(() => undefined);
      return textAt(await status(), 'phase') !== 'Verifying';
    };
    await waitFor(isOver, 'the try to end');
    const end = await world.finished('unserved-1');
    t.match(conditionIn(end, 'Installed'), {
      status: 'False',
      reason: 'InstallationFailed',
      message: /CRD things\.unserved\.example\.org: Secret crossplane-system\/unserved-tls-server;/,
    });
    t.notMatch(conditionIn(end, 'Installed')?.message, /incomplete/);
    for (const gone of [revision, packagePath('providers', 'unserved'), definitionPath(`things.${other}`)])
      await waitFor(async () => (await client.get(gone)).code === 404, `${gone} to be gone`);
    t.same(await lockEntries(), before);
    await allow();
    await install('unserved-2');
    const again = await world.finished('unserved-2');
    t.equal(conditionIn(again, 'Ready')?.status, 'True', JSON.stringify(again));
    await healthy(revisionOf('unserved', digest));
    t.notMatch(crossplane.log(), /panic/);
  });
});
