// Which of the three writes of the undo of a CRD comes next, by what the object shows.
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { formatTime } from '../../../../hooks/objects/time.ts';
import { evaluateStorage } from '../../../../hooks/transactions/attribution/stored-versions.ts';
import type { StoredObjects } from '../../../../hooks/transactions/model/crds.ts';
import type { SnapshotEntry } from '../../../../hooks/transactions/model/entry.ts';
import { second, start } from '../../../support/transactions.ts';

const resource = {
  group: 'apiextensions.k8s.io',
  version: 'v1',
  plural: 'customresourcedefinitions',
  kind: 'CustomResourceDefinition',
};
const target = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', name: 'as.example.org' };

/** A CRD with these versions, `!` after the one that is stored. */
function crd(versions: string, stored: readonly string[], more: JsonObject = {}): JsonObject {
  const listed = versions.split(' ').map((text) => ({ name: text.replace('!', ''), served: true, storage: text.endsWith('!') }));
  return { metadata: { name: 'as.example.org', ...more }, spec: { versions: listed }, status: { storedVersions: stored } };
}

const prior = crd('v1!', ['v1']);
const restored: JsonObject = { metadata: { name: 'as.example.org' }, spec: prior.spec ?? {} };

function next(live: JsonObject, stored: Partial<StoredObjects> = {}, entry: object = {}) {
  const whole = { index: 0, type: 'Patch', target, resource: { ...resource, namespaced: false, statusSubresource: true }, prior };
  const known = { now: start, others: [], awaited: [], ...stored };
  return evaluateStorage({ ...whole, ...entry } as unknown as SnapshotEntry, known, live, restored);
}

t.test('a write that the API server accepts at once needs no write before it', async (t) => {
  t.equal(next(crd('v1 v2!', ['v1'])), undefined, 'no version came to the stored ones');
  t.equal(next(crd('v1 v2!', ['v1', 'v2']), {}, { resource: { ...resource, group: 'example.org' } }), undefined, 'no CRD');
});

t.test('first the new version is served, and not stored any more', async (t) => {
  const found = next(crd('v1 v2! v3', ['v1', 'v2']), { others: ['A a'] });
  t.match(found, {
    kind: 'bridge',
    content: {
      spec: {
        versions: [
          { name: 'v1', storage: true },
          { name: 'v2', storage: false },
        ],
      },
    },
  });
  t.match(next(crd('v1! v2', ['v1', 'v2'], { labels: { a: 'b' } })), { kind: 'bridge' }, 'all other content is restored with it');
});

t.test('then all API servers have time to hear of it', async (t) => {
  const written = (subresource: string): JsonObject => ({
    managedFields: [{ manager: 'm', time: formatTime(start), ...(subresource === '' ? {} : { subresource }) }],
  });
  const bridged = crd('v1! v2', ['v1', 'v2'], written(''));
  t.match(next(bridged, { now: start + 6 * second }), { kind: 'wait', message: /until 2026-01-01T00:00:06Z/ });
  t.match(next(bridged, { now: start + 6 * second + 1 }), { kind: 'trim', storedVersions: ['v1'] });
  t.match(next(crd('v1! v2', ['v1', 'v2'], written('status'))), { kind: 'trim' }, 'a status is no spec');
});

t.test('objects that may be stored in it stand in the way', async (t) => {
  const bridged = crd('v1! v2', ['v1', 'v2']);
  t.match(next(bridged, { awaited: [{ name: 'A a', index: 1 }] }), { kind: 'wait', message: /A a/ });
  const others = ['A a', 'A b', 'A c', 'A d', 'A e', 'A f'];
  t.match(next(bridged, { others }), {
    kind: 'conflict',
    reason: 'StoredVersions',
    message: /as v2: A a, A b, A c, A d, A e and 1 more; /,
  });
});
