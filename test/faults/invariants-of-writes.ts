// Invariants of every write of a run, as the API server's audit log shows it.
import { at, equalJson, isList, type Json, textAt } from '../../hooks/objects/json.ts';
import { lockName } from '../../hooks/objects/reference.ts';
import type { AuditEvent } from './audit.ts';
import {
  allTargets,
  contentOf,
  type Evidence,
  engineWrites,
  hasSucceeded,
  isBy,
  isCreation,
  isEngine,
  isSnapshot,
  isTarget,
  isWrite,
  itemsOf,
  storedStatusEvents,
  type Target,
  targetsOf,
  transactionsOf,
  writesTo,
} from './evidence.ts';
import type { PortCall } from './port.ts';
import { homeOf } from './story.ts';

/** I2: no target is written before its prior state was stored and acknowledged. */
export function snapshotFirst(evidence: Evidence): readonly string[] {
  const stored = transactionsOf(evidence).map((transaction) => {
    const { name } = homeOf(evidence.names, transaction);
    const creation = engineWrites(evidence).find(
      (event) => isSnapshot(event) && event.verb === 'create' && event.name.startsWith(`${name}-rollback`),
    );
    return { transaction, at: creation?.answered ?? '~' };
  });
  return stored.flatMap(({ transaction, at }) =>
    targetsOf(evidence, transaction)
      .flatMap((target) => writesTo(evidence, target).filter((event) => isBy(evidence, transaction, event)))
      .filter(({ received }) => received < at)
      .map(({ verb, key, received }) => `${verb} of ${key} at ${received}, the snapshot of ${transaction} was stored at ${at}`),
  );
}

/** I3: every write of a target names the version that it replaces. */
export function preconditions(evidence: Evidence): readonly string[] {
  return evidence.events
    .filter((event) => isWrite(event) && isEngine(event) && isTarget(evidence, event) && event.verb !== 'create')
    .filter((event) => !isCreatingApply(evidence, event))
    .filter(({ verb, request }) => {
      const [uid, resourceVersion] = ['uid', 'resourceVersion'].map((key) =>
        textAt(request, verb === 'delete' ? 'preconditions' : 'metadata', key),
      );
      return uid === undefined || resourceVersion === undefined;
    })
    .map(({ verb, key }) => `${verb} of ${key} without uid and resourceVersion`);
}

// With the version of no object it creates or fails: the audit log does not show whether the object existed when the engine read it.
function isCreatingApply(evidence: Evidence, { verb, key, request, code }: AuditEvent): boolean {
  const isApply = verb === 'patch' && allTargets(evidence).some((one) => one.key === key && one.type === 'Apply');
  return isApply && code !== 200 && textAt(request, 'metadata', 'resourceVersion') === '1';
}

/** I4: at most one forward and one restoring write of an item change its content; two of one that recreates its object. */
export function oneWriteEach(evidence: Evidence): readonly string[] {
  return transactionsOf(evidence).flatMap((transaction) =>
    targetsOf(evidence, transaction).flatMap((target) => {
      const writes = contentWrites(evidence, target).filter(
        (event) => event.verb === 'delete' || isBy(evidence, transaction, event),
      );
      const backward = writes.filter(({ isRestoring }) => isRestoring).length;
      const forward = writes.length - backward;
      const most = target.recreates ? 2 : 1;
      return forward > most || backward > most
        ? [`${target.key} was changed ${forward} times and restored ${backward} times`]
        : [];
    }),
  );
}

interface ContentWrite extends AuditEvent {
  readonly isRestoring: boolean;
}

/**
 * Writes of the engine that change the content of a target. A Delete has no field manager: of an object that was not there before it is
 * the undo.
 */
export function contentWrites(evidence: Evidence, { key }: Target): readonly ContentWrite[] {
  const targets = transactionsOf(evidence).flatMap((transaction) => targetsOf(evidence, transaction));
  const isCreated = targets.some((target) => target.key === key && isCreation(evidence, target));
  const isRecreated = targets.some((target) => target.key === key && target.recreates);
  const former = textAt(evidence.before.get(key), 'metadata', 'uid');
  const isUndo = ({ request }: AuditEvent): boolean =>
    isCreated || (isRecreated && textAt(request, 'preconditions', 'uid') !== former);
  let content = contentOf(evidence.before.get(key));
  return evidence.events
    .filter((event) => event.key === key && isWrite(event) && hasSucceeded(event))
    .flatMap((event) => {
      const next = event.verb === 'delete' ? null : contentOf(event.response);
      const isChange = !equalJson(content, next);
      content = next;
      const isRestoring = event.fieldManager.startsWith('janus-restore-') || (event.verb === 'delete' && isUndo(event));
      return isChange && isEngine(event) ? [{ ...event, isRestoring }] : [];
    });
}

/** I5: only targets, their locks and our snapshots are written. */
export function footprint(evidence: Evidence): readonly string[] {
  const locks = allTargets(evidence).map(({ reference }) => lockName(reference));
  return engineWrites(evidence)
    .filter((event) =>
      event.resource === 'leases' ? !locks.includes(event.name) : !(isTarget(evidence, event) || isSnapshot(event)),
    )
    .map(({ verb, resource, key }) => `${verb} of ${resource}: ${key}`);
}

/** I6: two Transactions never take turns at one target. (The managers of a deleted one may be removed at any time.) */
export function exclusion(evidence: Evidence): readonly string[] {
  if (transactionsOf(evidence).length < 2) return [];
  return allTargets(evidence).flatMap((target) => {
    const writers = contentWrites(evidence, target)
      .filter(({ verb }) => verb !== 'delete')
      .map((event) => transactionsOf(evidence).find((transaction) => isBy(evidence, transaction, event)));
    const turns = writers.filter((writer, index) => writer !== writers[index - 1]);
    return turns.length > new Set(turns).size ? [`${target.key} was written in turns by ${turns.join(', ')}`] : [];
  });
}

/**
 * I8: every change was announced by a status stored before. One call of the hook changes targets in the order of the changes or in
 * reverse, each once; an undo that had to wait may come later. (Parallel calls look alike, so runs with several
 * Transactions are not checked.)
 */
export function announcedInOrder(evidence: Evidence): readonly string[] {
  if (transactionsOf(evidence).length > 1) return [];
  return [...unannounced(evidence), ...(evidence.hadHookFaults ? [] : outOfOrder(evidence))];
}

// With real processes, the evidence does not show the port, nor who stores.
function unannounced(evidence: Evidence): readonly string[] {
  if (evidence.hookCalls.length === 0) return [];
  const statuses = evidence.events.filter((event) => event.resource === 'transactions/status' && hasSucceeded(event));
  const [transaction = ''] = transactionsOf(evidence);
  const keys = targetsOf(evidence, transaction).map(({ key }) => key);
  return engineWrites(evidence)
    .filter((event) => isTarget(evidence, event))
    .filter(({ key, received }) => {
      const known = statuses
        .filter(({ answered }) => answered <= received)
        .map(({ response }) => at(response, 'status', 'items'));
      return !known.some(
        (items) => isList(items) && items.some((item, index) => keys[index] === key && at(item, 'announced') === true),
      );
    })
    .map(({ verb, key }) => `${verb} of ${key} before it was announced`);
}

/** I8: what is created in place of a former object was announced by a status that says that the former one is deleted. */
export function secondHalvesAnnounced(evidence: Evidence): readonly string[] {
  return transactionsOf(evidence).flatMap((transaction) => {
    const stored = storedStatusEvents(evidence, transaction);
    return targetsOf(evidence, transaction).flatMap(({ recreates, key }, index) => {
      const creations = engineWrites(evidence).filter(
        (event) => recreates && event.key === key && event.verb === 'create' && !event.fieldManager.startsWith('janus-restore-'),
      );
      return creations
        .filter(
          ({ received }) =>
            !stored.some(({ status, event }) => event.answered <= received && at(itemsOf(status)[index], 'deleted') === true),
        )
        .map(({ received }) => `create of ${key} at ${received} before a status said that the former one is deleted`);
    });
  });
}

function outOfOrder(evidence: Evidence): readonly string[] {
  const sent = evidence.portCalls.filter(({ method, identity }) => method === 'send' && identity === 'serviceAccount');
  const byCall = Object.values(Object.groupBy(sent, ({ hookCall, engine }) => `${hookCall} of engine ${engine}`));
  return byCall.flatMap((writes = []) => [
    ...jumps(
      evidence,
      writes.filter(({ outcome }) => outcome === 'ok'),
    ),
    ...afterRefusal(evidence, writes),
  ]);
}

/** Final, whatever the object is read to be by then. */
const isFinal = (outcome: string): boolean => /^(400|403|422) /.test(outcome);

/** V2: a target that did not end well is the last one of its call, beside those of its wave. */
function afterRefusal(evidence: Evidence, writes: readonly PortCall[]): readonly string[] {
  const lastOf = (name: string): number => writes.findLastIndex((write) => write.name === name);
  const refused = writes.findIndex(({ name, outcome }, index) => isFinal(outcome) && lastOf(name) === index);
  const wave = waveOf(evidence, writes[refused]);
  const isLate = (write: PortCall): boolean => write.outcome === 'ok' && (wave === undefined || waveOf(evidence, write) !== wave);
  const next = refused < 0 ? undefined : writes.slice(refused + 1).find(isLate);
  return next === undefined
    ? []
    : [`call ${next.hookCall} of engine ${next.engine} changed ${next.name} after ${writes[refused]?.name} was refused`];
}

function waveOf(evidence: Evidence, write: PortCall | undefined): number | undefined {
  return allTargets(evidence).find(({ name }) => name === write?.name)?.wave;
}

function jumps(evidence: Evidence, writes: readonly PortCall[]): readonly string[] {
  const [{ hookCall, engine } = { hookCall: 0, engine: 0 }] = writes;
  const call = evidence.hookCalls.find(({ number }) => number === hookCall);
  if (call === undefined) return [];
  const targets = targetsOf(evidence, call.name);
  const names = targets.map(({ name }) => name);
  // What is sent side by side has one place.
  const placeOf = (index: number): number => {
    const wave = targets[index]?.wave;
    return wave === undefined ? index : targets.findIndex((other) => other.wave === wave);
  };
  const indexes = writes.map(({ name }) => placeOf(names.indexOf(name))).filter((index, at, all) => index !== all[at - 1]);
  const what = `call ${hookCall} of engine ${engine} changed ${indexes.map((index) => names[index] ?? 'another').join(', ')}`;
  const itemAt = (index: number): Json => (isList(call.items) ? (call.items[index] ?? {}) : {});
  const inTurn = indexes.filter((index) => at(itemAt(index), 'waiting') === undefined);
  const isRow = (isRising(inTurn) || isRising(inTurn.toReversed())) && new Set(indexes).size === indexes.length;
  return [
    ...(isRow ? [] : [`${what}: not in order`]),
    ...(evidence.isOneByOne && indexes.length > 1 ? [`${what}: more than one`] : []),
  ];
}

function isRising(indexes: readonly number[]): boolean {
  return indexes.every((index, at) => at === 0 || index > (indexes[at - 1] ?? -1));
}

/**
 * I11: targets are read and written as the ServiceAccount, our own objects as the engine, and locks come after the permission
 * checks.
 */
export function identities(evidence: Evidence): readonly string[] {
  const wrong = evidence.events.filter(
    (event) =>
      isEngine(event) && (event.actor === 'account' ? isWrite(event) && !isTarget(evidence, event) : isTarget(evidence, event)),
  );
  const firstLock = evidence.portCalls.findIndex(({ what }) => what.startsWith('send create Lease'));
  const asked = evidence.portCalls.slice(0, Math.max(firstLock, 0)).some(({ method }) => method === 'allowed');
  return [
    ...wrong.map(({ verb, key, actor }) => `${verb} of ${key} as the ${actor}`),
    ...(firstLock >= 0 && !asked ? ['a lock was taken before permissions were looked at'] : []),
  ];
}
