// The status of a Package, from its revisions: what Crossplane's columns show, and what stays as others have written it.
import t from 'tap';
import { relatedRevisions } from '../../hooks/crossplane/customize.ts';
import { packageStatusOf } from '../../hooks/crossplane/package-status.ts';
import { type JsonObject, objectsAt } from '../../hooks/objects/json.ts';

const now = '2026-01-02T00:00:00Z';
const long = '2026-01-01T00:00:00Z';
const identifier = 'registry.example.org/acme/s3:v1.1.0';
const image = `registry.example.org/acme/s3@sha256:${'a'.repeat(64)}`;

const provider = (conditions: readonly JsonObject[] = []): JsonObject => ({
  apiVersion: 'pkg.crossplane.io/v1',
  kind: 'Provider',
  metadata: { name: 's3', generation: 3 },
  spec: { package: identifier },
  status: { conditions, appliedImageConfigRefs: [{ name: 'mirror', reason: 'RewriteImage' }] },
});

const condition = (type: string, status: string, message?: string): JsonObject => ({
  ...{ type, status, reason: 'Any', lastTransitionTime: long },
  ...(message === undefined ? {} : { message }),
});

function revision(name: string, number: number, desiredState: string, conditions: readonly JsonObject[]): JsonObject {
  const spec = { desiredState, revision: number, image };
  return { kind: 'ProviderRevision', metadata: { name }, spec, status: { conditions } };
}

const well = [condition('RevisionHealthy', 'True'), condition('RuntimeHealthy', 'True')];

/** `Type status reason message` of ours. */
function told(revisions: readonly JsonObject[], pkg = provider()): readonly string[] {
  return objectsAt(packageStatusOf(pkg, revisions, now), 'conditions').map(
    ({ type, status, reason, message = '' }) => `${type} ${status} ${reason} ${message}`,
  );
}

const active = 'Installed True ActivePackageRevision ';
const unknown = 'UnknownPackageRevisionHealth';
const ill = 'UnhealthyPackageRevision';
const cases: readonly (readonly [what: string, revisions: readonly JsonObject[], installed: string, healthy: string])[] = [
  [
    'no revision',
    [],
    'Installed False UnpackingPackage It has no revision yet',
    `Healthy Unknown ${unknown} Package revision health is "Unknown"`,
  ],
  [
    'active and well',
    [revision('b', 2, 'Active', well), revision('a', 1, 'Inactive', [])],
    active,
    'Healthy True HealthyPackageRevision ',
  ],
  [
    'the revision is ill',
    [revision('b', 2, 'Active', [condition('RevisionHealthy', 'False', 'no such image')])],
    active,
    `Healthy False ${ill} Package revision health is "False" with message: no such image`,
  ],
  [
    'the runtime is ill',
    [revision('b', 2, 'Active', [condition('RevisionHealthy', 'True'), condition('RuntimeHealthy', 'False', 'no Pod')])],
    active,
    `Healthy False ${ill} Package runtime health is "False" with message: no Pod`,
  ],
  [
    'Crossplane has not reported on the revision yet',
    [revision('b', 2, 'Active', [])],
    active,
    `Healthy Unknown ${unknown} Package revision health is "Unknown"`,
  ],
  [
    'the runtime is not known yet',
    [revision('b', 2, 'Active', [condition('RevisionHealthy', 'True')])],
    active,
    `Healthy Unknown ${unknown} Package runtime health is "Unknown"`,
  ],
  [
    'a Configuration runs nothing',
    [{ ...revision('b', 2, 'Active', [condition('RevisionHealthy', 'True')]), kind: 'ConfigurationRevision' }],
    active,
    'Healthy True HealthyPackageRevision ',
  ],
  [
    'none is active',
    [revision('b', 2, 'Inactive', well)],
    'Installed False InactivePackageRevision Package is inactive',
    'Healthy True HealthyPackageRevision ',
  ],
];
for (const [what, revisions, installed, healthy] of cases)
  t.test(what, async (t) => t.same(told(revisions), [installed, healthy]));

t.test('the former revision is current while a try makes the next one', async (t) => {
  const next = revision('c', 3, 'Inactive', []);
  t.match(packageStatusOf(provider(), [next, revision('b', 2, 'Active', well)], now), {
    currentRevision: 'b',
    currentIdentifier: identifier,
    resolvedPackage: image,
  });
});

t.test('conditions of other writers stay, and an unchanged condition keeps its time', async (t) => {
  const paused = condition('Synced', 'False', 'paused');
  const before = provider([paused, condition('Installed', 'True'), condition('Healthy', 'False')]);
  const status = packageStatusOf(before, [revision('b', 2, 'Active', well)], now);
  t.same(status.appliedImageConfigRefs, [{ name: 'mirror', reason: 'RewriteImage' }]);
  const conditions = objectsAt(status, 'conditions');
  t.same(conditions[0], paused);
  t.match(conditions.slice(1), [
    { type: 'Installed', lastTransitionTime: long, observedGeneration: 3 },
    { type: 'Healthy', lastTransitionTime: now },
  ]);
  t.equal(conditions.length, 3);
  const again = packageStatusOf({ ...before, status }, [revision('b', 2, 'Active', well)], '2026-01-03T00:00:00Z');
  t.same(again, status, 'the next call changes nothing');
});

t.test('the revisions of a Package wake its status', async (t) => {
  t.same(relatedRevisions(provider()), [
    {
      apiVersion: 'pkg.crossplane.io/v1',
      resource: 'providerrevisions',
      labelSelector: { matchLabels: { 'pkg.crossplane.io/package': 's3' } },
    },
  ]);
});

t.test(
  'the ImageConfigs that a package transaction has applied, else those that Crossplane has applied, else what is there',
  async (t) => {
    const [own, theirs] = [[{ name: 'ours', reason: 'VerifyImage' }], [{ name: 'theirs', reason: 'SetImagePullSecret' }]];
    const resolved = 'mirror.example.org/acme/s3:v1.1.0';
    const plain = revision('b', 2, 'Active', well);
    const noted = (text: string): JsonObject => ({
      ...plain,
      metadata: { name: 'b', annotations: { 'packages.janus.io/image-configs': text } },
    });
    const told = (one: JsonObject) => packageStatusOf(provider(), [one], now);
    const applied = told(noted(JSON.stringify({ refs: own, resolved })));
    t.same([applied.appliedImageConfigRefs, applied.resolvedPackage], [own, resolved]);
    t.same(told(noted(JSON.stringify({ refs: [], resolved }))).appliedImageConfigRefs, [], 'none any more');
    const byCrossplane = { ...plain, status: { appliedImageConfigRefs: theirs, resolvedImage: image } };
    t.same(told(byCrossplane).appliedImageConfigRefs, theirs);
    for (const text of ['}', '[]', '{"refs":7,"resolved":7}'])
      t.same(
        [told(noted(text)).appliedImageConfigRefs, told(noted(text)).resolvedPackage],
        [[{ name: 'mirror', reason: 'RewriteImage' }], image],
        text,
      );
    t.same(told(noted('{"refs":[{"name":"x"},7]}')).appliedImageConfigRefs, [], 'an entry without a reason is left out');
  },
);
