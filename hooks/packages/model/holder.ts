// Who holds the Lock, and the numbers on it: annotations of the Lock, so that its schema stays as Crossplane has it.
import { isObject, type Json, type JsonObject, listAt, textAt, withPath } from '../../objects/json.ts';
import { digestOf } from './digest.ts';
import { quoted } from './package.ts';
import type { PackageTransaction } from './package-transaction.ts';

export interface Holder {
  readonly name: string;
  /** Two package transactions can have one name, one after the other. */
  readonly uid: string;
  /** The number that it had when it took the Lock. */
  readonly number: number;
  /** Lock.packages is what it proposed: nothing of it may be undone. */
  readonly hasWritten: boolean;
}

const annotation = {
  name: 'pkg.crossplane.io/current-transaction',
  next: 'pkg.crossplane.io/next-transaction-number',
  limit: 'pkg.crossplane.io/transaction-history-limit',
  uid: 'packages.janus.io/holder-uid',
  number: 'packages.janus.io/holder-number',
  written: 'packages.janus.io/holder-has-written',
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
  return { name, uid, number, hasWritten: annotationOf(lock, 'written') === 'true' };
}

export function nextNumberOf(lock: JsonObject): number {
  return Math.max(1, count(annotationOf(lock, 'next'), 1));
}

/** Why the next number cannot be known: a guess could be the number of another one. A Lock without any has not been held yet. */
export function numberFault(lock: JsonObject): string | undefined {
  const text = annotationOf(lock, 'next');
  if (text === undefined || count(text, 0) > 0) return undefined;
  return `The Lock: expected a number from 1 on in the annotation ${annotation.next}, found ${quoted(text)}: set it to one more than the highest status.transactionNumber of the package transactions`;
}

/** A Lock that was deleted has no number: those that package transactions have stay theirs. */
export function numbered(lock: JsonObject, highest: number): JsonObject {
  return highest === 0 ? lock : withAnnotation(lock, 'next', String(highest + 1));
}

export function isNumbered(lock: JsonObject): boolean {
  return annotationOf(lock, 'next') !== undefined;
}

/** How many finished package transactions stay; 0: all. */
export function historyLimitOf(lock: JsonObject): number {
  return count(annotationOf(lock, 'limit'), usualHistory);
}

export function packagesOf(lock: JsonObject): readonly Json[] {
  return listAt(lock, 'packages');
}

export function packagesDigest(lock: JsonObject): string {
  return digestOf(packagesOf(lock).filter(isObject));
}

export function held(lock: JsonObject, { name, uid, number }: Omit<Holder, 'hasWritten'>): JsonObject {
  const named = withAnnotation(withAnnotation(lock, 'name', name), 'uid', uid);
  const fresh = withAnnotation(withAnnotation(named, 'written', undefined), 'gaveUp', undefined);
  return withAnnotation(fresh, 'number', String(number));
}

/** The Lock at another version, and nothing else: a write of its packages that is under way misses. `moment` differs each time. */
export function fenced(lock: JsonObject, moment: string): JsonObject {
  return withAnnotation(lock, 'gaveUp', moment);
}

/** The next number is beyond the holder's. One that cannot be read stays for a person to repair (`numberFault`). */
export function released(lock: JsonObject): JsonObject {
  // Also where somebody took only the holder's name away: it keeps its number.
  const next = Math.max(nextNumberOf(lock), count(annotationOf(lock, 'number'), 0) + 1);
  const free = (['name', 'uid', 'number', 'written', 'gaveUp'] as const).reduce<JsonObject>(
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

/** Whether the Lock is held, and its packages are those that were resolved against. */
export function isAsResolved(ptx: PackageTransaction, lock: JsonObject | undefined): lock is JsonObject {
  return holds(ptx, lock) && packagesDigest(lock) === ptx.status.lockDigest;
}
