// What others would lose by what a rollback takes away, before its locks: by the rules of the undo of a Create. Only reads.
import type { Failure } from '../../objects/failure.ts';
import type { JsonObject } from '../../objects/json.ts';
import { describe, identityOf, kindOf } from '../../objects/reference.ts';
import { inTurn } from '../../objects/requests/in-turn.ts';
import type { UndoVerdict } from '../attribution/undo.ts';
import { unknownWith } from '../decide/unlistable-kinds.ts';
import type { Hazards } from '../hazards/hazards.ts';
import { readHazards } from '../hazards/read.ts';
import { evaluateHazards, takenByRollback } from '../hazards/table.ts';
import { mayBreak } from '../model/transaction.ts';
import type { ObserveContext } from '../observe/observe.ts';
import { serviceAccountOf } from '../writes/resources.ts';
import { evidenceOf, type UndoObject } from './composition.ts';

type Conflict = Extract<UndoVerdict, { kind: 'conflict' }>;

/** An object that the rollback would delete. */
type Leaving = UndoObject & { readonly now: JsonObject };

/** Objects that are evaluated at once. */
const atOnce = 8;

/**
 * Blocks what must not go. What stays because of that may hold others back in turn: a Namespace stays if an object in it does.
 * Returns the failure of a read.
 */
export async function blockLosses(observing: ObserveContext, objects: readonly UndoObject[]): Promise<Failure | undefined> {
  if (mayBreak(observing.transaction)) return undefined;
  for (;;) {
    const leaving = objects.filter(isLeaving);
    const staying = new Set(
      objects.filter((one) => !leaving.some((other) => other === one)).map(({ target }) => identityOf(target)),
    );
    const gone = new Set(leaving.map(({ target }) => identityOf(target)));
    const found = await inTurn(leaving, (one) => lossOf(observing, one, { staying, gone }), atOnce);
    const trouble = found.find((one) => one?.kind === 'trouble');
    if (trouble !== undefined) return trouble.failure;
    const lost = found.filter((one) => one?.kind === 'conflict');
    for (const { object, verdict } of lost)
      object.blocked = { evidence: evidenceOf(observing.transaction, object, undefined), verdict };
    if (lost.length === 0) return undefined;
  }
}

function isLeaving(object: UndoObject): object is Leaving {
  const { now, state, blocked, isKept } = object;
  return now !== undefined && state === undefined && blocked === undefined && !isKept;
}

interface Around {
  /** Identities, like the other. */
  readonly staying: ReadonlySet<string>;
  readonly gone: ReadonlySet<string>;
}

type Loss =
  | { readonly kind: 'trouble'; readonly failure: Failure }
  | { readonly kind: 'conflict'; readonly object: Leaving; readonly verdict: Conflict };

async function lossOf(
  { source, transaction }: ObserveContext,
  object: Leaving,
  { staying, gone }: Around,
): Promise<Loss | undefined> {
  const { target, entry, now } = object;
  const lister = { reader: source.reader, callReads: source.callReads, identity: serviceAccountOf(transaction) };
  const states = { before: now, after: undefined };
  const hazards = await readHazards({ lister, transaction, entry, gone, stayingTargets: staying }, states);
  if (hazards.trouble !== undefined) return { kind: 'trouble', failure: hazards.trouble };
  const change = { kind: kindOf(entry.resource), target, ...states, undo: takenByRollback };
  const verdict = evaluateHazards(change, hazards) ?? unseen(object, hazards);
  return verdict?.kind === 'conflict' ? { kind: 'conflict', object, verdict } : undefined;
}

function unseen({ target }: Leaving, { unlistableContents }: Hazards): Conflict | undefined {
  if (unlistableContents === undefined) return undefined;
  const message = `${describe(target)}: ${unknownWith(unlistableContents)}`;
  return { kind: 'conflict', reason: 'NotEmpty', message };
}
