// One target before its change: the live object, and the expected object according to a dry run as the ServiceAccount.

import { asNew } from '../../objects/content/content.ts';
import { whyIncomparable } from '../../objects/content/too-large.ts';
import type { Failure } from '../../objects/failure.ts';
import { type JsonObject, textAt } from '../../objects/json.ts';
import { describe, identityOf } from '../../objects/reference.ts';
import { keptDespiteNull, keptFault } from '../checks/change-fields.ts';
import { incomparable, stateFault } from '../checks/existence.ts';
import type { Fault } from '../checks/fault.ts';
import { refusalFault, shownWarnings, withWords } from '../checks/refusal.ts';
import { otherAppFault } from '../checks/take-over.ts';
import type { Resolved } from '../checks/targets.ts';
import { joined, noted } from '../hazards/messages.ts';
import { isApplied, madeOf, mayMake, onlyWayOf, type Way, wayOf } from '../model/change.ts';
import { isSealed, type KeptScale } from '../model/entry.ts';
import { keptNote } from '../model/scale-note.ts';
import { fieldManagers, managersOfChange, type Transaction } from '../model/transaction.ts';
import { keptContent, locationOf } from '../writes/change.ts';
import { preconditionOf, serviceAccountOf } from '../writes/resources.ts';
import { trialOf } from '../writes/union.ts';
import { type Autoscaling, scalingOf } from './autoscalers.ts';
import type { LockContext } from './begin.ts';
import { kept } from './comparing.ts';
import { deferred, dependent, earlierRemover } from './deferred.ts';
import { conversionFault, readTarget, type TargetReads, versionFault } from './former-version.ts';
import { wrongOwner } from './given-owners.ts';
import { fixedInPlace } from './in-place.ts';
import { withHazards } from './irreversible.ts';
import { mayCreate } from './may-create.ts';
import type { Prepared, Presence, RollbackObjects } from './observation.ts';
import { presenceWith } from './read.ts';
import { howToRecreate, tryToRecreate } from './recreate.ts';
import { mostReads, tryRestore } from './restored.ts';

export type Evaluated =
  | { readonly kind: 'prepared'; readonly prepared: Prepared }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** The dry run met another version of the object than the read before it, which found `prior`. */
interface Moved {
  readonly kind: 'moved';
  readonly failure: Failure;
  readonly prior: JsonObject | undefined;
}

type Refused = Resolved & { readonly prior?: JsonObject | undefined };

export interface DryRunContext extends TargetReads, Pick<LockContext, 'callReads'> {
  readonly autoscaling: Autoscaling;
  /** Of a rollback. */
  readonly composed: RollbackObjects | undefined;
}

export function readingOnce(context: Omit<DryRunContext, 'firstRead'>): DryRunContext {
  const reads = new Map<number, Promise<Presence>>();
  const reading: DryRunContext = {
    ...context,
    firstRead: (resolved) => {
      const found = reads.get(resolved.index) ?? composedRead(context, resolved) ?? readTarget(reading, resolved);
      reads.set(resolved.index, found);
      return found;
    },
  };
  return reading;
}

// All objects of a rollback were read while it holds its locks.
function composedRead({ composed }: Pick<DryRunContext, 'composed'>, { target }: Resolved): Promise<Presence> | undefined {
  const object = composed?.get(identityOf(target));
  if (object === undefined) return undefined;
  return Promise.resolve(presenceWith(object.live));
}

/** Dry runs of one version: a further refusal is not about that version. (Quotas answer 409 if two writers collide.) */
const mostTries = 3;

/**
 * The API server finds others' fields before it finds that the object has moved. A second equal answer shows that it has not moved.
 */
const mostConflictTries = 2;

/** One target with its dry run. */
export async function prepareOne(context: DryRunContext, resolved: Resolved, before: readonly string[] = []): Promise<Evaluated> {
  if (resolved.change.restore !== undefined) return prepareRestored(context, resolved);
  const found = await (before.length === 0 ? context.firstRead(resolved) : readTarget(context, resolved));
  const verdict = await tryScaled(context, resolved, found);
  if (verdict.kind === 'prepared') return checked(context, verdict.prepared);
  if (verdict.kind !== 'moved') return verdict;
  const { failure, prior } = verdict;
  const version = textAt(prior, 'metadata', 'resourceVersion') ?? '';
  const versions = [...before, version];
  const tries = failure.conflicts === undefined ? mostTries : mostConflictTries;
  if (versions.filter((one) => one === version).length === tries)
    return failed(failure, { ...resolved, prior }, tried, context.transaction);
  return versions.length < mostReads ? prepareOne(context, resolved, versions) : { kind: 'trouble', failure };
}

async function prepareRestored(context: DryRunContext, resolved: Resolved): Promise<Evaluated> {
  const found = await tryRestore(context, resolved);
  if (found.kind === 'refused') return failed(found.failure, { ...resolved, prior: found.prior }, tried, context.transaction);
  return found.kind === 'prepared' ? checked(context, found.prepared) : found;
}

// The dry run sends the number that the write will send, under the version that has it.
async function tryScaled(context: DryRunContext, resolved: Resolved, found: Presence): Promise<Evaluated | Moved> {
  const prior = found.kind === 'present' ? found.object : undefined;
  const scaling = await scalingOf(context, resolved, prior);
  if ('trouble' in scaling) return { kind: 'trouble', failure: scaling.trouble };
  const { keepsScale, note } = scaling;
  const verdict = await tryFound(context, keepsScale === undefined ? resolved : keeping(resolved, keepsScale, prior), found);
  if (verdict.kind !== 'prepared') return verdict;
  const { prepared } = verdict;
  const kept = keptNote(scaling, resolved.change, prior, isSealed(resolved, context.transaction));
  const said = noted(joined(prepared.note, note, kept));
  return { kind: 'prepared', prepared: { ...prepared, ...(keepsScale === undefined ? {} : { keepsScale }), ...said } };
}

function keeping(resolved: Resolved, { path }: KeptScale, prior: JsonObject | undefined): Resolved {
  const { change } = resolved;
  return { ...resolved, change: { ...change, content: keptContent(change.content, path, prior) } };
}

// Whatever it is expected to become, shown by a dry run or not.
async function checked(context: DryRunContext, prepared: Prepared): Promise<Evaluated> {
  const why = whyIncomparable(prepared.expected);
  if (why !== undefined) return { kind: 'fault', fault: incomparable(prepared.resolved, why) };
  const wrong = await wrongOwner(context, prepared);
  if (wrong !== undefined) return wrong;
  const found = await withHazards(context, prepared);
  return 'resolved' in found ? { kind: 'prepared', prepared: found } : { kind: 'trouble', failure: found.trouble };
}

const tried = 'was refused by a dry run';

async function tryFound(context: DryRunContext, resolved: Resolved, found: Presence): Promise<Evaluated | Moved> {
  const { transaction } = context;
  if (found.kind === 'trouble') return unread(context, resolved, found.failure);
  const prior = found.kind === 'present' ? found.object : undefined;
  const why = whyIncomparable(prior);
  if (why !== undefined) return { kind: 'fault', fault: incomparable(resolved, why) };
  const wrong =
    (await versionFault(context, resolved, found)) ??
    stateFault(resolved, prior, managersOfChange(transaction, resolved.change)) ??
    otherAppFault(resolved, prior, transaction);
  if (wrong !== undefined) return { kind: 'fault', fault: wrong };
  // No dry run is possible if an earlier change creates the Namespace or the kind.
  const by = await makerOf(context, resolved);
  if (by !== undefined) return { kind: 'prepared', prepared: dependent(resolved, by, { prior, transaction }) };
  return (await probeUndo(context, resolved, prior)) ?? tryChange(context, resolved, prior);
}

function unread(context: DryRunContext, resolved: Resolved, failure: Failure): Evaluated {
  const fault = conversionFault(context, resolved, failure);
  return fault === undefined ? failed(failure, resolved, 'could not be read', context.transaction) : { kind: 'fault', fault };
}

// Whether an Apply will make the Namespace depends on whether it exists.
async function makerOf({ all, firstRead }: DryRunContext, { dependsOn }: Resolved): Promise<number | undefined> {
  const maker = all.find(({ index }) => index === dependsOn);
  if (maker?.target.kind !== 'Namespace' || onlyWayOf(maker.change.type) !== undefined) return dependsOn;
  return (await firstRead(maker)).kind === 'present' ? undefined : dependsOn;
}

async function tryChange(context: DryRunContext, resolved: Resolved, prior: JsonObject | undefined): Promise<Evaluated | Moved> {
  const { reader, transaction } = context;
  const { target, resource } = resolved;
  const way = wayOf(resolved.change.type, prior !== undefined);
  const change = madeOf(resolved.change, { type: way });
  const { write, expected } = trialOf({ transaction, change, target, resource, prior, live: prior }, preconditionOf(prior));
  const answer = await reader.dryRun(write);
  if (answer.kind === 'failed') return afterRefusal(context, { ...resolved, prior }, way, answer.failure);
  const after = write.verb === 'delete' ? undefined : await kept(expected(answer.object), prior);
  const warnings = shownWarnings(answer, { ...resolved, prior, expected: after }, transaction);
  return prepareTried(resolved, { way, prior, expected: after, ...warnings });
}

type Tryout = Pick<Prepared, 'way' | 'prior' | 'expected' | 'warnings'>;

function prepareTried(resolved: Resolved, tryout: Tryout): Evaluated {
  const { prior, expected } = tryout;
  const why = whyIncomparable(expected);
  if (why !== undefined) return { kind: 'fault', fault: incomparable(resolved, why) };
  const { change } = resolved;
  const kept = isApplied(change.type) && !mayMake(change.type) ? keptDespiteNull(change.content, prior, expected) : undefined;
  if (kept !== undefined) return { kind: 'fault', fault: keptFault(resolved, kept) };
  return { kind: 'prepared', prepared: { resolved, ...tryout, approximate: false } };
}

type Tried = Resolved & { readonly prior: JsonObject | undefined };

async function afterRefusal(context: DryRunContext, resolved: Tried, way: Way, refusal: Failure): Promise<Evaluated | Moved> {
  const { prior, ...plain } = resolved;
  const recreation = prior === undefined ? undefined : await tryToRecreate(context, { ...plain, prior }, refusal);
  if (recreation?.kind === 'possible') {
    const { expected, note } = recreation;
    const recreated = { expected, note, approximate: true, recreates: true } as const;
    return { kind: 'prepared', prepared: { resolved: plain, way, prior, ...recreated } };
  }
  const later = await deferred(refusal, resolved, context);
  if (later !== undefined) return { kind: 'prepared', prepared: later };
  const { failure, what } = recreation ?? { failure: refusal, what: tried };
  if (['stale', 'exists', 'absent'].includes(failure.kind)) return { kind: 'moved', failure, prior };
  return withAdvice(context, resolved, failure, failed(failure, resolved, what, context.transaction));
}

async function withAdvice(
  context: DryRunContext,
  { prior, ...plain }: Tried,
  failure: Failure,
  refused: Evaluated,
): Promise<Evaluated> {
  if (prior === undefined || refused.kind !== 'fault') return refused;
  const advice = await howToRecreate(context, { ...plain, prior }, failure);
  if (advice === undefined) return refused;
  const message = fixedInPlace({ ...plain, prior }, failure, advice, context.transaction);
  return { kind: 'fault', fault: { ...refused.fault, message } };
}

// Escalation checks may refuse what RBAC rules allow. So a dry run tries to create the role or binding again. The API server makes
// these checks before it finds that the object exists: AlreadyExists means that the undo would pass. The probe uses the object's
// own name, so that policies on names do not stop it.
async function probeUndo(
  context: DryRunContext,
  resolved: Resolved,
  prior: JsonObject | undefined,
): Promise<Evaluated | undefined> {
  const { reader, transaction } = context;
  const { resource, target } = resolved;
  if (resource.group !== 'rbac.authorization.k8s.io' || prior === undefined) return undefined;
  const creating = await mayCreate({ reader, transaction }, resolved);
  if (creating.kind === 'failed') return failed(creating.failure, resolved, 'could not be checked for its rollback', transaction);
  // Without the right to create, a refusal of the probe would say nothing about an update.
  if (!creating.allowed) return undefined;
  const answer = await reader.dryRun({
    verb: 'create',
    identity: serviceAccountOf(transaction),
    location: locationOf(target, resource),
    object: asNew(prior),
    fieldManager: fieldManagers(transaction).restore,
  });
  // The undo restores this object while the earlier changes are still applied.
  if (answer.kind !== 'failed' || answer.failure.kind === 'exists') return undefined;
  if ((await earlierRemover(answer.failure, { ...resolved, prior }, context)) !== undefined) return undefined;
  return failed(answer.failure, resolved, 'could not be restored by the ServiceAccount', transaction);
}

function withTarget(failure: Failure, resolved: Refused, transaction: Transaction): Failure {
  const { said } = withWords(failure, resolved, transaction);
  return said === undefined ? failure : { ...failure, said: `${describe(resolved.target)}: ${said}` };
}

function failed(failure: Failure, resolved: Refused, what: string, transaction: Transaction): Evaluated {
  if (failure.kind === 'transient') return { kind: 'trouble', failure: withTarget(failure, resolved, transaction) };
  return {
    kind: 'fault',
    fault: refusalFault(failure, resolved, what, transaction),
  };
}
