// From a step to its writes. Pure and exhaustive: performing them needs no further decision.
//
// I5. The engine writes only the targets that the spec names, their Leases and its own snapshots.
// I11. The engine writes targets as the ServiceAccount, and its own objects as itself.

import type { Packer, Write } from '../../objects/cluster.ts';
import { withManagedFields } from '../../objects/content/content.ts';
import { entryOf, managersOf } from '../../objects/content/fields.ts';
import type { JsonObject } from '../../objects/json.ts';
import type { Mutation, Writes } from '../../objects/mutation.ts';
import { type Fault, fault } from '../checks/fault.ts';
import type { Step } from '../decide/step.ts';
import { acquireWrite, releaseWrite, renewWrite, replaceWrite, signWrite } from '../locks/lease.ts';
import { inverseOf } from '../model/entry.ts';
import { fieldManagers, leavesEntry, type Transaction } from '../model/transaction.ts';
import type { Observation } from '../observe/observation.ts';
import type { Encoded } from '../snapshots/codec.ts';
import { discard, storeWrites } from '../snapshots/store.ts';
import { changeContextOf, locationOf } from '../writes/change.ts';
import { engine, preconditionOf, serviceAccountOf, transactions } from '../writes/resources.ts';
import { changeMutation } from '../writes/union.ts';
import { compensation } from './compensation.ts';

/** The writes of a step. `refused`: the step cannot be made. */
export type Plan = Writes | { readonly kind: 'refused'; readonly faults: readonly Fault[] };

/** What the snapshot is written with: its entries as texts, if the step stores one. */
interface Storing {
  readonly packer: Packer;
  readonly encoded: readonly Encoded[];
}

/** The writes of a step: of targets of the spec, of their Leases and of the engine's own snapshots (I5). */
export function plan(step: Step, observation: Observation, storing: Storing): Plan {
  const { transaction, engineNamespace } = observation;
  switch (step.kind) {
    case 'setStatus':
    case 'readMore':
    case 'pollLater':
    case 'recordDrift':
    case 'refused':
      return { kind: 'nothing' };
    case 'acquire':
      return takePlan(step, observation);
    case 'renew':
      return parallel(step.leases.map((lease) => renewWrite(lease, observation)));
    case 'sign':
      return parallel([signWrite(step.lease, observation.writer, engineNamespace)]);
    case 'releaseAndWait':
    case 'release':
      return parallel(step.leases.map((lease) => releaseWrite(lease, engineNamespace)));
    case 'store':
      return storePlan(step, transaction, storing);
    case 'discard':
      return discardPlan(step);
    case 'apply':
      return applyPlan(step, transaction);
    case 'compensate':
      return chain(compensation({ transaction, ...step }, step.verdict));
    case 'releaseFields':
      return chain(releaseFieldsMutation(step, transaction));
    case 'expire':
      return chain({ write: expireWrite(transaction) });
    case 'cleanUp':
      return cleanUpPlan(step, engineNamespace);
  }
}

function chain(mutation: Mutation | undefined): Plan {
  return mutation === undefined ? { kind: 'nothing' } : { kind: 'chain', mutation };
}

function parallel(writes: readonly (Write | undefined)[]): Plan {
  const real = writes.filter((write) => write !== undefined);
  return real.length === 0 ? { kind: 'nothing' } : { kind: 'parallel', mutations: real.map((write) => ({ write })) };
}

// The engine deletes the snapshot itself: with `--cascade=orphan` the garbage collector would leave it behind.
function cleanUpPlan({ leases, configMaps }: Extract<Step, { kind: 'cleanUp' }>, engineNamespace: string): Plan {
  const released = leases.map((lease) => releaseWrite(lease, engineNamespace)).filter((write) => write !== undefined);
  const discarded = configMaps.map(discard).filter((mutation) => mutation !== undefined);
  const mutations = [...released.map((write) => ({ write })), ...discarded];
  return mutations.length === 0 ? { kind: 'nothing' } : { kind: 'parallel', mutations };
}

function storePlan({ name }: Extract<Step, { kind: 'store' }>, transaction: Transaction, { packer, encoded }: Storing): Plan {
  const writes = storeWrites(transaction, encoded, name, packer);
  return typeof writes === 'string'
    ? { kind: 'refused', faults: [fault('SnapshotTooLarge', writes)] }
    : { kind: 'sequence', mutations: writes.map((write) => ({ write })) };
}

function discardPlan({ configMaps }: Extract<Step, { kind: 'discard' }>): Plan {
  const mutations = configMaps.map(discard).filter((mutation) => mutation !== undefined);
  return mutations.length === 0 ? { kind: 'nothing' } : { kind: 'parallel', mutations };
}

function takePlan({ create, replace, isRegained }: Extract<Step, { kind: 'acquire' }>, observation: Observation): Plan {
  const context = { ...observation, isRegained };
  return parallel([
    ...create.map((lock) => acquireWrite(lock, context)),
    ...replace.map(({ lock, lease }) => replaceWrite(lock, lease, context)),
  ]);
}

function applyPlan(step: Extract<Step, { kind: 'apply' }>, transaction: Transaction): Plan {
  const { entry, change, live, precondition, restoring, goneOwners = [] } = step;
  if (restoring !== undefined) {
    const context = { transaction, entry: inverseOf(entry), goneOwners, goneManagers: [], isForward: true };
    return chain(compensation(context, restoring));
  }
  return chain(changeMutation(changeContextOf(entry, change, transaction, live), precondition));
}

function expireWrite({ namespace, name, uid, resourceVersion }: Transaction): Write {
  return {
    verb: 'delete',
    identity: engine,
    location: { resource: transactions, namespace, name },
    precondition: { uid, resourceVersion },
  };
}

function releaseFieldsMutation(
  { entry, live, index }: Extract<Step, { kind: 'releaseFields' }>,
  transaction: Transaction,
): Mutation | undefined {
  const { forward, restore } = fieldManagers(transaction);
  const gone = leavesEntry(transaction, index) ? [forward, restore] : [restore];
  const precondition = preconditionOf(live);
  const managers = managersOf(live);
  const kept = managers.filter(({ name }) => !gone.includes(name)).map(entryOf);
  if (precondition === undefined || kept.length === managers.length) return undefined;
  const object: JsonObject = withManagedFields(live, kept.length === 0 ? [{}] : kept);
  const location = locationOf(entry.target, entry.resource);
  return {
    write: { verb: 'update', identity: serviceAccountOf(transaction), location, object, precondition, fieldManager: forward },
  };
}
