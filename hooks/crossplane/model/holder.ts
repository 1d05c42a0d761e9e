// Who holds the Lock, and the numbers on the Lock. Both are annotations of the Lock, so its schema stays as Crossplane has it.
import { isObject, type Json, type JsonObject, listAt, textAt, withPath } from '../../objects/json.ts';
import { digestOf } from './digest.ts';
import { quoted } from './package.ts';
import type { PackageTransaction } from './package-transaction.ts';

export interface Holder {
  readonly name: string;
  /** Two package transactions can have one name, one after the other. */
  readonly uid: string;
  /** The number that the holder had when it took the Lock. */
  readonly number: number;
  /** Lock.packages is what the holder proposed: nothing of its install may be undone. */
  readonly hasWritten: boolean;
  /** The holder deletes what it replaces: nothing of its install may be undone. */
  readonly isForward: boolean;
}

/** The annotation of the Lock with the name of its holder. */
export const holderAnnotation = 'pkg.crossplane.io/current-transaction';

const annotation = {
  name: holderAnnotation,
  next: 'pkg.crossplane.io/next-transaction-number',
  limit: 'pkg.crossplane.io/transaction-history-limit',
  uid: 'packages.janus.io/holder-uid',
  number: 'packages.janus.io/holder-number',
  written: 'packages.janus.io/holder-has-written',
  forward: 'packages.janus.io/holder-goes-forward',
  gaveUp: 'packages.janus.io/holder-gave-up',
} as const;

const usualHistory = 10;

function annotationOf(lock: JsonObject, key: keyof typeof annotation): string | undefined {
  return textAt(lock, 'metadata', 'annotations', annotation[key]);
}

function withAnnotation(lock: JsonObject, key: keyof typeof annotation, value: string | undefined): JsonObject {
  return withPath(lock, ['metadata', 'annotations', annotation[key]], value);
}

function count(text: string | undefined, fallback: number): number {
  return text !== undefined && /^\d{1,15}$/.test(text) ? Number(text) : fallback;
}

export function holderOf(lock: JsonObject): Holder | undefined {
  const name = annotationOf(lock, 'name');
  if (name === undefined || name === '') return undefined;
  const [uid = '', number] = [annotationOf(lock, 'uid'), count(annotationOf(lock, 'number'), 0)];
  const [hasWritten, isForward] = [annotationOf(lock, 'written') === 'true', annotationOf(lock, 'forward') === 'true'];
  return { name, uid, number, hasWritten, isForward };
}

export function nextNumberOf(lock: JsonObject): number {
  return Math.max(1, count(annotationOf(lock, 'next'), 1));
}

/**
 * Why the next number cannot be known: a guess could be the number of another package transaction. A Lock without numbers has never
 * been held.
 */
export function numberFault(lock: JsonObject): string | undefined {
  const text = annotationOf(lock, 'next');
  if (text === undefined || count(text, 0) > 0) return undefined;
  return `The Lock: expected a number from 1 on in the annotation ${annotation.next}, found ${quoted(text)}: set it to one more than the highest status.transactionNumber of the package transactions`;
}

/** A Lock that was deleted has no number. Package transactions keep the numbers that they have. */
export function numbered(lock: JsonObject, highest: number): JsonObject {
  return highest === 0 ? lock : withAnnotation(lock, 'next', String(highest + 1));
}

export function isNumbered(lock: JsonObject): boolean {
  return annotationOf(lock, 'next') !== undefined;
}

/** How many finished package transactions stay. 0 keeps all of them. */
export function historyLimitOf(lock: JsonObject): number {
  return count(annotationOf(lock, 'limit'), usualHistory);
}

export function packagesOf(lock: JsonObject): readonly Json[] {
  return listAt(lock, 'packages');
}

export function packagesDigest(lock: JsonObject): string {
  return digestOf(packagesOf(lock).filter(isObject));
}

export function held(lock: JsonObject, { name, uid, number }: Omit<Holder, 'hasWritten' | 'isForward'>): JsonObject {
  const named = withAnnotation(withAnnotation(lock, 'name', name), 'uid', uid);
  const fresh = marks.reduce<JsonObject>((object, key) => withAnnotation(object, key, undefined), named);
  return withAnnotation(fresh, 'number', String(number));
}

/** What a holder has done. */
const marks = ['written', 'forward', 'gaveUp'] as const;

/** From now on nothing of the holder's install may be undone. */
export function goingForward(lock: JsonObject): JsonObject {
  return withAnnotation(lock, 'forward', 'true');
}

/**
 * Changes the version of the Lock, so that a write of it that is under way fails. The holder undoes what it has done. `moment` differs each time.
 */
export function fenced(lock: JsonObject, moment: string): JsonObject {
  return withAnnotation(withAnnotation(lock, 'forward', undefined), 'gaveUp', moment);
}

/** The next number is above the holder's number. An unreadable number stays, and a person must repair it (`numberFault`). */
export function released(lock: JsonObject): JsonObject {
  // This also holds if another writer removed only the holder's name: the holder keeps its number.
  const next = Math.max(nextNumberOf(lock), count(annotationOf(lock, 'number'), 0) + 1);
  const free = (['name', 'uid', 'number', ...marks] as const).reduce<JsonObject>(
    (object, key) => withAnnotation(object, key, undefined),
    lock,
  );
  return numberFault(lock) === undefined ? withAnnotation(free, 'next', String(next)) : free;
}

export function withPackages(lock: JsonObject, packages: readonly JsonObject[]): JsonObject {
  return withAnnotation({ ...lock, packages }, 'written', 'true');
}

export function holds(ptx: PackageTransaction, lock: JsonObject | undefined): lock is JsonObject {
  return lock !== undefined && holderOf(lock)?.uid === ptx.uid;
}

/** Whether the Lock is held, and its packages are those that the resolution used. */
export function isAsResolved(ptx: PackageTransaction, lock: JsonObject | undefined): lock is JsonObject {
  return holds(ptx, lock) && packagesDigest(lock) === ptx.status.lockDigest;
}
