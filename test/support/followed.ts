// A release of many Services and one Deployment whose image does not exist, as the engine stores it in three states: a gate is open,
// half of the changes are undone, all are undone. test/cli/terminal.test.ts compares it with a real one.
import type { JsonObject } from '../../hooks/objects/json.ts';

interface Followed {
  /** How many changes it has. */
  readonly changes: number;
  /** Why the image is not pulled. */
  readonly message?: string;
}

const at = (second: number): string => new Date(Date.UTC(2026, 0, 31, 12, 0, second)).toISOString().replace('.000', '');
export const beginning: number = Date.parse(at(0));

const reason = 'GateTimeout';
const notReady = '0 of 1 replicas are available';

export function followedOf({ changes: count, message = 'manifest unknown' }: Followed): readonly JsonObject[] {
  const bad = count - 1;
  const cause =
    `Deployment month/webx did not become ready within 25s: expected it to be ready; found ${notReady} (waited since ${at(1)}); ` +
    `Pod webx-7bb: container c is waiting (ImagePullBackOff): Back-off pulling image "x:bad": ${message}.`;
  const pod = { uid: 'pod', found: `ImagePullBackOff: Back-off pulling image "x:bad": ${message} (Pod webx-7bb, container c)` };
  // The diagnosis at the end of the gate finds the Pod.
  const gateOf = (isBad: boolean, error?: JsonObject): JsonObject =>
    isBad
      ? { found: notReady, ...(error === undefined ? {} : { pod }) }
      : { found: 'a Service of this type needs no provider', readySince: at(2) };
  const items = (stateOf: (index: number) => string, error?: JsonObject): readonly JsonObject[] =>
    Array.from({ length: count }, (_, index) => ({
      ...{ state: stateOf(index), uid: `uid-${index}`, undone: stateOf(index) === 'Restored' },
      gate: { since: at(1), ...gateOf(index === bad, error) },
      ...(index === bad && error !== undefined ? { error } : {}),
    }));
  const conditions = (isFinished: boolean): readonly JsonObject[] => [
    { type: 'Succeeded', status: 'False', reason, message: cause },
    { type: 'Finished', status: isFinished ? 'True' : 'False' },
  ];
  const error = { reason, message: cause };
  const half = Math.floor(count / 2);
  const begun = { startTime: at(0), rollbackStartedAt: at(26) };
  return [
    {
      ...{ phase: 'Committing', startTime: at(0), progress: `${count}/${count}`, items: items(() => 'Applied') },
      message: `waiting for Deployment month/webx until ${at(26)}: expected it to be ready; found ${notReady}`,
    },
    {
      ...{ phase: 'RollingBack', ...begun, progress: `${half}/${count}`, message: `rolling back: ${cause}` },
      items: items((index) => (index >= half ? 'Restored' : index === half - 1 ? 'Restoring' : 'Applied'), error),
      conditions: conditions(false),
    },
    {
      ...{ phase: 'RolledBack', ...begun, completionTime: at(34), progress: `0/${count}` },
      ...{
        message: `rolled back ${count} changes: ${cause}`,
        items: items(() => 'Restored', error),
        conditions: conditions(true),
      },
    },
  ].map((status, index) => ({
    metadata: { name: 'svc-1', namespace: 'month', uid: 'uid', resourceVersion: `${index + 1}` },
    spec: { gate: { timeout: '25s' }, changes: Array.from({ length: count }, (_, place) => changeOf(place, place === bad)) },
    status,
  }));
}

function changeOf(index: number, isBad: boolean): JsonObject {
  const [apiVersion, kind, name] = isBad ? ['apps/v1', 'Deployment', 'webx'] : ['v1', 'Service', `svc-${index}`];
  return { type: 'Apply', content: { apiVersion, kind, metadata: { name } } };
}
