// One generated plan: the plan is made, then the engine runs with no other writer between, and both must agree.

import { contentOf } from '../../hooks/objects/content/content.ts';
import { at, isList, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import { foreign } from '../../hooks/objects/words.ts';
import { describeFaults, type Fault } from '../../hooks/transactions/checks/fault.ts';
import { plannedChange } from '../../hooks/transactions/inspect/changes.ts';
import { type Survey, survey } from '../../hooks/transactions/inspect/preflight.ts';
import type { PlanParts } from '../../hooks/transactions/inspection.ts';
import type { SnapshotEntry } from '../../hooks/transactions/model/entry.ts';
import { annotations, decodeTransaction } from '../../hooks/transactions/model/transaction.ts';
import { readSnapshot, type SnapshotSource } from '../../hooks/transactions/observe/snapshot.ts';
import { must } from '../support/client.ts';
import type { Stage } from '../support/stage.ts';
import { stepTo } from '../support/stepping.ts';
import { makeObject } from './applied.ts';
import { leavesOf } from './oracle.ts';
import { type Ids, unlike } from './plan-likeness.ts';
import { metByCommit, metByRefusal, metByRefusedCreation } from './plan-reach.ts';
import { type Drawn, given, madeOnTheWay, there, unfit } from './planned.ts';
import { changeOf, remove, withOwners } from './run.ts';
import { type Named, pathOf } from './world.ts';

/** What plans and what commits. */
export interface Bench {
  readonly stage: Stage;
  readonly parts: PlanParts;
  /** Reads the snapshots of the engine. */
  readonly source: Pick<SnapshotSource, 'reader' | 'packer' | 'callReads'>;
}

/** What it has met, in the words of test/generated/plan-reach.ts. Throws with what does not hold. */
export async function planAndCommit(bench: Bench, drawn: Drawn, id: string): Promise<readonly string[]> {
  const { stage } = bench;
  const { targets } = await withOwners(stage, { ...drawn, ending: { kind: 'undone after the commit' }, foreign: [] });
  const named = targets.map(({ kind }, index): Named => {
    const name = `${id}-${index}`;
    return { kind, name, path: pathOf(stage, kind, name) };
  });
  const changes = await Promise.all(
    targets.map(async (target, index) => {
      const state = drawn.states[index];
      await makeObject(stage, there(target, state), named[index]);
      if (state === 'terminating') await terminate(stage, named[index]);
      const change = await changeOf(stage, given(target, state), named[index]);
      return state === 'unfit' ? unfit(change) : change;
    }),
  );
  const all = [...changes, ...drawn.ways.flatMap((way) => madeOnTheWay(way, id))];
  const object = transactionOf(stage, drawn, id, all);
  try {
    return await compare(bench, { object, account: drawn.account }, id);
  } finally {
    await Promise.all(named.map(({ path }) => remove(stage, path)));
    await Promise.all(drawn.ways.map((way) => removeMade(stage, madeOnTheWay(way, id)[0])));
  }
}

function transactionOf({ namespace }: Stage, drawn: Drawn, name: string, changes: readonly JsonObject[]): JsonObject {
  const { account, fieldManager, isMalformed } = drawn;
  return {
    ...{ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', metadata: { name, namespace } },
    spec: {
      ...{ serviceAccountName: account, changes },
      ...(fieldManager === '' ? {} : { fieldManager }),
      ...(isMalformed ? { timeout: 'soon' } : {}),
    },
  };
}

async function terminate({ client }: Stage, one: Named | undefined): Promise<void> {
  if (one === undefined) return;
  must(await client.patch(one.path, { metadata: { finalizers: ['test.example.org/held'] } }));
  must(await client.delete(one.path));
}

async function removeMade({ client }: Stage, { target }: JsonObject): Promise<void> {
  const name = textAt(target, 'name') ?? '';
  const isNamespace = textAt(target, 'kind') === 'Namespace';
  await client.delete(
    isNamespace ? `/api/v1/namespaces/${name}` : `/apis/apiextensions.k8s.io/v1/customresourcedefinitions/${name}`,
  );
}

interface Given {
  readonly object: JsonObject;
  readonly account: string;
}

async function compare(bench: Bench, { object, account }: Given, id: string): Promise<readonly string[]> {
  const { stage, parts } = bench;
  const found = await survey(parts, object);
  const path = `/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions`;
  const answer = await stage.client.create(path, object);
  if (answer.code !== 201) {
    const text = textAt(answer.body, 'message') ?? '';
    complain(
      text.length > 0 && found.refusal.length > 0 ? [] : [`create was refused (${text}), the plan said ${verdictOf(found)}`],
    );
    return metByRefusedCreation();
  }
  const ids = { planned: found.transaction.uid, real: textAt(answer.body, 'metadata', 'uid') ?? '' };
  const { status } = await stepTo(stage, id, `${id} to end`, (now) => at(now.status, 'completionTime') !== undefined);
  const complaints = [...complaintsOfEnd(found, status), ...(await complaintsOfStates(bench, found, ids, id))];
  complain(complaints);
  return textAt(status, 'phase') === 'Committed' ? metByCommit(found) : metByRefusal(found.refusal, account);
}

function complain(complaints: readonly string[]): void {
  if (complaints.length > 0) throw new Error(complaints.join('\n'));
}

function verdictOf({ refusal, trouble }: Survey): string {
  return refusal.length > 0 ? `refused: ${describeFaults(refusal)}` : (trouble ?? 'accepted');
}

/** The same verdict, reason and message, of the whole and of each change. */
function complaintsOfEnd(found: Survey, status: JsonObject): readonly string[] {
  const { refusal } = found;
  const [phase, message] = [textAt(status, 'phase'), textAt(status, 'message') ?? ''];
  const expected = refusal.length === 0 && found.trouble === undefined ? 'Committed' : 'Failed';
  if (phase !== expected) return [`it ended as ${phase} (${message}), the plan said ${verdictOf(found)}`];
  if (phase === 'Committed') return [];
  return complaintsOfRefusal(refusal, status);
}

function complaintsOfRefusal(refusal: readonly Fault[], status: JsonObject): readonly string[] {
  const message = textAt(status, 'message') ?? '';
  const said = `nothing was applied: ${describeFaults(refusal)}`;
  const conditions = at(status, 'conditions');
  const reason = textAt(isList(conditions) ? conditions.find((one) => textAt(one, 'type') === 'Succeeded') : undefined, 'reason');
  return [
    ...(message === foreign(said, longestMessage) ? [] : [`message ${message}, planned ${said}`]),
    ...(reason === refusal[0]?.reason ? [] : [`reason ${reason}, planned ${refusal[0]?.reason}`]),
    ...complaintsOfItems(refusal, at(status, 'items')),
  ];
}

const longestMessage = 2_000;

function complaintsOfItems(refusal: readonly Fault[], items: Json | undefined): readonly string[] {
  const planned = new Map(refusal.map(({ item, reason, message }) => [item, `${reason}: ${message}`]));
  return (isList(items) ? items : []).flatMap((item, index) => {
    const error = at(item, 'error');
    const found = error === undefined ? undefined : `${textAt(error, 'reason')}: ${textAt(error, 'message')}`;
    return found === planned.get(index) ? [] : [`change ${index} has ${found}, planned ${planned.get(index)}`];
  });
}

/** The same states as in the snapshot, and as the live object. */
async function complaintsOfStates(bench: Bench, found: Survey, ids: Ids, id: string): Promise<readonly string[]> {
  const { stage, source } = bench;
  const transaction = decodeTransaction(await stage.read(id));
  if (transaction.status?.rollbackRef === undefined) return [];
  const reading = { ...source, cache: new Map() };
  const snapshot = await readSnapshot(reading, transaction, transaction.status.rollbackRef);
  if (snapshot.kind !== 'stored') throw new Error(`the snapshot is ${snapshot.kind}`);
  const complaints = await Promise.all(snapshot.entries.map((entry) => complaintsOfEntry(stage, found, entry, ids)));
  return complaints.flat();
}

async function complaintsOfEntry({ client }: Stage, found: Survey, entry: SnapshotEntry, ids: Ids): Promise<readonly string[]> {
  const planned = found.prepared.find(({ resolved }) => resolved.index === entry.index);
  if (planned === undefined) return [`change ${entry.index} is not planned`];
  const { target, resource } = entry;
  const place = target.namespace === undefined ? '' : `namespaces/${target.namespace}/`;
  const root = resource.group === '' ? '/api/v1' : `/apis/${resource.group}/${resource.version}`;
  const answer = await client.get(`${root}/${place}${resource.plural}/${target.name}`);
  const live = answer.code === 404 ? undefined : must(answer);
  const isExact = !planned.approximate;
  const operation = plannedChange(planned, found.transaction, []).operation;
  return [
    ...unlike(`change ${entry.index} before`, planned.prior, entry.prior, ids),
    ...unlike(`change ${entry.index} after`, planned.expected, entry.expected, ids),
    ...(isExact ? unlike(`change ${entry.index} live`, planned.expected, live, ids) : []),
    ...(planned.way === entry.type && planned.deferred === entry.deferred ? [] : [`change ${entry.index} is a ${entry.type}`]),
    ...(operation === operationSeen(entry, live)
      ? []
      : [`change ${entry.index} is ${operationSeen(entry, live)}, planned ${operation}`]),
  ];
}

function operationSeen({ prior, recreates, resource }: SnapshotEntry, live: JsonObject | undefined): string {
  if (prior === undefined) return 'create';
  if (live === undefined) return 'delete';
  return recreates !== true && isSame(contentOf(prior, resource), contentOf(live, resource)) ? 'none' : 'update';
}

const marks = [annotations.createdBy, annotations.appliedBy];

function isSame(...objects: readonly [JsonObject, JsonObject]): boolean {
  const [one, other] = objects.map((object) =>
    [...leavesOf(object)].filter(([path]) => !marks.some((mark) => path.includes(mark))).map(String),
  );
  return new Set(one).symmetricDifference(new Set(other)).size === 0;
}
