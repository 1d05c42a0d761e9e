// Transactions and statuses for tables: short to write, and decoded by the engine's own decoder.

import type { JsonObject } from '../../hooks/objects/json.ts';
import type { ChangeType } from '../../hooks/transactions/model/change.ts';
import type { Progress } from '../../hooks/transactions/model/item.ts';
import type { Phase } from '../../hooks/transactions/model/phase.ts';
import { emptyStatus, type Status } from '../../hooks/transactions/model/status.ts';
import { decodeTransaction, type Transaction } from '../../hooks/transactions/model/transaction.ts';

export const second = 1_000;
export const minute = 60 * second;

/** 2026-01-01T00:00:00Z: the start of the Transactions in tables. */
export const start = Date.UTC(2026, 0, 1);

export interface TransactionParts {
  readonly changes?: readonly JsonObject[];
  readonly annotations?: JsonObject;
  readonly spec?: JsonObject;
  readonly isBeingDeleted?: boolean;
  readonly namespace?: string;
  readonly name?: string;
  readonly uid?: string;
}

/** A change of the ConfigMap of that name. */
export function change(type: ChangeType, name: string, more: JsonObject = {}): JsonObject {
  const content = type === 'Delete' ? {} : { content: { data: { a: '2' } } };
  return { type, target: { apiVersion: 'v1', kind: 'ConfigMap', name }, ...content, ...more };
}

/** By default: two Patches as the ServiceAccount `deployer` in `shop`. */
export function transactionOf(parts: TransactionParts = {}): Transaction {
  const { annotations = {}, spec = {}, isBeingDeleted = false, namespace = 'shop', name = 'one' } = parts;
  const changes = parts.changes ?? [change('Patch', 'a'), change('Patch', 'b')];
  const uid = parts.uid ?? '0a1b2c3d-0000-0000-0000-000000000000';
  const deletion = isBeingDeleted ? { deletionTimestamp: '2026-01-01T00:00:00Z' } : {};
  return decodeTransaction({
    metadata: { namespace, name, uid, annotations, ...deletion },
    spec: { serviceAccountName: 'deployer', changes, ...spec },
  });
}

const progress: Readonly<Record<string, Progress>> = {
  waiting: { kind: 'waiting' },
  prepared: { kind: 'prepared' },
  announced: { kind: 'announced' },
  applied: { kind: 'applied' },
  restored: { kind: 'restored', applied: true },
  untouched: { kind: 'restored', applied: false },
  left: { kind: 'notRestored', applied: true },
  stuck: { kind: 'notRestored', applied: false },
  kept: { kind: 'kept', applied: true },
};

/** Items in words: `applied announced`. `untouched`: an undo found no effect of the change; `stuck`: an undo left it. */
export function itemsOf(words: string): Status['items'] {
  return words.split(' ').map((word) => {
    const found = progress[word];
    if (found === undefined) throw new Error(`no such progress: ${word}`);
    return { progress: found, ...(word === 'restored' ? { undone: true as const } : {}) };
  });
}

export function wordsOf(items: Status['items']): string {
  const word = ({ progress: found }: Status['items'][number]): string | undefined =>
    Object.entries(progress).find(([, candidate]) => JSON.stringify(candidate) === JSON.stringify(found))?.[0];
  return items.map(word).join(' ');
}

/** A status with that phase, begun at `start`. */
export function statusOf(phase: Phase, words: string, more: Partial<Status> = {}): Status {
  const items = itemsOf(words);
  return { ...emptyStatus(items.length), phase, items, version: 3, startTime: start, ...more };
}
