// The undo of one change, evaluated on a state of its object: the live object, or what the undos of newer changes leave of it. A requested
// undo, its plan and a rollback evaluate each object here.
import type { JsonObject } from '../../objects/json.ts';
import { turnFor } from '../../objects/requests/loop-turns.ts';
import { goneManagers } from '../attribution/other-transactions.ts';
import { judgeUndo } from '../decide/rolling-back.ts';
import { turnToCompare } from '../observe/comparing.ts';
import { leftBy } from '../plan/compensation.ts';
import { halfToUndo } from '../writes/halves.ts';

interface Evaluated extends ReturnType<typeof judgeUndo> {
  /** The object as the undo would leave it; undefined if it is gone then. */
  readonly after: JsonObject | undefined;
}

type Judging = Parameters<typeof judgeUndo>;

/** `entry`: the whole one of a change that recreates its object. Each long comparison has a turn of the event loop. */
export async function evaluated(begun: Judging[0], view: Judging[1], { entry, drift }: Judging[2]): Promise<Evaluated> {
  const { transaction } = begun;
  const live = view.live.kind === 'present' ? view.live.object : undefined;
  await turnToCompare(live, entry.prior, entry.expected);
  const half = entry.recreates === true ? halfToUndo(entry, { item: view.item, live }, transaction) : entry;
  const { evidence, verdict } = judgeUndo(begun, view, { entry: half, drift });
  await turnFor(live, entry.prior);
  const undo = { transaction, entry: evidence.entry, goneOwners: [], goneManagers: goneManagers(evidence) };
  const after = leftBy(undo, verdict, live);
  await turnFor(live, entry.prior);
  return { evidence, verdict, after };
}
