// Packages with a conversion webhook without Crossplane: a setting names the Secret with the authority of their servers.
import t from 'tap';
import { at, textAt } from '../../hooks/objects/json.ts';
import { makeCertificate } from '../support/certificate.ts';
import { must } from '../support/client.ts';
import { convertedThings } from '../support/conversion.ts';
import { definitionPath, packagePath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld } from '../support/package-world.ts';

t.setTimeout(900_000);

const world = await startPackageWorld(t, { environment: { JANUS_PACKAGES_WEBHOOK_SECRET: 'webhooks' } });
const { client, source } = world;
const group = 'alone.example.org';
const secrets = '/api/v1/namespaces/janus-packages/secrets';
const caBundle = Buffer.from(makeCertificate().certificate).toString('base64');

await world.publish({ name: 'alone', tag: 'v1.0.0', objects: [convertedThings(group)] });
const install = async (name: string) => {
  await world.install(name, `${source('alone')}:v1.0.0`, { packageName: 'alone', retryLimit: 1 });
  return world.finished(name);
};

t.test('without the Secret the package is refused before the first write, and the message names the Secret', async (t) => {
  const message =
    /calls a webhook of the package, and JANUS_PACKAGES_WEBHOOK_SECRET expects a Secret "webhooks" with ca\.crt or tls\.crt in namespace janus-packages, found none/;
  t.match(conditionIn(await install('none'), 'Validated'), { reason: 'InvalidPackage', message });
  t.equal((await client.get(packagePath('providers', 'alone'))).code, 404);
  must(await client.create(secrets, { metadata: { name: 'webhooks' }, data: { other: caBundle } }));
  t.match(conditionIn(await install('empty'), 'Validated')?.message, /found one without them/);
});

t.test('with the Secret the CRD gets its authority, and the Service of the package in that namespace', async (t) => {
  must(await client.patch(`${secrets}/webhooks`, { data: { 'ca.crt': caBundle } }));
  const status = await install('served');
  t.equal(conditionIn(status, 'Ready')?.status, 'True', JSON.stringify(status));
  const definition = must(await client.get(definitionPath(`things.${group}`)));
  const clientConfig = at(definition, 'spec', 'conversion', 'webhook', 'clientConfig');
  t.same(at(clientConfig, 'service'), { name: 'alone', namespace: 'janus-packages', path: '/convert', port: 9443 });
  t.equal(textAt(clientConfig, 'caBundle'), caBundle);
});

t.test('an admission webhook is refused: only Crossplane makes its configuration', async (t) => {
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'validating' },
  };
  await world.publish({ name: 'admits', tag: 'v1.0.0', objects: [configuration] });
  await world.install('admits', `${source('admits')}:v1.0.0`, { packageName: 'admits', retryLimit: 1 });
  const { reason, message } = conditionIn(await world.finished('admits'), 'Validated') ?? {};
  t.match([reason, message], ['InvalidPackage', /only Crossplane makes its configuration: run the package by Crossplane/]);
});
