// What is known after a run: every request from the API server's audit log, every call from the wrapper, the objects before
// and after. The invariants are judged on nothing else.
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/model/json.ts';
import type { AuditEvent } from './audit.ts';
import type { Names } from './names.ts';
import type { PortCall } from './port.ts';
import type { HookCall } from './run.ts';
import type { Story } from './stories.ts';

export interface Target {
  readonly type: string;
  readonly name: string;
}

export interface Evidence {
  readonly story: Story;
  readonly names: Names;
  readonly events: readonly AuditEvent[];
  readonly portCalls: readonly PortCall[];
  readonly hookCalls: readonly HookCall[];
  /** Number of the last port call at which a fault struck. */
  readonly struckAt: number;
  /** Whether faults of the calls of the hook were among those of the run. */
  readonly hadHookFaults: boolean;
  readonly before: ReadonlyMap<string, JsonObject | undefined>;
  readonly after: ReadonlyMap<string, JsonObject | undefined>;
  /** Its last status; undefined when the Transaction was gone at the end of the story. */
  readonly ends: ReadonlyMap<string, JsonObject | undefined>;
  /** Port calls that a last call of the hook made beyond reading, once all was at rest. */
  readonly writesAtRest: readonly string[];
  /** What of ours is left once the Transactions are deleted: Leases, snapshots, finalizers. */
  readonly leftovers: readonly string[];
}

export function targetsOf({ story, names }: Pick<Evidence, 'story' | 'names'>, transaction: string): readonly Target[] {
  return (story.transactions(names)[transaction] ?? []).map((change) => ({
    type: textAt(change, 'type') ?? '',
    name: textAt(change, 'target', 'name') ?? '',
  }));
}

export function transactionsOf({ story, names }: Pick<Evidence, 'story' | 'names'>): readonly string[] {
  return Object.keys(story.transactions(names));
}

export function allTargets(evidence: Evidence): readonly string[] {
  return [...new Set(transactionsOf(evidence).flatMap((name) => targetsOf(evidence, name).map((target) => target.name)))];
}

export function isWrite({ verb }: AuditEvent): boolean {
  return verb !== 'get';
}

export function hasSucceeded({ code }: AuditEvent): boolean {
  return code >= 200 && code < 300;
}

/** Successful writes of the engine, as itself or as the ServiceAccount. */
export function engineWrites({ events }: Evidence): readonly AuditEvent[] {
  return events.filter((event) => isWrite(event) && hasSucceeded(event) && isEngine(event));
}

export function isEngine({ actor }: AuditEvent): boolean {
  return actor === 'engine' || actor === 'account';
}

export function writesTo(evidence: Evidence, target: string): readonly AuditEvent[] {
  return engineWrites(evidence).filter(({ resource, name }) => resource === 'configmaps' && name === target);
}

export function isSnapshot({ resource, name }: AuditEvent): boolean {
  return resource === 'configmaps' && /^run\d+(-rival)?-rollback/.test(name);
}

/** Statuses that were stored for a Transaction, in order. */
export function storedStatuses({ events }: Evidence, transaction: string): readonly JsonObject[] {
  return events
    .filter((event) => event.resource === 'transactions/status' && event.name === transaction && hasSucceeded(event))
    .map(({ response }) => at(response, 'status'))
    .filter(isObject);
}

/** What people see of an object: its content without what the API server counts and stamps. */
export function contentOf(object: JsonObject | undefined): Json {
  if (object === undefined) return null;
  const [labels, annotations] = [at(object, 'metadata', 'labels') ?? {}, at(object, 'metadata', 'annotations') ?? {}];
  return { data: at(object, 'data') ?? {}, labels, annotations };
}

export function managersIn(object: JsonObject | undefined): readonly string[] {
  const entries = at(object, 'metadata', 'managedFields');
  return isList(entries) ? entries.map((entry) => textAt(entry, 'manager') ?? '') : [];
}

export function itemsOf(status: JsonObject | undefined): readonly JsonObject[] {
  const items = at(status, 'items');
  return isList(items) ? items.filter(isObject) : [];
}
