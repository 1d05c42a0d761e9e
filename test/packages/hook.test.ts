// The whole hook of package transactions with a cluster that answers from a table: what ends a try does not depend on a read that fails.
import t from 'tap';
import type { PackageReport } from '../../hooks/crossplane/call.ts';
import { held, packagesDigest } from '../../hooks/crossplane/model/holder.ts';
import { createPackageSync } from '../../hooks/crossplane/reconcile.ts';
import { packedContents } from '../../hooks/crossplane/writes/contents.ts';
import type { Answer, Cluster, Location, Write } from '../../hooks/objects/cluster.ts';
import { at, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { gzip } from '../../server/gzip.ts';

const now = Date.parse('2026-01-01T01:00:00Z');
const [recent, longAgo] = ['2026-01-01T00:59:00Z', '2026-01-01T00:00:00Z'];
const object: JsonObject = {
  apiVersion: 'apiextensions.crossplane.io/v1',
  kind: 'CompositeResourceDefinition',
  metadata: { name: 'xs.example.org' },
  spec: {},
};
const [contents] = packedContents([{ kind: 'Configuration', revision: 'x-000000000000', object }], 64, gzip);
const lock = held(
  { metadata: { name: 'lock', uid: 'l', resourceVersion: '5' }, packages: [] },
  { name: 'mine', uid: 'uid-1', number: 1 },
);

function answered(found: JsonObject): Answer {
  return { kind: 'ok', object: found, serverTime: now };
}

function failed(kind: 'absent' | 'transient'): Answer {
  return { kind: 'failed', failure: { kind, code: 0, reason: 'Unknown', message: kind, fields: [], definitive: false } };
}

/** Calls the hook for a package transaction in that phase; what it answered, reported and wrote. */
async function call(phase: string, { tryTime = recent, isDeleting = false, throws = false }) {
  const isMade = phase === 'Verifying' ? 1 : 0;
  const status = {
    ...{ phase, version: 30, failures: 0, transactionNumber: 1, tryTime, startTime: tryTime },
    ...{ lockDigest: packagesDigest(lock), proposedLockPackages: [] },
    stages: [{ name: 'ptx-1', purpose: 'Objects', digest: contents?.digest ?? '' }],
    ...{ made: isMade, committed: isMade },
  };
  const package_ = { apiVersion: 'pkg.crossplane.io/v1', kind: 'Configuration', metadata: { name: 'x' } };
  const ptx = {
    metadata: { name: 'mine', uid: 'uid-1', generation: 1, ...(isDeleting ? { deletionTimestamp: longAgo } : {}) },
    spec: { change: 'Install', install: { package: { ...package_, spec: { package: 'registry.example.org/acme/x:v1.0.0' } } } },
    status,
  };
  const table: Readonly<Record<string, Answer>> = {
    transactions: answered(ptx),
    locks: answered(lock),
    configmaps: answered({ metadata: { name: 'ptx-1' }, binaryData: contents?.binaryData ?? {} }),
    configurationrevisions: answered({ metadata: { name: 'x-000000000000', uid: 'r' } }),
    compositeresourcedefinitions: failed('transient'),
  };
  const get = async ({ resource: { plural, group } }: Location): Promise<Answer> =>
    group === 'tx.janus.io' ? failed('absent') : (table[plural] ?? failed('absent'));
  const names = { group: 'apiextensions.crossplane.io', version: 'v1', plural: 'compositeresourcedefinitions' };
  const [reports, writes]: [PackageReport[], Write[]] = [[], []];
  const cluster = {
    get,
    getMetadata: get,
    resource: async () => ({
      kind: 'ok',
      resource: { ...names, kind: object.kind, namespaced: false, verbs: [], statusSubresource: true },
    }),
    listMetadata: async () => ({ kind: 'ok', items: [], complete: true, next: '', size: 0, serverTime: now }),
    send: async (write: Write) => {
      writes.push(write);
      return answered({});
    },
  } as unknown as Cluster;
  const openRegistry = (): never => {
    throw throws ? new TypeError('a bug') : new Error('no registry is read here');
  };
  const hook = createPackageSync({
    ...{ cluster, openRegistry, gzip, namespace: 'janus-packages' },
    clock: { monotonic: () => 0, sleep: async () => undefined },
    ...{ deadline: 1_000, sendingTime: 1_000, lateWindow: 0 },
    record: (report) => reports.push(report),
  });
  const reply = await hook({ name: 'mine', uid: 'uid-1', status: ptx.status, finalizing: isDeleting });
  return { reply, reports, writes, phase: textAt(reply.status, 'phase') };
}

t.test('the hook answers and reports an exception, and ends the try after its time', async (t) => {
  const soon = await call('Validating', { throws: true });
  t.equal(soon.phase, 'Validating');
  t.ok(soon.reply.resyncAfterSeconds > 0);
  t.match(soon.reports, [{ thrown: TypeError, trouble: /internal error of the hook; its log has the stack/ }]);
  t.notMatch(JSON.stringify(soon.reply), /a bug/);
  const late = await call('Validating', { throws: true, tryTime: longAgo });
  t.equal(late.phase, 'Releasing');
  t.match(at(late.reply.status, 'outcome'), { kind: 'Failed' });
  t.same(soon.writes, []);
});

for (const phase of ['Installing', 'Verifying'])
  t.test(`a deletion in ${phase} rolls back without reading objects that cannot be read`, async (t) => {
    t.equal((await call(phase, {})).phase, phase, 'otherwise it waits');
    const { phase: next, reports } = await call(phase, { isDeleting: true });
    t.equal(next, 'RollingBack');
    t.match(reports, [{ because: 'it is being deleted' }]);
  });

t.test('while another one holds the Lock, changes of the Lock cause no read about one that waits', async (t) => {
  const theirs = held({ ...lock, metadata: { name: 'lock', uid: 'l' } }, { name: 'theirs', uid: 'uid-2', number: 1 });
  const [clock, reads]: [{ now: number }, string[]] = [{ now: 1 }, []];
  const spec = { change: 'Delete', delete: { source: 'registry.example.org/acme/x' } };
  const table: Readonly<Record<string, JsonObject>> = {
    mine: { metadata: { name: 'mine', uid: 'uid-1', generation: 1 }, spec },
    theirs: { metadata: { name: 'theirs', uid: 'uid-2' }, spec, status: { phase: 'Installing' } },
    lock: theirs,
  };
  const get = async ({ name }: Location): Promise<Answer> => {
    reads.push(name);
    return answered(table[name] ?? {});
  };
  const list = async () => ({ kind: 'ok', items: [], complete: true, next: '', size: 0, serverTime: now });
  const hook = createPackageSync({
    cluster: { get, list, listMetadata: list } as unknown as Cluster,
    openRegistry: () => t.fail('no registry is read') as never,
    ...{ gzip, namespace: 'janus-packages', deadline: 1_000, sendingTime: 1_000, lateWindow: 0 },
    clock: { monotonic: () => clock.now, sleep: async () => undefined },
    record: () => undefined,
  });
  const own = { name: 'mine', uid: 'uid-1', finalizing: false };
  const stages = new Map<string, string>();
  const first = await hook({ ...own, status: {}, related: { holder: 'theirs', stages } });
  t.match(first.status, { phase: 'Waiting' });
  t.ok(reads.length > 0);
  const readsOf = async (more: { readonly holder: string | undefined; readonly finalizing?: boolean }): Promise<number> => {
    const { holder, ...rest } = more;
    const before = reads.length;
    await hook({ ...own, status: first.status, related: { holder, stages }, ...rest });
    return reads.length - before;
  };
  t.equal(await readsOf({ holder: 'theirs' }), 0);
  t.equal(await readsOf({ holder: 'next' }), 0, 'its place is not the first');
  t.ok((await readsOf({ holder: undefined })) > 0, 'the Lock is free');
  t.ok((await readsOf({ holder: 'mine' })) > 0, 'it holds the Lock');
  t.ok((await readsOf({ holder: 'theirs', finalizing: true })) > 0, 'it is being deleted');
  clock.now += first.resyncAfterSeconds * 1_000;
  t.ok((await readsOf({ holder: 'theirs' })) > 0, 'the call may be outdated');
});
