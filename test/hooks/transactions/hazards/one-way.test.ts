// The table of one-way changes, and of similar changes that an undo can take back.
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { kindOfObject } from '../../../../hooks/objects/reference.ts';
import { noHazards } from '../../../../hooks/transactions/hazards/hazards.ts';
import { evaluateHazards } from '../../../../hooks/transactions/hazards/table.ts';

const of = (apiVersion: string, kind: string, spec: JsonObject): JsonObject => ({ apiVersion, kind, spec });
const pod = (spec: JsonObject): JsonObject => of('v1', 'Pod', spec);
const node = (spec: JsonObject): JsonObject => of('v1', 'Node', spec);
const claim = (storage: string): JsonObject => of('v1', 'PersistentVolumeClaim', { resources: { requests: { storage } } });
const job = (suspend: boolean, zone: string): JsonObject => of('batch/v1', 'Job', { suspend, template: { zone } });
const map = (immutable?: boolean): JsonObject => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  ...(immutable === undefined ? {} : { immutable }),
});
const crd = (stored: string, served: readonly string[] = ['v1', 'v2']): JsonObject =>
  of('apiextensions.k8s.io/v1', 'CustomResourceDefinition', {
    versions: served.map((name) => ({ name, storage: name === stored })),
  });
const tolerations = (...keys: readonly string[]): JsonObject => pod({ tolerations: keys.map((key) => ({ key })) });

const rows: readonly (readonly [string, JsonObject | undefined, JsonObject | undefined, RegExp | undefined])[] = [
  ['a ConfigMap that becomes immutable', map(), map(true), /immutable/],
  ['a ConfigMap that was not, in words', map(false), map(true), /immutable/],
  ['one that was so', map(true), map(true), undefined],
  ['one that says it is not', map(), map(false), undefined],
  ['a claim that grows', claim('1Gi'), claim('2Gi'), /grow/],
  ['a claim in other words', claim('1024Mi'), claim('1Gi'), undefined],
  ['a claim that shrinks', claim('2Gi'), claim('1Gi'), undefined],
  ['another storage version', crd('v1'), crd('v2'), /stored as v2 and no longer as v1/],
  ['another version', crd('v1', ['v1']), crd('v1'), undefined],
  ['a Job that is resumed otherwise', job(true, 'a'), job(false, 'b'), /template/],
  ['a Job that is resumed', job(true, 'a'), job(false, 'a'), undefined],
  ['a Job that stays suspended', job(true, 'a'), job(true, 'b'), undefined],
  ['a provider that is set', node({}), node({ providerID: 'a' }), /spec\.providerID to be restored once it is set/],
  ['a range that is added', node({}), node({ podCIDRs: ['a'] }), /spec\.podCIDRs/],
  ['a provider that was there', node({ providerID: 'a' }), node({ providerID: 'a', x: 1 }), undefined],
  ['a toleration that is added', tolerations('a'), tolerations('a', 'b'), /spec\.tolerations/],
  ['tolerations in another order', tolerations('a', 'b'), tolerations('b', 'a'), undefined],
  ['a deadline that is set', pod({}), pod({ activeDeadlineSeconds: 60 }), /activeDeadlineSeconds/],
  ['a deadline that is lowered', pod({ activeDeadlineSeconds: 60 }), pod({ activeDeadlineSeconds: 30 }), /activeDeadlineSeconds/],
  ['a deadline that stays', pod({ activeDeadlineSeconds: 60 }), pod({ activeDeadlineSeconds: 60 }), undefined],
  ['a kind of that name elsewhere', of('a.org/v1', 'Node', {}), of('a.org/v1', 'Node', { providerID: 'a' }), undefined],
  ['what is created', undefined, map(true), undefined],
  ['what is deleted', map(), undefined, undefined],
];

for (const [what, prior, expected, why] of rows)
  t.test(what, async (t) => {
    const target = { apiVersion: 'v1', kind: 'Any', name: 'one' };
    const change = { kind: kindOfObject(expected ?? {}), target, before: prior, after: expected };
    const found = evaluateHazards(change, noHazards)?.message;
    if (why === undefined) t.equal(found, undefined);
    else t.match(found, why);
  });
