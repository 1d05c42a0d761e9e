// Which revisions go with an install, without a cluster; and the rules of a dry run.
import t from 'tap';
import { acquire } from '../../hooks/crossplane/decide/acquiring.ts';
import { release } from '../../hooks/crossplane/decide/ending.ts';
import { prepare } from '../../hooks/crossplane/decide/preparing.ts';
import { held, packagesDigest } from '../../hooks/crossplane/model/holder.ts';
import { readPackageTransaction } from '../../hooks/crossplane/model/package-transaction.ts';
import { boundedPlan, type PlannedObject, planLimits, plannedOperations } from '../../hooks/crossplane/model/plan.ts';
import { readStatus, type Status, writeStatus } from '../../hooks/crossplane/model/status.ts';
import { readRetired } from '../../hooks/crossplane/observe/retired.ts';
import type { ChangedPackage } from '../../hooks/crossplane/writes/changes.ts';
import type { ListAnswer, Reader, Resource } from '../../hooks/objects/cluster.ts';
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { packagePlan } from '../../schemas/packages/package-plan.ts';
import { gzip } from '../../server/gzip.ts';

const source = 'registry.example.org/acme/one';

function revision(number: number, desiredState = 'Inactive', more: JsonObject = {}): JsonObject {
  const metadata = { name: `one-${number}`, uid: `uid-${number}`, resourceVersion: '1', ...more };
  return { metadata, spec: { desiredState, revision: number, image: `${source}@sha256:${'0'.repeat(64)}` } };
}

function object(name: string, owner: number, controller: boolean): JsonObject {
  const reference = {
    apiVersion: 'pkg.crossplane.io/v1',
    kind: 'ProviderRevision',
    name: `one-${owner}`,
    uid: `uid-${owner}`,
    controller,
  };
  return { metadata: { name, ownerReferences: [reference] } };
}

const pkg: ChangedPackage = {
  kind: 'Provider',
  name: 'one',
  source,
  package: `${source}:v9`,
  digest: '',
  revision: 'one-9',
  isRoot: false,
  imageConfigs: { refs: [], resolved: `${source}:v9` },
};

/** The names of the revisions that go, and of the objects that lose their references. */
async function retired(revisions: readonly JsonObject[], crds: readonly JsonObject[] = [], spec: JsonObject = {}) {
  const listMetadata = async ({ kind }: Resource): Promise<ListAnswer> => {
    const items = kind === 'ProviderRevision' ? revisions : kind === 'CustomResourceDefinition' ? crds : [];
    return { kind: 'ok', items, complete: true, next: '', size: 1, serverTime: 0 } as unknown as ListAnswer;
  };
  const get = async ({ resource, name }: { readonly resource: Resource; readonly name: string }) => {
    const found = resource.kind === 'Provider' ? { spec } : crds.find((one) => textAt(one, 'metadata', 'name') === name);
    return { kind: 'ok', object: found, serverTime: 0 };
  };
  const resource = async () => ({ kind: 'failed', failure: { kind: 'absent' } });
  const cluster = { listMetadata, get, resource } as unknown as Reader;
  const found = await readRetired({ cluster, namespace: 'n', gzip }, [pkg], undefined);
  const nameOf = (one: JsonObject): string => textAt(one, 'metadata', 'name') ?? '';
  return [found.revisions.map((one) => nameOf(one.object)), found.released.map((one) => nameOf(one.live))];
}

t.test('the newest Inactive revisions stay, and each that is Active, controls an object, or is being deleted', async (t) => {
  const four = [1, 2, 3, 4].map((number) => revision(number));
  t.same(await retired([...four, revision(9, 'Active')]), [['one-1', 'one-2', 'one-3'], []], 'the oldest first');
  t.same(await retired(four, [], { revisionHistoryLimit: 3 }), [['one-1'], []]);
  for (const limit of [0, -1, '2', JSON.rawJSON('9007199254740993')])
    t.same(await retired(four, [], { revisionHistoryLimit: limit as number }), [[], []], JSON.stringify(limit));
  t.same(await retired([revision(1, 'Active'), revision(2)]), [[], []], 'made Active by hand');
  t.same(await retired([revision(1, 'Inactive', { deletionTimestamp: 'now' }), revision(2)]), [[], []]);
  const held = { annotations: { 'crossplane.io/paused': 'true' }, finalizers: ['revision.pkg.crossplane.io'] };
  t.same(await retired([revision(1, 'Inactive', held), revision(2)]), [[], []], 'Crossplane could not take its finalizer away');
  t.same(await retired(four, [object('x', 2, true)]), [['one-1', 'one-3'], []], 'it controls an object');
  t.same(await retired(four, [object('x', 2, false), object('y', 4, false)]), [['one-1', 'one-2', 'one-3'], ['x']]);
  const other = revision(1, 'Inactive', { labels: { 'pkg.crossplane.io/package': 'two' } });
  const foreign = { ...other, spec: { ...(other.spec as JsonObject), image: `${source}-two@sha256:${'0'.repeat(64)}` } };
  t.same(await retired([foreign, revision(2)]), [[], []], 'of another package');
  const many = Array.from({ length: 40 }, (_, index) => revision(index + 1));
  t.equal((await retired(many))[0]?.length, 20, 'the rest goes with the next installs');
});

const moment = { now: 0, lateWindow: 0, namespace: 'n' };
const lock: JsonObject = { metadata: { name: 'lock' }, packages: [] };
const mine = held(lock, { name: 'mine', uid: 'u', number: 1 });

function ptxOf(status: Partial<Status>) {
  const spec = { change: 'Delete', delete: { source }, dryRun: true, retryLimit: 5 };
  const ptx = readPackageTransaction({ metadata: { name: 'mine', uid: 'u' }, spec, status: {} });
  return { ...ptx, status: { ...ptx.status, ...status } };
}

const plan = { packages: [], objects: [], unchanged: 0, unlisted: 0 };

t.test('a dry run stores its plan and ends; it is never tried again, and undoes nothing of a holder that is gone', async (t) => {
  const ptx = ptxOf({ phase: 'Preparing', lockDigest: packagesDigest(mine) });
  const made = prepare({ ...moment, ptx, lock: mine, preparation: { kind: 'planned', plan } });
  t.match(made, { kind: 'setStatus', status: { phase: 'Releasing', plan, outcome: { kind: 'Succeeded' }, stages: [] } });
  t.same(readStatus(writeStatus(made.status, [])), made.status, 'the plan is stored, and read again');
  const outcome = { kind: 'Failed', step: 'Validation', reason: 'MissingDependency', message: '' } as const;
  const failed = release({ ...moment, ptx: ptxOf({ phase: 'Releasing', failures: 1, outcome }), lock: mine });
  t.match(failed, { kind: 'release', status: { phase: 'Failed' } });
  const gone = held(lock, { name: 'theirs', uid: 'other', number: 4 });
  const left = { isHolderThere: false, leftStages: [], garbage: [], ofTries: [], paused: [] };
  t.match(acquire({ ...moment, ptx: ptxOf({}), lock: gone, ...left }), {
    kind: 'setStatus',
    status: { phase: 'Waiting' },
    note: {
      reason: 'WaitingForLock',
      message: /theirs held the Lock and is gone: the next package transaction without spec.dryRun/,
    },
  });
});

t.test('a plan has its limits, which are those of the schema; deletions stay in it', async (t) => {
  const created = Array.from({ length: 3_000 }, (_, index): PlannedObject => {
    return { operation: 'Create', apiVersion: 'a/v1', kind: 'K', name: `${index}`.padStart(60, 'x') };
  });
  const deleted: PlannedObject = { operation: 'Delete', apiVersion: 'a/v1', kind: 'K', name: 'last' };
  const requiredBy = Array.from({ length: 30 }, () => ({ package: 'p', constraints: 'x'.repeat(1_000) }));
  const one = { operation: 'Create', kind: 'Provider', name: 'p', source: 's', requiredBy } as const;
  const made = boundedPlan({ packages: [one], objects: [...created, deleted], unchanged: 1 });
  t.equal(made.objects[0], deleted);
  t.equal(made.unlisted, 3_001 - made.objects.length);
  t.ok(made.objects.length <= planLimits.objects && JSON.stringify(made).length < 260_000);
  t.same(
    made.packages.map((found) => [found.requiredBy.length, found.requiredBy[0]?.constraints.length]),
    [[planLimits.requiredBy, planLimits.constraints]],
  );
  const { packages, objects } = packagePlan.properties ?? {};
  t.same([packages?.maxItems, objects?.maxItems], [planLimits.packages, planLimits.objects]);
  t.same(objects?.items?.properties?.operation?.enum, plannedOperations);
});
