// The engine evaluates a requested undo as a whole before its first write. It evaluates each change by the rules of its undo, and
// each restore and each recreation by a dry run. Nothing here writes.

import type { Failure } from '../../objects/failure.ts';
import { describe, identityOf } from '../../objects/reference.ts';
import { isMade, sinceRelease } from '../attribution/since.ts';
import type { UndoEvidence, UndoVerdict } from '../attribution/undo.ts';
import { undoChoicesOf } from '../checks/undo-choices.ts';
import { acting } from '../decide/barred.ts';
import { type ReadTrouble, troubleOf, unreadable } from '../decide/guards.ts';
import { causeOf } from '../decide/refusals.ts';
import { undoingAgain } from '../decide/undo-transitions.ts';
import { type Unread, unreadBy, unservedObject } from '../decide/unlistable-kinds.ts';
import type { Staying } from '../hazards/read-context.ts';
import { isSealed, type SnapshotEntry } from '../model/entry.ts';
import { toUndoOf } from '../model/item.ts';
import type { Wanted } from '../model/other-transactions.ts';
import { reasonOfFailure } from '../model/reason.ts';
import type { Transaction } from '../model/transaction.ts';
import type { UndoFinding } from '../model/undo.ts';
import { observeItem } from '../observe/item.ts';
import type { ItemView, Observation } from '../observe/observation.ts';
import type { ObserveContext } from '../observe/observe.ts';
import { presenceWith, readServiceAccount } from '../observe/read.ts';
import { mostReads } from '../observe/restored.ts';
import { droppingEach } from '../reading/memory-budget.ts';
import { evaluated } from './evaluated.ts';
import { blocked, type Subject, undecided } from './finding.ts';
import { packed } from './packed.ts';
import { withRights } from './rights.ts';
import type { SurveyContext, Surveyed } from './surveyed.ts';
import { tried } from './trial.ts';

type Shared = Pick<ItemView, 'snapshot' | 'serviceAccount'>;

/** Objects that are evaluated at once. */
const atOnce = 8;

/** The observation, with the evaluation of a whole undo if it is wanted. */
export async function withSurvey(observing: ObserveContext, observation: Observation): Promise<Observation> {
  const { due, status, now, transaction } = observation;
  if (observing.carry.surveys !== true || (due.kind !== 'reacquire' && due.kind !== 'planUndo')) return observation;
  const { snapshot, request } = due;
  if (snapshot.kind !== 'stored') return observation;
  const targets = snapshot.entries.map(({ target }) => target);
  const choices = undoChoicesOf(transaction, targets);
  const begun = undoingAgain(status, request, now, { leases: [], writer: undefined, overwritten: choices.overwrite });
  const toUndo = toUndoOf(snapshot.entries, begun.items);
  const context = { observing, observation: { ...observation, status: begun }, snapshot, choices, toUndo };
  const surveyed = await surveyUndo(context);
  return { ...observation, due: { ...due, survey: surveyed.map(({ finding }) => finding) } };
}

/** What the undo does with each change that is to be undone, in the order of the changes. */
async function surveyUndo(context: SurveyContext): Promise<readonly Surveyed[]> {
  const { observation, snapshot, observing, toUndo } = context;
  const shared = { snapshot, serviceAccount: await readServiceAccount(observing.source, observation.transaction) };
  const first = await evaluateEach({ ...context, shared }, toUndo);
  const staying = stayingOf(first);
  // The undo of a target that stays comes first, and may not take it out of the way.
  const isLeft = (index: number): boolean => toUndo.some((one) => one.index === index && staying.has(identityOf(one.target)));
  const isAgain = ({ awaits, finding }: Surveyed): boolean => finding.verdict !== 'Blocked' && awaits.some(isLeft);
  const again = first.filter(isAgain).map(({ entry }) => entry);
  const second = await evaluateEach({ ...context, shared, staying }, again);
  return withRights(
    context,
    first.map((one) => second.find(({ entry }) => entry === one.entry) ?? one),
  );
}

/** Objects are read a few at a time, and dropped. */
async function evaluateEach(context: Evaluating, entries: readonly SnapshotEntry[]): Promise<readonly Surveyed[]> {
  const { source } = context.observing;
  return droppingEach({ reader: source.reader, atOnce }, entries, async (entry, reader) => {
    const observing = { ...context.observing, source: { ...source, reader } };
    const found = await evaluate({ ...context, observing }, entry);
    const kept = await packed(source, found);
    return 'finding' in kept ? kept : withoutRoom(found, kept.failure);
  });
}

function withoutRoom({ finding: { index, state }, ...found }: Surveyed, failure: Failure): Surveyed {
  const message = `${describe(found.entry.target)} cannot be kept in memory with the others: ${failure.message}`;
  const finding = { index, state, verdict: 'Undecided', reason: reasonOfFailure(failure), message, object: undefined } as const;
  return { ...found, finding, after: { kind: 'trouble', failure } };
}

type Evaluating = SurveyContext & { readonly shared: Shared; readonly staying?: ReadonlyMap<string, Staying> };

/** The targets that are there after the undo. */
function stayingOf(found: readonly Surveyed[]): ReadonlyMap<string, Staying> {
  const left = found.flatMap(({ entry: { target, resource }, after, finding: { verdict } }) =>
    after.kind === 'present' && verdict !== 'Blocked' ? [[identityOf(target), { resource, after }] as const] : [],
  );
  return new Map(left);
}

/** What an evaluation of one object knows of the evaluations before it. */
interface Earlier {
  /** The other Transactions to read first. */
  readonly others?: Wanted;
  /** How often another writer has changed the object between its read and its dry run. */
  readonly moves: number;
}

async function evaluate(context: Evaluating, entry: SnapshotEntry, earlier: Earlier = { moves: 0 }): Promise<Surveyed> {
  const { observation, observing } = context;
  const { view, awaits } = await observed(context, entry, earlier.others);
  const drift = view.drift === 'broken' ? [] : view.drift;
  const { evidence, verdict, after } = await evaluated(observation, view, { entry, drift });
  const subject = { evidence, packer: observing.source.packer };
  const hidden = unreadFor(view, verdict, subject, observation);
  if (hidden !== undefined) return { finding: withUnlistable(hidden, verdict, view), entry, after: view.live, awaits, verbs: [] };
  const next = earlierFor(verdict, earlier);
  if (next !== undefined) return evaluate(context, entry, next);
  const { finding, isMoved } = await tried(context, subject, verdict, view);
  const isAgain = isMoved && earlier.moves + 1 < mostReads;
  if (isAgain) return evaluate(context, entry, { ...earlier, moves: earlier.moves + 1 });
  return {
    finding: { ...withUnlistable(finding, verdict, view), ...sealedState(observation.transaction, entry, view) },
    entry,
    after: presenceWith(after),
    awaits,
    verbs: untriedVerbs(evidence, verdict),
  };
}

function sealedState(transaction: Transaction, entry: SnapshotEntry, { live, drift }: ItemView): Pick<UndoFinding, 'sealed'> {
  if (live.kind === 'trouble' || drift === 'broken' || !isSealed(entry, transaction)) return {};
  const now = live.kind === 'present' ? live.object : undefined;
  return { sealed: sinceRelease({ transaction, entry, live: now, isMade: isMade(transaction, entry.index), drift }).state };
}

/** What the next evaluation knows, if other Transactions must be read first. */
function earlierFor(verdict: UndoVerdict, { others, moves }: Earlier): Earlier | undefined {
  if (verdict.kind !== 'readMore' || others === 'all') return undefined;
  return { moves, others: others === undefined ? verdict.others : 'all' };
}

async function observed(context: Evaluating, entry: SnapshotEntry, others: Wanted | undefined) {
  const { observing, observation } = context;
  const found = await observeItem({
    ...observing,
    status: observation.status,
    index: entry.index,
    direction: 'backward',
    carry: others === undefined ? {} : { others },
    mayAssume: false,
    earlier: undefined,
    ahead: undefined,
    shared: context.shared,
    assumedGone: new Set(ownServers(context)),
    ...(context.staying && { staying: context.staying }),
  });
  const awaits = [...found.hazards.awaited, ...(found.hazards.stored?.awaited ?? [])].map(({ index }) => index);
  return { view: withoutOwn(found), awaits };
}

// An object that this undo takes away earlier is not in the way.
function withoutOwn({ hazards: { stored, ...hazards }, ...view }: ItemView): ItemView {
  const own = stored === undefined ? {} : { stored: { ...stored, awaited: [] } };
  return { ...view, hazards: { ...hazards, awaited: [], ...own } };
}

// APIServices that this undo deletes before what their server may have objects in: that one is not waited for.
function ownServers({ toUndo, choices: { keep } }: SurveyContext): readonly string[] {
  const isDeleted = ({ type, index, recreates }: SnapshotEntry): boolean =>
    type === 'Create' && recreates !== true && !keep.has(index);
  return toUndo.filter((entry) => isApiService(entry) && isDeleted(entry)).map(({ target }) => identityOf(target));
}

function isApiService({ resource: { group, kind } }: SnapshotEntry): boolean {
  return group === 'apiregistration.k8s.io' && kind === 'APIService';
}

/** What must be read before anything is known of the change, or before the object is deleted, or gets its owners back. */
function unreadFor(
  view: ItemView,
  verdict: UndoVerdict,
  subject: Subject,
  { transaction }: Observation,
): UndoFinding | undefined {
  const { serviceAccount, hazards } = view;
  const { entry } = subject.evidence;
  if (serviceAccount.kind === 'absent') {
    const account = `${transaction.namespace}/${transaction.serviceAccountName}`;
    return blocked(subject, { reason: 'ServiceAccountMissing', message: `ServiceAccount ${account} does not exist` });
  }
  if (serviceAccount.kind === 'trouble') return notRead({ what: acting, failure: serviceAccount.failure }, subject, transaction);
  const unserved = unservedObject(view, entry);
  const trouble = troubleOf(view, describe(entry.target));
  if (unserved === undefined && trouble !== undefined) return notRead(trouble, subject, transaction);
  const unread = unserved ?? unreadBy(verdict, hazards, entry, transaction);
  return unread && unreadFinding(subject, unread);
}

function unreadFinding(subject: Subject, { failure, isAway, reason, message }: Unread): UndoFinding {
  if (failure.kind !== 'transient' || isAway === true) return blocked(subject, { reason, message });
  return { ...undecided(subject, message, reason), isBlockedLater: true };
}

/** The finding, with the kinds that cannot be listed and whose objects may be deleted with the object. */
function withUnlistable(finding: UndoFinding, { kind }: UndoVerdict, { hazards: { failingKinds } }: ItemView): UndoFinding {
  if (kind !== 'delete' || failingKinds.length === 0) return finding;
  return { ...finding, unlistable: failingKinds.map((one) => one.kind) };
}

function notRead({ what, failure }: ReadTrouble, subject: Subject, transaction: Transaction): UndoFinding {
  if (failure.kind !== 'refused') return undecided(subject, `${what} failed (${failure.reason})`, reasonOfFailure(failure));
  if (failure.toEngine !== undefined) return blocked(subject, causeOf(acting, failure));
  return blocked(subject, unreadable(failure, subject.evidence.entry, transaction));
}

// A dry run shows the right to restore and to recreate, but not the right to delete. It also does not show the right to create an
// object that the undo must delete first.
function untriedVerbs({ entry }: UndoEvidence, { kind }: UndoVerdict): readonly string[] {
  if (kind !== 'delete') return [];
  return entry.recreates === true ? ['delete', 'create'] : ['delete'];
}
