// Releases of one application, which share its field manager, and rollbacks over them.
import { type JsonObject, textAt } from '../../hooks/objects/json.ts';
import type { Stage } from './stage.ts';

const application = 'shop';

/** One entry of spec.changes. */
export function config(name: string, data: JsonObject, more: JsonObject = {}): JsonObject {
  const content = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, data, ...more };
  return { type: 'Apply', content };
}

export function removal(name: string, kind = 'ConfigMap', apiVersion = 'v1'): JsonObject {
  return { type: 'Delete', target: { apiVersion, kind, name } };
}

interface More {
  readonly spec?: JsonObject;
  readonly annotations?: Readonly<Record<string, string>>;
}

/** Throws unless it is Committed. */
export async function release(stage: Stage, name: string, changes: readonly JsonObject[], more: More = {}): Promise<JsonObject> {
  await stage.transaction(name, changes, { ...more, spec: { fieldManager: application, ...more.spec } });
  const status = await stage.finished(name);
  if (textAt(status, 'phase') !== 'Committed') throw new Error(`${name}: ${textAt(status, 'message')}`);
  return status;
}

/** Creates a rollback; its spec has no changes. */
export async function createRollback(stage: Stage, name: string, rollback: JsonObject, more: More = {}): Promise<void> {
  const spec = { fieldManager: application, changes: undefined as never, rollback, ...more.spec };
  await stage.transaction(name, [], { ...more, spec });
}

/** Gives the status of the rollback when it has ended. */
export async function rollBack(stage: Stage, name: string, rollback: JsonObject, more: More = {}): Promise<JsonObject> {
  await createRollback(stage, name, rollback, more);
  return stage.finished(name);
}

/** Throws unless it is RolledBack. */
export async function takeBack(stage: Stage, name: string, value = 'yes'): Promise<void> {
  await stage.annotate(name, { 'tx.janus.io/request-rollback': value });
  await stage.phase(name, 'RolledBack');
}
