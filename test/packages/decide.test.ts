// The decisions of the coordinator, without a cluster.
import { createHash, randomBytes } from 'node:crypto';
import t from 'tap';
import type { PackageReport } from '../../hooks/crossplane/call.ts';
import { otherKind, otherName, sharedNames, takenName } from '../../hooks/crossplane/checks/names.ts';
import * as acquiring from '../../hooks/crossplane/decide/acquiring.ts';
import * as ending from '../../hooks/crossplane/decide/ending.ts';
import * as installing from '../../hooks/crossplane/decide/installing.ts';
import * as preparing from '../../hooks/crossplane/decide/preparing.ts';
import * as rollingBack from '../../hooks/crossplane/decide/rolling-back.ts';
import { type Step, setStatus } from '../../hooks/crossplane/decide/step.ts';
import { ended, pauseAfter, unread } from '../../hooks/crossplane/decide/transitions.ts';
import * as undo from '../../hooks/crossplane/decide/undo.ts';
import * as validating from '../../hooks/crossplane/decide/validating.ts';
import * as verifying from '../../hooks/crossplane/decide/verifying.ts';
import { dueOf } from '../../hooks/crossplane/due.ts';
import { held, holderOf, packagesDigest, released } from '../../hooks/crossplane/model/holder.ts';
import {
  installOf,
  type PackageTransaction,
  readPackageTransaction,
  type Wanted,
} from '../../hooks/crossplane/model/package-transaction.ts';
import { advanced, type Status, timeOf, writeStatus } from '../../hooks/crossplane/model/status.ts';
import { compareWithLive, leavingIn } from '../../hooks/crossplane/observe/comparison.ts';
import { editedSince } from '../../hooks/crossplane/observe/edited.ts';
import { garbageOfPrevious, garbageOfTries } from '../../hooks/crossplane/observe/garbage.ts';
import { readHolder, stagesOfTry } from '../../hooks/crossplane/observe/lock-state.ts';
import { readNextChanges } from '../../hooks/crossplane/observe/next-changes.ts';
import { mostValues, objectsOf } from '../../hooks/crossplane/observe/objects.ts';
import { type Context, isToRead, keptFor } from '../../hooks/crossplane/observe/observation.ts';
import { createMemory } from '../../hooks/crossplane/observe/progress.ts';
import { find, findMetadata } from '../../hooks/crossplane/observe/read.ts';
import type { TreePackage } from '../../hooks/crossplane/observe/tree.ts';
import { resultOf, troubled } from '../../hooks/crossplane/outcome/answer.ts';
import { changedBy } from '../../hooks/crossplane/outcome/changed.ts';
import { plan } from '../../hooks/crossplane/plan/plan.ts';
import { createPackageSync } from '../../hooks/crossplane/reconcile.ts';
import type { Registry } from '../../hooks/crossplane/registry.ts';
import { isUnrecorded } from '../../hooks/crossplane/writes/applied.ts';
import { changedPackages } from '../../hooks/crossplane/writes/changed.ts';
import { installedObject, revisionChange } from '../../hooks/crossplane/writes/changes.ts';
import { mostObjectBytes, packedContents, readContents, sourced } from '../../hooks/crossplane/writes/contents.ts';
import { revisionsOfKind, stages as stageKind } from '../../hooks/crossplane/writes/resources.ts';
import { stagesOf, stageWrite } from '../../hooks/crossplane/writes/stages.ts';
import type { Answer, Cluster, ListOptions, Location, Reader, Resource, Write } from '../../hooks/objects/cluster.ts';
import type { Failure, FailureKind } from '../../hooks/objects/failure.ts';
import { at, type Json, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import type { Mutation } from '../../hooks/objects/mutation.ts';
import { perform, writerUntil } from '../../hooks/objects/requests/perform.ts';
import { gzip } from '../../server/gzip.ts';
import { conditionIn, storyOf } from '../support/package-world.ts';

const namespace = 'janus-packages';
const now = Date.parse('2026-01-01T00:00:00Z');
const moment = { now, lateWindow: 40_000 };

/** A step with the writes that are planned for it. */
function planned(step: Step, context: Context) {
  const writes = plan(step, context);
  const mutations = writes.kind === 'sequence' ? writes.mutations : [];
  return { ...step, mutations, finalized: step.kind === 'cleanUp' && step.finalized };
}

const decides =
  <Observed extends Context>(decide: (observed: Observed) => Step) =>
  (observed: Observed) =>
    planned(decide(observed), observed);

const [acquire, refuse] = [decides(acquiring.acquire), decides(acquiring.refuse)];
const [release, cleanUp] = [decides(ending.release), decides(ending.cleanUp)];
const [validate, prepare] = [decides(validating.validate), decides(preparing.prepare)];
const [install, verify] = [decides(installing.install), decides(verifying.verify)];
const rollBack = decides(rollingBack.rollBack);

function undoLast(context: Context, found: readonly JsonObject[]) {
  const undone = undo.undoLast(context.ptx, found);
  return undone.kind === 'step' ? { ...undone, step: planned(undone.step, context) } : undone;
}

function ptxOf(changes: Partial<Status> = {}, spec: JsonObject = {}): PackageTransaction {
  const package_ = {
    apiVersion: 'pkg.crossplane.io/v1',
    kind: 'Provider',
    metadata: { name: 'root' },
    spec: { package: 'registry.example.org/acme/root:v1.0.0' },
  };
  const object = {
    metadata: { name: 'mine', uid: 'uid-1', generation: 1 },
    spec: { change: 'Install', install: { package: package_ }, ...spec },
  };
  const ptx = readPackageTransaction(object);
  return { ...ptx, status: { ...ptx.status, ...changes } };
}

const entry = (name: string, ...needs: readonly string[]): JsonObject => ({
  name: `${name}-000000000000`,
  apiVersion: 'pkg.crossplane.io/v1',
  kind: 'Provider',
  source: `registry.example.org/acme/${name}`,
  version: `v1.0.0@sha256:${'0'.repeat(64)}`,
  dependencies: needs.map((one) => ({ package: `registry.example.org/acme/${one}`, kind: 'Provider', constraints: '>=v1.0.0' })),
});

const freeLock: JsonObject = { metadata: { name: 'lock', uid: 'l', resourceVersion: '7' }, packages: [entry('other')] };
const mine = held(freeLock, { name: 'mine', uid: 'uid-1', number: 1 });
const activated = [{ name: 'activation', purpose: 'Activation' }] as const;
/** Of an item of a stage: applied, and not restored. */
const left = { prepared: true, announced: true, left: true };
const theirs = held(freeLock, { name: 'theirs', uid: 'uid-2', number: 4 });

t.test('the engine leaves a status of a newer version unchanged', async (t) => {
  const known = (status: JsonObject): boolean => readPackageTransaction({ metadata: {}, spec: {}, status }).isKnown;
  t.ok(known({}), 'none yet');
  t.ok(known({ phase: 'Installing', stages: [{ name: 'one', purpose: 'Objects' }], later: 'unknown fields are no matter' }));
  t.notOk(known({ phase: 'Migrating' }));
  t.notOk(known({ phase: 7 }));
  t.notOk(known({ phase: 'Installing', stages: [{ name: 'one', purpose: 'Migration' }] }));
  const status: JsonObject = { phase: 'Migrating', version: 9, conditions: [] };
  const object = { metadata: { name: 'mine', uid: 'uid-1' }, spec: {}, status };
  const refuse = (): never => t.fail('no other request is sent') as never;
  const get = async (): Promise<Answer> => ({ kind: 'ok', object, serverTime: now });
  const reports: PackageReport[] = [];
  const hook = createPackageSync({
    cluster: { get, send: refuse, list: refuse } as unknown as Cluster,
    clock: { monotonic: () => 0, sleep: async () => undefined },
    openRegistry: refuse,
    gzip,
    namespace,
    ...{ deadline: 1_000, sendingTime: 1_000, lateWindow: 0 },
    record: (report) => reports.push(report),
  });
  for (const finalizing of [false, true]) {
    const reply = await hook({ name: 'mine', uid: 'uid-1', status, finalizing });
    t.same(reply, { status, resyncAfterSeconds: 5, finalized: false });
  }
  t.match(reports, [{ trouble: /run the newer version/ }, { writes: 0 }]);
});

t.test('19, 20, 22: the engine takes a free Lock, and waits for a held one', async (t) => {
  const scene = { ptx: ptxOf(), ...moment, namespace, isHolderThere: true, leftStages: [], garbage: [], ofTries: [] };
  const free = acquire({ ...scene, lock: freeLock });
  t.equal(free.mutations.length, 1);
  const [mutation] = free.mutations;
  t.match(mutation?.write, { verb: 'update', precondition: { uid: 'l', resourceVersion: '7' } }, 'compare and swap');
  t.match(free.status, { phase: 'Validating', number: 1 });
  const behind = acquire({ ...scene, lock: theirs });
  t.same(behind.mutations, []);
  t.match(behind.note, { reason: 'WaitingForLock', message: /theirs/ });
  const before = { count: 2, first: 'other' };
  const queued = [theirs, freeLock].map((lock) => acquire({ ...scene, lock, before }));
  t.same(queued[0]?.note, { reason: 'WaitingForLock', message: 'Waiting for the Lock' });
  t.same(queued[1]?.note, queued[0]?.note, 'whoever holds the Lock, its status stays as it is');
  t.same(
    queued.flatMap(({ mutations }) => mutations),
    [],
  );
  const again = acquire({ ...scene, lock: mine });
  t.same(again.mutations, [], 'taken already');
  t.match(again.status, { phase: 'Validating', number: 1 });
  t.match(acquire({ ...scene, lock: undefined }).mutations, [{ write: { verb: 'create' }, settledBy: ['exists'] }]);
});

t.test('the engine reads packages before it takes the Lock, and at most one call long while it holds it', async (t) => {
  const scene = { ...moment, namespace, isHolderThere: true, leftStages: [], garbage: [], ofTries: [] };
  const failure = { kind: 'unavailable', message: 'r.example.org/v2/x: sends fewer than 4096 bytes a second' } as const;
  for (const lock of [freeLock, theirs]) t.ok(isToRead({ ...scene, ptx: ptxOf(), lock }));
  const lock = freeLock;
  const begun = acquire({ ...scene, ptx: ptxOf(), lock, unread: { kind: 'unfinished' } });
  t.match(begun, { mutations: [], status: { phase: 'Waiting', tryTime: timeOf(now) }, note: { message: 'Reading packages' } });
  const since = ptxOf({ tryTime: timeOf(now - 600_000) });
  const overdue = acquire({ ...scene, ptx: since, lock, unread: { kind: 'unfinished' } });
  t.match(overdue, { mutations: [], status: { phase: 'Releasing', failures: 1, outcome: { reason: 'Unavailable' } } });
  const slow = acquire({ ...scene, ptx: ptxOf(), lock, unread: { kind: 'failed', failure } });
  t.match(slow, { mutations: [], status: { phase: 'Releasing', failures: 1, outcome: { message: failure.message } } });
  const next = release({ ptx: { ...ptxOf(), status: slow.status }, ...moment, namespace, lock });
  t.match([next.mutations, next.status.phase, next.status.tryTime], [[], 'Waiting', undefined]);
  const behind = acquire({ ...scene, ptx: ptxOf({ tryTime: timeOf(now) }), lock: theirs });
  t.equal(behind.status.tryTime, undefined, 'the time for which others hold the Lock does not count');
  const meanwhile = acquire({ ...scene, ptx: ptxOf(), lock: theirs, unread: { kind: 'failed', failure } });
  t.match(meanwhile, { mutations: [], status: { phase: 'Waiting', failures: 0 }, note: { reason: 'WaitingForLock' } });
  for (const lock of [mine, undefined]) t.notOk(isToRead({ ...scene, ptx: ptxOf(), lock }));
  t.notOk(
    isToRead({ ...scene, ptx: ptxOf(), lock: theirs, isHolderThere: false }),
    'what is left of one that is gone comes first',
  );
  t.notOk(isToRead({ ...scene, ptx: { ...ptxOf(), isDeleting: true }, lock: theirs }));

  const tryTime = timeOf(now - 1_000);
  const held = { ...moment, namespace, lock: mine };
  const preparing = ptxOf({ phase: 'Preparing', lockDigest: packagesDigest(mine), tryTime });
  for (const step of [
    validate({ ...held, ptx: ptxOf({ phase: 'Validating', tryTime }), validation: { kind: 'unread' } }),
    prepare({ ...held, ptx: preparing, preparation: { kind: 'unfinished' } }),
  ]) {
    t.match(step.status, { phase: 'Waiting', failures: 0, tryTime });
    const [freed] = step.mutations.map(({ write }) => ('object' in write ? write.object : {}));
    t.equal(holderOf(freed ?? {}), undefined, 'the Lock is given back');
    const again = acquire({ ...scene, ptx: { ...ptxOf(), status: step.status }, lock: freed });
    t.match(again.status, { phase: 'Validating', tryTime }, 'the try has no more time for that');
  }
  const awaited = { kind: 'awaiting', message: 'Provider base installs it first' } as const;
  const awaits = acquire({ ...scene, ptx: ptxOf({ tryTime }), lock, unread: awaited });
  const note = { reason: 'WaitingForPackage', message: awaited.message };
  t.match(awaits, { mutations: [], status: { phase: 'Waiting', failures: 0, tryTime: undefined }, note });
  t.match(acquire({ ...scene, ptx: ptxOf(), lock: theirs, isHolderThere: true, unread: awaited }).note, note, 'the Lock is held');
  const found = validate({ ...held, ptx: ptxOf({ phase: 'Validating', tryTime }), validation: awaited });
  t.match(found, { status: { phase: 'Waiting', failures: 0, tryTime: undefined }, note }, 'it was made after the read');
  t.equal(found.mutations.length, 1, 'the Lock is given back');
  const plans = { ...ptxOf({ phase: 'Validating', tryTime }), isDryRun: true };
  for (const step of [
    acquire({ ...scene, ptx: { ...ptxOf(), isDryRun: true }, lock, unread: awaited }),
    validate({ ...held, ptx: plans, validation: awaited }),
  ])
    t.match(step.status, { phase: 'Releasing', outcome: { kind: 'Failed', reason: 'WaitingForPackage' } }, 'a dry run ends');
  const late = validate({
    ...held,
    now: now + 600_000,
    ptx: ptxOf({ phase: 'Validating', tryTime }),
    validation: { kind: 'unread' },
  });
  t.match(late.status, { phase: 'Releasing', failures: 1 });
});

t.test('20: if the next number cannot be read, no try takes the Lock, and the message says what to repair', async (t) => {
  const scene = { ptx: ptxOf(), ...moment, namespace, isHolderThere: false, leftStages: [], garbage: [], ofTries: [] };
  const numbered = (lock: JsonObject, next: Json): JsonObject =>
    withPath(lock, ['metadata', 'annotations', 'pkg.crossplane.io/next-transaction-number'], next);
  for (const next of ['', '0', '-1', 'seven', '1e3', '9'.repeat(16)])
    for (const lock of [freeLock, theirs]) {
      const { mutations, note, status } = acquire({ ...scene, lock: numbered(lock, next) });
      t.same([mutations, status.phase, status.number], [[], 'Waiting', undefined], next);
      t.match(note, { reason: 'WaitingForLock', message: `next-transaction-number, found "${next}": set it to` });
    }
  t.match(acquire({ ...scene, lock: numbered(freeLock, '7') }).status, { phase: 'Validating', number: 7 });
  t.match(acquire({ ...scene, lock: numbered(mine, 'seven') }).status, { phase: 'Validating', number: 1 }, 'it has its number');
});

t.test('21: the engine takes the Lock of a missing holder after its requests ended and its stages are undone', async (t) => {
  const stage = { metadata: { name: 's' }, status: { phase: 'Committed' } };
  const scene = { ...moment, namespace, lock: theirs, isHolderThere: false, garbage: [], ofTries: [] };
  const first = acquire({ ...scene, ptx: ptxOf(), leftStages: [stage] });
  t.same(first.mutations, [], 'a request of it may be late');
  t.equal(first.status.settledTime, timeOf(now + moment.lateWindow));
  const settledHolder = first.status.settledHolder ?? '';
  const seen = ptxOf({ settledTime: timeOf(now - 1_000), settledHolder });
  const since = held(freeLock, { name: 'theirs', uid: 'uid-3', number: 5 });
  t.match(acquire({ ...scene, lock: since, ptx: seen, leftStages: [stage] }), {
    mutations: [],
    status: { settledTime: timeOf(now + moment.lateWindow) },
  });
  t.match(acquire({ ...scene, ptx: seen, leftStages: [stage] }).mutations, [
    { write: { verb: 'update', location: { name: 's' } } },
  ]);
  const behind = acquire({ ...scene, ptx: seen, isHolderThere: true, leftStages: [] });
  t.equal(behind.status.settledTime, undefined, 'each holder that goes is waited for');
  const failed = { ...stage, status: { phase: 'Failed', items: [left] } };
  t.match(acquire({ ...scene, ptx: seen, leftStages: [failed] }), { mutations: [], note: { message: /could not be undone/ } });
  const waiting = ptxOf({ settledTime: timeOf(now + 1_000), settledHolder });
  t.same(
    acquire({ ...scene, ptx: waiting, leftStages: [stage] }).mutations,
    [],
    'a late request may be that which writes the Lock',
  );
  const undone = { ...stage, status: { phase: 'RolledBack' } };
  const garbage = [{ resource: stageKind, namespace, object: undone }];
  t.match(acquire({ ...scene, ptx: seen, leftStages: [undone], garbage }), {
    mutations: [{ write: { verb: 'delete', location: { name: 's' } } }],
    status: { phase: 'Waiting' },
  });
  const over = acquire({ ...scene, ptx: seen, leftStages: [] });
  t.match(over.status, { phase: 'Waiting' }, 'packages are read before it is taken');
  const [freed] = over.mutations.map(({ write }) => ('object' in write ? write.object : {}));
  t.equal(holderOf(freed ?? {}), undefined);
  t.match(acquire({ ...scene, ptx: ptxOf(), lock: freed, leftStages: [] }).status, { number: 5 }, 'its number is used up');
});

t.test('a holder counts while it exists and is not finished; no package transaction waits for itself', async (t) => {
  const isThere = async (name: string, uid: string, phase: string): Promise<boolean> => {
    const object = { metadata: { name, uid: 'uid-2' }, status: { phase } };
    const reader = {
      get: async (): Promise<Answer> => ({ kind: 'ok', object, serverTime: now }),
      listMetadata: async () => ({ kind: 'ok', items: [], complete: true, next: '', size: 0 }),
    } as unknown as Reader;
    const lock = held(freeLock, { name, uid, number: 1 });
    return (await readHolder({ cluster: reader, namespace, gzip }, ptxOf(), lock)).isHolderThere;
  };
  t.equal(await isThere('theirs', 'uid-2', 'Installing'), true);
  t.equal(await isThere('theirs', 'uid-2', 'Releasing'), true);
  t.equal(await isThere('theirs', 'uid-2', 'Failed'), false, 'a late request of it took the Lock');
  t.equal(await isThere('theirs', 'uid-9', 'Installing'), false, 'another one of that name');
  t.equal(await isThere('theirs', '', 'Installing'), true, 'written by hand: its name decides');
  t.equal(await isThere('mine', '', 'Waiting'), false, 'its own name, written by hand');
});

t.test('25: the engine deletes the history beyond its limit, and objects of a holder that was removed by force', async (t) => {
  const ptxs = (...phases: readonly string[]): JsonObject[] =>
    phases.map((phase, index) => ({
      metadata: { name: `former-${index}`, uid: `former-${index}` },
      status: { phase, completionTime: timeOf(now + index * 1_000) },
    }));
  const own = { metadata: { name: 'mine', uid: 'uid-1' }, status: { phase: 'Succeeded', completionTime: timeOf(now + 9_000) } };
  const made = (uid: string, phase: string, age = 3_600_000): JsonObject => ({
    metadata: {
      name: `of-${uid}`,
      creationTimestamp: timeOf(now - age),
      labels: { 'packages.janus.io/transaction-uid': uid },
    },
    status: { phase },
  });
  const wanted: unknown[] = [];
  let historyLimit = '3';
  const left = async (all: readonly JsonObject[], stages: readonly JsonObject[] = []): Promise<readonly unknown[]> => {
    const lock = withPath(theirs, ['metadata', 'annotations', 'pkg.crossplane.io/transaction-history-limit'], historyLimit);
    const isMadeBy = (uid: string, one: JsonObject): boolean => textAt(one, 'metadata', 'name') === `of-${uid}`;
    const madeBy = (uid?: string) => (uid === undefined ? stages : stages.filter((one) => isMadeBy(uid, one)));
    const reader = {
      get: async (): Promise<Answer> => ({ kind: 'ok', object: lock, serverTime: now }),
      listMetadata: async ({ group }: Resource, _: unknown, __: unknown, options: ListOptions) => {
        const { labelSelector = '', whole = false } = options;
        if (group === 'pkg.crossplane.io') wanted.push({ whole });
        const [, uid] = labelSelector.split('=');
        const byGroup: Readonly<Record<string, readonly JsonObject[]>> = { 'pkg.crossplane.io': all, 'tx.janus.io': madeBy(uid) };
        return { kind: 'ok', items: byGroup[group] ?? [], complete: true, next: '', size: 0 };
      },
    } as unknown as Reader;
    const found = await garbageOfPrevious({ cluster: reader, namespace, gzip }, now);
    return found.map(({ object }) => textAt(object, 'metadata', 'name'));
  };
  const over = ['Succeeded', 'Failed', 'Succeeded'];
  t.same(await left([...ptxs('Succeeded', 'Failed'), own]), []);
  t.same(await left([...ptxs(...over), own]), ['former-0']);
  const going = ptxs(...over).map((one, index) =>
    index === 0 ? withPath(one, ['metadata', 'deletionTimestamp'], timeOf(now)) : one,
  );
  t.same(await left([...going, own]), [], 'the history does not count a package transaction that is being deleted');
  t.same(await left([...ptxs(...over, 'Waiting'), own]), ['former-0']);
  const gone = [made('gone', 'Committed'), made('undone', 'RolledBack'), made('uid-1', 'Committed')];
  t.same(await left([own], gone), ['of-gone', 'of-undone'], 'those of one that is there stay');
  const kept = [made('uid-2', 'Committed'), made('runs', 'Applying'), made('young', 'Committed', 60_000)];
  t.same(await left([own], kept), [], 'of the holder, under way, or of late');
  const incomplete = withPath(made('half', 'Failed'), ['status', 'items'], [{ prepared: true, announced: true, left: true }]);
  t.same(await left([own], [incomplete]), [], 'its rollback can be tried again');
  wanted.splice(0);
  await left([...ptxs(...over), own]);
  t.same(wanted, [{ whole: true }]);
  historyLimit = '0';
  wanted.splice(0);
  t.same(await left([...ptxs(...over), own]), []);
  t.same(wanted, [{ whole: false }], 'all stay: their status is not read');
});

t.test('the engine deletes objects of earlier tries when no process can create them again, and no try waits', async (t) => {
  const made = (name: string, age: number, more: JsonObject = {}): JsonObject => ({
    metadata: { name, creationTimestamp: timeOf(now - age), ...more },
  });
  const deleted = { deletionTimestamp: timeOf(now) };
  const stages = [made('old', keptFor), made('going', keptFor, deleted), made('young', keptFor - 1_000)];
  const listMetadata = async ({ kind }: Resource) => ({
    kind: 'ok',
    items: kind === 'Transaction' ? stages : [],
    complete: true,
    next: '',
    size: 0,
  });
  const reader = { cluster: { listMetadata } as unknown as Reader, namespace, gzip };
  const namesIn = async (failures: number): Promise<readonly unknown[]> =>
    (await garbageOfTries(reader, ptxOf({ failures }), now)).map(({ object }) => textAt(object, 'metadata', 'name'));
  t.same(await namesIn(1), ['old'], 'the next try may be under way elsewhere');
  t.same(await namesIn(0), []);
  const ofTries = await garbageOfTries(reader, ptxOf({ failures: 1 }), now);
  const scene = { ...moment, namespace, lock: freeLock, isHolderThere: true, leftStages: [], garbage: [] };
  t.match(acquire({ ...scene, ofTries, ptx: ptxOf({ failures: 1 }) }), {
    mutations: [{ write: { verb: 'delete', location: { name: 'old' } } }],
    status: { phase: 'Waiting' },
  });
  t.match(acquire({ ...scene, ofTries: [], ptx: ptxOf({ failures: 1 }) }).status, { phase: 'Validating' });
});

t.test('23: only the holder releases; the next number is beyond its own', async (t) => {
  const ptx = ptxOf({ phase: 'Releasing', outcome: { kind: 'Succeeded' } });
  t.equal(release({ ptx, ...moment, namespace, lock: mine }).mutations.length, 1);
  t.same(release({ ptx, ...moment, namespace, lock: theirs }).mutations, []);
  const after = released(theirs);
  t.equal(holderOf(after), undefined);
  t.equal(textAt(after, 'metadata', 'annotations', 'pkg.crossplane.io/next-transaction-number'), '5');
  t.strictSame(at(after, 'packages'), freeLock.packages);
  const key = 'pkg.crossplane.io/next-transaction-number';
  const unclear = released(withPath(theirs, ['metadata', 'annotations', key], 'ten'));
  t.equal(textAt(unclear, 'metadata', 'annotations', key), 'ten', 'what cannot be read is not replaced by a guess');
  const nameless = withPath(theirs, ['metadata', 'annotations', 'pkg.crossplane.io/current-transaction'], undefined);
  const next = acquire({
    ptx: ptxOf(),
    ...moment,
    namespace,
    lock: nameless,
    isHolderThere: false,
    leftStages: [],
    garbage: [],
    ofTries: [],
  });
  t.match(
    next,
    { status: { number: 5 }, mutations: [{ write: { verb: 'update' } }] },
    'whoever took its name away left its number',
  );
});

t.test(
  'without Crossplane, the status of a revision gets the ImageConfigs that were applied, before the Lock is released',
  async (t) => {
    const refs = [{ name: 'mirror', reason: 'RewriteImage' }];
    const revision = (noted: string | undefined, status: JsonObject = {}): JsonObject => ({
      metadata: {
        name: 'a-1',
        uid: 'a',
        resourceVersion: '3',
        annotations: { 'packages.janus.io/image-configs': noted ?? null },
      },
      status,
    });
    const live = revision(JSON.stringify({ refs, resolved: 'x' }), { conditions: [] });
    t.ok(isUnrecorded({ live }));
    t.notOk(isUnrecorded({ live: revision(JSON.stringify({ refs }), { appliedImageConfigRefs: refs }) }), 'it is there');
    t.ok(isUnrecorded({ live: revision('{"refs":[]}', { appliedImageConfigRefs: refs }) }), 'it counts no longer');
    for (const noted of [undefined, '}', '{"refs":[]}', '{"refs":[{"name":"x"}]}'])
      t.notOk(isUnrecorded({ live: revision(noted) }), `nothing to record: ${noted}`);
    const ptx = ptxOf({ phase: 'Releasing', outcome: { kind: 'Succeeded' } });
    const unrecorded = [{ resource: revisionsOfKind('Provider'), live }];
    const { mutations, status } = release({ ptx, ...moment, namespace, lock: mine, unrecorded });
    t.equal(status.phase, 'Succeeded');
    t.match(mutations, [
      {
        write: {
          verb: 'update',
          subresource: 'status',
          identity: { name: 'janus-packages' },
          location: { name: 'a-1' },
          precondition: { uid: 'a', resourceVersion: '3' },
          object: { status: { conditions: [], appliedImageConfigRefs: refs } },
        },
        settledBy: ['absent', 'refused'],
      },
      { write: { location: { name: 'lock' } } },
    ]);
  },
);

t.test('6: the engine counts tries, with growing pauses, and ends them at the limit', async (t) => {
  const outcome = { kind: 'Failed', step: 'Validation', reason: 'VersionConflict', message: 'no' } as const;
  const first = ended(ptxOf({ phase: 'Validating' }).status, outcome);
  t.match(first, { phase: 'Releasing', failures: 1 });
  const waiting = release({ ptx: { ...ptxOf(), status: first }, ...moment, namespace, lock: mine });
  t.match(waiting.status, { phase: 'Waiting', retryTime: timeOf(now + 2_000) });
  const last = { ...ptxOf({ ...first, failures: 5 }) };
  const over = release({ ptx: last, ...moment, namespace, lock: mine });
  t.match(
    over.status,
    { phase: 'Failed', completionTime: timeOf(now), sweepTime: timeOf(now) },
    'it does not wait for deletions',
  );
  t.same([1, 2, 8, 9, 50].map(pauseAfter), [2, 4, 256, 300, 300]);
  t.equal(dueOf({ ...ptxOf(), status: waiting.status }, now), 'wait');
  t.equal(dueOf({ ...ptxOf(), status: waiting.status }, now + 2_000), 'acquire');
});

t.test('a wait that a registry asks for is never cut short: the times of the API server are in whole seconds', async (t) => {
  const outcome = { kind: 'Failed', step: 'Validation', reason: 'Unavailable', message: 'no', retryAfterSeconds: 30 } as const;
  const status = ended(ptxOf({ phase: 'Validating' }).status, outcome);
  const waiting = release({ ptx: { ...ptxOf(), status }, ...moment, namespace, lock: mine });
  t.match(waiting.status, { phase: 'Waiting', retryTime: timeOf(now + 31_000) });
  const short = ended(ptxOf({ phase: 'Validating' }).status, { ...outcome, retryAfterSeconds: 0 });
  const soon = release({ ptx: { ...ptxOf(), status: short }, ...moment, namespace, lock: mine });
  t.match(soon.status, { retryTime: timeOf(now + 2_000) }, 'never shorter than the usual pause');
});

t.test('the engine refuses an invalid spec without the Lock', async (t) => {
  for (const spec of [{ change: 'Delete' }, { other: 1 }, { install: {} }]) t.equal(dueOf(ptxOf({}, spec), now), 'refuse');
  t.equal(dueOf(ptxOf({ specDigest: 'another' }), now), 'refuse', 'it was changed');
  const scene = { ptx: ptxOf({ failures: 2 }, { other: 1 }), namespace, ...moment };
  const refused = refuse({ ...scene, lock: theirs });
  t.match(refused, {
    mutations: [],
    status: { phase: 'Failed', failures: 3, outcome: { isFinal: true }, sweepTime: timeOf(now) },
  });
  t.match(changedBy(scene.ptx, writeStatus(refused.status, [])).ended, { kind: 'Failed', reason: 'InvalidPackage' });
  const [write] = refuse({ ...scene, lock: mine }).mutations.map((mutation) => mutation.write);
  t.match(write, { verb: 'update', precondition: { resourceVersion: '7' } }, 'taken by a call that died');
  t.equal(holderOf(write !== undefined && 'object' in write ? write.object : mine), undefined);
});

t.test('a try ends if the cluster cannot be read and nothing was created; it does not wait an hour', async (t) => {
  const failure: Failure = {
    kind: 'transient',
    code: 500,
    reason: 'InternalError',
    message: 'down',
    fields: [],
    definitive: false,
  };
  const after = (phase: Status['phase'], minutes: number) =>
    preparing.withoutCluster({ ...moment, ptx: ptxOf({ phase, tryTime: timeOf(now - minutes * 60_000) }) }, failure);
  t.equal(after('Validating', 9), undefined);
  t.equal(after('Preparing', 19), undefined);
  for (const phase of ['Installing', 'Verifying', 'RollingBack', 'Waiting', 'Releasing', 'Failed'] as const)
    t.equal(after(phase, 100), undefined, phase);
  const outcome = { kind: 'Failed', reason: 'Unavailable', message: 'the cluster could not be read in time: down' };
  for (const step of [after('Validating', 10), after('Preparing', 20)])
    t.match(step, { kind: 'setStatus', status: { phase: 'Releasing', failures: 1, outcome } });
  t.equal(troubled({ ptx: ptxOf(), now }, { ...failure, retryAfterSeconds: 3_600 }).resyncAfterSeconds, 60);
  t.equal(troubled({ ptx: ptxOf(), now }, { ...failure, retryAfterSeconds: 7 }).resyncAfterSeconds, 7);
});

t.test('the conditions name the awaited object and the validated package, also after a failed try', async (t) => {
  const statusOf = (ptx: PackageTransaction, step: Step): JsonObject =>
    resultOf(step, { ...moment, ptx, namespace }, []).reply.status;
  const said = (ptx: PackageTransaction, step: Step): string => storyOf(statusOf(ptx, step)).slice(0, 4).join(' ');
  const scene = { ...moment, namespace, isHolderThere: true, leftStages: [], garbage: [], ofTries: [] };
  const outcome = { kind: 'Failed', step: 'Validation', reason: 'Unavailable', message: 'the registry answers 500' } as const;
  const before = { phase: 'Waiting', version: 9, failures: 1, retryTime: timeOf(now - 1_000), outcome } as const;
  const pending = 'Installed Unknown/InstallationPending Ready Unknown/TransactionInProgress Synced True/ReconcileSuccess';
  const retried = ptxOf(before);
  const behind = acquire({ ...scene, ptx: retried, lock: theirs });
  t.equal(said(retried, behind), `Validated Unknown/WaitingForLock ${pending}`, 'not what the registry answered then');
  const failed = { metadata: { name: 'stage-3' }, status: { phase: 'Failed', items: [left] } };
  const seen = acquire({ ...scene, ptx: retried, lock: theirs, isHolderThere: false });
  const settled = ptxOf({ ...before, ...seen.status, settledTime: timeOf(now - 1) });
  const stuck = acquire({ ...scene, ptx: settled, lock: theirs, isHolderThere: false, leftStages: [failed] });
  t.match(conditionIn(statusOf(settled, stuck), 'Validated'), {
    reason: 'WaitingForLock',
    message: /stage-3 .*fix what its status names, then annotate it/,
  });
  t.match(
    said(retried, setStatus(retried.status, 'the next try has its time', 1)),
    /Synced False\/ReconcileError \(the registry/,
  );

  const abandonedAt = (changes: Partial<Status>, lock: JsonObject): string => {
    const ptx = { ...ptxOf(changes), isDeleting: true };
    return said(
      ptx,
      changes.phase === 'Waiting' ? acquire({ ...scene, ptx, lock }) : prepare({ ...scene, ptx, lock, preparation: undefined }),
    );
  };
  t.match(abandonedAt({ phase: 'Waiting' }, theirs), /^Validated Unknown\/Resolving Installed False/, 'nothing was validated');
  t.match(abandonedAt({ phase: 'Preparing', lockDigest: packagesDigest(mine) }, mine), /^Validated True/);
});

t.test('an impossible name means that no object exists; any other refusal decides nothing', async (t) => {
  const readerOf = (failure: Partial<Failure>) => {
    const get = async (): Promise<Answer> => ({ kind: 'failed', failure: { ...refusal, ...failure } });
    return { cluster: { get, getMetadata: get } as unknown as Reader, namespace, gzip };
  };
  const refusal: Failure = { kind: 'refused', code: 400, reason: 'InvalidName', message: '', fields: [], definitive: true };
  const location = { resource: stageKind, name: 'a/b' };
  for (const look of [find, findMetadata]) {
    t.equal(await look(readerOf({}), location), undefined);
    await t.rejects(look(readerOf({ code: 403, reason: 'Forbidden' }), location), { name: 'Error' });
  }
  const named = (name: string) => {
    const spec = { package: 'registry.example.org/acme/root:v1.0.0' };
    const package_ = { apiVersion: 'pkg.crossplane.io/v1', kind: 'Provider', metadata: { name }, spec };
    return ptxOf({}, { install: { package: package_ } }).wanted;
  };
  for (const name of ['a', 'a.b-c', '9', 'a'.repeat(63)]) t.match(named(name), { name });
  for (const name of ['', 'a/b', '..', 'a..b', 'a.', '-a', 'Upper', 'a_b', 'a'.repeat(64)])
    t.match(named(name), /^spec\.install\.package\.metadata\.name: expected at most 63 of a-z/, name);
});

t.test('d: an edited Lock ends the try, and the engine writes nothing', async (t) => {
  const status = { phase: 'Installing', lockDigest: packagesDigest(mine), stages: [{ name: 's', purpose: 'Packages' }] } as const;
  const edited = { ...mine, packages: [] };
  const scene = { ...moment, namespace, stage: undefined, next: undefined };
  t.match(install({ ...scene, ptx: ptxOf(status), lock: edited }), { mutations: [], status: { phase: 'RollingBack' } });
  t.match(install({ ...scene, ptx: ptxOf(status), lock: theirs }), { mutations: [], status: { phase: 'RollingBack' } });
  const verifying = ptxOf({ ...status, phase: 'Verifying', proposed: [entry('root')], stages: activated });
  const gone = verify({ ...moment, namespace, ptx: verifying, lock: mine, faults: ['Widget one is gone'] });
  t.match(gone.status, { phase: 'RollingBack' });
  const [fence] = gone.mutations.map(({ write }) => ('object' in write ? write.object : {}));
  t.strictSame(at(fence, 'packages'), at(mine, 'packages'), 'a late write of the Lock misses, and its packages stay');
  t.notSame(fence, mine);
  t.equal(holderOf(released(fence ?? {})), undefined);
  t.match(verify({ ...moment, namespace, ptx: verifying, lock: edited, faults: [] }), {
    mutations: [],
    status: { phase: 'RollingBack' },
  });
  t.match(verify({ ...moment, namespace, ptx: verifying, lock: mine, faults: [] }).mutations, [
    { write: { object: { packages: [{ source: 'registry.example.org/acme/root' }] } } },
  ]);
  const written = withPath(edited, ['metadata', 'annotations', 'packages.janus.io/holder-has-written'], 'true');
  t.match(verify({ ...moment, namespace, ptx: verifying, lock: written, faults: [] }), {
    mutations: [],
    status: { outcome: { kind: 'Succeeded' } },
  });
  t.match(
    prepare({ ...moment, namespace, ptx: ptxOf({ ...status, phase: 'Preparing' }), lock: edited, preparation: undefined }),
    {
      status: { phase: 'Releasing' },
    },
  );
});

t.test('a Lock whose packages the API server refuses to take fails the try, in its words', async (t) => {
  const own = { lockDigest: packagesDigest(mine), proposed: [entry('root')], stages: activated };
  const status = { phase: 'Verifying', ...own, failures: 1 } as const;
  const scene = { ...moment, namespace, lock: mine, faults: [] };
  const refusal = { kind: 'refused', message: 'a policy says no' } as Failure;
  const asked = verify({ ...scene, ptx: ptxOf(status) });
  const noted = asked.refused?.(refusal);
  t.match(noted, { phase: 'Verifying', outcome: { reason: 'InstallationFailed', message: /a policy says no/ } });
  const ptx = ptxOf(noted);
  const fence = verify({ ...scene, ptx });
  const [write] = fence.mutations.map((mutation) => mutation.write);
  t.strictSame(write !== undefined && 'object' in write && at(write.object, 'packages'), mine.packages, 'a late write misses');
  for (const end of [fence.status, fence.refused?.(refusal)])
    t.match(end, { phase: 'RollingBack', failures: 2, outcome: { message: /a policy says no/ } });
  const written = withPath(mine, ['metadata', 'annotations', 'packages.janus.io/holder-has-written'], 'true');
  t.match(verify({ ...scene, ptx, lock: written }).status, { phase: 'Releasing', outcome: { kind: 'Succeeded' } }, 'a late one');
});

t.test('the engine refuses a Lock that cannot be stored before its first write', async (t) => {
  const scene = { ...moment, namespace, ptx: ptxOf({ phase: 'Validating' }), lock: mine };
  const proposed = (count: number) => Array.from({ length: count }, (_, index) => entry(`one-${index}`));
  const valid = (count: number) => validate({ ...scene, validation: { kind: 'valid', lock: proposed(count) } }).status;
  t.match(valid(1_000), { phase: 'Preparing' });
  t.match(valid(5_000), { phase: 'Releasing', outcome: { reason: 'InvalidPackage', message: /at most 1000000 are possible/ } });
});

t.test(
  'a registry that gives nothing any more after the tree is resolved ends the try, at once or when it never answers in time',
  async (t) => {
    const status = { phase: 'Preparing', lockDigest: packagesDigest(mine), tryTime: timeOf(now), number: 1 } as const;
    const scene = { ...moment, namespace, ptx: ptxOf(status), lock: mine };
    const tooLate = prepare({ ...scene, now: now + 1_200_000, preparation: { kind: 'unfinished' } });
    t.match(tooLate.status, { phase: 'Releasing', failures: 1, outcome: { reason: 'Unavailable' } });
    const failure = { kind: 'denied', message: 'no Secret' } as const;
    const denied = prepare({ ...scene, preparation: { kind: 'failed', failure } });
    t.match(denied.status, { phase: 'Releasing', outcome: { reason: 'FetchDenied', message: 'no Secret' } });
  },
);

t.test(
  'the engine keeps a finished package transaction while a request can create it again, and its stages longer',
  async (t) => {
    const made = (age: number) => ({
      resource: stageKind,
      namespace,
      object: { metadata: { name: 's', creationTimestamp: timeOf(now - age) } },
    });
    const ptx = ptxOf({ phase: 'Succeeded', sweepTime: timeOf(now) });
    const going = { ...ptx, isDeleting: true };
    const scene = { ...moment, namespace, history: [], orphans: [] };
    const young = cleanUp({ ...scene, ptx, garbage: [made(moment.lateWindow), made(0)] });
    const left = keptFor - moment.lateWindow;
    t.same([young.mutations, young.wait, young.status.sweepTime], [[], left / 1000, timeOf(now + left)]);
    const later = { ...ptx, status: young.status };
    t.equal(dueOf(later, now), 'wait', 'a change of the Lock costs one read');
    t.equal(dueOf(later, now + keptFor), 'cleanUp');
    const waiting = cleanUp({ ...scene, ptx: going, garbage: [made(moment.lateWindow - 3_000)] });
    t.same([waiting.mutations, waiting.wait, waiting.finalized], [[], 3, false]);
    const both = cleanUp({ ...scene, ptx: going, garbage: [made(moment.lateWindow), made(0)] });
    t.same([both.mutations.length, both.wait, both.finalized], [1, 1, false]);
    t.match(cleanUp({ ...scene, ptx, garbage: [made(keptFor)] }), { mutations: [{ write: { verb: 'delete' } }] });
    const over = cleanUp({ ...scene, ptx, garbage: [] });
    t.match(over, { status: { phase: 'Succeeded', sweepTime: undefined }, wait: 0, finalized: false });
    t.equal(dueOf({ ...ptx, status: over.status }, now), 'rest');
    t.equal(cleanUp({ ...scene, ptx: going, garbage: [] }).finalized, true);
  },
);

t.test('the engine rolls back stages one after the other, the last one first', async (t) => {
  const stage = (name: string, phase: string): JsonObject => ({ metadata: { name }, status: { phase } });
  const scene = { ...moment, ptx: ptxOf(), namespace };
  const undo = (...found: readonly JsonObject[]) => undoLast(scene, found);
  t.match(undo(stage('b', 'Committed'), stage('a', 'Committed')), {
    kind: 'step',
    step: {
      mutations: [
        { write: { location: { name: 'b' }, object: { metadata: { annotations: { 'tx.janus.io/undo-partial': 'true' } } } } },
      ],
    },
  });
  t.match(undo(stage('b', 'RolledBack'), stage('a', 'Committed')), {
    kind: 'step',
    step: { mutations: [{ write: { location: { name: 'a' } } }] },
  });
  const asked = withPath(stage('b', 'Committed'), ['metadata', 'annotations', 'tx.janus.io/request-rollback'], '1');
  t.match(undo(asked, stage('a', 'Committed')), { kind: 'step', step: { mutations: [] } }, 'asked once');
  const failed = withPath(stage('b', 'Failed'), ['status', 'items'], [left]);
  t.match(undo(failed, stage('a', 'Committed')), { kind: 'failed' });
  const refused = withPath(stage('b', 'Failed'), ['status', 'items'], [{ prepared: true }, {}]);
  for (const one of [refused, stage('b', 'Failed')])
    t.match(
      undo(one, stage('a', 'Committed')),
      { kind: 'step', step: { mutations: [{ write: { location: { name: 'a' } } }] } },
      'it had applied nothing',
    );
  t.same(undo(stage('b', 'RolledBack')), { kind: 'all' });
});

t.test('a stage that does not begin its rollback is requested again, with another value, ten times', async (t) => {
  const request = 'tx.janus.io/request-rollback';
  const handled = (value: string, phase = 'Committed'): JsonObject => ({
    metadata: { name: 'b', annotations: { [request]: value } },
    status: { phase, handledAnnotations: { [request]: value } },
  });
  const scene = { ...moment, ptx: ptxOf({ phase: 'RollingBack' }), namespace };
  const next = (value: string): unknown => {
    const undone = undoLast(scene, [handled(value)]);
    const [mutation] = undone.kind === 'step' ? undone.step.mutations : [];
    return mutation !== undefined && 'object' in mutation.write
      ? at(mutation.write.object, 'metadata', 'annotations', request)
      : undone.kind;
  };
  t.equal(next('uid-1'), 'uid-1/2', 'as versions before wrote it');
  t.equal(next('uid-1/9'), 'uid-1/10');
  t.equal(next('uid-1/10'), 'refused');
  t.equal(next('uid-1/x'), 'uid-1/2');
  t.equal(next('by-hand'), 'uid-1/1', 'a request of somebody else');
  t.match(undoLast(scene, [handled('uid-1/1')]), {
    step: { note: { message: /did not begin its rollback, and its status says why/ } },
  });
  t.match(undoLast(scene, [handled('uid-1/1', 'RollingBack')]), { step: { mutations: [], note: undefined } }, 'it has begun');
  const found = [handled('uid-1/10'), ...['a', 'o'].map((name) => ({ metadata: { name }, status: { phase: 'Committed' } }))];
  const { status } = rollBack({ ...scene, found });
  t.match(status, { phase: 'Releasing', outcome: { reason: 'RollbackIncomplete', step: 'Rollback' } });
  t.match(status.outcome?.message, /Transaction b, .*request-rollback and a new value; after it .*in this order: a, o$/);
});

t.test('a stage may make irreversible changes only if the package transaction allows them', async (t) => {
  const status = { stages: [{ name: 's', purpose: 'Objects', digest: '' }] } as const;
  const annotations = { 'pkg.crossplane.io/allow-irreversible': 'true' };
  const found = [{}, annotations].map((given) => {
    const write = stageWrite({ ...ptxOf(status), annotations: given }, 0, [], namespace);
    return 'object' in write ? at(write.object, 'metadata', 'annotations', 'tx.janus.io/allow-irreversible') : undefined;
  });
  t.same(found, [undefined, 'true']);
});

t.test('an incomplete undo names the rest', async (t) => {
  const target = (name: string): JsonObject => ({ target: { kind: 'CustomResourceDefinition', name } });
  const stage = {
    metadata: { name: 's' },
    spec: { changes: [target('ones.org'), target('twos.org')] },
    status: {
      phase: 'Failed',
      items: [{ prepared: true, announced: true, rolledBack: true }, left],
    },
  };
  const { status } = rollBack({ ...moment, namespace, ptx: ptxOf({ phase: 'RollingBack' }), found: [stage] });
  t.match(status, {
    phase: 'Releasing',
    outcome: { reason: 'RollbackIncomplete', message: /left CustomResourceDefinition twos\.org,/ },
  });
});

t.test('the Package whose change abandoned the try may stay, but nothing else', async (t) => {
  const outcomeOf = (kind: string, outcomeKind: 'Abandoned' | 'Failed') => {
    const stage = {
      metadata: { name: 's' },
      spec: { changes: [{ target: { kind, name: 'root' } }] },
      status: { phase: 'Failed', items: [left] },
    };
    const outcome = { kind: outcomeKind, message: 'Provider root was changed' } as const;
    const ptx = ptxOf({ phase: 'RollingBack', outcome } as Partial<Status>);
    return rollBack({ ...moment, namespace, ptx, found: [stage] }).status;
  };
  t.match(outcomeOf('Provider', 'Abandoned'), { phase: 'Releasing', outcome: { kind: 'Abandoned' } });
  t.match(outcomeOf('Function', 'Abandoned'), { outcome: { reason: 'RollbackIncomplete' } });
  t.match(outcomeOf('Provider', 'Failed'), { outcome: { reason: 'RollbackIncomplete' } });
});

t.test('the engine keeps the name of the announced stage, whatever it undoes before', async (t) => {
  const stages = ['s0', 's1', 's2', 's3', 's4'].map((name) => ({ name, purpose: 'Objects', digest: 'd' }) as const);
  const exist = new Map<string, string>();
  const get = async ({ name }: Location): Promise<Answer> => {
    const phase = exist.get(name);
    const failure = { kind: 'absent', code: 404, reason: 'NotFound', message: '', fields: [], definitive: true } as const;
    return phase === undefined
      ? { kind: 'failed', failure }
      : { kind: 'ok', object: { metadata: { name }, status: { phase } }, serverTime: now };
  };
  const reader = { cluster: { get } as unknown as Reader, namespace, gzip };
  const next = async (changes: Partial<Status> = {}) => {
    const ptx = ptxOf({ phase: 'RollingBack', stages, made: 2, committed: 3, ...changes });
    return rollBack({ ...moment, namespace, ptx, found: await stagesOfTry(reader, ptx) });
  };
  const taken = (name: string) => ({
    write: {
      verb: 'create',
      location: { name },
      object: { metadata: { annotations: { 'tx.janus.io/request-rollback': 'uid-1/1' } } },
    },
    settledBy: ['refused'],
  });
  for (const name of ['s0', 's1', 's2']) exist.set(name, 'Committed');
  t.match(
    (await next()).mutations,
    [taken('s3'), { write: { verb: 'update', location: { name: 's2' } } }],
    'and s4 was not announced',
  );
  for (const name of ['s0', 's1', 's2']) exist.set(name, 'RolledBack');
  t.match(await next(), { mutations: [taken('s3')], status: { phase: 'Releasing' } });
  exist.set('s3', 'Committed');
  t.match(await next(), { mutations: [{ write: { verb: 'update', location: { name: 's3' } } }] }, 'it has come late');
  exist.set('s3', 'RolledBack');
  const undone = await next();
  t.same([undone.mutations, undone.status.phase], [[], 'Releasing']);
  exist.delete('s2');
  t.match(await next(), { mutations: [taken('s2')], status: { phase: 'Releasing' } }, 'it was undone, then deleted');
  const lost = await next({ made: 3 });
  t.match(lost, { mutations: [taken('s2')], status: { outcome: { reason: 'RollbackIncomplete' } } });
  exist.set('s1', 'Committed');
  t.match((await next({ made: 3 })).mutations, [{ write: { location: { name: 's1' } } }], 'until the end it shows what is lost');
});

t.test('the engine can store the message of an incomplete rollback', async (t) => {
  const name = 'n'.repeat(253);
  const changes = Array.from({ length: 6 }, () => ({ target: { kind: 'CustomResourceDefinition', name } }));
  const stage = { metadata: { name }, spec: { changes }, status: { phase: 'Failed', items: changes.map(() => left) } };
  const outcome = { kind: 'Failed', step: 'Installation', reason: 'InstallationFailed', message: 'm'.repeat(8_192) } as const;
  const { status } = rollBack({ ...moment, namespace, ptx: ptxOf({ phase: 'RollingBack', outcome }), found: [stage] });
  const { message = '' } = status.outcome ?? {};
  t.ok(message.length <= 8_192, `${message.length}`);
  t.match(message, /^mmm.*; the rollback is incomplete: it left CustomResourceDefinition n/);
});

t.test('the status names a stage that a user deleted before its rollback', async (t) => {
  const stages = [
    { name: 'a', purpose: 'Packages', digest: '' },
    { name: 'b', purpose: 'Revisions', digest: '' },
  ] as const;
  const stage = (name: string, phase: string): JsonObject => ({ metadata: { name }, status: { phase } });
  const undo = (made: number, ...found: readonly JsonObject[]) =>
    rollBack({ ...moment, namespace, ptx: ptxOf({ phase: 'RollingBack', stages, made }), found }).status;
  t.match(undo(1, stage('a', 'RolledBack')), { phase: 'Releasing', outcome: undefined, made: 0 }, 'b was never made');
  const message = /Transaction b, a stage of it, was deleted before it was rolled back/;
  const lost = undo(2, stage('a', 'RolledBack'));
  // By its step nothing can be retried: the other stages are cleaned up.
  t.match(lost.outcome, { reason: 'RollbackIncomplete', step: 'Installation', isFinal: true, message });
  const half = undo(2, stage('b', 'RolledBack'), stage('a', 'Committed'));
  t.match(half, { phase: 'RollingBack', made: 1 }, 'b is undone, and may be deleted by anybody');
  t.match(undo(half.made, stage('a', 'RolledBack')), { phase: 'Releasing', outcome: undefined });
});

t.test('names: one source has one name, and one name has one source', async (t) => {
  const named = (source: string, name = 'acme-family') => ({ kind: 'Provider', name, source }) as const;
  const [ours, theirs] = ['registry.example.org/acme/family', 'evil.example.org/acme/family'];
  t.same(sharedNames([named(ours), named(ours), named(theirs, 'other')]), []);
  t.match(sharedNames([named(ours), named(theirs)]), [{ reason: 'InvalidPackage', message: /would both have this name/ }]);
  t.same(takenName(named(ours), `${ours}:v1.0.0`), []);
  t.same(takenName(named(ours), undefined), []);
  t.match(takenName(named(theirs), `${ours}:v1.0.0`), [
    { message: /expected a package of evil.*, found one of registry\.example\.org\/acme\/family/ },
  ]);
  t.match(
    takenName(named(ours), 'acme/family:v1.0.0'),
    [{ message: /found one of "acme\/family:v1\.0\.0"/ }],
    'no reference to its owner',
  );
  t.same(otherKind(named(ours), 'Provider'), []);
  t.same(otherKind(named(ours), undefined), [], 'not installed');
  t.match(otherKind(named(ours), 'Configuration'), [
    { reason: 'InvalidPackage', message: /expected a Configuration, as which it is installed, found a Provider/ },
  ]);
  t.same(otherName(named(ours), 'acme-family-0123456789ab'), []);
  t.same(otherName(named(ours), undefined), []);
  t.match(otherName(named(ours, 'mine'), 'acme-family-0123456789ab'), [{ message: /found mine: update that one/ }]);
  const long = 'n'.repeat(60);
  t.same(otherName(named(ours, long), `${'n'.repeat(50)}-0123456789ab`), [], 'the Lock cuts it');
});

t.test('writes: a late call sends nothing, and the refusal of an optional write ends no call', async (t) => {
  const sent: string[] = [];
  const answers: Readonly<Record<string, FailureKind>> = { refused: 'refused', absent: 'absent' };
  const writer = {
    async send({ location: { name } }: Write): Promise<Answer> {
      sent.push(name);
      const kind = answers[name];
      if (kind === undefined) return { kind: 'ok', object: {}, serverTime: now };
      return { kind: 'failed', failure: { kind, code: 403, reason: 'Forbidden', message: 'no', fields: [], definitive: true } };
    },
  };
  const mutation = (name: string, settledBy: readonly FailureKind[] = []): Mutation => ({
    write: {
      verb: 'delete',
      identity: { kind: 'engine' },
      location: { resource: stageKind, namespace, name },
      precondition: { uid: 'u', resourceVersion: '1' },
    },
    settledBy,
  });
  const result = async (mutations: readonly Mutation[], isLate = () => false) => {
    const outcome = await perform({ kind: 'sequence', mutations }, writerUntil(writer, isLate));
    const { writes, failure } = resultOf(setStatus(ptxOf().status, ''), { ...moment, ptx: ptxOf(), namespace }, outcome);
    return [writes, failure?.kind];
  };
  t.same(await result([mutation('refused', ['refused']), mutation('one')]), [2, undefined]);
  t.same(await result([mutation('refused', ['absent']), mutation('never')]), [0, 'refused']);
  t.same(await result([mutation('absent', ['absent', 'refused'])]), [1, undefined]);
  t.same(await result([mutation('never')], () => true), [0, 'transient']);
  t.same(await result([mutation('last'), mutation('never')], () => sent.includes('last')), [1, 'transient']);
  t.notOk(sent.includes('never'));
});

t.test('35: the packages that change, dependencies first, always with the wanted package', async (t) => {
  const wanted = installOf(ptxOf());
  if (wanted === undefined) throw new Error('no install');
  const before = [entry('other')];
  const after = [entry('other'), entry('root', 'family', 'other'), entry('family')];
  t.same(
    changedPackages(wanted, before, after).map(({ name, isRoot }) => [name, isRoot]),
    [
      ['acme-family', false],
      ['root', true],
    ],
  );
  t.same(
    changedPackages(wanted, after, after).map(({ name }) => name),
    ['root'],
  );
});

t.test('a ManagedResourceDefinition that is Active stays so', async (t) => {
  const state = (kind: string, given: JsonObject, live?: string): unknown => {
    const object = {
      apiVersion: 'apiextensions.crossplane.io/v1alpha1',
      kind,
      metadata: { name: 'x' },
      spec: { group: 'g', ...given },
    };
    const there = live === undefined ? undefined : { metadata: { name: 'x' }, spec: { state: live } };
    return installedObject({ kind: 'Provider', name: 'a', revision: 'new', object }, there, ptxOf(), {
      metadata: { uid: 'new-uid' },
    }).spec;
  };
  const mrd = 'ManagedResourceDefinition';
  t.same(state(mrd, {}, 'Active'), { group: 'g', state: 'Active' }, 'the package does not name it');
  t.same(state(mrd, { state: 'Inactive' }, 'Active'), { group: 'g', state: 'Active' }, 'the package names the default');
  t.same(state(mrd, { state: 'Active' }, 'Inactive'), { group: 'g', state: 'Active' }, 'the package activates it');
  t.same(state(mrd, {}, 'Inactive'), { group: 'g' });
  t.same(state(mrd, {}), { group: 'g' }, 'a new one is as in the package');
  t.same(state('CompositeResourceDefinition', {}, 'Active'), { group: 'g' }, 'no other kind has such a state');
});

t.test('33, 38: the new revision is the controller; only the last package transaction is an owner', async (t) => {
  const owner = (kind: string, name: string, more: JsonObject = {}): JsonObject => ({
    apiVersion: kind === 'Transaction' ? 'pkg.crossplane.io/v1alpha1' : 'pkg.crossplane.io/v1',
    kind,
    name,
    uid: name,
    ...more,
  });
  const ownerReferences = [owner('ProviderRevision', 'old', { controller: true }), owner('Transaction', 'former')];
  const object = { apiVersion: 'v1', kind: 'CustomResourceDefinition', metadata: { name: 'x' }, status: { conditions: null } };
  const live = { metadata: { name: 'x', labels: { theirs: '1' }, ownerReferences } };
  const spec = { commonLabels: { team: 'a', 'pkg.crossplane.io/transaction': 'x' }, commonAnnotations: { note: 'b' } };
  const newRevision = { metadata: { uid: 'new-uid' }, spec };
  const made = installedObject({ kind: 'Provider', name: 'a', revision: 'new', object }, live, ptxOf(), newRevision);
  t.equal(made.status, undefined);
  t.same(at(made, 'metadata', 'labels'), {
    theirs: '1',
    team: 'a',
    'pkg.crossplane.io/transaction': 'mine',
    'packages.janus.io/revision': 'new',
  });
  t.same(at(made, 'metadata', 'annotations'), { note: 'b' });
  t.same(at(made, 'metadata', 'ownerReferences'), [
    owner('ProviderRevision', 'old', { controller: false }),
    { ...owner('ProviderRevision', 'new'), uid: 'new-uid', controller: true, blockOwnerDeletion: true },
    { ...owner('Transaction', 'mine'), uid: 'uid-1' },
  ]);
  const wanted = installOf(ptxOf());
  if (wanted === undefined) throw new Error('no install');
  const [changed] = changedPackages(wanted, [], [entry('root')]);
  if (changed === undefined) throw new Error(String('nothing changes'));
  const ground = {
    owner: { metadata: { uid: 'p' }, spec: { commonLabels: { team: 'a' }, package: 'x' } },
    live: undefined,
    revisions: [{ spec: { revision: 3 } }, { spec: { revision: 2 } }],
  };
  const imageConfigs = { refs: [{ name: 'mirror', reason: 'RewriteImage' }], resolved: 'mirror.example.org/a:v1.0.0' } as const;
  t.match(revisionChange({ ...changed, imageConfigs }, ground, ptxOf()), {
    type: 'Create',
    content: {
      spec: { desiredState: 'Inactive', revision: 4, image: /@sha256:0+$/, commonLabels: { team: 'a' }, package: undefined },
      metadata: {
        annotations: { 'packages.janus.io/image-configs': JSON.stringify(imageConfigs) },
        ownerReferences: [
          { kind: 'Provider', uid: 'p' },
          { kind: 'Transaction', uid: 'uid-1' },
        ],
      },
    },
  });
});

t.test('a package does not take an object with another controller; it owns objects of all its revisions', async (t) => {
  const crd = (name: string, uid: string, kind = 'ProviderRevision'): JsonObject => ({
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: 'x', ownerReferences: [{ apiVersion: 'pkg.crossplane.io/v1', kind, name, uid, controller: true }] },
  });
  const revisions: Readonly<Record<string, string>> = { new: 'root', old: 'root', oldest: 'root', other: 'other' };
  const revisionOf = (name: string): JsonObject | undefined => {
    const labels = { 'pkg.crossplane.io/package': revisions[name] ?? '' };
    return revisions[name] === undefined ? undefined : { metadata: { name, uid: `uid-${name}`, labels } };
  };
  const object = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition', metadata: { name: 'x' } };

  const contents = { meta: { kind: 'Provider' }, objects: [{ kind: 'CustomResourceDefinition', name: 'x' }] };
  const one = { name: 'root', source: 's', digest: 'd', revision: 'new', leaves: 'old', contents } as unknown as TreePackage;
  const registry = {
    async read(_: string, __: string, take: (found: JsonObject) => void) {
      take(object);
      return { kind: 'ok' };
    },
  } as unknown as Registry;
  const conflicts = async (live: JsonObject, tree = [one]): Promise<readonly unknown[]> => {
    const look = async ({ kind, name }: { kind: string; name: string }) =>
      kind === 'ProviderRevision' ? revisionOf(name) : live;
    const found = await compareWithLive([one], { registry, live: look, leaving: leavingIn(tree) });
    return found === 'unfinished' || 'kind' in found ? [found] : found.filter(({ reason }) => reason === 'CRDConflict');
  };
  t.same(await conflicts(crd('old', 'uid-old')), []);
  t.same(await conflicts(crd('oldest', 'uid-oldest')), [], 'the version between had left it out');
  t.match(await conflicts(crd('other', 'uid-other')), [{ message: /controlled by .*other.*, which does not leave/ }]);
  const kept = { source: 'k', revision: 'other', leaves: 'other' } as unknown as TreePackage;
  t.same(leavingIn([one, kept]), ['old'], 'one that stays as it is controls what it did');
  const moved = { source: 'm', revision: 'newer', leaves: 'other' } as unknown as TreePackage;
  t.same(await conflicts(crd('other', 'uid-other'), [one, moved]), [], 'another package of the tree leaves it out');

  const made = async (live: JsonObject | undefined, lock = mine): Promise<string> => {
    const [content] = packedContents([{ kind: 'Provider', revision: 'new', object }], 1, gzip);
    if (content === undefined) throw new Error(String('no contents'));
    const byKind = (kind: string, name: string): JsonObject | undefined =>
      kind === 'ProviderRevision' ? revisionOf(name) : kind === 'ConfigMap' ? { ...content } : live;
    const get = async ({ resource: { kind }, name }: Location): Promise<Answer> => {
      const found = byKind(kind, name);
      const failure = { kind: 'absent', code: 404, reason: 'NotFound', message: '', fields: [], definitive: true } as const;
      return found === undefined ? { kind: 'failed', failure } : { kind: 'ok', object: found, serverTime: now };
    };
    const reader = { cluster: { get, getMetadata: get } as unknown as Reader, namespace, gzip };
    const ptx = ptxOf({ proposed: [entry('kept')] });
    const stage = { name: 's', purpose: 'Objects', digest: content.digest } as const;
    const next = await readNextChanges({ reader, ptx, wanted: ptx.wanted as Wanted, lock }, stage);
    return next.kind === 'lost' ? next.message : 'made';
  };
  t.equal(await made(undefined), 'made');
  for (const name of ['new', 'old', 'oldest']) t.equal(await made(crd(name, `uid-${name}`)), 'made', name);
  t.match(await made(crd('other', 'uid-other')), /x: expected no controller, or a revision .*found "ProviderRevision" "other"/);
  t.match(await made(crd('old', 'uid-z', 'Widget')), /found "Widget" "old"/);
  const before = { ...mine, packages: [entry('kept'), { ...entry('o'), name: 'other' }] };
  t.equal(await made(crd('other', 'uid-other'), before), 'made', 'the Lock will name another revision in its place');
  t.match(await made(crd('kept-000000000000', 'uid-kept'), before), /found "ProviderRevision" "kept-000000000000"/);
});

t.test('a comparison that takes longer than a call goes on after the compared objects', async (t) => {
  const objects = Array.from({ length: 300 }, (_, index) => ({ kind: 'CustomResourceDefinition', name: `x${index}` }));
  const own = {
    source: 's',
    digest: 'd',
    revision: 'new',
    contents: { meta: { kind: 'Provider' }, objects },
  } as unknown as TreePackage;
  const memory = createMemory();
  const calls = { reads: 0, looks: [] as string[] };
  const read = async () => {
    calls.reads += 1;
    return { kind: 'ok' };
  };
  const registry = { read } as unknown as Registry;
  const live = async ({ kind, name }: { kind: string; name: string }): Promise<JsonObject | undefined> => {
    if (kind === 'ProviderRevision') return undefined;
    calls.looks.push(name);
    return { metadata: { name } };
  };
  const compare = () =>
    compareWithLive([own], { registry, live, progress: { ...memory.recall('uid', 'Validating'), isOver: () => true } });
  t.equal(await compare(), 'unfinished');
  t.equal(calls.looks.length, 128, 'so many are in memory at once');
  t.equal(await compare(), 'unfinished');
  t.equal(await compare(), 'unfinished');
  t.same(await compare(), []);
  t.equal(new Set(calls.looks).size, 300);
  t.equal(calls.looks.length, 300, 'each once');
  t.equal(calls.reads, 3, 'the package once for each part');
});

t.test('the engine does not replace a package object that has changed its source or identity since validation', async (t) => {
  const source = 'registry.example.org/acme/root';
  const of = {
    kind: 'Provider',
    name: 'root',
    source,
    package: `${source}:v1.0.0`,
    digest: 'd',
    revision: 'root-1',
    isRoot: true,
  };
  const [content] = packedContents([of], 1, gzip);
  if (content === undefined) throw new Error(String('no contents'));
  const made = async (live: JsonObject | undefined, uid?: string): Promise<string> => {
    const get = async ({ resource }: Location): Promise<Answer> => {
      const failure = { kind: 'absent', code: 404, reason: 'NotFound', message: '', fields: [], definitive: true } as const;
      const found = resource.kind === 'ConfigMap' ? { ...content } : live;
      return found === undefined ? { kind: 'failed', failure } : { kind: 'ok', object: found, serverTime: now };
    };
    const ptx = ptxOf();
    const wanted = { ...(ptx.wanted as Wanted), ...(uid === undefined ? {} : { uid }) };
    const stage = { name: 's', purpose: 'Packages', digest: content.digest } as const;
    const reader = { cluster: { get } as unknown as Reader, namespace, gzip };
    const next = await readNextChanges({ reader, ptx, wanted, lock: mine }, stage);
    return next.kind === 'lost' ? next.message : 'made';
  };
  const live = (from: string, uid = 'uid-1'): JsonObject => ({
    metadata: { name: 'root', uid },
    spec: { package: `${from}:v0.9.0` },
  });
  t.equal(await made(undefined), 'made');
  t.equal(await made(live(source)), 'made');
  t.equal(await made(live(source), 'uid-1'), 'made');
  t.match(
    await made(live('other.example.org/else/root')),
    /expected a package of .*acme\/root, found one of other\.example\.org/,
  );
  t.match(await made(live(source, 'uid-2'), 'uid-1'), /Provider root: expected uid uid-1, found uid-2, since it was validated/);
  t.match(await made(undefined, 'uid-1'), /found no such object/);
});

t.test('a try that cannot go on, since its Package is another one, is abandoned in each phase', async (t) => {
  const stages = [{ name: 's', purpose: 'Packages', digest: 'd' }] as const;
  const status = { phase: 'Installing', lockDigest: packagesDigest(mine), stages } as const;
  const lost = { kind: 'lost', message: 'Provider root: expected uid uid-1' } as const;
  const failed = { metadata: { name: 's' }, status: { phase: 'RolledBack', message: 'a conflict' } };
  const edited = 'Provider root was changed or deleted since';
  const scene = { ...moment, namespace, lock: mine, ptx: ptxOf(status) };
  const verifying = ptxOf({ ...status, phase: 'Verifying', proposed: [entry('root')], stages: activated });
  const tries = {
    'before the first stage': (words?: string) => install({ ...scene, stage: undefined, next: lost, edited: words }),
    'in a stage': (words?: string) => install({ ...scene, stage: failed, next: undefined, edited: words }),
    verifying: (words?: string) => verify({ ...scene, ptx: verifying, faults: ['Provider root'], edited: words }),
  };
  for (const [name, decided] of Object.entries(tries)) {
    const abandoned = { kind: 'Abandoned', message: edited };
    t.match(decided(edited).status, { phase: 'RollingBack', failures: 0, outcome: abandoned }, name);
    t.match(decided().status, { phase: 'RollingBack', failures: 1, outcome: { kind: 'Failed' } }, `${name}, unchanged`);
  }

  const wanted = ptxOf().wanted as Wanted;
  const live = { metadata: { name: 'root', uid: 'p' }, spec: { package: 'registry.example.org/acme/root:v1.0.0' } };
  const said = (now: JsonObject | undefined, packageUid: string | undefined = 'p') =>
    editedSince({ ...ptxOf(), packageUid }, wanted, now);
  t.equal(said(live), undefined);
  const others = {
    edited: withPath(live, ['spec', 'package'], 'registry.example.org/acme/root:v2.0.0'),
    'made again': withPath(live, ['metadata', 'uid'], 'q'),
    'being deleted': withPath(live, ['metadata', 'deletionTimestamp'], '2026-01-01T00:00:00Z'),
    gone: undefined,
  };
  for (const [name, other] of Object.entries(others)) {
    t.match(said(other), /^Provider root was changed or deleted since: its next package transaction installs/, name);
    t.equal(editedSince(ptxOf(), wanted, other), undefined, `${name}: no Package has made the package transaction`);
  }
});

t.test('the engine refuses a package whose contents do not fit into memory', async (t) => {
  const bomb = { apiVersion: 'v1', kind: 'X', items: Array.from({ length: 100_000 }, () => ({})) };
  const registryOf = (count: number): Registry =>
    ({
      read: async (_source: string, _digest: string, take: (object: JsonObject) => void) => {
        for (let index = 0; index < count; index += 1) take(bomb);
        return { kind: 'ok' };
      },
    }) as unknown as Registry;
  t.match(await objectsOf('s', 'd', registryOf(14)), { objects: { length: 14 } });
  const refused = { kind: 'failed', failure: { kind: 'invalid', message: /^s@d: expected at most 1500000 values/ } };
  const answer = await objectsOf('s', 'd', registryOf(16));
  t.match(answer, refused);
  t.match('kind' in answer && unread(answer.failure), { reason: 'InvalidPackage', step: 'Validation' });
  const room = { left: mostValues };
  await objectsOf('s', 'd', registryOf(14), room);
  t.match(await objectsOf('s', 'd', registryOf(2), room), refused, 'of a tree together');
});

t.test('a ManagedResourceDefinition that is Active stays so in its stage: its state is no metadata', async (t) => {
  const version = 'apiextensions.crossplane.io/v1alpha1';
  const object = { apiVersion: version, kind: 'ManagedResourceDefinition', metadata: { name: 'x' }, spec: { group: 'g' } };
  const live = { ...object, spec: { group: 'g', state: 'Active' } };
  const [content] = packedContents([{ kind: 'Provider', revision: 'new', object }], 1, gzip);
  if (content === undefined) throw new Error(String('no contents'));
  const found = (kind: string): JsonObject =>
    kind === 'ProviderRevision' ? { metadata: { name: 'new', uid: 'uid-new' } } : kind === 'ConfigMap' ? { ...content } : live;
  const answer = (object: JsonObject): Answer => ({ kind: 'ok', object, serverTime: now });
  const reader = {
    get: async ({ resource }: Location) => answer(found(resource.kind)),
    getMetadata: async ({ resource }: Location) => answer({ metadata: at(found(resource.kind), 'metadata') ?? {} }),
    resource: async (apiVersion: string, kind: string) => ({ kind: 'ok', resource: { ...stageKind, apiVersion, kind } }),
  } as unknown as Reader;
  const ptx = ptxOf();
  const stage = { name: 's', purpose: 'Objects', digest: content.digest } as const;
  const next = await readNextChanges(
    { reader: { cluster: reader, namespace, gzip }, ptx, wanted: ptx.wanted as Wanted, lock: mine },
    stage,
  );
  if (next.kind !== 'changes' || !('source' in next)) throw new Error(JSON.stringify(next));
  const [made] = Object.values(next.source.binaryData);
  t.match(JSON.parse(gzip.unpack(made ?? '', 10_000) ?? ''), { spec: { state: 'Active' } });
});

t.test('every process computes equal stages of bounded size, and recognizes their contents', async (t) => {
  const items = Array.from({ length: 150 }, (_, index) => ({ name: `${index}` }));
  const parts = [{ purpose: 'Objects', items, changesPerItem: 1 }] as const;
  const stages = stagesOf(ptxOf(), parts, gzip);
  t.same(
    stages.map(({ contents }) => Object.keys(contents.binaryData).length),
    [64, 64, 22],
  );
  t.same(stagesOf(ptxOf(), parts, gzip), stages);
  t.notSame(stagesOf(ptxOf({ failures: 1 }), parts, gzip)[0]?.stage.name, stages[0]?.stage.name, 'each try has its own');
  const inStages = (...large: readonly JsonObject[]): number => stagesOf(ptxOf(), [{ ...parts[0], items: large }], gzip).length;
  const noise = (): JsonObject => ({ text: randomBytes(300_000).toString('base64') });
  t.equal(inStages(noise(), noise(), noise()), 3, 'packed bytes');
  const long = { text: 'x'.repeat(mostObjectBytes) };
  t.equal(inStages(long, long, long, long, long), 2, 'bytes');
  const many = { list: Array.from({ length: 250_000 }, () => 1) };
  t.equal(inStages(many, many), 2, 'values');
  const [first] = stages;
  if (first === undefined) throw new Error(String('no stage'));
  const { digest, binaryData } = first.contents;
  t.same(readContents({ binaryData }, digest, gzip), items.slice(0, 64));
  t.equal(
    readContents({ binaryData: { ...binaryData, 3: gzip.pack('{"name":"7"}') } }, digest, gzip),
    undefined,
    'tampered with',
  );
  t.equal(readContents({ binaryData: { ...binaryData, 3: 'AAAA' } }, digest, gzip), undefined, 'no gzip');
  const bomb = gzip.pack('x'.repeat(7_000_000));
  const bombs = Object.fromEntries(Array.from({ length: 100 }, (_, index) => [String(index), bomb]));
  let unpacked = 0;
  const counting = {
    ...gzip,
    unpack(packed: string, most: number) {
      unpacked += 1;
      return gzip.unpack(packed, most);
    },
  };
  t.equal(readContents({ binaryData: bombs }, digest, counting), undefined, 'more than a ConfigMap of the engine can hold');
  t.equal(unpacked, 2, 'all of it together is bounded');
  t.equal(readContents({ binaryData: { ...binaryData, 64: binaryData[0] ?? '' } }, digest, gzip), undefined, 'more than it was');
  t.equal(advanced(ptxOf().status, {}).version, 1);
});

t.test('a stage names its contents by digest; other contents have another name', async (t) => {
  const change = (region: string): JsonObject => ({
    type: 'Create',
    target: { name: 'a' },
    gate: { at: 'AtEnd' },
    content: { region },
  });
  const { changes, source } = sourced('stage', [change('eu'), change('us')], gzip);
  t.same(changes, [{ ...from(source.name, '0', '{"region":"eu"}') }, { ...from(source.name, '1', '{"region":"us"}') }]);
  t.equal(gzip.unpack(source.binaryData['1'] ?? '', 100), '{"region":"us"}');
  t.equal(sourced('stage', [change('eu'), change('us')], gzip).source.name, source.name);
  t.not(sourced('stage', [change('eu'), change('eu')], gzip).source.name, source.name);
  t.not(sourced('other', [change('eu'), change('us')], gzip).source.name, source.name);

  function from(name: string, key: string, text: string): JsonObject {
    const digest = `sha256:${createHash('sha256').update(text).digest('hex')}`;
    const contentFrom = { configMapKeyRef: { name, key }, digest };
    return { type: 'Create', target: { name: 'a' }, gate: { at: 'AtEnd' }, contentFrom };
  }
});
