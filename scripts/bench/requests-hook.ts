// A baseline for the engine: a hook that only makes the requests of the engine, in their order. It evaluates nothing, and undoes nothing.
// The difference between a row of the engine and this row is the work of the engine. The rest is the price of its guarantees.
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { type Client, connect, must } from '../../test/support/client.ts';
import { servePlainly } from './plain-server.ts';

const engine = connect(process.env.KUBECONFIG ?? '');
const leases = '/apis/coordination.k8s.io/v1/namespaces/janus-system/leases';
const fieldManager = 'requests';
servePlainly('requests hook', step);

interface Work {
  readonly parent: Json;
  readonly namespace: string;
  readonly name: string;
  readonly account: Client;
  readonly objects: readonly JsonObject[];
  /** From the status: 0 before the locks are acquired, 1 after the preparation, 2 after all changes. */
  readonly version: number;
}

function workOf(parent: Json): Work {
  const [namespace = '', name = ''] = [textAt(parent, 'metadata', 'namespace'), textAt(parent, 'metadata', 'name')];
  const changes = at(parent, 'spec', 'changes');
  const version = at(parent, 'status', 'version');
  return {
    parent,
    namespace,
    name,
    account: engine.asServiceAccount(namespace, textAt(parent, 'spec', 'serviceAccountName') ?? ''),
    objects: (isList(changes) ? changes : []).map(objectOf),
    version: typeof version === 'number' ? version : 0,
  };
}

function objectOf(change: Json): JsonObject {
  const content = at(change, 'content');
  const metadata = { name: textAt(change, 'target', 'name') ?? '' };
  return { ...(isObject(content) ? content : {}), apiVersion: 'v1', kind: 'ConfigMap', metadata };
}

async function step(parent: Json): Promise<JsonObject> {
  const called = workOf(parent);
  if (called.version === 1) await sign(called);
  const live = await readTransaction(called);
  const work = workOf(live);
  await readLocks(work);
  if (work.version === 0) return reported(work, await prepare(work), ['LocksAcquired', 'Prepared']);
  if (work.version === 1) return reported(work, await change(work), ['ChangeApplied', 'Committed']);
  const status = at(live, 'status') as JsonObject;
  return at(status, 'completionTime') === undefined ? release(work, status) : status;
}

async function readTransaction({ namespace, name }: Work): Promise<JsonObject> {
  return must(await engine.get(`/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions/${name}`));
}

/** Reads the locks of all changes, before the changes. */
async function readLocks({ version, parent }: Work): Promise<void> {
  if (version === 1) await engine.list(leases, { labelSelector: `tx.janus.io/uid=${textAt(parent, 'metadata', 'uid')}` });
}

/** Signs the Lease of the first change, before the changes. */
async function sign(work: Work): Promise<void> {
  const [first = {}] = work.objects;
  const path = `${leases}/${leaseOf(work, first)}`;
  const lease = must(await engine.get(path));
  must(
    await engine.update(path, {
      ...lease,
      metadata: { ...(at(lease, 'metadata') as JsonObject), annotations: { turn: String(work.version) } },
    }),
  );
}

async function prepare(work: Work): Promise<JsonObject> {
  await lock(work);
  return snapshot(work);
}

async function lock(work: Work): Promise<void> {
  const uid = textAt(work.parent, 'metadata', 'uid') ?? '';
  const time = new Date().toISOString().replace('Z', '000Z');
  const spec = { holderIdentity: `${work.namespace}/${work.name}/${uid}`, leaseDurationSeconds: 300, renewTime: time };
  const locks = work.objects.map((object) => ({
    metadata: { name: leaseOf(work, object), labels: { 'tx.janus.io/uid': uid } },
    spec,
  }));
  await Promise.all(locks.map(async (object) => must(await engine.create(leases, object, { fieldManager }))));
  await readTransaction(work);
}

function leaseOf({ namespace }: Work, object: JsonObject): string {
  return `janus-lock-${namespace}-configmap-${textAt(object, 'metadata', 'name')}-requests`;
}

async function snapshot(work: Work): Promise<JsonObject> {
  const states = await Promise.all(
    work.objects.map(async (object) => {
      const prior = must(await work.account.get(pathOf(work, object)));
      const expected = must(await work.account.apply(pathOf(work, object), object, { fieldManager, dryRun: 'All' }));
      return [textAt(object, 'metadata', 'name') ?? '', JSON.stringify({ prior, expected })] as const;
    }),
  );
  const stored = { metadata: { name: `${work.name}-rollback` }, immutable: true, data: Object.fromEntries(states) };
  must(await engine.create(`/api/v1/namespaces/${work.namespace}/configmaps`, stored, { fieldManager }));
  return statusOf(work, 'Prepared');
}

function pathOf({ namespace }: Work, object: JsonObject): string {
  return `/api/v1/namespaces/${namespace}/configmaps/${textAt(object, 'metadata', 'name')}`;
}

async function change(work: Work): Promise<JsonObject> {
  for (const object of work.objects) must(await work.account.apply(pathOf(work, object), object, { fieldManager }));
  return statusOf(work, 'Committed');
}

async function release(work: Work, status: JsonObject): Promise<JsonObject> {
  const uid = textAt(work.parent, 'metadata', 'uid') ?? '';
  await engine.list(leases, { labelSelector: `tx.janus.io/uid=${uid}` });
  await Promise.all(work.objects.map((object) => engine.delete(`${leases}/${leaseOf(work, object)}`)));
  return { ...status, completionTime: stamp, conditions: [conditionOf(true)] };
}

const stamp = '2026-01-01T00:00:00Z';

function conditionOf(isFinished: boolean): JsonObject {
  return { type: 'Finished', status: isFinished ? 'True' : 'False', reason: 'Requests', message: '', lastTransitionTime: stamp };
}

/** A status as large as the engine's. */
function statusOf(work: Work, phase: string): JsonObject {
  const version = work.version + 1;
  const done = version > 1 ? work.objects.length : 0;
  const items = work.objects.map((object) => ({
    lockLease: leaseOf(work, object),
    prepared: true,
    announced: true,
    ...(done > 0 && { committed: true }),
  }));
  return { phase, version, items, progress: `${done}/${items.length}`, startTime: stamp, conditions: [conditionOf(false)] };
}

// Sent without waiting for the answer, as the engine does.
function reported(work: Work, status: JsonObject, reasons: readonly string[]): JsonObject {
  for (const reason of reasons) void sendEvent(work, reason).catch(() => undefined);
  return status;
}

async function sendEvent({ namespace, name, version }: Work, reason: string): Promise<void> {
  const involvedObject = { apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', namespace, name };
  const metadata = { name: `${name}.${version}.${reason.toLowerCase()}` };
  const content = { involvedObject, reason, message: 'as many as those of the engine', type: 'Normal' };
  await engine.create(`/api/v1/namespaces/${namespace}/events`, { metadata, ...content, source: { component: 'janus' } });
}
