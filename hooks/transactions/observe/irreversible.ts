// Why a change cannot be undone, before anything is changed: what others would lose by it (hazards/table.ts), or that the API server
// would not take the prior state back (restorable.ts).
import type { Failure } from '../../objects/failure.ts';
import { describe, identityOf, kindOf } from '../../objects/reference.ts';
import { type Fault, fault } from '../checks/fault.ts';
import { deletedBefore } from '../checks/targets.ts';
import { isLostForGood } from '../checks/validity.ts';
import { noHazards } from '../hazards/hazards.ts';
import { howToAllow, joined, unlistedKindsNote } from '../hazards/messages.ts';
import { readHazards } from '../hazards/read.ts';
import { evaluateHazards, takenByRollback } from '../hazards/table.ts';
import { isDeletion } from '../model/change.ts';
import { mayBreak } from '../model/transaction.ts';
import { serviceAccountOf } from '../writes/resources.ts';
import type { LockContext } from './begin.ts';
import { lostByMove, type TargetReads } from './former-version.ts';
import type { Prepared } from './observation.ts';
import { type PriorVerdict, tryPrior } from './restorable.ts';

type Context = TargetReads & Pick<LockContext, 'callReads'>;

type States = Pick<Prepared, 'prior' | 'expected'>;

/** The change with what others would lose by it, and whether its undo would be admitted, or a read that failed. */
export async function withHazards(context: Context, prepared: Prepared): Promise<Prepared | { readonly trouble: Failure }> {
  if (mayBreak(context.transaction)) return prepared;
  const [undo, found] = await Promise.all([tryPrior(context, prepared), lossesOf(context, prepared)]);
  const trouble = found.trouble ?? (undo.kind === 'trouble' ? undo.failure : undefined);
  if (trouble !== undefined) return { trouble };
  const note = joined(prepared.note, found.note);
  return {
    ...prepared,
    ...(found.why === undefined ? factsOf(undo) : { irreversible: found.why }),
    ...(note === undefined ? {} : { note }),
    ...(found.failingKinds.length === 0 ? {} : { failingKinds: found.failingKinds }),
  };
}

function factsOf(undo: PriorVerdict): Partial<Prepared> {
  if (undo.kind === 'refused') return { irreversible: undo.why };
  return undo.kind === 'deferred' ? { deferred: true, isPriorRefused: true, after: undo.after } : {};
}

async function lossesOf(context: Context, prepared: Prepared) {
  const [move, deletion, following] = await Promise.all([
    lostByMove(context, prepared),
    ...statesOf(prepared).map(async (states) => evaluated(context, prepared, states)),
  ]);
  const found = deletion?.found ?? noHazards;
  return {
    trouble: found.trouble ?? following?.found.trouble,
    why: neverRecreated(prepared) ?? move ?? deletion?.why ?? following?.why,
    note: unlistedKindsNote({ ...found, failingKinds: [] }),
    failingKinds: found.failingKinds,
  };
}

// What recreates its object deletes it first.
function statesOf({ prior, expected, resolved, recreates }: Prepared): readonly States[] {
  if (recreates === true)
    return [
      { prior, expected: undefined },
      { prior: undefined, expected },
    ];
  return [{ prior, expected: isDeletion(resolved.change) ? undefined : expected }];
}

// If no dry run has shown the expected state, the engine reads nothing for it. These reads follow with the dry run.
async function evaluated(context: Context, { resolved, approximate, recreates }: Prepared, { prior, expected }: States) {
  const { reader, callReads, transaction, all } = context;
  const { resource, target, index } = resolved;
  const lister = { reader, callReads, identity: serviceAccountOf(transaction) };
  const states = { before: prior, after: expected };
  const isShown = !approximate || recreates === true || expected === undefined;
  const gone = deletedBefore(all, index);
  const isTaken = transaction.rollback !== undefined && expected === undefined;
  const back = isTaken ? { stayingTargets: stayingAmong(all) } : {};
  const found = isShown ? await readHazards({ lister, transaction, entry: resolved, gone, ...back }, states) : noHazards;
  const undo = isTaken ? { undo: takenByRollback } : {};
  return { found, why: evaluateHazards({ kind: kindOf(resource), target, ...states, ...undo }, found)?.message };
}

function stayingAmong(all: TargetReads['all']): ReadonlySet<string> {
  return new Set(all.flatMap(({ change, target }) => (isDeletion(change) ? [] : [identityOf(target)])));
}

// A Delete of these was refused before.
function neverRecreated({ resolved: { target }, recreates }: Prepared): string | undefined {
  return recreates === true && isLostForGood(target) ? 'it would be deleted and created again' : undefined;
}

export function irreversibleFaults(targets: readonly Prepared[]): readonly Fault[] {
  return targets.flatMap(({ irreversible, resolved: { index, change, target } }) => {
    if (irreversible === undefined) return [];
    const what = `spec.changes[${index}]: ${change.type} of ${describe(target)} cannot be undone: ${irreversible}`;
    const restored = `spec.rollback: ${describe(target)}: ${irreversible}; name the object in spec.rollback.keep`;
    return [
      fault('Irreversible', change.restore === undefined ? `${what}; ${howToAllow}` : `${restored}, or ${howToAllow}`, index),
    ];
  });
}
