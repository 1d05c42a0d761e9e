// A requested undo is evaluated as a whole before its first write: each change by the rules by which it is undone, and each restore and
// each recreation by a dry run. Nothing here writes.
import { allLost } from '../attribution/gone-owners.ts';
import { goneManagers } from '../attribution/others.ts';
import type { UndoEvidence, UndoVerdict } from '../attribution/undo.ts';
import { removerOf, undoWriteOf } from '../checks/deferred.ts';
import { gapFaults, type Need } from '../checks/permissions.ts';
import { describeRefusal } from '../checks/refusal.ts';
import { unreadable } from '../decide/guards.ts';
import { judgeUndo } from '../decide/rolling-back.ts';
import { isCrd } from '../model/crds.ts';
import type { SnapshotEntry } from '../model/entry.ts';
import type { Failure } from '../model/failure.ts';
import { isToUndo } from '../model/item.ts';
import type { Wanted } from '../model/others.ts';
import type { Packer } from '../model/packer.ts';
import { reasonOfFailure } from '../model/reason.ts';
import { describe, groupOf, identityOf } from '../model/reference.ts';
import type { UndoFinding } from '../model/undo.ts';
import { reviewAccess } from '../observe/access.ts';
import { type ItemContext, observeItem } from '../observe/item.ts';
import { inTurn } from '../observe/listing.ts';
import type { ItemView, Observation } from '../observe/observation.ts';
import { compensation } from '../plan/compensation.ts';
import { blocked, findingOf, type Subject, undecided } from './finding.ts';

interface SurveyContext {
  readonly looking: Omit<ItemContext, 'index' | 'direction' | 'carry' | 'mayAssume' | 'earlier' | 'ahead'>;
  /** Its status is that with which the undo begins. */
  readonly observation: Observation;
  readonly entries: readonly SnapshotEntry[];
  readonly packer: Pick<Packer, 'tag'>;
}

/** Objects that are evaluated at once. */
const atOnce = 8;

/** What the undo does with each change that is to be undone, in the order of the changes. */
export async function surveyUndo(context: SurveyContext): Promise<readonly UndoFinding[]> {
  const { status } = context.observation;
  const toUndo = context.entries.filter(({ index }) => {
    const item = status.items[index];
    return item !== undefined && isToUndo(item);
  });
  const findings = await inTurn(toUndo, (entry) => evaluate(context, entry), atOnce);
  return withRights(context, findings);
}

async function evaluate(context: SurveyContext, entry: SnapshotEntry, others?: Wanted): Promise<UndoFinding> {
  const { view, evidence, verdict } = await judge(context, entry, others);
  const subject = { evidence, packer: context.packer };
  const hidden = unreadFor(view, context, subject) ?? unseenFor(view, verdict, subject);
  if (hidden !== undefined) return hidden;
  if (verdict.kind !== 'readMore') return tried(context, subject, verdict, view);
  if (others === 'all') return findingOf(subject, verdict);
  return evaluate(context, entry, others === undefined ? verdict.others : 'all');
}

interface Judged {
  readonly view: ItemView;
  readonly evidence: UndoEvidence;
  readonly verdict: UndoVerdict;
}

async function judge(context: SurveyContext, entry: SnapshotEntry, others: Wanted | undefined): Promise<Judged> {
  const { looking, observation } = context;
  const found = await observeItem({
    ...looking,
    status: observation.status,
    index: entry.index,
    direction: 'backward',
    carry: others === undefined ? {} : { others },
    mayAssume: false,
    earlier: undefined,
    ahead: undefined,
  });
  const view = withoutOwn(found);
  const drift = view.drift === 'broken' ? [] : view.drift;
  return { view, ...judgeUndo(observation, view, { kind: 'clear', entry, drift }) };
}

// What the same undo takes away before is not in the way.
function withoutOwn({ stored, ...view }: ItemView): ItemView {
  return { ...view, ownContents: [], ...(stored === undefined ? {} : { stored: { ...stored, awaited: [] } }) };
}

/** What must be read before anything is known of the change. */
function unreadFor(view: ItemView, { observation }: SurveyContext, subject: Subject): UndoFinding | undefined {
  const { transaction } = observation;
  if (view.serviceAccount.kind === 'absent') {
    const account = `${transaction.namespace}/${transaction.serviceAccountName}`;
    return blocked(subject, { reason: 'ServiceAccountMissing', message: `ServiceAccount ${account} does not exist` });
  }
  const read = view.live.kind === 'trouble' ? view.live : view.serviceAccount;
  const failure = read.kind === 'trouble' ? read.failure : (view.contentsTrouble ?? view.othersTrouble);
  return failure === undefined ? undefined : notRead(failure, subject, observation);
}

/** What must be seen before the object is deleted, or gets its owners back. */
function unseenFor(view: ItemView, { kind }: UndoVerdict, subject: Subject): UndoFinding | undefined {
  const isBack = kind === 'recreate' || kind === 'complete' || kind === 'content';
  const ofDelete = kind === 'delete' ? (view.unseenInside ?? view.failing[0]) : undefined;
  const unseen = isBack ? view.unseenOwner : ofDelete;
  if (unseen === undefined) return undefined;
  const what = isBack ? 'an owner of it is' : 'objects that would go with it are';
  const message = `${describe(subject.evidence.entry.target)}: ${what} of ${unseen.kind}, which cannot be read (${unseen.failure.reason})`;
  return undecided(subject, message, reasonOfFailure(unseen.failure));
}

function notRead(failure: Failure, subject: Subject, { transaction }: Observation): UndoFinding {
  const { entry } = subject.evidence;
  if (failure.kind !== 'refused')
    return undecided(subject, `${describe(entry.target)} cannot be read (${failure.reason})`, reasonOfFailure(failure));
  return blocked(subject, unreadable(failure, entry, transaction));
}

/** The finding, with what the API server says of the write. Deletions are not tried. */
async function tried(context: SurveyContext, subject: Subject, verdict: UndoVerdict, view: ItemView): Promise<UndoFinding> {
  const { evidence } = subject;
  const { entry } = evidence;
  const found = findingOf(subject, verdict);
  const { transaction } = context.observation;
  const lost = { goneOwners: allLost(view), goneManagers: goneManagers(evidence) };
  const write = compensation({ transaction, entry, ...lost }, verdict)?.write;
  if (write === undefined || write.verb === 'delete' || lacksItsPlace(context, entry)) return found;
  const answer = await context.looking.source.reader.dryRun(write);
  return answer.kind === 'ok' ? found : refusedTry(context, subject, found, answer.failure);
}

function refusedTry(context: SurveyContext, subject: Subject, found: UndoFinding, failure: Failure): UndoFinding {
  const { entry } = subject.evidence;
  const name = describe(entry.target);
  if (failure.kind !== 'refused' && failure.kind !== 'absent')
    return undecided(subject, `the dry run of the undo of ${name} failed (${failure.reason})`, reasonOfFailure(failure));
  const before = context.entries.filter(({ index }) => index !== entry.index).map(undoWriteOf);
  if (removerOf(failure, undoWriteOf(entry), before) !== undefined) return found;
  const detail = describeRefusal(failure, entry, context.observation.transaction);
  const message = `the API server refuses to undo ${entry.type} of ${name}: ${detail}`;
  return blocked(subject, { reason: reasonOfFailure(failure), message });
}

// Its Namespace, or its kind, comes back with the same undo: until then every write is refused.
function lacksItsPlace({ entries }: SurveyContext, { target }: SnapshotEntry): boolean {
  return entries.some(({ type, target: other, prior }) => {
    if (type !== 'Delete' || prior === undefined) return false;
    const isNamespace = identityOf(other) === identityOf({ apiVersion: 'v1', kind: 'Namespace', name: target.namespace ?? '' });
    return isNamespace || (isCrd({ target: other }) && other.name.endsWith(`.${groupOf(target.apiVersion)}`));
  });
}

// A dry run shows the right to restore and to recreate, nothing the right to delete.
async function withRights(context: SurveyContext, findings: readonly UndoFinding[]): Promise<readonly UndoFinding[]> {
  const { looking, observation, entries, packer } = context;
  const { transaction } = observation;
  const doomed = entries.filter(({ index }) => findings.some((one) => one.index === index && one.verdict === 'Delete'));
  const needs = [...Map.groupBy(doomed, deletion).entries()].map(
    ([text, those]): Need => ({
      question: JSON.parse(text),
      by: those.map(({ index, target, resource }) => ({
        index,
        target,
        resource: { ...resource, verbs: [] },
        change: changeAt(context, index),
      })),
      purpose: 'undo',
    }),
  );
  if (needs.length === 0) return findings;
  const access = await reviewAccess({ reader: looking.source.reader, transaction }, needs);
  const account = `${transaction.namespace}/${transaction.serviceAccountName}`;
  return findings.map((one): UndoFinding => {
    const entry = doomed.find(({ index }) => index === one.index);
    if (entry === undefined) return one;
    if (access.kind === 'trouble')
      return {
        ...one,
        verdict: 'Undecided',
        message: `the rights of ServiceAccount ${account} cannot be reviewed (${access.failure.reason})`,
      };
    const gap = access.gaps.find(
      (question) => question.name === entry.target.name && deletion(entry) === JSON.stringify({ ...question, name: undefined }),
    );
    if (gap === undefined) return one;
    const message = gapFaults([gap], account)[0]?.message ?? '';
    return {
      ...one,
      verdict: 'Blocked',
      reason: 'Forbidden',
      message,
      state: packer.tag(`${entry.index} Forbidden`, 'undo-plan'),
    };
  });
}

function changeAt({ observation }: SurveyContext, index: number) {
  const change = observation.transaction.changes[index];
  if (change === undefined) throw new Error(`there is no change ${index}`);
  return change;
}

function deletion({ resource, target }: SnapshotEntry): string {
  const place = target.namespace === undefined ? {} : { namespace: target.namespace };
  return JSON.stringify({ verb: 'delete', group: resource.group, resource: resource.plural, ...place });
}
