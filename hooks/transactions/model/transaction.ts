// A Transaction as stored, defaults applied. If it breaks its own rules, the engine reports all faults at once
// (checks/validity.ts).
import { createHash } from 'node:crypto';
import { at, canonicalJson, isDeeperThan, isObject, type Json, type JsonObject, mostLevels, textAt } from '../../objects/json.ts';
import { parseDuration, parseTime } from '../../objects/time.ts';
import { storedSize, storedSizeOf } from '../../objects/words.ts';
import { type Change, decodeChanges, isApplied, memberOf } from './change.ts';
import { type Rollback, restoresOf, rollbackIn, rollbackSetIn } from './rollback.ts';
import { decodeStatus, type Status } from './status.ts';

/** In ms. The bounds are in the schema of the Transaction. */
export const defaultTimeouts = { lockTimeout: 300_000, lockWait: 60_000, timeout: 1_800_000 } as const;

export const group = 'tx.janus.io';

export const annotations = {
  requestRollback: 'tx.janus.io/request-rollback',
  retryRollback: 'tx.janus.io/retry-rollback',
  /** Asks for a plan of the undo in `status.undo`; nothing else is written. */
  planUndo: 'tx.janus.io/plan-undo',
  /**
   * What a requested undo leaves and overwrites. Whether it may leave changes that it cannot undo. The digest of the plan that the
   * user has seen.
   */
  undoKeep: 'tx.janus.io/undo-keep',
  undoOverwrite: 'tx.janus.io/undo-overwrite',
  undoPartial: 'tx.janus.io/undo-partial',
  undoDigest: 'tx.janus.io/undo-digest',
  /** Kinds that a requested undo need not list to find what would be deleted with an object. */
  undoUnlisted: 'tx.janus.io/undo-unlisted',
  automaticRollback: 'tx.janus.io/automatic-rollback',
  allowIrreversible: 'tx.janus.io/allow-irreversible',
  /** Refusals of writes of cluster-scoped objects are shown in the words of the API server, or of who refuses. */
  showRefusals: 'tx.janus.io/show-refusals',
  /** The name of the user who created the Transaction. The admission policy refuses any other name. */
  createdByUser: 'tx.janus.io/created-by-user',
  /** On an object that a Create made and that has no field which could show its manager. */
  createdBy: 'tx.janus.io/created-by',
  /** On an object that an Apply wrote under `spec.fieldManager`: the holder (holderOf) of the last one. */
  appliedBy: 'tx.janus.io/applied-by',
} as const;

/** In the value of a request, before the name of the user who made it. The admission policy refuses any other name. */
export const requestedBy = ' requested-by ';

/** The field manager under which the command line creates Transactions, and a plan tries to. */
export const creatingManager = 'janus-cli';

export const durationNames = ['lockTimeout', 'lockWait', 'timeout'] as const;
type DurationName = (typeof durationNames)[number];

export interface Transaction {
  readonly namespace: string;
  readonly name: string;
  readonly uid: string;
  readonly resourceVersion: string;
  /** The API server counts the changes of the spec; undefined if it has not. */
  readonly generation: number | undefined;
  readonly isBeingDeleted: boolean;
  /** When a user requested the deletion, in ms since the epoch, by the API server's clock. */
  readonly deletedAt: number | undefined;
  /** ms since the epoch, by the API server's clock. */
  readonly createdAt: number;
  readonly annotations: JsonObject;
  readonly serviceAccountName: string;
  /** Those of the spec or, for a rollback, those that the engine has found: none before. */
  readonly changes: readonly Change[];
  /** In place of changes in the spec. */
  readonly rollback?: Rollback;
  /** In ms, like the two below. */
  readonly lockTimeout: number;
  readonly lockWait: number;
  readonly timeout: number;
  /** The fields of the three whose text is no duration: the default replaces it until the checks refuse it. */
  readonly misread: readonly DurationName[];
  /** That of the spec, as written; and so the next one. */
  readonly gate?: Json;
  readonly undo?: Json;
  /** As written: the field manager under which an Apply writes (sharedManager). */
  readonly fieldManager?: Json;
  /** As written: the apps whose objects an Apply may take over (checks/take-over.ts). */
  readonly takeOver?: Json;
  /** In s after the end; undefined keeps the Transaction. */
  readonly ttlSecondsAfterFinished: number | undefined;
  /** sha256 of the spec in canonical form; empty if the spec is nested too deep, which the checks refuse. */
  readonly specDigest: string;
  /** Bytes of the spec and the annotations, as they are stored. */
  readonly size: number;
  /** Undefined if this engine does not write a status such as the stored status. */
  readonly status: Status | undefined;
}

/** Reads a Transaction as the API server gives it. The schema of the CRD is presumed, nothing beyond it. */
export function decodeTransaction(object: JsonObject): Transaction {
  const spec = at(object, 'spec') ?? {};
  const metadata = at(object, 'metadata');
  const changes = changesIn(object);
  const annotated = annotationsOf(metadata);
  const ttl = at(spec, 'ttlSecondsAfterFinished');
  return {
    namespace: textAt(metadata, 'namespace') ?? '',
    name: textAt(metadata, 'name') ?? '',
    uid: textAt(metadata, 'uid') ?? '',
    resourceVersion: textAt(metadata, 'resourceVersion') ?? '',
    generation: generationOf(metadata),
    isBeingDeleted: textAt(metadata, 'deletionTimestamp') !== undefined,
    deletedAt: parseTime(textAt(metadata, 'deletionTimestamp')),
    createdAt: parseTime(textAt(metadata, 'creationTimestamp')) ?? Number.POSITIVE_INFINITY,
    annotations: annotated,
    serviceAccountName: textAt(spec, 'serviceAccountName') ?? '',
    changes,
    ...rollbackIn(spec),
    ...memberOf(spec, 'gate'),
    ...memberOf(spec, 'undo'),
    ...memberOf(spec, 'fieldManager'),
    ...memberOf(spec, 'takeOver'),
    ...durationsOf(spec),
    ttlSecondsAfterFinished: typeof ttl === 'number' ? ttl : undefined,
    ...measured(spec, annotated),
    status: decodeStatus(at(object, 'status'), changes.length),
  };
}

/** The changes of a Transaction as the API server gives it: whatever needs them reads them here. */
export function changesIn(object: JsonObject): readonly Change[] {
  const spec = at(object, 'spec');
  if (at(spec, 'rollback') === undefined) return decodeChanges(at(spec, 'changes'));
  const found = rollbackSetIn(at(object, 'status', 'rollback'));
  return found === undefined ? [] : restoresOf(found);
}

/** Of metadata; undefined unless the API server has set it. */
export function generationOf(metadata: Json | undefined): number | undefined {
  const generation = at(metadata, 'generation');
  return typeof generation === 'number' ? generation : undefined;
}

function annotationsOf(metadata: Json | undefined): JsonObject {
  const found = at(metadata, 'annotations');
  return isObject(found) ? found : {};
}

function measured(spec: Json, annotated: JsonObject): Pick<Transaction, 'specDigest' | 'size'> {
  if (isDeeperThan(spec, mostLevels)) return { specDigest: '', size: 0 };
  const text = canonicalJson(spec);
  const size = storedSizeOf(text) + storedSize(annotated);
  return { specDigest: createHash('sha256').update(text).digest('hex'), size };
}

function durationsOf(spec: Json): Pick<Transaction, DurationName | 'misread'> {
  const read = (name: DurationName) => parseDuration(textAt(spec, name) ?? '');
  const [lockTimeout, lockWait, timeout] = [read('lockTimeout'), read('lockWait'), read('timeout')];
  const found = { lockTimeout, lockWait, timeout };
  return {
    lockTimeout: lockTimeout ?? defaultTimeouts.lockTimeout,
    lockWait: lockWait ?? defaultTimeouts.lockWait,
    timeout: timeout ?? defaultTimeouts.timeout,
    misread: durationNames.filter((name) => found[name] === undefined && at(spec, name) !== undefined),
  };
}

/** The value of an annotation, or undefined. */
export function annotationOf(transaction: Transaction, name: string): string | undefined {
  return textAt(transaction.annotations, name);
}

/** Whether it may make changes that cannot be undone. */
export function mayBreak(transaction: Transaction): boolean {
  return annotationOf(transaction, annotations.allowIrreversible) === 'true';
}

/** How Leases name their holder. */
export function holderOf(transaction: Pick<Transaction, 'namespace' | 'name' | 'uid'>): string {
  return `${transaction.namespace}/${transaction.name}/${transaction.uid}`;
}

/** The manager of the Transaction that a holder names (ownManager); undefined if the text is no holder. */
export function managerOfHolder(holder: string): string | undefined {
  const [, name, uid] = /^[^/]+\/([^/]+)\/([^/]+)$/.exec(holder) ?? [];
  return name === undefined || uid === undefined ? undefined : fieldManagers({ name, uid }).forward;
}

/** Characters of a field manager. Source: apimachinery, pkg/apis/meta/v1/validation, FieldManagerMaxLength. */
export const longestManager = 128;
const uidLength = 8;

/** Our two field managers: of the change, and of its undo (it marks an object as half restored). */
export function fieldManagers(transaction: Pick<Transaction, 'name' | 'uid'>): OwnManagers {
  const uid = transaction.uid.slice(0, uidLength);
  const named = (prefix: string): string =>
    `${prefix}${transaction.name.slice(0, longestManager - prefix.length - uidLength - 1)}-${uid}`;
  return { forward: named('janus-'), restore: named('janus-restore-') };
}

interface OwnManagers {
  readonly forward: string;
  readonly restore: string;
}

/** The field managers of a change. */
export interface Managers extends OwnManagers {
  /** Set where others write under `forward`, too: only the annotation `applied-by` with this value shows our write. */
  readonly holder?: string;
  /** Set with it: what would be `forward` otherwise. The undo of a CRD writes under it. */
  readonly own?: string;
}

/** The manager under which only the changes of the Transaction, or the beginning of their undo, are written. */
export function ownManager({ forward, own = forward }: Managers): string {
  return own;
}

/** The field managers of a change: an Apply writes under `spec.fieldManager`. */
export function managersOfChange(
  transaction: Pick<Transaction, 'namespace' | 'name' | 'uid' | 'fieldManager'>,
  change: Pick<Change, 'type'> | undefined,
): Managers {
  const own = fieldManagers(transaction);
  const { fieldManager } = transaction;
  if (change?.type !== 'Apply' || typeof fieldManager !== 'string') return own;
  return { forward: fieldManager, restore: own.restore, holder: holderOf(transaction), own: own.forward };
}

/**
 * The names of the Transactions that may have this field manager; empty if no Transaction has it. Undefined if the name is too long
 * to be known from it.
 */
export function namesBehind(manager: string): readonly string[] | undefined {
  const name = /^janus-([a-z0-9][a-z0-9.-]*)-[0-9a-f]{8}$/.exec(manager)?.[1];
  if (name === undefined) return [];
  if (manager.length >= longestManager) return undefined;
  return name.startsWith('restore-') ? [name, name.slice('restore-'.length)] : [name];
}

/** Whether this may be the field manager of a Transaction. */
export function isOfTransaction(manager: string): boolean {
  return namesBehind(manager)?.length !== 0;
}

/**
 * Whether the change leaves an entry in managedFields that goes with the Transaction. An entry that others write under as well
 * stays, with its annotation.
 */
export function leavesEntry(transaction: Transaction, index: number): boolean {
  const change = transaction.changes[index];
  return change !== undefined && isApplied(change.type) && managersOfChange(transaction, change).holder === undefined;
}
