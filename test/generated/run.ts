// One generated run on the real API server, a call of the hook at a time: forward, to its end, back, and gone.
import type { Cluster } from '../../hooks/objects/cluster.ts';
import { at, isList, isObject, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { must, waitFor } from '../support/client.ts';
import type { Engines } from '../support/engine.ts';
import { partial } from '../support/round-trip.ts';
import { snapshotParts } from '../support/snapshots.ts';
import { conditionOf, type Stage, statusOf } from '../support/stage.ts';
import { adopt, storeStatus } from '../support/stepping.ts';
import { asYaml, contentFrom, holderOf, type Manifest, pluralOf } from '../support/stored-manifests.ts';
import { complaintsOfApplied, makeObject } from './applied.ts';
import { type Foreign, owners, type Plan, type Target } from './arbitraries.ts';
import { complaintsOfExact, complaintsOfKept, complaintsOfShared, type Leaves, leavesOf, type Seen } from './oracle.ts';
import { apiVersionOf, type Named, pathOf, within, writeAs } from './world.ts';

const requestOf = (value: string) => ({ 'tx.janus.io/request-rollback': value });

const mostCalls = 120;

type Objects = readonly (JsonObject | undefined)[];

interface Running {
  readonly stage: Stage;
  readonly plan: Plan;
  readonly name: string;
  readonly named: readonly Named[];
  readonly foreign: readonly Map<string, string | undefined>[];
  calls: number;
  /** Writes to objects. */
  writes: number;
}

/** Throws with what does not hold. */
export async function runPlan(engines: Engines, stage: Stage, drawn: Plan, name: string): Promise<void> {
  const plan = await withOwners(stage, drawn);
  const namespace = plan.isInstall === true ? `${stage.namespace}-${name}` : undefined;
  const named = plan.targets.map(({ kind }, index): Named => {
    const own = `${name}-${index}`;
    const place = namespace === undefined ? stage : within(stage, namespace);
    return { kind, name: own, path: pathOf(place, kind, own), ...(namespace === undefined ? {} : { namespace }) };
  });
  const running: Running = {
    stage: engines.start({ wrap: (cluster) => counting(refusing(plan, named)(cluster), () => (running.writes += 1)) }),
    plan,
    name,
    named,
    foreign: named.map(() => new Map()),
    calls: 0,
    writes: 0,
  };
  await Promise.all(plan.targets.map((target, index) => makeObject(stage, target, named[index])));
  const before = await readAll(running);
  const changes = await Promise.all(plan.targets.map((target, index) => changeOf(stage, target, named[index])));
  await stage.transaction(name, [...installOf(namespace, plan), ...changes], {
    spec: plan.fieldManager === '' ? {} : { fieldManager: plan.fieldManager },
  });
  try {
    const status = await drive(running, before);
    const judged = [...judge(running, before, await readAll(running), status), ...(await namespaceLeft(running, namespace))];
    complain([...judged, ...(await leftovers(running))]);
  } finally {
    // Addresses of Services are few.
    await Promise.all(named.map(({ path }) => remove(stage, path)));
    if (namespace !== undefined) await stage.client.delete(`/api/v1/namespaces/${namespace}`);
  }
}

/** Where others wrote, their work may keep the Namespace. */
async function namespaceLeft({ stage, plan }: Running, namespace: string | undefined): Promise<readonly string[]> {
  if (namespace === undefined || plan.foreign.length > 0) return [];
  const { code } = await stage.client.get(`/api/v1/namespaces/${namespace}`);
  return code === 404 ? [] : [`Namespace ${namespace} is left`];
}

/** What comes before the changes of the targets. */
function installOf(name: string | undefined, { fieldManager }: Plan): readonly JsonObject[] {
  const target = { apiVersion: 'v1', kind: 'Namespace', name: name ?? '' };
  return name === undefined ? [] : [{ type: fieldManager === '' ? 'Create' : 'Apply', target, content: {} }];
}

export async function remove({ client }: Stage, path: string): Promise<void> {
  await client.patch(path, { metadata: { finalizers: null } });
  await client.delete(path);
}

/** The plan with the uids of the owners that it draws. */
export async function withOwners({ client, path }: Pick<Stage, 'client' | 'path'>, plan: Plan): Promise<Plan> {
  let text = JSON.stringify(plan);
  for (const [name, placeholder] of Object.entries(owners)) {
    const uid = textAt(must(await client.get(path(`configmaps/${name}`))), 'metadata', 'uid') ?? '';
    text = text.replaceAll(placeholder, uid);
  }
  return JSON.parse(text) as Plan;
}

function complain(complaints: readonly string[]): void {
  if (complaints.length > 0) throw new Error(complaints.join('\n'));
}

/** The API server refuses one change for good, although its dry run had passed. */
function refusing({ ending, targets }: Plan, named: readonly Named[]): (cluster: Cluster) => Cluster {
  const refused = ending.kind === 'refused' ? named[ending.change]?.name : undefined;
  const passes = ending.kind === 'refused' && ending.half === 'Create' && targets[ending.change]?.recreates === true;
  let isOver = refused === undefined;
  const message = 'refused by the test';
  const failure = { kind: 'refused', code: 422, reason: 'Invalid', message, fields: [], definitive: true } as const;
  return (cluster) => ({
    ...cluster,
    send: async (write) => {
      const isOther = write.location.name !== refused || write.identity.kind === 'engine';
      if (isOver || isOther || (passes && write.verb === 'delete')) return cluster.send(write);
      isOver = true;
      return { kind: 'failed', failure };
    },
  });
}

function counting(cluster: Cluster, count: () => unknown): Cluster {
  return {
    ...cluster,
    send: (write, isLate) => {
      if (write.identity.kind !== 'engine') count();
      return cluster.send(write, isLate);
    },
  };
}

/** The change that a target draws; what it takes its content from is created. */
export async function changeOf({ client, path }: Stage, drawn: Target, one: Named | undefined): Promise<JsonObject> {
  const { type, kind, content, lies } = drawn;
  const name = one?.name ?? '';
  const place = one?.namespace === undefined ? {} : { namespace: one.namespace };
  const target = { apiVersion: apiVersionOf(kind), kind, name, ...place };
  const made = { type, target, ...(drawn.recreates ? { whenImmutable: 'Recreate' } : {}) };
  if (type === 'Delete') return made;
  if (lies === 'in spec') return { ...made, content };
  const source: Manifest = { kind: lies, name: `source-${name}`, key: 'x', bytes: asYaml(content), gzip: lies === 'Secret' };
  must(await client.create(path(pluralOf(source)), holderOf(source)));
  return { ...made, contentFrom: contentFrom(source) };
}

function readAll({ stage, named }: Running): Promise<Objects> {
  return Promise.all(
    named.map(async ({ path }) => {
      const answer = await stage.client.get(path);
      return answer.code === 404 ? undefined : must(answer);
    }),
  );
}

/** To the end, and where that is a commit, back from it: as a whole, or what can be undone. Gives the last status. */
async function drive(running: Running, before: Objects): Promise<JsonObject> {
  const { stage, name, plan } = running;
  await adopt(stage, name);
  if (plan.ending.kind === 'stopped') await turns(running, plan.ending.afterCall);
  if (plan.ending.kind === 'stopped') await stage.annotate(name, requestOf('stop'));
  const status = await toEnd(running);
  if (textAt(status, 'phase') !== 'Committed') return status;
  complain(await uncommitted(running, before));
  const { writes } = running;
  await stage.annotate(name, requestOf('whole'));
  const whole = await toEnd(running);
  if (textAt(whole, 'phase') !== 'Committed') return whole;
  if (textAt(whole, 'undo', 'reason') !== 'UndoRefused') return whole;
  complain(running.writes === writes ? [] : ['the undo was refused, and something was written']);
  await stage.annotate(name, { ...requestOf('rest'), ...partial });
  return toEnd(running);
}

async function turns(running: Running, most: number): Promise<void> {
  for (let turn = 0; turn < most; turn += 1) await turnOnce(running);
}

async function toEnd(running: Running): Promise<JsonObject> {
  for (let turn = 0; turn < mostCalls; turn += 1) {
    const { status, asked } = await turnOnce(running);
    const isHandled = asked === undefined || textAt(status, 'handledAnnotations', 'tx.janus.io/request-rollback') === asked;
    if (conditionOf(status, 'Finished') === 'True' && isHandled) return status;
  }
  throw new Error(`no end after ${mostCalls} calls: ${JSON.stringify(statusOf(await running.stage.read(running.name)))}`);
}

interface Turned {
  readonly status: JsonObject;
  /** The value of the request. */
  readonly asked: string | undefined;
}

async function turnOnce(running: Running): Promise<Turned> {
  const { stage, name, plan } = running;
  for (const [number, one] of plan.foreign.entries()) if (one.afterCall === running.calls) await interfere(running, one, number);
  running.calls += 1;
  const { code, body } = await stage.call(name);
  // A busy API server: nothing is to be stored, and the hook is called again.
  const stored = code === 429 ? await stage.read(name) : must(await storeStatus(stage, name, body));
  const seconds = Number(at(body, 'resyncAfterSeconds') ?? 0);
  if (seconds > 0) await new Promise((resolve) => setTimeout(resolve, Math.min(seconds, 0.1) * 1000));
  return {
    status: statusOf(stored),
    asked: textAt(stored, 'metadata', 'annotations', 'tx.janus.io/request-rollback'),
  };
}

async function interfere({ stage, named, foreign }: Running, write: Foreign, number: number): Promise<void> {
  const one = named[write.target];
  const before = one === undefined ? undefined : await stage.client.get(one.path);
  // What is not there, or on its way out, cannot be written; an apply would make it.
  if (one === undefined || before?.code !== 200) return;
  const answer = await writeAs(stage.client, one, write, `foreign-${number}`);
  if (answer.code !== 200) return;
  // An update that sets existing values leaves no trace; an apply makes a co-owner.
  const claimed = write.how === 'apply' ? write.content : {};
  const written = leavesOf({ ...claimed, metadata: (claimed.metadata ?? {}) as JsonObject });
  const [earlier, now] = [leavesOf(before.body), leavesOf(answer.body)];
  // With what the API server has added to it (defaults), and what a list that was replaced has lost.
  const moved = [...now.keys(), ...earlier.keys()].filter((path) => now.get(path) !== earlier.get(path));
  for (const path of [...written.keys(), ...moved]) foreign[write.target]?.set(path, now.get(path));
}

/** I1: Committed means that every change is there. Where others wrote meanwhile, they may have overwritten it. */
async function uncommitted(running: Running, before: Objects): Promise<readonly string[]> {
  if (running.plan.foreign.length > 0) return [];
  const objects = await readAll(running);
  const unlike = await Promise.all(
    running.plan.targets.map((target, index) =>
      complaintsOfApplied(running.stage, { ...running, target, index }, objects[index]),
    ),
  );
  const missing = running.plan.targets.flatMap(({ type, content }, index) => {
    const name = running.named[index]?.name ?? '';
    if (type === 'Delete') return objects[index] === undefined ? [] : [`${name} is there still`];
    const leaves = leavesOf(objects[index]);
    const missing = [...leavesOf(content)].filter(([path, value]) => leaves.get(path) !== value);
    const lists = type === 'Update' ? complaintsOfKept(name, before[index], objects[index], content) : [];
    return [...missing.map(([path, value]) => `${name}${path} is ${leaves.get(path)}, expected ${value}`), ...lists];
  });
  return [...missing, ...unlike.flat()];
}

function judge({ plan, named, foreign }: Running, was: Objects, after: Objects, status: JsonObject): readonly string[] {
  const items = at(status, 'items');
  const before = plan.isInstall === true ? 1 : 0;
  const left = (index: number): boolean => isList(items) && at(items[index + before], 'left') === true;
  const isShared = plan.foreign.length > 0;
  const complaints = named.flatMap(({ name }, index) => {
    const seen: Seen = {
      name,
      before: was[index],
      after: after[index],
      mayBeNew: plan.targets[index]?.type === 'Delete' || plan.targets[index]?.recreates === true,
      foreign: (foreign[index] ?? new Map()) as Leaves,
      isLeft: left(index),
      content: leavesOf(plan.targets[index]?.content),
      replaces: plan.targets[index]?.type === 'Update',
    };
    return isShared ? complaintsOfShared(seen) : complaintsOfExact(seen);
  });
  return [...complaints, ...judgeEnd(status, isShared)];
}

function judgeEnd(status: JsonObject, isShared: boolean): readonly string[] {
  const phase = textAt(status, 'phase');
  const items = at(status, 'items');
  const isLeft = isList(items) && items.some((item) => at(item, 'left') === true);
  const isStarted = at(status, 'rollbackRef') !== undefined;
  const isRight = phase === 'RolledBack' ? !isLeft : phase === 'Failed' && (!isStarted || (isLeft && isShared));
  return isRight ? [] : [`it ended as ${phase}: ${textAt(status, 'message')}`];
}

/** I10: after its deletion no trace of the engine is left: no Lease, no snapshot, no finalizer. */
async function leftovers(running: Running): Promise<readonly string[]> {
  const { stage, name } = running;
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/${name}`;
  must(await stage.client.delete(path));
  await waitFor(
    async () => {
      if ((await stage.client.get(path)).code === 404) return true;
      const { code, body } = await stage.call(name);
      if (code === 429) return false;
      if (at(body, 'finalized') === true) must(await stage.client.patch(path, { metadata: { finalizers: null } }));
      else must(await storeStatus(stage, name, body));
      return false;
    },
    `Transaction ${name} to be let go`,
    { everyMs: 1 },
  );
  const leases = (await stage.leases()).filter((lease) => lease.includes(`-${name}-`));
  const [snapshot] = await snapshotParts(stage, name);
  const finalizers = at(snapshot, 'metadata', 'finalizers');
  return [
    ...leases.map((lease) => `Lease ${lease} is left`),
    ...(isList(finalizers) && finalizers.some((finalizer) => isObject(finalizer) || finalizer === 'tx.janus.io/snapshot')
      ? ['the snapshot keeps its finalizer']
      : []),
  ];
}
