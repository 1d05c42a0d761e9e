// What generated plans have met, so that a suite can show that it has met all of it. Said of plans that are compared already: what they
// found is what the engine did.
import type { Fault } from '../../hooks/transactions/checks/fault.ts';
import type { Survey } from '../../hooks/transactions/inspect/preflight.ts';
import { changeTypes } from '../../hooks/transactions/model/change.ts';
import { sourceOf } from '../../hooks/transactions/model/source.ts';
import { accounts } from './planned.ts';

/** All that there is to meet. */
export const reach: readonly string[] = [
  'the creation is refused',
  ...changeTypes.map((type) => `committed: ${type}`),
  ...['ConfigMap', 'Secret', 'Widget', 'Service'].map((kind) => `committed: a ${kind}`),
  ...['absent', 'existing', 'recreated'].map((state) => `committed: what was ${state}`),
  ...['ConfigMap', 'Secret'].map((kind) => `committed: content from a ${kind}`),
  ...['Namespace', 'CustomResourceDefinition'].map((kind) => `committed: what needs a ${kind} that it creates`),
  ...['NotFound', 'AlreadyExists', 'Terminating', 'Invalid', 'ServiceAccountMissing'].map((reason) => `refused: ${reason}`),
  ...Object.keys(accounts)
    .filter((account) => account !== 'all')
    .map((account) => `refused: rights of ${account}`),
];

export function metByRefusedCreation(): readonly string[] {
  return ['the creation is refused'];
}

export function metByCommit({ prepared, transaction }: Survey): readonly string[] {
  const met = prepared.flatMap(({ resolved: { change, target, dependsOn = -1 }, prior, recreates }) => [
    change.type,
    `a ${target.kind}`,
    `what was ${recreates === true ? 'recreated' : prior === undefined ? 'absent' : 'existing'}`,
    `content from a ${sourceOf(change)?.kind}`,
    `what needs a ${transaction.changes[dependsOn]?.target.kind} that it creates`,
  ]);
  return met.map((one) => `committed: ${one}`);
}

// Without the right to read a source, the plan reports only that source.
const ofRights = ['Forbidden', 'ContentUnavailable'];

export function metByRefusal(refusal: readonly Fault[], account: string): readonly string[] {
  return refusal.map(({ reason }) => `refused: ${ofRights.includes(reason) ? `rights of ${account}` : reason}`);
}
