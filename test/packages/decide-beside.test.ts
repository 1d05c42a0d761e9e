// The decisions of package transactions beside Crossplane, without a cluster: who gets a revision when, and how long a try waits.
import t from 'tap';
import { acquire } from '../../hooks/crossplane/decide/acquiring.ts';
import { deletePackage } from '../../hooks/crossplane/decide/deleting.ts';
import { handOverLate, release } from '../../hooks/crossplane/decide/ending.ts';
import { rollBack } from '../../hooks/crossplane/decide/rolling-back.ts';
import type { Step } from '../../hooks/crossplane/decide/step.ts';
import { longestAuthorityMs, verify } from '../../hooks/crossplane/decide/verifying.ts';
import { dueOf } from '../../hooks/crossplane/due.ts';
import { digestOf } from '../../hooks/crossplane/model/digest.ts';
import { held, packagesDigest, withPackages } from '../../hooks/crossplane/model/holder.ts';
import { type PackageTransaction, readPackageTransaction } from '../../hooks/crossplane/model/package-transaction.ts';
import { type Status, timeOf } from '../../hooks/crossplane/model/status.ts';
import type { Context } from '../../hooks/crossplane/observe/observation.ts';
import { resultOf } from '../../hooks/crossplane/outcome/answer.ts';
import { plan } from '../../hooks/crossplane/plan/plan.ts';
import { pauseChange, pauserOf } from '../../hooks/crossplane/writes/beside.ts';
import { revisionChange } from '../../hooks/crossplane/writes/changes.ts';
import { revisionsOfKind } from '../../hooks/crossplane/writes/resources.ts';
import type { Answer } from '../../hooks/objects/cluster.ts';
import type { Failure } from '../../hooks/objects/failure.ts';
import { at, type JsonObject, textAt, withPath } from '../../hooks/objects/json.ts';
import { conditionIn } from '../support/package-world.ts';

const namespace = 'janus-packages';
const now = Date.parse('2026-01-01T00:00:00Z');
const moment = { now, lateWindow: 40_000, namespace, isBeside: true, crossplaneNamespace: 'crossplane-system' };
const paused = 'crossplane.io/paused';
const pausedFor = 'packages.janus.io/paused-for';

const free: JsonObject = { metadata: { name: 'lock', uid: 'l', resourceVersion: '7' }, packages: [] };
const mine = held(free, { name: 'mine', uid: 'uid-1', number: 1 });
const written = withPackages(mine, []);

const package_ = {
  apiVersion: 'pkg.crossplane.io/v1',
  kind: 'Provider',
  metadata: { name: 'root' },
  spec: { package: 'r.example.org/a/root:v1' },
};
const installs = { change: 'Install', install: { package: package_ } };

function ptxOf(changes: Partial<Status> = {}, spec: JsonObject = installs): PackageTransaction {
  const ptx = readPackageTransaction({ metadata: { name: 'mine', uid: 'uid-1', generation: 1 }, spec });
  return { ...ptx, status: { ...ptx.status, ...changes } };
}

const resource = revisionsOfKind('Provider');
const revision = (name: string, annotations: JsonObject = { [paused]: 'true', [pausedFor]: 'uid-1' }) => ({
  resource,
  live: {
    metadata: {
      name,
      uid: name,
      resourceVersion: '1',
      annotations,
      labels: { 'pkg.crossplane.io/package': 'root', theirs: 'yes' },
    },
    spec: { desiredState: 'Active' },
  },
});

/** The objects that a step writes. */
function writesOf(step: Step, context: Context): readonly JsonObject[] {
  const writes = plan(step, context);
  return (writes.kind === 'sequence' ? writes.mutations : []).flatMap(({ write }) => ('object' in write ? [write.object] : []));
}

/** The reply if the API server answers the writes so, one after the other. */
function replyTo(step: Step, context: Context, answers: readonly Answer[]) {
  const writes = plan(step, context);
  const attempts = (writes.kind === 'sequence' ? writes.mutations : []).map(({ write, settledBy = [] }, index) => {
    const answer = answers[index] ?? done;
    return {
      write,
      answer,
      ...(answer.kind === 'failed' && settledBy.includes(answer.failure.kind) ? { isSettled: true as const } : {}),
    };
  });
  return resultOf(step, context, attempts);
}

const done: Answer = { kind: 'ok', object: {}, serverTime: now };
const failure: Failure = { kind: 'refused', code: 403, reason: 'Forbidden', message: 'not today', fields: [], definitive: true };
const refusal: Answer = { kind: 'failed', failure };

t.test(
  'a policy that refuses to unpause a revision keeps no Lock: the conditions say so, and the hook tries again',
  async (t) => {
    const succeeded = { phase: 'Releasing', outcome: { kind: 'Succeeded' }, lockDigest: packagesDigest(mine) } as const;
    const both = [revision('one'), revision('two')];
    const scene = { ...moment, ptx: ptxOf(succeeded), lock: written, paused: both };
    const { reply, writes } = replyTo(release(scene), scene, [refusal, done]);
    t.equal(writes, 1, 'the other revision is unpaused all the same');
    const fault = 'ProviderRevision one: not today';
    t.match(reply.status, { phase: 'Releasing', handOverFault: fault });
    const next = ptxOf({ ...succeeded, handOverFault: fault });
    const releasing = release({ ...scene, ptx: next, paused: [revision('one')] });
    t.match(releasing, { kind: 'release', status: { phase: 'Succeeded', handOverFault: fault } });
    const over = { ...moment, ptx: ptxOf(releasing.status), paused: [revision('one')] };
    const again = replyTo(handOverLate(over), over, [refusal]).reply;
    t.match([again.status.version, again.resyncAfterSeconds], [releasing.status.version, 30], 'nothing new is stored');
    t.match(conditionIn(again.status, 'Installed'), {
      status: 'True',
      message: /^Package installation completed successfully; Crossplane does not run it yet, .*ProviderRevision one: not today$/,
    });
    t.match(conditionIn(again.status, 'Synced'), { status: 'False', message: fault });
    t.match(conditionIn(again.status, 'Finished'), { status: 'True', reason: 'TransactionComplete' });
    t.same(writesOf(handOverLate(over), over)[0]?.metadata, {
      ...{ name: 'one', uid: 'one', resourceVersion: '1', annotations: {} },
      labels: { 'pkg.crossplane.io/package': 'root', theirs: 'yes' },
    });
    const end = handOverLate({ ...over, paused: [] });
    t.match(end, { kind: 'setStatus', status: { phase: 'Succeeded', handOverFault: undefined } });
  },
);

t.test(
  'after the end the hook deletes leftovers when their time comes, and hands over revisions that Crossplane has not got',
  async (t) => {
    const late = timeOf(now + 60_000);
    const due = (status: Partial<Status>): string => dueOf(ptxOf({ phase: 'Succeeded', ...status }), now);
    t.equal(due({}), 'rest');
    t.equal(due({ sweepTime: late }), 'wait');
    t.equal(due({ sweepTime: late, handOverFault: 'no' }), 'handOver');
    t.equal(due({ sweepTime: timeOf(now), handOverFault: 'no' }), 'cleanUp');
    t.equal(due({ handOverFault: 'no' }), 'handOver');
  },
);

t.test(
  'a package transaction that waits for an absent holder takes the Lock, although revisions of the holder stay paused',
  async (t) => {
    const theirs = withPackages(held(free, { name: 'theirs', uid: 'uid-2', number: 4 }), []);
    const settledHolder = digestOf({ name: 'theirs', uid: 'uid-2' });
    const settled = { settledTime: timeOf(now - 1_000), settledHolder };
    const scene = { ...moment, lock: theirs, isHolderThere: false, leftStages: [], garbage: [], ofTries: [] };
    const first = { ...scene, ptx: ptxOf(settled), paused: [revision('one')] };
    const { reply } = replyTo(acquire(first), first, [refusal]);
    t.match(reply.status, { phase: 'Waiting', handOverFault: 'ProviderRevision one: not today' });
    const fault = textAt(reply.status, 'handOverFault') ?? '';
    t.match(acquire({ ...first, ptx: ptxOf({ ...settled, handOverFault: fault }) }), { kind: 'release' });
    const unwritten = withPath(theirs, ['metadata', 'annotations', 'packages.janus.io/holder-has-written'], undefined);
    const early = { ...first, lock: unwritten, paused: [revision('one', { [pausedFor]: 'uid-2' })] };
    t.match(writesOf(acquire(early), early), [{ metadata: { annotations: { [paused]: 'true', [pausedFor]: 'uid-2' } } }]);
  },
);

t.test(
  'a CRD without the authority of its webhook ends the try after five minutes, and the message names the Secret',
  async (t) => {
    const lockDigest = packagesDigest(mine);
    const scene = { ...moment, lock: mine, faults: [] };
    const definition = { definition: 'things.example.org', secret: 'crossplane-system/root-tls-server' };
    const begun = { phase: 'Verifying', lockDigest, proposed: [] } as const;
    const first = { ...scene, ptx: ptxOf(begun), unserved: [{ ...definition, paused: revision('one') }] };
    const handing = verify(first);
    t.match(handing, { kind: 'handOver', status: { phase: 'Verifying', handOverTime: timeOf(now) } });
    t.match(writesOf(handing, first), [{ metadata: { annotations: { [paused]: undefined, [pausedFor]: 'uid-1' } } }]);
    t.match(replyTo(handing, first, [refusal]).reply.status, {
      phase: 'Verifying',
      outcome: { kind: 'Failed', message: 'ProviderRevision one: not today' },
    });
    const waiting = { ...scene, ptx: ptxOf({ ...begun, handOverTime: timeOf(now) }), unserved: [definition] };
    t.match(verify({ ...waiting, now: now + longestAuthorityMs - 1 }), { kind: 'setStatus', status: { phase: 'Verifying' } });
    const over = verify({ ...waiting, now: now + longestAuthorityMs });
    t.match(over, {
      kind: 'fence',
      status: {
        phase: 'RollingBack',
        outcome: {
          reason: 'InstallationFailed',
          message: /within 5 minutes, .*found none: CRD things\.example\.org: Secret crossplane-system\/root-tls-server;/,
        },
      },
    });
    t.match(verify({ ...waiting, unserved: [] }), { kind: 'writePackages' });
    const rolling = {
      ...moment,
      ptx: ptxOf({ ...over.status }),
      found: [],
      running: [revision('one', { [pausedFor]: 'uid-1' })],
    };
    t.match(rollBack(rolling), { kind: 'takeBack', status: { phase: 'RollingBack', handOverTime: undefined } });
    t.same(writesOf(rollBack(rolling), rolling)[0]?.metadata, {
      ...{ name: 'one', uid: 'one', resourceVersion: '1' },
      annotations: { [paused]: 'true', [pausedFor]: 'uid-1' },
      labels: { 'pkg.crossplane.io/package': 'root' },
    });
  },
);

t.test('a Replace waits five minutes until the webhook of a new package answers', async (t) => {
  const replaces = { change: 'Replace', replace: { source: 'r.example.org/b/root', package: package_ } };
  const handed = {
    phase: 'Verifying',
    lockDigest: packagesDigest(mine),
    stoppedTime: timeOf(now),
    handOverTime: timeOf(now),
  } as const;
  const unread = 'CRD things.example.org: its instances cannot be read as v2: no endpoints';
  const waiting = {
    ...{ ...moment, lock: mine, faults: [], ptx: ptxOf(handed, replaces) },
    runtimes: { running: [], paused: [], unhealthy: [] },
    unserved: [{ definition: 'things.example.org', secret: 'crossplane-system/root-tls-server', unread }],
  };
  t.match(verify({ ...waiting, now: now + longestAuthorityMs - 1 }), { kind: 'setStatus', status: { phase: 'Verifying' } });
  t.match(verify({ ...waiting, now: now + longestAuthorityMs }), {
    kind: 'fence',
    status: { phase: 'RollingBack', outcome: { message: `healthy within 5 minutes: ${unread}` } },
  });
  t.match(verify({ ...waiting, unserved: [], now: now + 7_000 }), { status: { phase: 'Deleting', gapSeconds: 7 } });
});

t.test('a paused revision loses the finalizer of Crossplane before the hook deletes it', async (t) => {
  const deletes = { change: 'Delete', delete: { source: 'r.example.org/a/root' } };
  const ptx = ptxOf({ phase: 'Deleting', deletionTime: timeOf(now) }, deletes);
  const one = revision('one');
  const live = withPath(one.live, ['metadata', 'finalizers'], ['revision.pkg.crossplane.io', 'theirs']);
  const state = { objects: [], kept: [], inUse: [], terminating: [], held: [{ resource, live }] };
  const scene = { ...moment, ptx, lock: mine, state };
  t.match(deletePackage(scene), { kind: 'takeBack', status: { phase: 'Deleting' } });
  t.match(writesOf(deletePackage(scene), scene), [{ metadata: { finalizers: ['theirs'] } }]);
});

t.test(
  'a pause of another package transaction becomes a pause of the one that updates the package; a pause of a user stays',
  async (t) => {
    const target = { apiVersion: 'pkg.crossplane.io/v1', kind: 'ProviderRevision', name: 'one' };
    const annotationsOf = (before: JsonObject): unknown =>
      pauseChange({ target }, { metadata: { annotations: before } }, { name: 'mine', uid: 'uid-1' }).content;
    const ours = { metadata: { annotations: { [paused]: 'true', [pausedFor]: 'uid-1' } } };
    t.same(annotationsOf({}), ours);
    t.same(annotationsOf({ [paused]: 'true', [pausedFor]: 'uid-2' }), ours);
    t.same(annotationsOf({ [paused]: 'true' }), { metadata: { annotations: { [paused]: 'true' } } });
  },
);

t.test('a revision that a user must make Active stays paused until a package transaction installs it', async (t) => {
  const one = {
    kind: 'Provider',
    name: 'root',
    source: 'r.example.org/a/root',
    package: 'r.example.org/a/root:v1',
    digest: 'sha256:0',
    revision: 'root-1',
    isRoot: true,
    imageConfigs: { refs: [], resolved: 'r.example.org/a/root:v1' },
  } as const;
  const maker = { name: 'mine', uid: 'uid-1', isBeside: true };
  const ground = { owner: package_, live: undefined, revisions: [] };
  const content = (live: JsonObject | undefined, isActivated: boolean): JsonObject =>
    at(revisionChange(one, { ...ground, live }, { ...maker, isActivated }), 'content') as JsonObject;
  const waiting = content(undefined, false);
  t.match(waiting, {
    metadata: { annotations: { [paused]: 'true', [pausedFor]: 'activation' } },
    spec: { desiredState: 'Inactive' },
  });
  t.equal(pauserOf(waiting), undefined, 'no end of another package transaction unpauses it');
  const active = withPath(waiting, ['spec', 'desiredState'], 'Active');
  t.match(content(active, true), {
    metadata: { annotations: { [paused]: 'true', [pausedFor]: 'uid-1' } },
    spec: { desiredState: 'Active' },
  });
  const running = withPath(active, ['metadata', 'annotations'], {});
  t.equal(textAt(content(running, true), 'metadata', 'annotations', paused), undefined, 'one that Crossplane runs goes on');
});
