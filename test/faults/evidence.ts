// What is known after a run: every request from the audit log, every call from the wrapper, the objects before and after. The
// invariants are checked with nothing else.

import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../hooks/objects/json.ts';
import type { StepReport } from '../../hooks/transactions/call.ts';
import { referenceOf } from '../support/corpus.ts';
import { comparable } from '../support/stage.ts';
import type { AuditEvent } from './audit.ts';
import type { Names } from './names.ts';
import { configMapPlace, type Place, placeOf } from './places.ts';
import type { PortCall } from './port.ts';
import type { HookCall } from './run.ts';
import { homeOf, type Story } from './story.ts';

export interface Target extends Place {
  readonly type: string;
  /** It may be deleted and created again. */
  /** The changes of one wave of these stories have one kind. */
  readonly wave?: number;
  readonly recreates: boolean;
}

export type Objects = ReadonlyMap<string, JsonObject | undefined>;

export interface Evidence {
  readonly story: Story;
  readonly names: Names;
  readonly events: readonly AuditEvent[];
  readonly portCalls: readonly PortCall[];
  readonly hookCalls: readonly HookCall[];
  readonly reports: readonly StepReport[];
  /** uids of the Transactions, by their keys. */
  readonly uids: ReadonlyMap<string, string>;
  /** Number of the last port call that a fault hit. */
  readonly struckAt: number;
  /** Whether the run had faults in calls of the hook. */
  readonly hadHookFaults: boolean;
  /** Whether each call of the hook handled one target. */
  readonly isOneByOne: boolean;
  /** The targets after each earlier Transaction of the story, by its name. */
  readonly releases?: ReadonlyMap<string, Objects>;
  /** The targets by their keys; undefined for objects that do not exist. */
  readonly before: Objects;
  readonly after: Objects;
  /** The same after the Transactions are deleted. */
  readonly finally: Objects;
  /** The last status of each; undefined if the Transaction was gone at the end of the story. */
  readonly ends: ReadonlyMap<string, JsonObject | undefined>;
  /** Port calls other than reads, made by a last call of the hook once everything was over. */
  readonly writesAtRest: readonly string[];
  /** Leases, snapshots and finalizers of the engine that remain after the Transactions are deleted. */
  readonly leftovers: readonly string[];
  /** Objects of other writers that differ from what these wrote last. */
  readonly bystanders: readonly string[];
}

type Named = Pick<Evidence, 'story' | 'names'>;

export function targetsOf({ story, names }: Named, transaction: string): readonly Target[] {
  const { namespace } = homeOf(names, transaction);
  return (story.transactions(names)[transaction] ?? []).map((change) => ({
    type: textAt(change, 'type') ?? '',
    recreates: textAt(change, 'whenImmutable') === 'Recreate',
    ...('wave' in change ? { wave: Number(change.wave) } : {}),
    ...placeOf(targetIn(change), namespace),
  }));
}

/** The target of a change: that of the spec or, for an Apply, what content names. */
export function targetIn(change: JsonObject): JsonObject {
  return (at(change, 'target') ?? { ...referenceOf(at(change, 'content') as JsonObject) }) as JsonObject;
}

/** Whether the change makes the object: an Apply does where the object is not there. */
export function isCreation({ before }: Pick<Evidence, 'before'>, { type, key }: Target): boolean {
  return type === 'Create' || (type === 'Apply' && before.get(key) === undefined);
}

export function transactionsOf({ story, names }: Named): readonly string[] {
  return Object.keys(story.transactions(names));
}

/** Each once. */
export function allTargets(named: Named): readonly Target[] {
  const targets = transactionsOf(named).flatMap((name) => targetsOf(named, name));
  return [...new Map(targets.map((target) => [target.key, target])).values()];
}

export function endOf({ story, names }: Named, transaction: string): string {
  return story.ends?.(names)[transaction] ?? story.end;
}

export function isTarget(named: Named, { key }: AuditEvent): boolean {
  return allTargets(named).some((target) => target.key === key);
}

/** The key of a ConfigMap of the run. */
export function configMapKey({ namespace }: Names, name: string): string {
  return configMapPlace(namespace, name).key;
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

export function writesTo(evidence: Evidence, { key }: Pick<Target, 'key'>): readonly AuditEvent[] {
  return engineWrites(evidence).filter((event) => event.key === key);
}

export function isSnapshot({ resource, name }: AuditEvent): boolean {
  return resource === 'configmaps' && /^run\d+(-\w+)?-rollback/.test(name);
}

/** Whether the engine made this write for this Transaction: by its field manager or, if the manager is shared, by the mark. */
export function isBy(
  evidence: Pick<Evidence, 'uids' | 'story'>,
  transaction: string,
  { fieldManager, request }: Pick<AuditEvent, 'fieldManager' | 'request'>,
): boolean {
  if (fieldManager === '' || evidence.story.spec?.fieldManager !== fieldManager)
    return isOwnManager(evidence, transaction, fieldManager);
  const holder = textAt(request, 'metadata', 'annotations', 'tx.janus.io/applied-by');
  return holder === undefined || holder.endsWith(`/${evidence.uids.get(transaction)}`);
}

function isOwnManager({ uids }: Pick<Evidence, 'uids'>, transaction: string, fieldManager: string): boolean {
  return fieldManager.startsWith('janus-') && fieldManager.endsWith(`-${(uids.get(transaction) ?? 'none').slice(0, 8)}`);
}

/** Statuses that were stored for a Transaction, in order. */
export function storedStatuses(evidence: Evidence, transaction: string): readonly JsonObject[] {
  return storedStatusEvents(evidence, transaction).map(({ status }) => status);
}

interface StoredStatus {
  readonly status: JsonObject;
  readonly event: AuditEvent;
}

/** The same, each with the request that stored it. */
export function storedStatusEvents({ events, names }: Evidence, transaction: string): readonly StoredStatus[] {
  const { namespace, name } = homeOf(names, transaction);
  const { key } = placeOf({ apiVersion: 'tx.janus.io/v1alpha1', kind: 'Transaction', name }, namespace);
  return events
    .filter((event) => event.resource === 'transactions/status' && event.key === key && hasSucceeded(event))
    .flatMap((event) => {
      const status = at(event.response, 'status');
      return isObject(status) ? [{ status, event }] : [];
    });
}

/** The content of an object, without what the API server counts and stamps. */
export function contentOf(object: JsonObject | undefined): Json {
  if (object === undefined) return null;
  const { managedFields: _owners, metadata, ...content } = comparable(object, true) as JsonObject;
  const [labels, annotations] = [at(metadata, 'labels') ?? {}, at(metadata, 'annotations') ?? {}];
  return { ...content, labels, annotations };
}

/** Whether an object shows a write of this Transaction. */
export function bears(evidence: Evidence, transaction: string, object: JsonObject | undefined): boolean {
  const holder = textAt(object, 'metadata', 'annotations', 'tx.janus.io/applied-by') ?? '';
  const isMarked = holder.endsWith(`/${evidence.uids.get(transaction)}`);
  return isMarked || managersIn(object).some((name) => isOwnManager(evidence, transaction, name));
}

export function managersIn(object: JsonObject | undefined): readonly string[] {
  const entries = at(object, 'metadata', 'managedFields');
  return isList(entries) ? entries.map((entry) => textAt(entry, 'manager') ?? '') : [];
}

export function itemsOf(status: JsonObject | undefined): readonly JsonObject[] {
  const items = at(status, 'items');
  return isList(items) ? items.filter(isObject) : [];
}
