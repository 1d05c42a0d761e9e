// Values of a Secret appear nowhere else, and nothing in a request but the name of the Transaction has an effect.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { allTargets, type Evidence } from './evidence.ts';
import { canaryOf } from './names.ts';
import { base64 } from './story.ts';

/** I12: only in the Secret itself: not in a snapshot, a status, a lock, the log or an Event, neither as text nor in base64. */
export function secrets(evidence: Evidence): readonly string[] {
  const canary = canaryOf(evidence.names);
  const shows = (value: unknown): boolean => {
    const text = JSON.stringify(value) ?? '';
    return text.includes(canary) || text.includes(base64(canary));
  };
  const own = allTargets(evidence)
    .filter(({ kind }) => kind === 'Secret')
    .map(({ key }) => key);
  const written = evidence.events
    .filter(({ actor, key, request, response }) => actor !== 'stranger' && !own.includes(key) && shows([request, response]))
    .map(({ verb, key }) => `a ${verb} of ${key} shows it`);
  const reported = evidence.reports.filter(shows).map(({ step }) => `the report of a ${step} shows it`);
  return [...written, ...reported];
}

/** A false value in the requests of the runs. */
export const forged = 'forged-by-the-body';

/** A status that was never stored, different in each call. */
export function forgedStatus(call: number): JsonObject {
  const phases = ['Pending', 'Prepared', 'Committing', 'Committed', 'RollingBack', 'RolledBack', 'Failed'];
  const items = [{ lockLease: forged, prepared: true, committed: call % 2 === 0, rolledBack: call % 3 === 0 }];
  const status = { phase: phases[call % phases.length] ?? '', version: 2_147_483_647, items, message: forged };
  return { ...status, rollbackRef: { name: forged, digest: forged, objects: 1 }, specDigest: forged };
}

/** I13: nothing that only the body of a request says is requested, written or reported. */
export function triggers({ portCalls, events, reports }: Evidence): readonly string[] {
  const calls = portCalls.filter(({ what }) => what.includes(forged)).map(({ what }) => `the call ${what} is from the body`);
  const writes = events
    .filter((event) => JSON.stringify(event).includes(forged))
    .map(({ verb, key }) => `${verb} of ${key} has it from the body`);
  const reported = reports
    .filter((report) => JSON.stringify(report).includes(forged))
    .map(({ step }) => `the report of a ${step} has it from the body`);
  return [...calls, ...writes, ...reported];
}
