// Rollbacks say in their statuses what they have undone. Their metadata shows which Transactions are rollbacks, so no other is read.
import { at, type Json, listAt, textAt } from '../../hooks/objects/json.ts';
import { inTurn } from '../../hooks/objects/requests/in-turn.ts';
import { Problem } from '../problem.ts';
import { type TransactionView, viewOf } from '../show/view.ts';
import { allPages } from './pages.ts';
import { caller, type Session } from './session.ts';
import { findTransaction, type TransactionName, transactions } from './transactions.ts';

/** Whether a client has written `spec.rollback`: the API server notes every field of the spec, which is immutable. */
export function isRollback(object: Json | undefined): boolean {
  return listAt(object, 'metadata', 'managedFields').some((one) => at(one, 'fieldsV1', 'f:spec', 'f:rollback') !== undefined);
}

/** Without those that the user may not read, or that are deleted by now. */
export async function readRollbacks(session: Session, names: readonly TransactionName[]): Promise<readonly TransactionView[]> {
  const found = await inTurn(names, (one) => unlessProblem(findTransaction(session, one)));
  return found.flatMap((object) => (object === undefined ? [] : [viewOf(object)]));
}

/** The rollbacks of a namespace; none if the user may not list Transactions. */
export async function rollbacksIn(session: Session, namespace: string): Promise<readonly TransactionView[]> {
  const pages = await unlessProblem(
    allPages((from) =>
      session.cluster.listMetadata(transactions, namespace, caller, { limit: 500, ...(from === '' ? {} : { from }) }),
    ),
  );
  if (pages === undefined || 'kind' in pages) return [];
  const names = pages.flatMap(({ items }) => items.filter(isRollback)).map((one) => textAt(one, 'metadata', 'name') ?? '');
  return readRollbacks(
    session,
    names.map((name) => ({ namespace, name })),
  );
}

async function unlessProblem<Value>(promise: Promise<Value>): Promise<Value | undefined> {
  try {
    return await promise;
  } catch (error) {
    if (error instanceof Problem) return undefined;
    throw error;
  }
}
