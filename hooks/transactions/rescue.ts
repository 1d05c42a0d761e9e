// The last resort: an error that not even the recovery of a step caught. The answer depends on nothing that failed: it uses the
// live Transaction, of which it reads only whether it is being deleted.

import { at, isObject, type JsonObject, textAt } from '../objects/json.ts';
import { parseTime } from '../objects/time.ts';
import type { Call, Reply, StepReport } from './call.ts';
import { isPhase } from './model/phase.ts';
import { pauseAfterTrouble } from './reply.ts';
import type { Serving } from './serving.ts';
import { engine, transactions } from './writes/resources.ts';

/** ms for which the undo of a deleted Transaction is retried: only that undo can restore deleted objects. */
const undoPatience = 60_000;

const because = 'internal error of the engine';

export async function rescued(serving: Serving, call: Call, thrown: unknown): Promise<Reply> {
  const { session, parts, memory } = serving;
  const { namespace, name, uid, children } = call;
  const found = await session.cluster.get({ resource: transactions, namespace, name }, engine);
  const retry = (): Reply => ({ kind: 'retry', retryAfterSeconds: pauseAfterTrouble(serving, uid), because });
  if (found.kind === 'failed' || textAt(found.object, 'metadata', 'uid') !== uid) return retry();
  // A write may have been sent without a recorded answer.
  memory.unsettled(uid, found.serverTime);
  parts.record(reportOf(call, found, thrown));
  if (!isToLetGo(found.object, found.serverTime)) return retry();
  memory.forget(uid);
  const status = at(found.object, 'status');
  return { kind: 'status', status: isObject(status) ? status : {}, children, resyncAfterSeconds: 0, finalized: true };
}

// A user must be able to delete it; garbage collection removes what it leaves behind.
function isToLetGo(object: JsonObject, now: number): boolean {
  const deletedAt = parseTime(textAt(object, 'metadata', 'deletionTimestamp'));
  if (deletedAt === undefined) return false;
  return textAt(object, 'status', 'phase') !== 'RollingBack' || now > deletedAt + undoPatience;
}

function reportOf(
  call: Call,
  { object, serverTime }: { readonly object: JsonObject; readonly serverTime: number },
  thrown: unknown,
) {
  const { namespace, name, uid } = call;
  const said = textAt(object, 'status', 'phase') ?? '';
  const phase = isPhase(said) ? said : 'Pending';
  const stored = { fromPhase: phase, toPhase: phase, items: [], gates: [], conflicts: [] };
  const about = { namespace, name, uid, step: 'wait', because, fromPhase: phase, toPhase: phase, outcome: 'EngineFault', thrown };
  const report: StepReport = { ...about, at: serverTime, foundVersion: 0, version: 0, stored, locks: [], audit: [], events: [] };
  return report;
}
