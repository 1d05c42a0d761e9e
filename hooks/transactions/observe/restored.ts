// The dry run of what a rollback makes of one object. Controllers may write the object while the rollback is composed: then the composed
// state follows, unless their writes are about the same fields.
import type { Write } from '../../objects/cluster.ts';
import { asNew, contentOf, withContent, withManagedFields } from '../../objects/content/content.ts';
import { withoutGenerated } from '../../objects/content/generated.ts';
import { listKindsOf } from '../../objects/content/lists.ts';
import { merge } from '../../objects/content/merge.ts';
import { isSameState, restoredManagers } from '../../objects/content/ownership.ts';
import type { Failure } from '../../objects/failure.ts';
import { equalJson, isObject, type JsonObject, textAt } from '../../objects/json.ts';
import { describe, identityOf } from '../../objects/reference.ts';
import { type Fault, fault } from '../checks/fault.ts';
import type { Resolved } from '../checks/targets.ts';
import { restoreWay, type Way } from '../model/change.ts';
import { fieldManagers } from '../model/transaction.ts';
import { locationOf } from '../writes/change.ts';
import { preconditionOf, serviceAccountOf } from '../writes/resources.ts';
import { kept } from './comparing.ts';
import { readTarget, type TargetReads } from './former-version.ts';
import type { Prepared, RollbackObject, RollbackObjects } from './observation.ts';

type Context = TargetReads & { readonly composed: RollbackObjects | undefined };

type Tried =
  | { readonly kind: 'prepared'; readonly prepared: Prepared }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'trouble'; readonly failure: Failure }
  | { readonly kind: 'refused'; readonly failure: Failure; readonly prior: JsonObject | undefined };

/** Reads of one object in a row, if another writer changes it between each read and its dry run. */
export const mostReads = 20;

export async function tryRestore(context: Context, resolved: Resolved, reads = 1): Promise<Tried> {
  const found = await (reads === 1 ? context.firstRead(resolved) : readTarget(context, resolved));
  if (found.kind === 'trouble') return { kind: 'refused', failure: found.failure, prior: undefined };
  const prior = found.kind === 'present' ? found.object : undefined;
  const prepared = await preparedFrom(context, resolved, prior);
  if (prepared === undefined) return { kind: 'fault', fault: fault('Conflict', movedMessage(resolved), resolved.index) };
  return tried(context, prepared, reads);
}

async function preparedFrom(
  { composed }: Context,
  resolved: Resolved,
  prior: JsonObject | undefined,
): Promise<Prepared | undefined> {
  const object = composed?.get(identityOf(resolved.target));
  const next = object === undefined ? 'moved' : follow(object, prior, resolved);
  if (next === 'moved') return undefined;
  const expected = next.after === undefined ? undefined : await kept(next.after, prior);
  return { resolved, way: next.way, prior, expected, approximate: false };
}

async function tried(context: Context, prepared: Prepared, reads: number): Promise<Tried> {
  const { resolved, prior, expected } = prepared;
  const failure = isSameState(prior, expected, resolved.resource) ? undefined : await refusalOf(context, prepared);
  if (failure === undefined) return { kind: 'prepared', prepared };
  const isMoved = failure.kind === 'stale' || failure.kind === 'exists' || failure.kind === 'absent';
  if (isMoved && reads < mostReads) return tryRestore(context, resolved, reads + 1);
  return mayRecreate(prepared, failure)
    ? { kind: 'prepared', prepared: { ...prepared, recreates: true } }
    : { kind: 'refused', failure, prior };
}

async function refusalOf(context: Context, prepared: Prepared): Promise<Failure | undefined> {
  const write = trialOf(context, prepared);
  const answer = write === undefined ? undefined : await context.reader.dryRun(write);
  return answer?.kind === 'failed' ? answer.failure : undefined;
}

// What was recreated since may differ in fields that no write changes.
function mayRecreate({ way, prior, expected }: Prepared, failure: Failure): boolean {
  const isOther = textAt(prior, 'metadata', 'uid') !== textAt(expected, 'metadata', 'uid');
  return failure.kind === 'refused' && failure.code === 422 && way === 'Update' && isOther;
}

function movedMessage({ target }: Resolved): string {
  return `spec.rollback: ${describe(target)} was changed by someone else while the rollback was prepared: create the rollback again`;
}

interface Next {
  readonly way: Way;
  readonly after: JsonObject | undefined;
}

/** The composed state, if others have written since it was composed. */
function follow({ now, after }: RollbackObject, live: JsonObject | undefined, resolved: Resolved): Next | 'moved' {
  const { restore } = resolved.change;
  const isMoved = (now === undefined) !== (live === undefined) || restore?.way !== restoreWay(live, after);
  if (restore === undefined || isMoved) return 'moved';
  const { way } = restore;
  if (live === undefined || now === undefined || after === undefined || isVersion(live, now)) return { way, after };
  const moved = movedBy({ now, after, live }, resolved);
  return moved === undefined ? 'moved' : { way, after: moved };
}

function isVersion(live: JsonObject, now: JsonObject): boolean {
  return ['uid', 'resourceVersion'].every((key) => textAt(live, 'metadata', key) === textAt(now, 'metadata', key));
}

interface States {
  readonly now: JsonObject;
  readonly after: JsonObject;
  readonly live: JsonObject;
}

/** Undefined if others have written the same fields. */
function movedBy({ now, after, live }: States, { resource }: Resolved): JsonObject | undefined {
  const kinds = listKindsOf(after, now, live);
  const [was, wanted, is] = [now, after, live].map((object) => contentOf(object, resource));
  const merged = equalJson(was, is) ? undefined : merge({ prior: wanted, expected: was, live: is }, kinds);
  if (merged?.ours.some(({ state }) => state === 'foreign') === true) return undefined;
  const restored = merged === undefined ? wanted : merged.restored;
  if (!isObject(restored)) return undefined;
  const object = withContent(live, restored, resource);
  const owners = restoredManagers({ prior: after, expected: now, live: object }, kinds, []);
  return withManagedFields(keepingUid(object, after), owners);
}

// The uid shows whether it is the object that it was then.
function keepingUid(object: JsonObject, after: JsonObject): JsonObject {
  const { metadata } = object;
  const uid = textAt(after, 'metadata', 'uid');
  return isObject(metadata) && uid !== undefined ? { ...object, metadata: { ...metadata, uid } } : object;
}

function trialOf({ transaction }: Context, { resolved, way, prior, expected }: Prepared): Write | undefined {
  const { target, resource } = resolved;
  const base = { identity: serviceAccountOf(transaction), location: locationOf(target, resource) };
  const fieldManager = fieldManagers(transaction).forward;
  const precondition = preconditionOf(prior);
  if (way === 'Create' && expected !== undefined)
    return { ...base, verb: 'create', object: withoutGenerated(asNew(expected)), fieldManager };
  if (precondition === undefined || prior === undefined) return undefined;
  if (expected === undefined) return { ...base, verb: 'delete', precondition };
  const object = withContent(prior, contentOf(expected, resource), resource);
  return { ...base, verb: 'update', object, precondition, fieldManager };
}
