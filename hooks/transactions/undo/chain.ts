// The plan of an undo that follows the undos of later Transactions (tx.janus.io/undo-after): each is evaluated on the states that the
// undos before it would leave. Nothing is written, so the plan holds for the states as they are read.

import { describe, identityOf } from '../../objects/reference.ts';
import { foreign } from '../../objects/words.ts';
import { undoWriteOf } from '../checks/deferred.ts';
import { namesIn, undoChoicesOf } from '../checks/undo-choices.ts';
import { undoingAgain } from '../decide/undo-transitions.ts';
import { annotations, decodeTransaction, holderOf, type Transaction } from '../model/transaction.ts';
import type { Request, UndoFinding } from '../model/undo.ts';
import type { Observation } from '../observe/observation.ts';
import type { ObserveContext } from '../observe/observe.ts';
import { read } from '../observe/read.ts';
import { readSnapshot } from '../observe/snapshot.ts';
import { engine, transactions } from '../writes/resources.ts';
import { surveyUndo } from './survey.ts';
import type { Assumed, SurveyContext, Surveyed } from './surveyed.ts';

type Base = Omit<SurveyContext, 'assumed'>;

const nothingAssumed: Assumed = { objects: new Map(), undone: new Set(), writes: [] };
const longestName = 253;

/** The observation, with the evaluation of a whole undo if it is wanted. */
export async function withSurvey(observing: ObserveContext, observation: Observation): Promise<Observation> {
  const { due, status, now, transaction } = observation;
  if (observing.carry.surveys !== true || (due.kind !== 'reacquire' && due.kind !== 'planUndo')) return observation;
  if (due.snapshot.kind !== 'stored') return observation;
  const { entries } = due.snapshot;
  const { overwrite } = undoChoicesOf(
    transaction,
    entries.map(({ target }) => target),
  );
  const begun = undoingAgain(status, due.request, now, { leases: [], writer: undefined, overwritten: overwrite });
  const context = {
    observing,
    observation: { ...observation, status: begun },
    snapshot: due.snapshot,
    packer: observing.source.packer,
  };
  return { ...observation, due: { ...due, survey: await surveyAfter(context, due.request) } };
}

/** What the undo does with each change, after the undos that the annotation names. */
async function surveyAfter(base: Base, request: Request): Promise<readonly UndoFinding[]> {
  const names = new Set(namesIn(base.observation.transaction, annotations.undoAfter));
  let assumed = nothingAssumed;
  for (const name of request.annotation === annotations.planUndo ? names : []) {
    const later = await surveyLater(base, name, assumed, request);
    if (typeof later === 'string') return blockedAll(base, later);
    assumed = later;
  }
  return (await surveyUndo({ ...base, assumed })).map(({ finding }) => finding);
}

/** The assumed states after the undo of that Transaction, too; or in words why no state can be assumed. */
async function surveyLater(base: Base, name: string, assumed: Assumed, request: Request): Promise<Assumed | string> {
  const { observing, observation } = base;
  const { source } = observing;
  const { namespace } = observation.transaction;
  const shown = `Transaction ${namespace}/${foreign(name, longestName)}`;
  const found = await read(source.reader, { resource: transactions, namespace, name }, engine);
  if (found.kind !== 'present')
    return `${annotations.undoAfter} names ${shown}, which ${found.kind === 'absent' ? 'does not exist' : 'cannot be read'}`;
  const transaction = decodeTransaction(found.object);
  const { status } = transaction;
  if (status?.phase !== 'Committed') return `${shown} is not Committed, so its undo cannot be planned`;
  const snapshot = await readSnapshot(source, transaction, status.rollbackRef);
  if (snapshot.kind !== 'stored') return `the snapshot of ${shown} cannot be read`;
  const begun = undoingAgain(status, request, observation.now, { leases: [], writer: undefined });
  const surveyed = await surveyUndo({
    ...base,
    observing: { ...observing, transaction, status: begun },
    observation: { ...observation, transaction, status: begun },
    snapshot,
    assumed,
  });
  const first = surveyed.find(({ finding }) => finding.verdict === 'Blocked' || finding.verdict === 'Undecided');
  return first === undefined
    ? after(assumed, transaction, surveyed)
    : `the undo of ${shown} is blocked at ${describe(first.entry.target)}`;
}

function after({ objects, undone, writes }: Assumed, transaction: Transaction, surveyed: readonly Surveyed[]): Assumed {
  const left = surveyed.map(({ entry, after: state }) => [identityOf(entry.target), state] as const);
  const taken = surveyed.filter(({ finding }) => finding.verdict !== 'Nothing').map(({ entry }) => undoWriteOf(entry));
  return {
    objects: new Map([...objects, ...left]),
    undone: new Set([...undone, holderOf(transaction)]),
    writes: [...writes, ...taken],
  };
}

function blockedAll({ snapshot: { entries } }: Base, message: string): readonly UndoFinding[] {
  return entries.map(({ index }) => ({
    index,
    verdict: 'Blocked',
    reason: 'LaterTransaction',
    message,
    state: message,
    object: undefined,
  }));
}
