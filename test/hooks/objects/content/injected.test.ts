// The CA bundle that another program injects: a comparison without the bundle, and the bundle of a restored object.
import t from 'tap';
import { parseFields } from '../../../../hooks/objects/content/fields.ts';
import { isInjectedBy, withInjected, withoutInjected } from '../../../../hooks/objects/content/injected.ts';
import type { JsonObject } from '../../../../hooks/objects/json.ts';

const hooks = 'admissionregistration.k8s.io/ValidatingWebhookConfiguration';
const crd = 'apiextensions.k8s.io/CustomResourceDefinition';
const api = 'apiregistration.k8s.io/APIService';

const config = (caBundle?: string): JsonObject => ({ service: {}, ...(caBundle === undefined ? {} : { caBundle }) });
const webhooks = (...bundles: readonly (string | undefined)[]): JsonObject => ({
  webhooks: bundles.map((bundle, index) => ({ name: `w${index}`, clientConfig: config(bundle) })),
});
const conversion = (bundle?: string): JsonObject => ({
  spec: { conversion: { strategy: 'Webhook', webhook: { clientConfig: config(bundle) } } },
});
const service = (bundle?: string, more: JsonObject = {}): JsonObject => ({ spec: { ...config(bundle), ...more } });

t.test('a bundle that the change does not set is left out, one that it sets is not', async (t) => {
  const change = { prior: webhooks('a', 'b'), expected: webhooks('a', 'mine') };
  t.same(withoutInjected(webhooks('x', 'y', 'z'), hooks, change), webhooks(undefined, 'y', undefined));
  t.same(withoutInjected(conversion('x'), crd, { expected: conversion() }), conversion());
  t.same(withoutInjected(service('x'), api, { expected: service() }), service());
  t.same(withoutInjected(service('x'), api, { expected: service('mine') }), service('x'));
  t.same(withoutInjected(service('x'), '/ConfigMap', {}), service('x'), 'of these kinds only');
});

t.test('a restored object has the bundle of now, or the former bundle if our change removed it', async (t) => {
  const restored = (kind: string, plain: JsonObject, ...[prior, expected, live]: readonly JsonObject[]): JsonObject =>
    withInjected(plain, kind, { prior, expected, live: live ?? {} });
  t.same(restored(crd, conversion(), conversion('a'), conversion('a'), conversion('now')), conversion('now'));
  t.same(restored(crd, conversion(), conversion('a'), conversion(), conversion()), conversion('a'), 'taken by us');
  t.same(restored(crd, conversion(), conversion('a'), conversion('a'), conversion()), conversion(), 'taken by others');
  t.same(restored(crd, { spec: {} }, { spec: {} }, conversion(), conversion('now')), { spec: {} }, 'it goes with the webhook');
  const insecure = service(undefined, { insecureSkipTLSVerify: true });
  t.same(restored(api, insecure, insecure, service(), service('now')), insecure, 'the API server would refuse both');
  t.same(restored(api, service(), service(), service(), service('now')), service('now'));
});

t.test('a manager that owns a bundle and the name of its webhook, and nothing else, has injected the bundle', async (t) => {
  const owner = (fields: JsonObject) => ({
    ...{ name: 'injector', operation: 'Apply', apiVersion: 'v1', subresource: '' },
    fields: parseFields({ 'f:webhooks': { 'k:{"name":"w0"}': fields } }),
  });
  const injector = owner({ '.': {}, 'f:name': {}, 'f:clientConfig': { 'f:caBundle': {} } });
  const item = ['f:webhooks', 'k:{"name":"w0"}'];
  const change = { expected: webhooks(undefined) };
  for (const path of [item, [...item, 'f:name'], [...item, 'f:clientConfig', 'f:caBundle']])
    t.ok(isInjectedBy(injector, path, hooks, change));
  t.notOk(isInjectedBy(injector, [...item, 'f:rules'], hooks, change));
  t.notOk(isInjectedBy(injector, item, hooks, { expected: webhooks('mine') }));
  const more = owner({ '.': {}, 'f:name': {}, 'f:rules': {}, 'f:clientConfig': { 'f:caBundle': {} } });
  t.notOk(isInjectedBy(more, item, hooks, change));
});
