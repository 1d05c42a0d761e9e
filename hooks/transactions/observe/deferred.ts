// Deferred dry runs: the entry that the snapshot stores for such a change, and the dry run when the change is next.

import { contentOf } from '../../objects/content/content.ts';
import { listKindsOf, namedPaths, valueAt, withValuesAt } from '../../objects/content/lists.ts';
import type { Failure } from '../../objects/failure.ts';
import { isObject, type JsonObject, withPath } from '../../objects/json.ts';
import { deferredNote, type Earlier, removerOf, unservedNote } from '../checks/deferred.ts';
import type { Resolved } from '../checks/targets.ts';
import { readHazards } from '../hazards/read.ts';
import type { HazardContext } from '../hazards/read-context.ts';
import { madeOf, mayMake, wayOf } from '../model/change.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { mayBreak, type Transaction } from '../model/transaction.ts';
import { changeContextOf, changeWrite } from '../writes/change.ts';
import { preconditionOf } from '../writes/resources.ts';
import { trialOf } from '../writes/union.ts';
import { earlierWrites, type Others, writeOf } from './earlier-writes.ts';
import type { ItemView, Prepared, Presence } from './observation.ts';
import { tryPriorInTurn } from './restorable.ts';

/** The change with an expected state that no dry run confirmed: the object that the engine will send. */
function untried(resolved: Resolved, prior: JsonObject | undefined, transaction: Transaction): Prepared {
  const { target, resource } = resolved;
  const way = wayOf(resolved.change.type, prior !== undefined);
  const change = madeOf(resolved.change, { type: way });
  const write = changeWrite({ transaction, change, target, resource, prior, live: prior }, preconditionOf(prior));
  const expected = write.verb === 'delete' ? undefined : foreseen(write, prior, resolved);
  return { resolved, way, prior, expected, approximate: true };
}

// An apply sends only the fields that it sets. Without a dry run, the engine does not know which managers will lose fields to the
// apply. So the expected state has no managedFields. If an undo restores the former value of a field, it gives the field back to
// its manager.
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

/** The change with a deferred dry run; undefined if no earlier change can remove the reason of the refusal. */
export async function deferred(
  failure: Failure,
  later: Tried,
  { transaction, ...others }: Others & { readonly transaction: Transaction },
): Promise<Prepared | undefined> {
  const remover = await earlierRemover(failure, later, others);
  if (remover === undefined) return undefined;
  const plain = untried(later, later.prior, transaction);
  return { ...plain, deferred: true, after: remover.index, note: deferredNote(failure, remover) };
}

/** The earlier change that may remove the reason of the refusal; undefined if there is no such change. */
export async function earlierRemover(failure: Failure, later: Tried, others: Others): Promise<Earlier | undefined> {
  const refused = { ...writeOf(later), content: later.change.content, prior: later.prior };
  return removerOf(failure, refused, await earlierWrites(later, others));
}

/** A change whose Namespace, kind or version the change `by` creates. */
export function dependent(
  resolved: Resolved,
  by: number,
  { prior, transaction }: { readonly prior: JsonObject | undefined; readonly transaction: Transaction },
): Prepared {
  const plain = { ...untried(resolved, prior, transaction), after: by };
  const maker = transaction.changes[by];
  if (maker === undefined || (mayMake(maker.type) && prior === undefined)) return plain;
  return { ...plain, deferred: true, note: unservedNote(by, resolved) };
}

interface DryRunTurn {
  readonly hazards: HazardContext;
  readonly entry: SnapshotEntry;
  readonly live: Presence;
}

type InTurn = Partial<Pick<ItemView, 'tried' | 'hazards' | 'irreversible'>>;

/** The dry run of a deferred change, and what others would lose by it, just before the change is sent. */
export async function tryInTurn({ hazards, entry, live }: DryRunTurn): Promise<InTurn> {
  const { lister, transaction } = hazards;
  const change = transaction.changes[entry.index];
  if (entry.deferred !== true || change === undefined || live.kind === 'trouble') return {};
  const object = live.kind === 'present' ? live.object : undefined;
  const { write, expected } = trialOf(changeContextOf(entry, change, transaction, object), preconditionOf(object));
  const answer = await lister.reader.dryRun(write);
  const tried = answer.kind === 'failed' ? answer : { ...answer, object: expected(answer.object) };
  if (tried.kind === 'failed' || mayBreak(transaction)) return { tried };
  return { tried, ...(await lossesInTurn(hazards, entry, object, entry.type === 'Delete' ? undefined : tried.object)) };
}

async function lossesInTurn(
  hazards: HazardContext,
  entry: SnapshotEntry,
  before: JsonObject | undefined,
  after: JsonObject | undefined,
): Promise<InTurn> {
  const [found, undo] = await Promise.all([
    after && readHazards(hazards, { before, after }),
    tryUndoInTurn(hazards, entry, after),
  ]);
  return { ...(found && { hazards: found }), ...undo };
}

async function tryUndoInTurn(
  { lister: { reader }, transaction }: HazardContext,
  entry: SnapshotEntry,
  after: JsonObject | undefined,
): Promise<InTurn> {
  const undo = entry.isPriorRefused === true ? await tryPriorInTurn({ reader, transaction }, entry, after) : undefined;
  if (undo?.kind === 'trouble') return { tried: { kind: 'failed', failure: undo.failure } };
  return undo?.kind === 'refused' ? { irreversible: undo.why } : {};
}
