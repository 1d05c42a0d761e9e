// Dry runs that wait for their turn: what is stored of such a change, and the dry run once it is due.
import { deferredNote, type Earlier, removerOf, unservedNote } from '../checks/deferred.ts';
import type { Resolved } from '../checks/targets.ts';
import type { Answer, Reader } from '../cluster.ts';
import { contentOf } from '../content/content.ts';
import { listKindsOf, namedPaths, valueAt, withValuesAt } from '../content/lists.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Failure } from '../model/failure.ts';
import { isObject, type JsonObject, withPath } from '../model/json.ts';
import type { Transaction } from '../model/transaction.ts';
import { changeContextOf, changeWrite } from '../writes/change.ts';
import { preconditionOf } from '../writes/resources.ts';
import type { Prepared, Presence } from './observation.ts';

/** The change with what is known without a dry run: what is sent. */
function untried(resolved: Resolved, prior: JsonObject | undefined, transaction: Transaction): Prepared {
  const { change, target, resource } = resolved;
  const write = changeWrite({ transaction, change, target, resource, prior, live: prior }, preconditionOf(prior));
  const expected = write.verb === 'delete' ? undefined : foreseen(write, prior, resolved);
  return { resolved, prior, expected, approximate: true };
}

// An apply says only what it sets. Who will have lost a field to it is not known: in an undo each gets back what was its own and has
// its value again.
function foreseen(
  { verb, object }: { readonly verb: string; readonly object: JsonObject },
  prior: JsonObject | undefined,
  { resource }: Resolved,
): JsonObject {
  if (verb !== 'apply' || prior === undefined) return object;
  const kinds = listKindsOf(prior);
  const content = contentOf(object, resource);
  const set = namedPaths(content, [], kinds).map((path) => ({ path, value: valueAt(content, path, kinds) }));
  const whole = withValuesAt(prior, set, kinds);
  return withPath(isObject(whole) ? whole : prior, ['metadata', 'managedFields'], undefined);
}

/** A change whose dry run was refused, with the object as it was read. */
interface Tried extends Resolved {
  readonly prior: JsonObject | undefined;
}

/** The change whose dry run may be admitted in its turn; undefined where nothing before it takes the refusal away. */
export function deferred(
  failure: Failure,
  later: Tried,
  { all, transaction }: { readonly all: readonly Resolved[]; readonly transaction: Transaction },
): Prepared | undefined {
  const remover = earlierRemover(failure, later, all);
  if (remover === undefined) return undefined;
  return { ...untried(later, later.prior, transaction), deferred: true, note: deferredNote(failure, remover) };
}

/** The change before it that may take the reason of the refusal away; undefined where none does. */
export function earlierRemover(failure: Failure, later: Tried, all: readonly Resolved[]): Earlier | undefined {
  const before = all.filter(({ index }) => index < later.index);
  const refused = { ...writeOf(later), content: later.change.content, prior: later.prior };
  return removerOf(failure, refused, before.map(writeOf));
}

function writeOf({ index, change: { type }, target, resource }: Resolved): Earlier {
  return { index, type, target, resource };
}

/** The change whose Namespace, kind or version the change `by` makes. */
export function dependent(
  resolved: Resolved,
  by: number,
  { prior, transaction }: { readonly prior: JsonObject | undefined; readonly transaction: Transaction },
): Prepared {
  const plain = untried(resolved, prior, transaction);
  const maker = transaction.changes[by];
  if (maker === undefined || maker.type === 'Create') return plain;
  return { ...plain, deferred: true, note: unservedNote(by, resolved) };
}

interface Turn {
  readonly reader: Reader;
  readonly transaction: Transaction;
  readonly entry: SnapshotEntry;
  readonly live: Presence;
}

/** The dry run of a deferred change, as it is about to be sent. */
export async function tryInTurn({ reader, transaction, entry, live }: Turn): Promise<{ readonly tried?: Answer }> {
  const change = transaction.changes[entry.index];
  if (entry.deferred !== true || change === undefined || live.kind === 'trouble') return {};
  const object = live.kind === 'present' ? live.object : undefined;
  const write = changeWrite(changeContextOf(entry, change, transaction, object), preconditionOf(object));
  return { tried: await reader.dryRun(write) };
}
