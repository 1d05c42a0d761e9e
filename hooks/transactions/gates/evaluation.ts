// Whether a gate passes: from the object as it was read, and from the state that the status has stored of the gate.

import { at } from '../../objects/json.ts';
import type { GateState } from '../model/gate.ts';
import type { Finding, Look } from './finding.ts';
import { needsNoLook } from './kinds.ts';
import { evaluateGate } from './readiness.ts';

export function findingOf(look: Look, before: GateState): Finding {
  if (needsNoLook(look)) return { kind: 'ready', found: '' };
  return hasCompleted(look, before) ? { kind: 'ready', found: 'it completed, and was deleted' } : evaluateGate(look);
}

// A Job may be deleted by its time to live while others are waited for. What was ready by its kind has completed.
function hasCompleted({ resource, gate, type, live }: Look, { passed, readySince }: GateState): boolean {
  if (live !== undefined && at(live, 'metadata', 'deletionTimestamp') === undefined) return false;
  const isJob = resource.group === 'batch' && resource.kind === 'Job' && type !== 'Delete';
  return isJob && (passed === true || (readySince !== undefined && gate.ready === undefined));
}
