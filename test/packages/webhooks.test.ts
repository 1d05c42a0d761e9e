// Packages with a conversion webhook without Crossplane: a setting names the Secret with the authority of their servers. Their install, update and
// delete, also while the webhook does not answer.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { makeCertificate } from '../support/certificate.ts';
import { must } from '../support/client.ts';
import { authorityIn, convertedThings, createService, reachable, startConversion, thingsOf } from '../support/conversion.ts';
import { definitionPath, packagePath, ptxPath } from '../support/package-paths.ts';
import { conditionIn, startPackageWorld } from '../support/package-world.ts';

t.setTimeout(900_000);

const world = await startPackageWorld(t, {
  environment: { JANUS_PACKAGES_WEBHOOK_SECRET: 'webhooks' },
  apiServerFlags: ['--enable-aggregator-routing=true'],
});
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

const namespace = 'janus-packages';
const skip = reachable === undefined && 'this machine has no address that an EndpointSlice may name';

t.test('an update and a delete, while the webhook answers and while it does not', { skip }, async (t) => {
  const place = { namespace, service: 'alone' };
  const { certificate, key } = makeCertificate('127.0.0.1', `alone.${namespace}.svc`);
  const base64 = (text: string): string => Buffer.from(text).toString('base64');
  const data = { 'tls.crt': base64(certificate), 'tls.key': base64(key) };
  const server = must(await client.create(secrets, { metadata: { name: 'of-the-server' }, data }));
  must(await client.patch(`${secrets}/webhooks`, { data: { 'ca.crt': base64(certificate) } }));
  await createService(client, place);
  const serving = await startConversion(t, client, server, place);
  const things = thingsOf(client, group);
  const update = async (tag: string, ...fields: readonly string[]) => {
    await world.publish({ name: 'alone', tag, objects: [convertedThings(group, ...fields)] });
    const name = `to-${tag.replaceAll('.', '-')}`;
    await world.install(name, `${source('alone')}:${tag}`, { packageName: 'alone', retryLimit: 1 });
    return world.finished(name);
  };
  const remove = async (name: string) => {
    const spec = { change: 'Delete', delete: { source: source('alone') }, retryLimit: 1 };
    const metadata = { name };
    must(await client.create(ptxPath(), { apiVersion: 'pkg.crossplane.io/v1alpha1', kind: 'Transaction', metadata, spec }));
    return world.finished(name);
  };
  const isReady = (status: JsonObject, what: string) =>
    t.equal(conditionIn(status, 'Ready')?.status, 'True', `${what}: ${JSON.stringify(status)}`);

  isReady(await update('v1.1.0', 'more'), 'the webhook answers');
  t.equal(authorityIn(must(await client.get(definitionPath(`things.${group}`)))), base64(certificate), 'the renewed authority');
  await things.create('v1', 'mine', { one: 'a', more: 'b' });
  await things.converts('mine', { more: 'b', uno: 'a' }, { more: 'b', one: 'a' });
  const instance = must(await client.get(things.path('v1', 'mine')));

  await serving.stop();
  isReady(await update('v1.2.0', 'more', 'another'), 'no instance is read');
  t.match(conditionIn(await update('v1.3.0', 'another'), 'Validated'), {
    ...{ status: 'False', reason: 'SchemaIncompatible' },
    message: /CRD things\.alone\.example\.org: its instances cannot be read as v2: .*conversion webhook/,
  });
  const inUse = {
    status: 'False',
    reason: 'ResourcesInUse',
    message: /CRD things\.alone\.example\.org has 1 instance, such as "mine"/,
  };
  t.match(conditionIn(await remove('unanswered'), 'Validated'), inUse, 'what is stored needs no conversion');

  const again = await startConversion(t, client, server, place);
  await things.converts('mine', { more: 'b', uno: 'a' }, { more: 'b', one: 'a' });
  t.strictSame(must(await client.get(things.path('v1', 'mine'))), instance);
  t.match(conditionIn(await update('v1.4.0', 'another'), 'Validated'), { status: 'False', message: /"mine"/ });
  t.match(conditionIn(await remove('answered'), 'Validated'), inUse);
  must(await client.delete(things.path('v1', 'mine')));
  await again.stop();
  isReady(await remove('gone'), 'nothing is left to convert');
  t.equal((await client.get(definitionPath(`things.${group}`))).code, 404);
});
