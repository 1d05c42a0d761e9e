// Package transactions beside a real Crossplane, which runs what they install.
import t from 'tap';
import { at, isList, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import { crossplaneNamespace, runtimes, withCrossplane } from '../support/crossplane.ts';
import { revisionOf as nameOf, schemaOf as schema, startCrossplaneWorld } from '../support/crossplane-world.ts';
import { startAdmission } from '../support/denying-admission.ts';
import { definitionPath, packagePath } from '../support/package-paths.ts';
import { conditionIn, statusOf } from '../support/package-world.ts';
import { definitionOf } from '../support/registry/builder.ts';

t.setTimeout(1_800_000);

const group = 's3.example.org';
const buckets = (...fields: readonly string[]): object => definitionOf('buckets', group, schema(...fields));

/** Not made a ManagedResourceDefinition by Crossplane. */
const configs = (...fields: readonly string[]): object => {
  const definition = definitionOf('providerconfigs', group, schema(...fields)) as JsonObject;
  const names = { kind: 'ProviderConfig', plural: 'providerconfigs' };
  return { ...definition, spec: { ...(at(definition, 'spec') as JsonObject), names } };
};

t.test('beside Crossplane', withCrossplane, async (t) => {
  const { world, crossplane, lockEntries, packageNames, healthy } = await startCrossplaneWorld(t);
  const { client, source } = world;
  const family = await world.publish({ name: 'family', tag: 'v1.0.0', objects: [definitionOf('things', 'family.example.org')] });
  const first = await world.publish({
    name: 's3',
    tag: 'v1.0.0',
    requires: { family: '>=v1.0.0' },
    objects: [buckets('region'), configs('a')],
  });

  await t.test('an install runs', async (t) => {
    // Its name is not the one that Crossplane gives a dependency.
    await world.install('family-1', `${source('family')}:v1.0.0`, { packageName: 'fam' });
    t.equal(conditionIn(await world.finished('family-1'), 'Ready')?.status, 'True');
    await world.install('s3-1', `${source('s3')}:v1.0.0`, { packageName: 's3' });
    const status = await world.finished('s3-1');
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    const revision = await healthy(nameOf('s3', first));
    t.equal(textAt(revision, 'metadata', 'annotations', 'crossplane.io/paused'), undefined);
    await healthy(nameOf('fam', family));
    t.same(await lockEntries(), [
      `${nameOf('fam', family)} ${source('family')} v1.0.0`,
      `${nameOf('s3', first)} ${source('s3')} v1.0.0`,
    ]);
    t.same(await packageNames(), ['fam', 's3']);
    t.equal((await runtimes(client)).length, 2);
    for (const name of ['buckets', 'providerconfigs'])
      t.equal(
        textAt(must(await client.get(definitionPath(`${name}.${group}`))), 'metadata', 'labels', 'pkg.crossplane.io/transaction'),
        's3-1',
        name,
      );
  });

  const instancePath = `/apis/${group}/v1beta1/buckets/mine`;
  const revisionsOf = async (): Promise<readonly string[]> =>
    (await client.list(packagePath('providerrevisions'))).items
      .map(
        (one) =>
          `${textAt(one, 'metadata', 'name')?.replace(/-[0-9a-f]{12}$/, '')} ${at(one, 'spec', 'revision')} ${textAt(one, 'spec', 'desiredState')} ${textAt(one, 'metadata', 'annotations', 'crossplane.io/paused') ?? 'runs'}`,
      )
      .sort();
  const managed = async (): Promise<JsonObject> =>
    must(await client.get(`/apis/apiextensions.crossplane.io/v1alpha1/managedresourcedefinitions/buckets.${group}`));
  const controllerOf = (object: JsonObject): string | undefined => {
    const owners = at(object, 'metadata', 'ownerReferences');
    return textAt(
      (isList(owners) ? owners : []).find((one) => at(one, 'controller') === true),
      'name',
    );
  };
  const fieldsOf = async (): Promise<readonly string[]> => {
    const [version] = at(must(await client.get(definitionPath(`buckets.${group}`))), 'spec', 'versions') as readonly JsonObject[];
    return Object.keys(at(version, 'schema', 'openAPIV3Schema', 'properties', 'spec', 'properties') as JsonObject);
  };

  await t.test('an update, with an instance', async (t) => {
    const instance = must(
      await client.create(`/apis/${group}/v1beta1/buckets`, {
        apiVersion: `${group}/v1beta1`,
        kind: 'Bucket',
        metadata: { name: 'mine' },
        spec: { region: 'here' },
      }),
    );
    const second = await world.publish({
      name: 's3',
      tag: 'v1.1.0',
      requires: { family: '>=v1.0.0' },
      objects: [buckets('region', 'acl'), configs('a', 'b')],
    });
    await world.install('s3-2', `${source('s3')}:v1.1.0`, { packageName: 's3' });
    const status = await world.finished('s3-2');
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    await healthy(nameOf('s3', second));
    t.same(await revisionsOf(), ['fam 1 Active runs', 's3 1 Inactive runs', 's3 2 Active runs']);
    t.same(await lockEntries(), [
      `${nameOf('fam', family)} ${source('family')} v1.0.0`,
      `${nameOf('s3', second)} ${source('s3')} v1.1.0`,
    ]);
    const isTaken = async (): Promise<boolean> =>
      controllerOf(await managed()) === nameOf('s3', second) &&
      textAt(await managed(), 'metadata', 'annotations', 'crossplane.io/paused') === undefined;
    await waitFor(isTaken, 'the ManagedResourceDefinition to belong to the new revision');
    t.same(await fieldsOf(), ['acl', 'region']);
    t.strictSame(must(await client.get(instancePath)), instance);
    await waitFor(async () => (await runtimes(client)).length === 2, 'the former Deployment to be gone');
  });

  await t.test('a family with dependents is updated, and no Package is created or moved', async (t) => {
    const before = crossplane.log().length;
    const next = await world.publish({ name: 'family', tag: 'v1.1.0', objects: [definitionOf('things', 'family.example.org')] });
    await world.install('family-2', `${source('family')}:v1.1.0`, { packageName: 'fam' });
    const status = await world.finished('family-2');
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    await healthy(nameOf('fam', next));
    t.same(await packageNames(), ['fam', 's3']);
    t.match(await lockEntries(), [`${nameOf('fam', next)} ${source('family')} v1.1.0`, / v1\.1\.0$/]);
    t.notMatch(crossplane.log().slice(before), /cannot create dependency/);
  });

  await t.test('a refused update changes nothing', async (t) => {
    const before = [await revisionsOf(), await lockEntries(), must(await client.get(definitionPath(`buckets.${group}`)))];
    await world.publish({ name: 's3', tag: 'v2.0.0', requires: { family: '>=v1.0.0' }, objects: [buckets('acl'), configs('a')] });
    await world.install('s3-3', `${source('s3')}:v2.0.0`, { packageName: 's3', retryLimit: 1 });
    t.equal(conditionIn(await world.finished('s3-3'), 'Validated')?.reason, 'SchemaIncompatible');
    t.same([await revisionsOf(), await lockEntries(), must(await client.get(definitionPath(`buckets.${group}`)))], before);
  });

  const admission = await startAdmission(
    {
      client,
      name: 'beside-crossplane',
      user: 'system:serviceaccount:janus-packages:janus-packages',
      rule: {
        apiGroups: ['pkg.crossplane.io', 'apiextensions.k8s.io', 'apiextensions.crossplane.io'],
        apiVersions: ['*'],
        resources: ['*'],
      },
      probe: () =>
        client
          .asServiceAccount('janus-packages', 'janus-packages')
          .create(definitionPath(), { ...(definitionOf('probes', 'probe.org') as JsonObject) }, { dryRun: 'All' }),
    },
    t,
  );
  const stable = async (): Promise<unknown> => {
    const paths = [
      packagePath('providers', 's3'),
      packagePath(
        'providerrevisions',
        (await client.list(packagePath('providerrevisions'), { labelSelector: 'pkg.crossplane.io/package=s3' })).items
          .map((one) => textAt(one, 'metadata', 'name') ?? '')
          .at(0) ?? '',
      ),
      definitionPath(`buckets.${group}`),
      definitionPath(`providerconfigs.${group}`),
      `/apis/apiextensions.crossplane.io/v1alpha1/managedresourcedefinitions/buckets.${group}`,
    ];
    const objects = await Promise.all(paths.map(async (path) => must(await client.get(path))));
    return objects.map((object) => ({
      spec: at(object, 'spec'),
      annotations: at(object, 'metadata', 'annotations') ?? {},
      controller: controllerOf(object),
      uid: textAt(object, 'metadata', 'uid'),
    }));
  };
  const stages: readonly (readonly [what: string, resource: string, operation: string, pattern: RegExp])[] = [
    ['Packages', 'providers', 'UPDATE', /^s3$/],
    ['Revisions', 'providerrevisions', 'CREATE', /^s3-/],
    ['Pauses', 'managedresourcedefinitions', 'UPDATE', /^buckets/],
    ['Objects', 'customresourcedefinitions', 'UPDATE', /^providerconfigs/],
    ['Activation', 'providerrevisions', 'UPDATE', /^s3-/],
  ];
  await world.publish({
    name: 's3',
    tag: 'v1.2.0',
    requires: { family: '>=v1.0.0' },
    objects: [buckets('region', 'acl', 'owner'), configs('a', 'b', 'c')],
  });
  for (const [index, [what, resource, operation, pattern]] of stages.entries())
    await t.test(`an update that fails at the stage ${what} is undone`, async (t) => {
      const before = [await stable(), await revisionsOf(), await lockEntries()];
      const isHit = (object: JsonObject): boolean => what !== 'Activation' || textAt(object, 'spec', 'desiredState') === 'Active';
      admission.decide(({ name, dryRun, object, ...review }) =>
        !dryRun && review.resource === resource && review.operation === operation && pattern.test(name) && isHit(object)
          ? { code: 403, message: 'not today' }
          : undefined,
      );
      await world.install(`failing-${index}`, `${source('s3')}:v1.2.0`, { packageName: 's3', retryLimit: 1 });
      const status = await world.finished(`failing-${index}`);
      t.match(conditionIn(status, 'Installed')?.reason, /InstallationFailed/, JSON.stringify(status));
      admission.decide(() => undefined);
      t.strictSame([await stable(), await revisionsOf(), await lockEntries()], before);
      t.equal(textAt(must(await client.get(instancePath)), 'spec', 'region'), 'here');
    });

  for (const phase of ['Validating', 'Preparing', 'Installing', 'Verifying', 'Releasing'])
    await t.test(`Crossplane is killed in ${phase}, and started again afterwards`, async (t) => {
      const minor = 3 + ['Validating', 'Preparing', 'Installing', 'Verifying', 'Releasing'].indexOf(phase);
      const fields = ['region', 'acl', ...Array.from({ length: minor }, (_, index) => `f${index}`)];
      const digest = await world.publish({
        name: 's3',
        tag: `v1.${minor}.0`,
        requires: { family: '>=v1.0.0' },
        objects: [buckets(...fields), configs('a', 'b')],
      });
      const name = `killed-${minor}`;
      await world.install(name, `${source('s3')}:v1.${minor}.0`, { packageName: 's3' });
      const isReached = async (): Promise<boolean> => {
        const found = textAt(statusOf(await world.read(name)), 'phase') ?? '';
        return found === phase || found === 'Succeeded';
      };
      await waitFor(isReached, `${name} to be ${phase}`, { everyMs: 5 });
      await crossplane.kill();
      const status = await world.finished(name);
      t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
      await crossplane.start();
      await healthy(nameOf('s3', digest));
      t.match(await lockEntries(), [/ v1\.1\.0$/, `${nameOf('s3', digest)} ${source('s3')} v1.${minor}.0`]);
      t.same(await packageNames(), ['fam', 's3']);
      t.same(await fieldsOf(), fields.toSorted());
    });

  await t.test('a package with webhooks: Crossplane writes their authority, and makes their configurations', async (t) => {
    const hooked = 'hooked.example.org';
    const versions = ['v1', 'v2'].map((name, index) => ({
      name,
      served: true,
      storage: index === 0,
      schema: { openAPIV3Schema: schema('one') as JsonObject },
    }));
    const clientConfig = { service: { name: 'of-the-author', namespace: 'elsewhere', path: '/convert' } };
    const conversion = { strategy: 'Webhook', webhook: { conversionReviewVersions: ['v1'], clientConfig } };
    const definition = definitionOf('things', hooked) as JsonObject;
    const converted = { ...definition, spec: { ...(at(definition, 'spec') as JsonObject), versions, conversion } };
    const webhook = {
      name: 'things.hooked.example.org',
      clientConfig: { service: { name: 'of-the-author', namespace: 'elsewhere', path: '/mutate' } },
      rules: [{ apiGroups: [hooked], apiVersions: ['v1'], operations: ['CREATE'], resources: ['things'] }],
      sideEffects: 'None',
      admissionReviewVersions: ['v1'],
    };
    const admissionGroup = 'admissionregistration.k8s.io/v1';
    const configuration = { apiVersion: admissionGroup, kind: 'MutatingWebhookConfiguration', metadata: { name: 'mutating' } };
    const digest = await world.publish({
      name: 'hooked',
      tag: 'v1.0.0',
      objects: [converted, { ...configuration, webhooks: [webhook] }],
    });
    await world.install('hooked-1', `${source('hooked')}:v1.0.0`, { packageName: 'hooked' });
    const status = await world.finished('hooked-1');
    t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
    await healthy(nameOf('hooked', digest));
    const config = async (): Promise<JsonObject> =>
      at(
        must(await client.get(definitionPath(`things.${hooked}`))),
        'spec',
        'conversion',
        'webhook',
        'clientConfig',
      ) as JsonObject;
    await waitFor(async () => at(await config(), 'caBundle') !== undefined, 'the authority');
    const secret = must(await client.get(`/api/v1/namespaces/${crossplaneNamespace}/secrets/hooked-tls-server`));
    const service = { name: 'hooked', namespace: crossplaneNamespace, port: 9443 };
    t.same(await config(), { service: { ...service, path: '/convert' }, caBundle: textAt(secret, 'data', 'tls.crt') });
    const made = must(await client.get(`/apis/${admissionGroup}/mutatingwebhookconfigurations/crossplane-provider-hooked`));
    t.match(at(made, 'webhooks'), [{ clientConfig: { service: { ...service, path: '/mutate' } } }]);
  });
});
