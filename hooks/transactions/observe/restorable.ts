// Whether the API server would take the prior state of a target back, tried before anything is changed.
//
// An object may be invalid: its CRD became stricter since, a policy came, or the API server tolerates an old value only as long as
// no write changes it (ratcheting). So a dry run creates the object again, with the body that the undo would send. The API server
// validates and admits a new object before it finds that the name is taken (recreate.ts): AlreadyExists shows that the prior state
// is valid. Only a refusal by rules shows that it is not; a webhook that is away shows nothing.
//
// The undo of a change in place is an update, and the API server forgives an update what it leaves as it is. So an invalid value of
// the prior state is lost only if the change replaces it by a valid one. Source: apiextensions-apiserver pkg/apiserver/validation/
// ratcheting.go. Of kinds that are built in, one-way-fields.ts has the fields instead.

import type { Reader } from '../../objects/cluster.ts';
import { asNew, contentOf } from '../../objects/content/content.ts';
import { withoutGenerated } from '../../objects/content/generated.ts';
import { curedFields } from '../../objects/content/invalid-paths.ts';
import { isCustom } from '../../objects/definitions.ts';
import type { Failure } from '../../objects/failure.ts';
import { equalJson, type JsonObject, withKey } from '../../objects/json.ts';
import { apiVersionOf } from '../../objects/reference.ts';
import { type Earlier, type Later, removerOf } from '../checks/deferred.ts';
import { describeRefusal } from '../checks/refusal.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import { fieldManagers, type Transaction } from '../model/transaction.ts';
import { locationOf } from '../writes/change.ts';
import { serviceAccountOf } from '../writes/resources.ts';
import { earlierWrites } from './earlier-writes.ts';
import { servedNow, type TargetReads } from './former-version.ts';
import type { Prepared } from './observation.ts';

interface Context {
  readonly reader: Pick<Reader, 'dryRun'>;
  readonly transaction: Transaction;
}

/** A change with the states before and after it. */
type Subject = Pick<SnapshotEntry, 'index' | 'target' | 'resource'> & {
  readonly prior: JsonObject;
  /** Undefined if the change deletes the object, though it may create it again. */
  readonly after: JsonObject | undefined;
};

type Verdict =
  | { readonly kind: 'accepted' }
  /** `why`: in words, without values that messages must not show. */
  | { readonly kind: 'refused'; readonly why: string }
  | { readonly kind: 'trouble'; readonly failure: Failure };

/** `deferred`: the earlier change `after` may remove the reason. */
export type PriorVerdict = Verdict | { readonly kind: 'deferred'; readonly after: number };

const accepted = { kind: 'accepted' } as const;

/** Before the first change. */
export async function tryPrior(context: TargetReads, prepared: Prepared): Promise<PriorVerdict> {
  const found = subjectOf(prepared);
  if (found === undefined || !isToTry(found)) return accepted;
  const subject = { ...found, resource: await servedNow(context, prepared.resolved) };
  const failure = await refusalOf(context, subject);
  const remover = failure && removerIn(await earlierWrites(subject, context), subject, failure);
  if (remover === undefined) return verdictOf(failure, subject, context.transaction);
  return remover.index === subject.index ? accepted : { kind: 'deferred', after: remover.index };
}

/** In the turn of the change, if the trial was deferred. `after`: the object after the change; undefined if it is deleted. */
export async function tryPriorInTurn(
  context: Context,
  { index, target, resource, prior }: SnapshotEntry,
  after: JsonObject | undefined,
): Promise<Verdict> {
  if (prior === undefined) return accepted;
  const subject = { index, target, resource, prior, after };
  const failure = await refusalOf(context, subject);
  const isTaken = failure?.kind === 'refused' && removerIn([], subject, failure) !== undefined;
  return isTaken ? accepted : verdictOf(failure, subject, context.transaction);
}

// If the object is deleted, it alone may have taken what is short: a quota, a node port, the place of the default class.
function removerIn(before: readonly Earlier[], subject: Subject, failure: Failure): Earlier | undefined {
  const { index, target, resource, prior, after } = subject;
  const own = { index, type: 'Delete', target, resource, states: { before: prior, after: undefined } } as const;
  const write: Later = { ...own, type: after === undefined ? 'Create' : 'Update', content: prior, prior };
  return removerOf(failure, write, after === undefined ? [own, ...before] : before);
}

function verdictOf(failure: Failure | undefined, subject: Subject, transaction: Transaction): Verdict {
  if (failure === undefined) return accepted;
  return failure.kind === 'refused'
    ? { kind: 'refused', why: whyOf(failure, subject, transaction) }
    : { kind: 'trouble', failure };
}

function whyOf(failure: Failure, { after: expected, ...subject }: Subject, transaction: Transaction): string {
  return `the API server would not take back what is there now: ${describeRefusal(failure, { ...subject, expected }, transaction)}`;
}

function subjectOf({ resolved: { index, target, resource }, prior, expected, recreates }: Prepared): Subject | undefined {
  if (prior === undefined) return undefined;
  return { index, target, resource, prior, after: recreates === true ? undefined : expected };
}

// Of roles and bindings a dry run has shown it (dry-run.ts, probeUndo). The rules of a CRD are about the content, not the metadata.
function isToTry({ resource, prior, after }: Subject): boolean {
  if (resource.group === 'rbac.authorization.k8s.io') return false;
  const content = (state: JsonObject): JsonObject => withKey(contentOf(state, resource), 'metadata', undefined);
  return after === undefined || (isCustom(resource) && !equalJson(content(prior), content(after)));
}

/** Why the API server would refuse the prior state; undefined if it would accept it, or if it does not say so. */
async function refusalOf(context: Context, subject: Subject): Promise<Failure | undefined> {
  const { prior, after } = subject;
  const failure = await creationFailure(context, subject, prior);
  if (failure === undefined || after === undefined || failure.kind !== 'refused') return failure;
  if (failure.fields.length === 0) return undefined;
  const still = await creationFailure(context, subject, after);
  if (still !== undefined && still.kind !== 'refused') return still;
  const fields = curedFields({ state: prior, fields: failure.fields }, { state: after, fields: still?.fields ?? [] });
  return fields.length === 0 ? undefined : { ...failure, fields };
}

// 400 is what a webhook denies with if it names no code. A webhook that allows no dry runs answers 400, too: the survey of a requested
// undo (undo/survey.ts) would be refused for that, as well.
const refusals: readonly number[] = [400, 403, 422];
/** A webhook that is away: 503 and the like are of the API server itself. */
const webhookAway = 500;

async function creationFailure({ reader, transaction }: Context, { target, resource }: Subject, state: JsonObject) {
  const answer = await reader.dryRun({
    verb: 'create',
    identity: serviceAccountOf(transaction),
    location: locationOf(target, resource),
    object: withKey(withoutGenerated(asNew(state)), 'apiVersion', apiVersionOf(resource)),
    fieldManager: fieldManagers(transaction).restore,
  });
  const failure = answer.kind === 'failed' ? answer.failure : undefined;
  const isByRules = failure?.kind === 'refused' && refusals.includes(failure.code);
  const mayPass = failure?.kind === 'transient' && failure.code !== webhookAway;
  return isByRules || mayPass ? failure : undefined;
}
