// What is remembered of the effect that a change had on identity and owners, so that other Transactions over the same object can
// tell what was built upon what.
import { losers } from '../content/ownership.ts';
import type { Json } from '../model/json.ts';
import { type ChangeType, isOfTransaction } from '../model/transaction.ts';
import { uidOf } from './judge.ts';
import type { Applied } from './transitions.ts';

const mostManagers = 20;

/** `before` and `after` as they were around the write; `after` is undefined for what was deleted. */
export function effectOf(
  type: ChangeType,
  before: Json | undefined,
  after: Json | undefined,
): Pick<Applied, 'uid' | 'tookFieldsFrom'> {
  const uid = type === 'Create' ? uidOf(after) : type === 'Delete' ? uidOf(before) : undefined;
  const lost = type === 'Create' ? [] : losers(before, after);
  const [ours, others] = [lost.filter(isOfTransaction), lost.filter((name) => !isOfTransaction(name))];
  // People are told whose fields a Patch took; what is deleted or replaced is no news.
  const took = [...ours, ...(type === 'Patch' ? others : [])].slice(0, mostManagers);
  return { ...(uid === undefined ? {} : { uid }), ...(took.length === 0 ? {} : { tookFieldsFrom: took.toSorted() }) };
}
