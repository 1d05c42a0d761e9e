// Which Transactions a rollback undoes: those of its namespace and field manager that are newer than the one that stays, Committed, or
// Failed with something left. Where two of them share an object, the versions of that object order them, otherwise the ends. A rollback
// and all that it has undone drop out together.
import { identityOf } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { type Fault, fault } from '../checks/fault.ts';
import { isNotRestored } from '../model/item.ts';
import { isAfter } from '../model/other-transactions.ts';
import { mostUndone, type Rollback } from '../model/rollback.ts';
import type { Transaction } from '../model/transaction.ts';

/** The newest first. */
export interface Releases {
  /** The one that stays; undefined if none does. */
  readonly base: Transaction | undefined;
  readonly undone: readonly Transaction[];
  /** Those of them whose undos are composed. */
  readonly composed: readonly Transaction[];
  /** All that were read to find them. */
  readonly listed: readonly Transaction[];
}

/** `all`: of the namespace. */
export function releasesToUndo(
  own: Transaction,
  { to }: Rollback,
  all: readonly Transaction[],
): Releases | { readonly faults: readonly Fault[] } {
  const line = inOrder(all.filter((one) => one.uid !== own.uid && one.fieldManager === own.fieldManager && isRelease(one)));
  const base = to === '' ? -1 : line.findIndex(({ name, status }) => name === to && status?.phase === 'Committed');
  if (to !== '' && base < 0) return { faults: [unknown(own, to, { all, line })] };
  const undone = line.slice(base + 1).toReversed();
  if (undone.length === 0) return { faults: [nothingNewer(own, to)] };
  if (undone.length > mostUndone) return { faults: [tooMany(line, undone.length)] };
  const wrong = undone
    .filter(({ serviceAccountName }) => serviceAccountName !== own.serviceAccountName)
    .map((one) => foreignAccount(own, one));
  return wrong.length > 0
    ? { faults: wrong }
    : { base: line[base], undone, composed: composedOf(undone, line[base]), listed: all };
}

function isRelease({ status, isBeingDeleted }: Transaction): boolean {
  if (status === undefined || isBeingDeleted) return false;
  return status.phase === 'Committed' || (status.phase === 'Failed' && status.items.some(isNotRestored));
}

// A rollback that has undone the Transaction that stays cannot drop out: what it undid must come back first.
function composedOf(undone: readonly Transaction[], base: Transaction | undefined): readonly Transaction[] {
  const dropped = new Set<string>();
  const mayDrop = (uid: string, uids: readonly string[]): boolean =>
    uids.length > 0 && !dropped.has(uid) && !uids.includes(base?.uid ?? '');
  for (const [uid, uids] of undone.map((one) => [one.uid, undoneBy(one)] as const))
    for (const one of mayDrop(uid, uids) ? [uid, ...uids] : []) dropped.add(one);
  return undone.filter(({ uid }) => !dropped.has(uid));
}

function undoneBy({ status }: Transaction): readonly string[] {
  return status?.phase === 'Committed' ? (status.rollback?.undone ?? []).map(({ uid }) => uid) : [];
}

// The oldest first.
function inOrder(releases: readonly Transaction[]): readonly Transaction[] {
  const sorted = releases.toSorted(compareEnds);
  const writes = new Map(sorted.map((one) => [one, writesOf(one)]));
  const isBefore = (one: Transaction, other: Transaction): boolean => {
    const later = writes.get(other);
    return [...(writes.get(one) ?? [])].some(([object, write]) => {
      const found = later?.get(object);
      return found !== undefined && isAfter(found, write.resourceVersion);
    });
  };
  const left = [...sorted];
  const ordered: Transaction[] = [];
  while (left.length > 0) {
    const next = left.find((one) => !left.some((other) => other !== one && isBefore(other, one))) ?? left[0];
    if (next === undefined) break;
    ordered.push(next);
    left.splice(left.indexOf(next), 1);
  }
  return ordered;
}

type Write = Parameters<typeof isAfter>[0];

function writesOf({ changes, namespace, status }: Transaction): ReadonlyMap<string, Write> {
  const found = changes.flatMap(({ type, target }, index): readonly (readonly [string, Write])[] => {
    const version = status?.items[index]?.resourceVersion;
    const object = identityOf({ ...target, namespace: target.namespace ?? namespace });
    return version === undefined ? [] : [[object, { type, resourceVersion: version }]];
  });
  return new Map(found);
}

// Times are whole seconds. The completion of a Failed one is the end of its undo.
function compareEnds(one: Transaction, other: Transaction): number {
  return endOf(one) - endOf(other) || compareWrites(one, other) || one.createdAt - other.createdAt;
}

// Within a second. A Delete has the version that it found, so one that only deletes is known by its own last write.
function compareWrites(one: Transaction, other: Transaction): number {
  const [write, otherWrite] = [newestWrite(one), newestWrite(other)];
  const isKnown = write > 0 && otherWrite > 0;
  return isKnown ? write - otherWrite : versionOf(one.resourceVersion) - versionOf(other.resourceVersion);
}

function endOf({ status }: Transaction): number {
  return (status?.phase === 'Committed' ? status.completionTime : status?.startTime) ?? 0;
}

function newestWrite({ status, changes }: Transaction): number {
  const written = (status?.items ?? []).filter((_, index) => changes[index]?.type !== 'Delete');
  return Math.max(0, ...written.map(({ resourceVersion = '' }) => versionOf(resourceVersion)));
}

function versionOf(resourceVersion: string): number {
  return /^\d{1,15}$/.test(resourceVersion) ? Number(resourceVersion) : 0;
}

const longestName = 253;
const mostNamed = 10;

interface Known {
  readonly all: readonly Transaction[];
  readonly line: readonly Transaction[];
}

function unknown({ namespace, fieldManager }: Transaction, to: string, { all, line }: Known): Fault {
  const found = all.find(({ name }) => name === to);
  const name = `Transaction ${namespace}/${foreign(to, longestName)}`;
  const manager = foreign(String(fieldManager), longestName);
  const why =
    found === undefined
      ? 'does not exist'
      : found.fieldManager === fieldManager
        ? `is ${found.status?.phase ?? 'unknown'}, not Committed`
        : `has another spec.fieldManager than ${manager}`;
  return fault(found === undefined ? 'NotFound' : 'Invalid', `spec.rollback.to: ${name} ${why}; ${namesOf(line)}`);
}

function namesOf(line: readonly Transaction[]): string {
  const committed = line.filter(({ status }) => status?.phase === 'Committed');
  const names = committed.map(({ name }) => name).toReversed();
  if (names.length === 0) return 'there is no Committed Transaction with this spec.fieldManager';
  const more = names.length > mostNamed ? ` and ${names.length - mostNamed} older ones` : '';
  return `a rollback can go to ${names.slice(0, mostNamed).join(', ')}${more}`;
}

function nothingNewer({ fieldManager }: Transaction, to: string): Fault {
  const manager = foreign(String(fieldManager), longestName);
  return to === ''
    ? fault('NotFound', `spec.rollback.to: no Transaction with spec.fieldManager ${manager} can be undone`)
    : fault(
        'Invalid',
        `spec.rollback.to: ${foreign(to, longestName)} is the newest Transaction with spec.fieldManager ${manager}: nothing is to undo`,
      );
}

function tooMany(line: readonly Transaction[], amount: number): Fault {
  const nearest = line.at(-mostUndone - 1)?.name ?? '';
  return fault(
    'Invalid',
    `spec.rollback.to: ${amount} Transactions are newer, at most ${mostUndone} are undone at once: roll back to ${nearest} first`,
  );
}

function foreignAccount({ serviceAccountName }: Transaction, other: Transaction): Fault {
  const message = `spec.serviceAccountName is ${foreign(serviceAccountName, longestName)}, but Transaction ${other.namespace}/${other.name} acted as ${foreign(other.serviceAccountName, longestName)}: a rollback acts as the ServiceAccount of all that it undoes`;
  return fault('Invalid', message);
}
