// What a rollback needs to know before its checks, and again under its locks: the Transactions that it undoes, and the composed states.
import { type JsonObject, textAt } from '../../objects/json.ts';
import { fault } from '../checks/fault.ts';
import type { Due } from '../due.ts';
import type { Rollback } from '../model/rollback.ts';
import { decodeTransaction, type Transaction } from '../model/transaction.ts';
import type { ReleasesView, RollbackView } from '../observe/observation.ts';
import type { ObserveContext } from '../observe/observe.ts';
import { listAll } from '../reading/listing.ts';
import { engine, transactions } from '../writes/resources.ts';
import { compose } from './compose.ts';
import { keptObjects } from './kept.ts';
import { type Releases, releasesToUndo } from './releases.ts';

interface RollbackReads {
  readonly composition?: RollbackView;
  readonly releases?: () => Promise<ReleasesView>;
}

const none: RollbackReads = {};

/** The context of the reads of what is due, with what a rollback needs for it. */
export async function withRollback(observing: ObserveContext, due: Due): Promise<ObserveContext> {
  return observing.transaction.rollback === undefined ? observing : { ...observing, ...(await readRollback(observing, due)) };
}

async function readRollback(observing: ObserveContext, due: Due): Promise<RollbackReads> {
  if (due.kind === 'begin') return { releases: () => releasesAgain(observing) };
  if (due.kind !== 'compose' && due.kind !== 'prepare') return none;
  const { rollback, fieldManager } = observing.transaction;
  if (rollback === undefined || typeof fieldManager !== 'string') return { composition: { faults: [withoutManager] } };
  const found = await findReleases(observing);
  if (!('composed' in found)) return { composition: { faults: [], ...found } };
  const composition = due.kind === 'compose' ? compose(observing, rollback, found) : composeAgain(observing, rollback, found);
  return { composition: await composition };
}

async function composeAgain(observing: ObserveContext, rollback: Rollback, found: Releases): Promise<RollbackView> {
  const releases = asLocked(observing, found);
  if (releases === undefined) return vanished;
  const objects = await keptObjects(observing, releases);
  return objects === undefined ? compose(observing, rollback, releases) : { faults: [], objects };
}

const withoutManager = fault('Invalid', 'spec.rollback needs spec.fieldManager: that of the Transactions that it undoes');

const vanished: RollbackView = {
  faults: [fault('Conflict', 'spec.rollback: a Transaction that it undoes was deleted meanwhile: create the rollback again')],
};

// Under the locks no other Transaction changes these objects. One that has ended meanwhile has other objects, and is newer than this one.
function asLocked({ status }: ObserveContext, { undone, composed, ...rest }: Releases): Releases | undefined {
  const known = new Set(status.rollback?.undone.map(({ uid }) => uid));
  const isKnown = ({ uid }: Transaction): boolean => known.has(uid);
  const kept = undone.filter(isKnown);
  return kept.length === known.size ? { ...rest, undone: kept, composed: composed.filter(isKnown) } : undefined;
}

async function releasesAgain(observing: ObserveContext): Promise<ReleasesView> {
  const found = await findReleases(observing);
  if ('trouble' in found) return { trouble: found.trouble, uids: [] };
  return { uids: 'faults' in found ? [] : found.undone.map(({ uid }) => uid) };
}

type Found = Releases | Required<Pick<RollbackView, 'trouble'>> | Pick<RollbackView, 'faults'>;

async function findReleases({ source, transaction, carry }: ObserveContext): Promise<Found> {
  const { namespace, rollback, uid } = transaction;
  if (rollback === undefined) return { faults: [] };
  const lister = { ...source, identity: engine };
  // What was listed before it held a lock does not count once it does.
  const key = JSON.stringify(['releases', uid, [...carry.acquired]]);
  const listing = await source.callReads.once(key, () =>
    listAll(lister, key, { resource: transactions, namespace, whole: true }, (object) => lightly(object, transaction)),
  );
  if (listing.kind !== 'listed') return { trouble: listing.failure };
  return releasesToUndo(transaction, rollback, listing.items);
}

// Contents are not needed, and many Transactions are in memory at once.
function lightly(object: JsonObject, own: Transaction): readonly Transaction[] {
  const isNamed = textAt(object, 'metadata', 'name') === own.rollback?.to;
  if (!isNamed && textAt(object, 'spec', 'fieldManager') !== own.fieldManager) return [];
  const found = decodeTransaction(object);
  return [{ ...found, changes: found.changes.map((change) => ({ ...change, content: undefined })) }];
}
