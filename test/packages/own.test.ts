// What a Package that makes its own package transactions needs next, without a cluster. own-live.test.ts tries it in one.
import { createHash } from 'node:crypto';
import t from 'tap';
import { relatedToOwn } from '../../hooks/crossplane/customize.ts';
import { decideOwn } from '../../hooks/crossplane/decide/own.ts';
import type { OwnStep } from '../../hooks/crossplane/decide/own-step.ts';
import { makesOwn, ownName } from '../../hooks/crossplane/model/own.ts';
import { readPackageTransaction } from '../../hooks/crossplane/model/package-transaction.ts';
import type { OwnObservation } from '../../hooks/crossplane/observe/observation.ts';
import { packageStatusOf } from '../../hooks/crossplane/package-status.ts';
import { packageChange } from '../../hooks/crossplane/writes/changes.ts';
import type { Reader } from '../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { suitsCrossplane } from '../../server/crossplane.ts';

const now = Date.parse('2026-01-01T00:10:00Z');
const digest = `sha256:${'a'.repeat(64)}`;
const source = 'registry.example.org/acme/s3';
const apiVersion = 'pkg.crossplane.io/v1';

function providerOf(metadata: JsonObject = {}, spec: JsonObject = {}): JsonObject {
  return {
    ...{ apiVersion, kind: 'Provider' },
    metadata: { name: 's3', uid: 'u1', generation: 3, ...metadata },
    spec: { package: `${source}:v1.1.0`, packagePullPolicy: 'IfNotPresent', ...spec },
  };
}

const provider = providerOf();
const deleted = { deletionTimestamp: '2026-01-01T00:00:00Z', generation: 4 };
const condition = (type: string, status: string, reason = 'Any', message = 'words'): JsonObject => ({
  ...{ type, status, reason, message },
});

function ptxOf(pkg: JsonObject, status: JsonObject = {}, more: JsonObject = {}): JsonObject {
  const { change = 'Install', ...metadata } = more;
  const labels = { 'packages.janus.io/package-uid': textAt(pkg, 'metadata', 'uid') ?? '' };
  return {
    metadata: { name: ownName('Provider', pkg), uid: 'p', resourceVersion: '7', labels, ...metadata },
    spec: { change },
    status,
  };
}

const revision: JsonObject = {
  metadata: {
    name: 's3-aaaaaaaaaaaa',
    labels: { 'pkg.crossplane.io/package': 's3', 'pkg.crossplane.io/transaction': 'first' },
    ownerReferences: [{ apiVersion, kind: 'Provider', name: 's3', uid: 'u1' }],
  },
  spec: { desiredState: 'Active', image: `${source}@${digest}`, revision: 2, packagePullPolicy: 'IfNotPresent' },
};

function lockOf(version = `v1.1.0@${digest}`, name = 's3-aaaaaaaaaaaa'): JsonObject {
  return { packages: [{ name, apiVersion, kind: 'Provider', source, version, dependencies: [] }] };
}

const nothing: OwnObservation = {
  ...{ kind: 'Provider', pkg: provider, isFinalizing: false, isOwn: true, isBeside: false },
  ...{
    made: [],
    writer: undefined,
    holder: undefined,
    namesake: undefined,
    revisions: [],
    lock: undefined,
    namespace: 'janus-packages',
    now,
  },
};
const installed = { revisions: [revision], lock: lockOf() };
const decided = (changes: Partial<OwnObservation>): OwnStep => decideOwn({ ...nothing, ...changes });
/** The verb and the name of the write. */
const written = ({ write }: OwnStep): string => (write === undefined ? 'nothing' : `${write.verb} ${write.location.name}`);

t.test('42: the name of a package transaction follows from the generation of its Package', async (t) => {
  const hash = createHash('sha256').update('pkg.crossplane.io/v1/Provider/s3/gen-3').digest('hex').slice(0, 8);
  t.equal(ownName('Provider', provider), `tx-s3-${hash}`);
  t.not(ownName('Function', provider), ownName('Provider', provider), 'a Provider and a Function of one name');
  t.not(ownName('Provider', providerOf({ generation: 4 })), ownName('Provider', provider), 'the next generation');
  const name = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;
  for (const long of ['a'.repeat(63), `${'a'.repeat(50)}.b`, `${'a'.repeat(49)}-.b`.replace('-.', '.-x'), 'a.b']) {
    const made = ownName('Provider', providerOf({ name: long }));
    t.ok(made.length <= 63 && name.test(made), made);
  }
  t.equal(ownName('Provider', providerOf({ name: 'a'.repeat(63) })).length, 63);
  const activated = createHash('sha256').update('pkg.crossplane.io/v1/Provider/s3/gen-3/revision-r1').digest('hex').slice(0, 8);
  t.equal(ownName('Provider', provider, 'r1'), `tx-s3-${activated}`, 'a revision that a user has made Active');
});

t.test('which Packages make package transactions', async (t) => {
  const annotated = providerOf({ annotations: { 'pkg.crossplane.io/own-transactions': 'true' } });
  t.same(
    [provider, annotated].map((pkg) => (['none', 'annotated', 'all'] as const).map((mode) => makesOwn(mode, pkg))),
    [
      [false, false, true],
      [false, true, true],
    ],
  );
});

t.test('a generation without a package transaction gets one, with the whole spec of the Package', async (t) => {
  const step = decided({});
  t.match(step, {
    write: { verb: 'create', identity: { name: 'janus-packages' }, location: { name: ownName('Provider', provider) } },
    condition: { status: 'Unknown', reason: 'InstallationPending' },
    finalized: false,
  });
  const object = step.write?.verb === 'create' ? step.write.object : {};
  t.same(at(object, 'spec'), {
    change: 'Install',
    install: { package: { apiVersion, kind: 'Provider', metadata: { name: 's3', uid: 'u1' }, spec: at(provider, 'spec') } },
  });
  t.same(at(object, 'metadata', 'labels'), { 'packages.janus.io/package-uid': 'u1', 'pkg.crossplane.io/package': 's3' });
  const allowed = { 'pkg.crossplane.io/allow-irreversible': 'true' };
  const other = decided({ pkg: providerOf({ annotations: { ...allowed, 'example.org/other': 'x' } }) });
  t.same(other.write?.verb === 'create' ? at(other.write.object, 'metadata', 'annotations') : {}, allowed);
});

const asWanted: readonly (readonly [what: string, changes: Partial<OwnObservation>, isInstalled: boolean])[] = [
  ['the Lock and the Active revision have it', installed, true],
  ['by digest', { ...installed, pkg: providerOf({}, { package: `${source}@${digest}` }) }, true],
  ['the Lock has the tag alone', { ...installed, lock: lockOf('v1.1.0') }, true],
  ['there is no Lock', { revisions: [revision] }, false],
  ['the Lock has another version', { ...installed, lock: lockOf(`v1.0.0@${digest}`) }, false],
  ['the Lock names another revision', { ...installed, lock: lockOf(`v1.1.0@${digest}`, 's3-bbbbbbbbbbbb') }, false],
  ['another digest', { ...installed, pkg: providerOf({}, { package: `${source}@sha256:${'b'.repeat(64)}` }) }, false],
  ['another setting', { ...installed, pkg: providerOf({}, { packagePullPolicy: 'Always' }) }, false],
  ['a setting that revisions do not have', { ...installed, pkg: providerOf({}, { revisionHistoryLimit: 3 }) }, true],
  ['a Package that was created again', { ...installed, pkg: providerOf({ uid: 'u2' }) }, false],
  [
    'the revision is Inactive',
    { ...installed, revisions: [{ ...revision, spec: { ...(at(revision, 'spec') as JsonObject), desiredState: 'Inactive' } }] },
    false,
  ],
  [
    'Crossplane has installed it, and no package transaction',
    { ...installed, revisions: [{ ...revision, metadata: { ...(at(revision, 'metadata') as JsonObject), labels: {} } }] },
    false,
  ],
];
for (const [what, changes, isInstalled] of asWanted)
  t.test(`a Package that is installed as its spec says makes none: ${what}`, async (t) => {
    t.equal(written(decided(changes)), isInstalled ? 'nothing' : `create ${ownName('Provider', changes.pkg ?? provider)}`);
  });

const manual = providerOf({}, { revisionActivationPolicy: 'Manual' });
const ownLabel = { 'pkg.crossplane.io/transaction': ownName('Provider', manual) };
const nameOfActivation = ownName('Provider', manual, 'r2');
const manualRevision = (desiredState: string, metadata: JsonObject = {}): JsonObject => ({
  kind: 'ProviderRevision',
  metadata: { ...(at(revision, 'metadata') as JsonObject), name: 's3-bbbbbbbbbbbb', uid: 'r2', labels: ownLabel, ...metadata },
  spec: { ...(at(revision, 'spec') as JsonObject), desiredState },
});
const former = { ...revision, kind: 'ProviderRevision' };
const done = ptxOf(manual, { phase: 'Succeeded', conditions: [condition('Installed', 'True')] });
/** Version v1.0.0 is in the Lock, and v1.1.0 is installed Inactive. */
const byHand = (desiredState: string, more: Partial<OwnObservation> = {}): Partial<OwnObservation> => ({
  ...{ pkg: manual, made: [done], lock: lockOf(`v1.0.0@${digest}`) },
  ...{ revisions: [former, manualRevision(desiredState)], ...more },
});
const activation = (phase: string, more: JsonObject = {}): JsonObject =>
  ptxOf(manual, { phase, conditions: [condition('Validated', 'False', 'ResourcesInUse')] }, { name: nameOfActivation, ...more });

t.test('a revision that a user makes Active gets a package transaction of the whole spec', async (t) => {
  const step = decided(byHand('Active'));
  t.match(step, {
    write: { verb: 'create', location: { name: nameOfActivation } },
    condition: { status: 'Unknown', reason: 'InstallationPending' },
  });
  t.match(step.write?.verb === 'create' ? step.write.object : {}, {
    metadata: { name: nameOfActivation, labels: { 'packages.janus.io/package-uid': 'u1' } },
    spec: { change: 'Install', install: { package: { spec: at(manual, 'spec') } } },
  });
});

const { lock: __, ...withoutLock } = byHand('Active');
const byHandTable: readonly (readonly [what: string, changes: Partial<OwnObservation>, written: string])[] = [
  ['it is Inactive', byHand('Inactive'), 'nothing'],
  ['it is Inactive, and the history has deleted the package transaction', byHand('Inactive', { made: [] }), 'nothing'],
  ['Active, and the history has deleted the package transaction', byHand('Active', { made: [] }), `create ${nameOfActivation}`],
  ['there is no Lock', withoutLock, `create ${nameOfActivation}`],
  ['the Lock cannot be read', byHand('Active', { lock: { packages: [{}] } }), 'nothing'],
  ['the Lock has it', byHand('Active', { lock: lockOf(undefined, 's3-bbbbbbbbbbbb') }), 'nothing'],
  ['the revision is being deleted', byHand('Active', { revisions: [former, manualRevision('Active', deleted)] }), 'nothing'],
  ['the install still runs', byHand('Active', { made: [ptxOf(manual, { phase: 'Releasing' })] }), 'nothing'],
  ['the install has failed', byHand('Active', { made: [ptxOf(manual, { phase: 'Failed' })] }), 'nothing'],
  [
    'another package transaction writes the Package',
    byHand('Active', { writer: { metadata: { name: 'by-hand' }, status: { phase: 'Installing' } } }),
    'nothing',
  ],
  ['it runs', byHand('Active', { made: [done, activation('Installing')] }), 'nothing'],
  [
    'it runs, and the Lock is written',
    byHand('Active', { made: [done, activation('Releasing')], lock: lockOf(undefined, 's3-bbbbbbbbbbbb') }),
    'nothing',
  ],
  ['it has failed', byHand('Active', { made: [done, activation('Failed')] }), 'nothing'],
  ['a user takes it back', byHand('Inactive', { made: [done, activation('Installing')] }), `delete ${nameOfActivation}`],
  [
    'a user takes it back after it failed',
    byHand('Inactive', { made: [done, activation('Failed')] }),
    `delete ${nameOfActivation}`,
  ],
  ['it ends already', byHand('Inactive', { made: [done, activation('RollingBack', deleted)] }), 'nothing'],
  [
    'the revision is of a former Package of this name',
    byHand('Active', { pkg: providerOf({ uid: 'u2' }, at(manual, 'spec') as JsonObject), made: [] }),
    `create ${ownName('Provider', manual)}`,
  ],
];
/** A package transaction by hand has installed the Package, and nobody has activated the revision. */
const handWriter = {
  metadata: { name: 'by-hand' },
  spec: { install: { package: { spec: { package: `${source}:v1.1.0` } } } },
  status: { phase: 'Succeeded' },
};
const handRevision = (state: string): JsonObject =>
  manualRevision(state, { labels: { 'pkg.crossplane.io/transaction': 'by-hand' } });
const handInstalled = (state: string): Partial<OwnObservation> => ({
  ...{ pkg: manual, made: [], lock: { packages: [] }, writer: handWriter, revisions: [handRevision(state)] },
});
const byHandOnly: typeof byHandTable = [
  ['installed by hand, Inactive', handInstalled('Inactive'), 'nothing'],
  ['installed by hand, and made Active', handInstalled('Active'), `create ${nameOfActivation}`],
];
for (const [what, changes, expected] of [...byHandTable, ...byHandOnly])
  t.test(`the package transaction of a revision that a user makes Active: ${what}`, async (t) => {
    t.equal(written(decided(changes)), expected);
  });

t.test('the status of a Package with a revision that a user makes Active', async (t) => {
  const failed = decided(byHand('Active', { made: [done, activation('Failed')] }));
  t.match(failed.condition, { status: 'False', reason: 'ResourcesInUse', message: /it is not tried again/ });
  const other = decided(byHand('Active', { made: [done, activation('Succeeded')] }));
  const message = /^ProviderRevision s3-bbbbbbbbbbbb is Active, and spec\.package names another version: write its version/;
  t.match(
    other,
    { condition: { status: undefined, reason: 'OtherRevisionActive', message }, write: undefined },
    'a tag has moved',
  );
  const labels = { 'pkg.crossplane.io/transaction': 'earlier' };
  const revisions = [former, manualRevision('Active', { labels })];
  const asWanted = { revisions, lock: lockOf() };
  for (const made of [[done], []])
    t.match(decided(byHand('Active', { ...asWanted, made })).condition, { reason: 'OtherRevisionActive', message });
  const edited = [manualRevision('Active', { name: 's3-cccccccccccc', uid: 'r3', labels }), manualRevision('Inactive')];
  t.match(
    decided(byHand('Active', { revisions: edited })),
    { condition: { reason: 'OtherRevisionActive', message: /^ProviderRevision s3-cccccccccccc is Active/ }, write: undefined },
    'an edit came before it was installed',
  );
  const automatic = { ...asWanted, pkg: provider, made: [] };
  t.equal(decided(automatic).condition, undefined, 'only if a user activates revisions');
});

t.test('a package transaction of an earlier generation ends first, also for a revision', async (t) => {
  const name = ownName('Provider', providerOf({ generation: 2 }), 'r2');
  t.equal(written(decided(byHand('Active', { made: [activation('Installing', { name })] }))), `delete ${name}`);
});

t.test('a Package that a package transaction is writing waits for it, and shows it', async (t) => {
  const writer = { metadata: { name: 'by-hand' }, status: { phase: 'Installing', progress: '1/5' } };
  const step = decided({ writer });
  t.equal(written(step), 'nothing');
  t.match(step.condition, { status: 'Unknown', message: 'Package transaction by-hand: it has not begun (1/5 stages)' });
  const waits = [1, 100, 1_000].map((seconds) => {
    const creationTimestamp = new Date(now - seconds * 1_000).toISOString();
    return decided({ writer: { ...writer, metadata: { name: 'by-hand', creationTimestamp } } }).wait;
  });
  t.same(waits, [3, 10, 30], 'nothing else causes a call when it ends, and a hundred Packages may wait for one');
  t.equal(written(decided({ writer: { ...writer, status: { phase: 'Failed' } } })), `create ${ownName('Provider', provider)}`);
});

t.test('its package transaction: progress, refusal, end', async (t) => {
  const [validated, pending] = [condition('Validated', 'True'), condition('Installed', 'Unknown', 'InstallationInProgress')];
  const running = decided({
    made: [ptxOf(provider, { phase: 'Installing', progress: '2/5', conditions: [validated, pending] })],
  });
  t.match(running.condition, { status: 'Unknown', reason: 'InstallationInProgress', message: /: words \(2\/5 stages\)$/ });
  const conditions = [condition('Validated', 'False', 'VersionConflict'), condition('Installed', 'Unknown')];
  const refused = decided({ made: [ptxOf(provider, { phase: 'Waiting', conditions })] });
  t.match(refused.condition, { status: 'False', reason: 'VersionConflict', message: /: words$/ });
  const failed = decided({ made: [ptxOf(provider, { phase: 'Failed', conditions })] });
  t.match(failed, {
    condition: { reason: 'VersionConflict', message: /it is not tried again: change the Package, or/ },
    wait: 0,
  });
  const unread = [condition('Validated', 'Unknown', 'Resolving'), condition('Installed', 'Unknown')];
  const status = { phase: 'Failed', conditions: unread, outcome: { kind: 'Failed', reason: 'Unavailable' } };
  t.match(decided({ made: [ptxOf(provider, status)] }).condition, {
    status: 'False',
    reason: 'Unavailable',
    message: /: words; it is/,
  });
  const done = [validated, condition('Installed', 'True')];
  const ended = ptxOf(provider, { phase: 'Succeeded', conditions: done });
  t.match(decided({ made: [ended], revisions: [revision] }), { condition: undefined, wait: 0 });
  for (const step of [running, refused, failed]) t.equal(written(step), 'nothing');
  const lost = decided({ made: [ended], revisions: [] });
  t.match(lost.condition, { status: 'Unknown', reason: 'InstallationPending', message: /^The revision is gone/ });
  t.equal(written(lost), `delete ${ownName('Provider', provider)}`, 'a user has deleted the revision');
});

t.test('while an update runs, the Package stays installed, for the generation before; a first install is Unknown', async (t) => {
  const was = { ...provider, status: { conditions: [{ ...condition('Installed', 'True'), observedGeneration: 2 }] } };
  const running = ptxOf(provider, {
    phase: 'Installing',
    conditions: [condition('Validated', 'True'), condition('Installed', 'Unknown')],
  });
  const earlier = ptxOf(providerOf({ generation: 2 }), { phase: 'Validating' });
  const writer = { metadata: { name: 'by-hand' }, status: { phase: 'Installing' } };
  const steps: readonly (readonly [string, Partial<OwnObservation>])[] = [
    ['it runs', { made: [running] }],
    ['it is made', {}],
    ['an earlier one ends first', { made: [earlier] }],
    ['one by hand runs', { writer }],
  ];
  for (const [what, changes] of steps) {
    t.equal(decided({ ...changes, pkg: was, revisions: [revision] }).condition?.status, 'True', what);
    t.equal(decided({ ...changes, revisions: [revision] }).condition?.status, 'Unknown', `${what}: it was not installed`);
    t.equal(decided({ ...changes, pkg: was, revisions: [] }).condition?.status, 'Unknown', `${what}: nothing is Active`);
  }
  const own = decided({ made: [running], pkg: was, revisions: [revision] }).condition;
  t.match(at(packageStatusOf(was, [revision], '2026-01-01T00:10:00Z', own), 'conditions'), [
    { type: 'Installed', status: 'True', observedGeneration: 2 },
  ]);
});

const goneAt = (lastTransitionTime: string): JsonObject => ({
  ...revision,
  status: {
    conditions: [
      {
        ...condition('RevisionHealthy', 'False', 'DefinitionsMissing', 'CustomResourceDefinition x is gone'),
        lastTransitionTime,
      },
    ],
  },
});
const succeededAt = (completionTime: string): JsonObject =>
  ptxOf(provider, { phase: 'Succeeded', completionTime, conditions: [condition('Installed', 'True')] });
const [early, late] = ['2026-01-01T00:01:00Z', '2026-01-01T00:02:00Z'];
const goneTable: readonly (readonly [
  what: string,
  changes: Partial<OwnObservation>,
  written: string,
  status: string | undefined,
])[] = [
  ['it is made again', { made: [succeededAt(early)] }, `delete ${ownName('Provider', provider)}`, 'False'],
  ['a Package that was installed by hand', { made: [] }, `create ${ownName('Provider', provider)}`, 'False'],
  ['the condition is older than the install', { made: [succeededAt('2026-01-01T00:03:00Z')] }, 'nothing', undefined],
  ['it runs already', { made: [ptxOf(provider, { phase: 'Installing' })] }, 'nothing', 'Unknown'],
  ['it has failed', { made: [ptxOf(provider, { phase: 'Failed' })] }, 'nothing', 'False'],
  [
    'another package transaction holds the Lock',
    {
      made: [succeededAt(early)],
      lock: { ...lockOf(), metadata: { annotations: { 'pkg.crossplane.io/current-transaction': 'other' } } },
    },
    'nothing',
    'False',
  ],
  [
    'it is being deleted already',
    { made: [{ ...succeededAt(early), ...deletedMetadata(succeededAt(early)) }] },
    'nothing',
    'False',
  ],
];

function deletedMetadata(ptx: JsonObject): JsonObject {
  return { metadata: { ...(at(ptx, 'metadata') as JsonObject), ...deleted } };
}

for (const [what, changes, expected, status] of goneTable)
  t.test(`a CRD of an installed package is gone: ${what}`, async (t) => {
    const step = decided({ ...installed, revisions: [goneAt(late)], ...changes });
    t.equal(written(step), expected);
    t.equal(step.condition?.status, status);
  });

t.test(
  'a CRD of a package is gone: the Package that is being deleted makes a Delete, and an Inactive revision counts not',
  async (t) => {
    const going = decided({ ...installed, revisions: [goneAt(late)], pkg: providerOf(deleted), isFinalizing: true });
    t.match(going.write, { verb: 'create', object: { spec: { change: 'Delete' } } });
    const inactive = { ...goneAt(late), spec: { ...(at(revision, 'spec') as JsonObject), desiredState: 'Inactive' } };
    t.equal(written(decided({ ...installed, revisions: [revision, inactive], made: [succeededAt(early)] })), 'nothing');
  },
);

t.test('a tag has moved: the package transaction is made again; a tag that is followed is read each minute', async (t) => {
  const follows = providerOf({}, { packagePullPolicy: 'Always' });
  const always = { ...revision, spec: { ...(at(revision, 'spec') as JsonObject), packagePullPolicy: 'Always' } };
  const base = { pkg: follows, revisions: [always], lock: lockOf() };
  const made = [succeededAt(early)];
  const moved = decided({ ...base, made, moved: `sha256:${'b'.repeat(64)}` });
  t.equal(written(moved), `delete ${ownName('Provider', provider)}`);
  t.match(moved.condition, { message: /s3:v1\.1\.0 has moved to sha256:b+: package transaction .* is made again$/ });
  t.equal(written(decided({ ...base, made: [], moved: `sha256:${'b'.repeat(64)}` })), `create ${ownName('Provider', provider)}`);
  t.equal(decided({ ...base, made }).wait, 60);
  t.equal(decided({ ...base, made: [] }).wait, 60, 'installed by hand');
  t.equal(decided({ ...installed, made }).wait, 0, 'only with the policy');
  const byDigest = providerOf({}, { package: `${source}@${digest}`, packagePullPolicy: 'Always' });
  t.equal(decided({ ...base, pkg: byDigest, made }).wait, 0, 'a digest never moves');
});

t.test('a package transaction of an earlier generation ends before the next one is made', async (t) => {
  const earlier = ptxOf(providerOf({ generation: 2 }), { phase: 'Validating' });
  const step = decided({ made: [earlier] });
  t.match(step, {
    write: {
      verb: 'delete',
      location: { name: textAt(earlier, 'metadata', 'name') },
      precondition: { uid: 'p', resourceVersion: '7' },
    },
    condition: { status: 'Unknown', reason: 'WaitingForTransaction' },
  });
  const ending = ptxOf(providerOf({ generation: 2 }), { phase: 'RollingBack' }, deleted);
  t.equal(written(decided({ made: [ending] })), 'nothing', 'it is ending');
  const ended = ptxOf(providerOf({ generation: 2 }), { phase: 'Failed' }, deleted);
  t.equal(written(decided({ made: [ended] })), `create ${ownName('Provider', provider)}`, 'it has ended');
  t.equal(written(decided({ ...installed, made: [earlier] })), written(step), 'also if the new generation is installed already');
});

t.test('the name of the next package transaction is taken', async (t) => {
  const former = ptxOf(providerOf({ uid: 'u0' }), { phase: 'Succeeded' });
  t.equal(written(decided({ namesake: former })), `delete ${ownName('Provider', provider)}`, 'by a former Package of this name');
  const stranger = { metadata: { name: ownName('Provider', provider) } };
  t.match(decided({ namesake: stranger }), {
    write: undefined,
    condition: { message: /was not made by this Package.*delete it/ },
  });
});

t.test('a Package without a valid reference makes none, and says what to write', async (t) => {
  for (const package_ of ['registry.example.org/Acme/s3:v1', 'registry.example.org/acme/s3:v1@sha256:a', 'no-dot/s3:v1', 7]) {
    const step = decided({ pkg: providerOf({}, { package: package_ }) });
    t.equal(written(step), 'nothing');
    t.match(step.condition, {
      status: 'False',
      reason: 'InvalidPackage',
      message:
        /^spec\.package: expected registry, repository and tag or digest, such as registry\.example\.org\/acme\/name:v1\.0\.0, found /,
    });
  }
  const long = decided({ pkg: providerOf({ name: 'a'.repeat(64) }) });
  t.match([written(long), long.condition?.message], ['nothing', /^metadata\.name: expected at most 63/]);
});

t.test('Metacontroller finalizes a Package that is not being deleted: it is let go, and nothing is written', async (t) => {
  for (const isOwn of [true, false]) {
    const step = decided({ ...installed, isFinalizing: true, isOwn });
    t.match([step.finalized, written(step)], [true, 'nothing']);
  }
  const off = decided({ isOwn: false });
  t.match([off.finalized, written(off)], [false, 'nothing'], 'and a call to sync leaves it alone');
  const optedOut = decided({ ...installed, pkg: providerOf(deleted), isFinalizing: true, isOwn: false });
  t.match([optedOut.finalized, written(optedOut)], [true, 'nothing'], 'nor has a Package a Delete that has opted out');
});

const going = { pkg: providerOf(deleted), isFinalizing: true };
const removal = (status: JsonObject, more: JsonObject = {}): JsonObject =>
  ptxOf(going.pkg, { phase: 'Deleting', ...status }, { change: 'Delete', ...more });

t.test('47: a Package that is being deleted makes a Delete of the source that is installed', async (t) => {
  const step = decided({ ...going, ...installed });
  t.match(step, { write: { verb: 'create' }, finalized: false, condition: { reason: 'DeletionPending' } });
  t.match(step.write?.verb === 'create' ? at(step.write.object, 'spec') : {}, { change: 'Delete', delete: { source } });
  const edited = { ...going, pkg: providerOf(deleted, { package: 'registry.example.org/acme/other:v1' }) };
  const other = decided({ ...edited, ...installed });
  t.match(
    other.write?.verb === 'create' ? at(other.write.object, 'spec', 'delete') : {},
    { source },
    'not the one that it says now',
  );
});

t.test('a Package of which nothing is installed needs no Delete', async (t) => {
  for (const changes of [{}, { revisions: [revision] }, { ...installed, lock: lockOf('v1', 'other') }])
    t.match(decided({ ...going, ...changes }), { write: undefined, finalized: true });
  const left = decided({ ...going, lock: lockOf() });
  t.match(left, { write: { verb: 'create' }, finalized: false }, 'its revision is gone, and its entry and its objects are left');
  const running = decided({ ...going, ...installed, made: [ptxOf(provider, { phase: 'Installing' })] });
  t.match(running, { write: { verb: 'delete' }, finalized: false }, 'its install ends first');
});

t.test('a Package that is being deleted stays until its Delete has nothing else left', async (t) => {
  const conditions = [condition('Validated', 'False', 'ResourcesInUse', 'CRD x has 1 instance')];
  const refused = decided({ ...going, ...installed, made: [removal({ phase: 'Waiting', conditions })] });
  t.match(refused, {
    write: undefined,
    finalized: false,
    condition: { status: undefined, reason: 'ResourcesInUse', message: /CRD x has 1 instance$/ },
  });
  const deletionTime = '2026-01-01T00:01:00Z';
  t.equal(decided({ ...going, ...installed, made: [removal({ deletionTime })] }).finalized, false, 'a revision is left');
  t.equal(decided({ ...going, lock: lockOf(), made: [removal({ deletionTime })] }).finalized, true, 'only the Package is left');
  t.equal(decided({ ...going, lock: lockOf(), made: [removal({})] }).finalized, false, 'nothing is deleted yet');
  t.equal(decided({ ...going, made: [removal({ phase: 'Succeeded' })] }).finalized, true);
});

t.test('R1, R2: a Package that the holder of the Lock deletes or replaces goes once its revisions are gone', async (t) => {
  const holder = (status: JsonObject): JsonObject => ({ metadata: { name: 'mover', uid: 'm' }, status });
  const forward = holder({ phase: 'Deleting', leavingUids: ['u1'] });
  const waiting = { made: [removal({ phase: 'Waiting' })] };
  t.match(decided({ ...going, lock: lockOf(), holder: forward }), { write: undefined, finalized: true }, 'it makes no Delete');
  t.match(decided({ ...going, lock: lockOf(), holder: forward, ...waiting }), { write: undefined, finalized: true });
  const stays = { write: undefined, finalized: false, condition: { reason: 'WaitingForTransaction', message: /mover/ } };
  t.match(decided({ ...going, ...installed, holder: forward }), stays, 'a revision is left');
  const other = holder({ phase: 'Deleting', leavingUids: ['u2'] });
  t.match(decided({ ...going, ...installed, holder: other }), { write: { verb: 'create' } }, 'it deletes another Package');
  const labels = { 'pkg.crossplane.io/transaction': 'mover' };
  const writing = { pkg: providerOf({ ...deleted, labels }), isFinalizing: true, holder: holder({ phase: 'Installing' }) };
  t.match(decided(writing), stays, 'the holder is about to make a revision');
  const undone = { ...writing, holder: holder({ phase: 'RollingBack' }) };
  t.match(
    decided(undone),
    { write: undefined, finalized: true },
    'the holder is rolled back, and waits for the Package that it has made to go',
  );
  t.match(decided({ ...undone, ...installed }), stays, 'the holder is rolled back, and a revision is left');
  t.match(decided({ ...writing, ...waiting }).condition, { reason: 'InstallationPending' }, 'its Delete waits');
  t.match(decided({ ...writing, holder: undefined }), { finalized: true }, 'nothing of it is installed');
});

t.test('a Delete that failed for good is tried again, after a pause', async (t) => {
  const failed = (completionTime: string) =>
    decided({ ...going, ...installed, made: [removal({ phase: 'Failed', completionTime })] });
  t.match(failed('2026-01-01T00:09:00Z'), { write: undefined, finalized: false, wait: 240 });
  t.equal(written(failed('2026-01-01T00:04:00Z')), `delete ${ownName('Provider', going.pkg)}`);
  const left = decided({ ...going, made: [removal({ phase: 'Failed' })] });
  t.match(left, { write: undefined, finalized: true }, 'unless the package is gone meanwhile');
});

t.test('a Package that is changed while it is being deleted says that this has no effect', async (t) => {
  const step = decided({ ...going, pkg: providerOf({ ...deleted, generation: 5 }), ...installed, made: [removal({})] });
  t.match(
    [written(step), step.condition?.message],
    ['nothing', /was changed since, which has no effect: apply it again once it is gone/],
  );
});

t.test('the root of its own package transaction gets a label, and nothing of its spec is written', async (t) => {
  const changed = {
    kind: 'Provider',
    name: 's3',
    source,
    package: `${source}:v1.1.0`,
    digest,
    revision: 'r',
    isRoot: true,
  } as const;
  const wanted = {
    kind: 'Provider',
    name: 's3',
    uid: 'u1',
    labels: {},
    spec: {},
    reference: { source, version: 'v1.1.0' },
  } as const;
  const maker = { name: 'tx', uid: 'p', packageUid: 'u1', isBeside: true, isOwn: true };
  t.same(packageChange(changed, wanted, provider, maker), {
    target: { apiVersion, kind: 'Provider', name: 's3' },
    type: 'Patch',
    content: { metadata: { labels: { 'pkg.crossplane.io/transaction': 'tx' }, annotations: { 'crossplane.io/paused': 'true' } } },
  });
  const dependency = packageChange({ ...changed, isRoot: false }, wanted, undefined, { ...maker, isBeside: false });
  t.match(dependency, {
    type: 'Create',
    content: { metadata: { annotations: { 'pkg.crossplane.io/own-transactions': 'true' } } },
  });
  const live = packageChange({ ...changed, isRoot: false }, wanted, provider, maker);
  t.notMatch(JSON.stringify(live), 'own-transactions', 'a Package that exists keeps its choice');
});

t.test('the label of a package transaction names the Package that made it', async (t) => {
  t.equal(readPackageTransaction(ptxOf(provider)).packageUid, 'u1');
  t.equal(readPackageTransaction({ metadata: { name: 'by-hand' } }).packageUid, undefined);
});

t.test('revisions and its own package transactions wake a Package', async (t) => {
  t.match(relatedToOwn(provider), [
    { resource: 'providerrevisions', labelSelector: { matchLabels: { 'pkg.crossplane.io/package': 's3' } } },
    {
      apiVersion: 'pkg.crossplane.io/v1alpha1',
      resource: 'transactions',
      labelSelector: { matchLabels: { 'packages.janus.io/package-uid': 'u1' } },
    },
  ]);
  const long = relatedToOwn(providerOf({ name: 'a'.repeat(64) }));
  t.same(
    long.map(({ resource }) => resource),
    ['transactions'],
    'Metacontroller accepts no longer label',
  );
});

for (const [what, mode, own, serves, isServed] of [
  ['beside, on an API server that serves the policy', 'beside', 'annotated', true, true],
  ['beside, on an older API server', 'beside', 'annotated', false, false],
  ['beside, but off', 'beside', 'none', false, true],
  ['alone, on an older API server', 'absent', 'all', false, true],
] as const)
  t.test(`whether the hook starts: ${what}`, async (t) => {
    const containers = [{ args: ['core', 'start'] }];
    const labels = { 'app.kubernetes.io/version': '2.3.4' };
    const deployment = { metadata: { labels }, spec: { template: { spec: { containers } } } };
    const items = mode === 'beside' ? [deployment] : [];
    const reader = {
      listMetadata: async () => ({ kind: 'ok', items, complete: true, next: '', size: 0, serverTime: 0 }),
      resource: async () => (serves ? { kind: 'ok', resource: {} } : { kind: 'failed', failure: { kind: 'absent' } }),
    } as unknown as Reader;
    const config = {
      namespace: 'janus-packages',
      cacheDirectory: '',
      httpHosts: [],
      crossplane: '',
      webhookSecret: '',
      authority: undefined,
      trustedRoot: undefined,
      proxy: '',
      noProxy: [],
      mode,
      own,
    };
    const answer = await suitsCrossplane(reader, config);
    t.equal(answer.kind, isServed ? 'ok' : 'fault');
    if (answer.kind === 'fault')
      t.match(answer.fault, /^JANUS_PACKAGES_OWN: .*MutatingAdmissionPolicy.*Kubernetes 1\.36 or newer/);
  });
