// Applies and undoes a Transaction call by call, on a stage without a loop, and reads the objects afterwards.
import type { Test } from 'tap';
import { managersOf } from '../../hooks/objects/content/fields.ts';
import { at, isList, isObject, type JsonObject, textAt, withKey } from '../../hooks/objects/json.ts';
import { must } from './client.ts';
import { comparable, type Stage, statusOf } from './stage.ts';
import { stepToEnd, stepUntil } from './stepping.ts';
import { change } from './targets.ts';

export const allowIrreversible = { 'tx.janus.io/allow-irreversible': 'true' };

/** Applies the changes; throws unless the Transaction is Committed. */
export async function commit(
  stage: Stage,
  name: string,
  changes: readonly JsonObject[],
  annotations: Readonly<Record<string, string>> = {},
): Promise<JsonObject> {
  await stage.transaction(name, changes, { annotations });
  const { status, phase } = await stepToEnd(stage, name);
  if (phase !== 'Committed') throw new Error(`expected ${name} to be Committed, it is ${phase}: ${textAt(status, 'message')}`);
  return status;
}

/** Undoes what can be undone, although something is left. */
export const partial = { 'tx.janus.io/undo-partial': 'true' };

/** Undoes a Committed Transaction, and returns its last status. */
export async function undo(stage: Stage, name: string, annotations: Readonly<Record<string, string>> = {}): Promise<JsonObject> {
  await stage.annotate(name, { 'tx.janus.io/request-rollback': 'yes', ...annotations });
  return (await stepToEnd(stage, name)).status;
}

/** Undoes it, and requires that nothing is left. */
export async function undoAll(stage: Stage, name: string): Promise<JsonObject> {
  const status = await undo(stage, name);
  const why = textAt(status, 'undo', 'message') ?? textAt(status, 'message');
  if (textAt(status, 'phase') !== 'RolledBack')
    throw new Error(`expected ${name} to be RolledBack, it is ${textAt(status, 'phase')}: ${why}`);
  return status;
}

/** Applies one change, does something, and has a second change refused; returns the status after the rollback. */
export async function failAfter(
  stage: Stage,
  name: string,
  first: JsonObject,
  between: () => Promise<void>,
): Promise<JsonObject> {
  const second = `${name}-second`;
  await stage.transaction(name, [first, change('Create', second, { data: { a: 'b' } })]);
  await stepUntil(stage, name, 'Prepared');
  must(await stage.client.create(stage.path('configmaps'), { metadata: { name: second } }));
  await stepUntil(stage, name, 'Committing');
  await between();
  return (await stepToEnd(stage, name)).status;
}

export function itemsOf(status: JsonObject): readonly JsonObject[] {
  const items = at(status, 'items');
  return isList(items) ? items.filter(isObject) : [];
}

/** The names of an object's managers. */
export function managerNames(object: JsonObject): readonly string[] {
  return managersOf(object).map(({ name }) => name);
}

/** Shows that one more call changes nothing, neither the status nor the cluster, and requests no other call. */
export async function showAtRest(t: Test, stage: Stage, name: string): Promise<void> {
  const before = statusOf(await stage.read(name));
  const { body } = await stage.call(name);
  t.same(withKey(statusOf(body), 'observedGeneration', at(before, 'observedGeneration')), before, 'the status stays as it is');
  t.equal(at(body, 'resyncAfterSeconds') ?? 0, 0, 'no other call is asked for');
  t.same(stage.reports.at(-1)?.audit, [], 'no write is tried');
}

/** Reads the object at a path in the form for comparisons. */
export async function portrait(stage: Stage, path: string, isNew = false): Promise<unknown> {
  return comparable(must(await stage.client.get(path)), isNew);
}
