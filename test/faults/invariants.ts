// I1 to I16 of docs: what must hold after every run, whatever went wrong in it. Each gives its violations in words. I12 to I14
// are shown elsewhere: they are not about faults.
import { canonicalJson, equalJson, type JsonObject, textAt } from '../../hooks/model/json.ts';
import {
  allTargets,
  contentOf,
  type Evidence,
  engineWrites,
  hasSucceeded,
  isEngine,
  isSnapshot,
  isWrite,
  itemsOf,
  managersIn,
  targetsOf,
  transactionsOf,
  writesTo,
} from './evidence.ts';
import { conditionsAgree, versionsRise } from './invariants-of-status.ts';
import { portrait } from './run.ts';

export type Invariant = (evidence: Evidence) => readonly string[];

/** Committed: every change is applied. RolledBack: everything is as before. Else what the items say is true. */
export const outcome: Invariant = (evidence) => [...endsAsItMust(evidence), ...objectsAreTrue(evidence)];

const endsAsItMust: Invariant = ({ story, ends }) => {
  const wrong = [...ends].filter(([, status]) => (status === undefined ? 'gone' : textAt(status, 'phase')) !== story.end);
  return wrong.map(
    ([name, status]) =>
      `${name} ends as ${textAt(status, 'phase') ?? 'gone'}, not as ${story.end}: ${textAt(status, 'message') ?? ''}`,
  );
};

const objectsAreTrue: Invariant = (evidence) => {
  const given = evidence.story.data?.(evidence.names);
  if (evidence.story.id === 'contention') return oneOrder(evidence);
  return allTargets(evidence).flatMap((name) =>
    given?.has(name) === true ? hasData(evidence, name, given.get(name)) : isAsBefore(evidence, name),
  );
};

function hasData({ after }: Evidence, name: string, expected: JsonObject | undefined): readonly string[] {
  const [is, wanted] = [canonicalJson(after.get(name)?.data ?? null), canonicalJson(expected ?? null)];
  return is === wanted ? [] : [`${name} has data ${is}, expected ${wanted}`];
}

// Only what a Delete took away comes back as another object.
function isAsBefore(evidence: Evidence, name: string): readonly string[] {
  const targets = transactionsOf(evidence).flatMap((transaction) => targetsOf(evidence, transaction));
  const isNew =
    targets.some((target) => target.name === name && target.type === 'Delete') &&
    uidOf(evidence.before.get(name)) !== uidOf(evidence.after.get(name));
  const [was, is] = [evidence.before, evidence.after].map((objects) => JSON.stringify(portrait(objects.get(name), isNew)));
  return was === is ? [] : [`${name} is not as it was: ${is}, expected ${was}`];
}

function uidOf(object: JsonObject | undefined): string | undefined {
  return textAt(object, 'metadata', 'uid');
}

// Two Transactions over the same two objects: the last one has written both.
function oneOrder({ after, names: { b, c } }: Evidence): readonly string[] {
  const [first, second] = [b, c].map((name) => textAt(after.get(name), 'data', 'last'));
  return first !== undefined && first === second ? [] : [`${b} was written last by ${first}, ${c} by ${second}`];
}

/** No target is written before its prior state was stored and acknowledged. */
export const snapshotFirst: Invariant = (evidence) => {
  const stored = transactionsOf(evidence).map((transaction) => {
    const creation = engineWrites(evidence).find(
      (event) => isSnapshot(event) && event.verb === 'create' && event.name.startsWith(`${transaction}-rollback`),
    );
    return { transaction, at: creation?.answered ?? '~' };
  });
  return stored.flatMap(({ transaction, at }) =>
    targetsOf(evidence, transaction)
      .flatMap(({ name }) => writesTo(evidence, name).filter((event) => isBy(transaction, event.fieldManager, evidence)))
      .filter(({ received }) => received < at)
      .map(({ verb, name, received }) => `${verb} of ${name} at ${received}, the snapshot of ${transaction} was stored at ${at}`),
  );
};

function isBy(transaction: string, fieldManager: string, evidence: Evidence): boolean {
  return transactionsOf(evidence).length === 1 || new RegExp(`^janus-(restore-)?${transaction}-[^-]+$`).test(fieldManager);
}

/** Every write of a target names the version that it replaces. */
export const preconditions: Invariant = (evidence) =>
  evidence.events
    .filter((event) => isWrite(event) && isEngine(event) && allTargets(evidence).includes(event.name) && event.verb !== 'create')
    .filter(({ verb, request }) => {
      const [uid, resourceVersion] = ['uid', 'resourceVersion'].map((key) =>
        textAt(request, verb === 'delete' ? 'preconditions' : 'metadata', key),
      );
      return uid === undefined || resourceVersion === undefined;
    })
    .map(({ verb, name }) => `${verb} of ${name} without uid and resourceVersion`);

/** At most one forward and one restoring write of an item change its content. */
export const oneWriteEach: Invariant = (evidence) =>
  transactionsOf(evidence).flatMap((transaction) =>
    targetsOf(evidence, transaction).flatMap(({ name }) => {
      const writes = contentWrites(evidence, name).filter(
        ({ fieldManager, verb }) => verb === 'delete' || isBy(transaction, fieldManager, evidence),
      );
      const backward = writes.filter(({ isRestoring }) => isRestoring).length;
      const forward = writes.length - backward;
      return forward > 1 || backward > 1 ? [`${name} was changed ${forward} times and restored ${backward} times`] : [];
    }),
  );

interface ContentWrite {
  readonly verb: string;
  readonly fieldManager: string;
  readonly isRestoring: boolean;
}

// The first write of ours is forward, whatever it is; deletes have no field manager, and an undo is under way once one began.
function contentWrites(evidence: Evidence, name: string): readonly ContentWrite[] {
  const isCreated = transactionsOf(evidence).some((transaction) =>
    targetsOf(evidence, transaction).some((target) => target.name === name && target.type === 'Create'),
  );
  let content = contentOf(evidence.before.get(name));
  return evidence.events
    .filter((event) => event.resource === 'configmaps' && event.name === name && isWrite(event) && hasSucceeded(event))
    .flatMap((event) => {
      const next = event.verb === 'delete' ? null : contentOf(event.response);
      const isChange = !equalJson(content, next);
      content = next;
      const isRestoring = event.fieldManager.startsWith('janus-restore-') || (event.verb === 'delete' && isCreated);
      return isChange && isEngine(event) ? [{ verb: event.verb, fieldManager: event.fieldManager, isRestoring }] : [];
    });
}

/** Written are the targets, our Leases and our snapshots only. */
export const footprint: Invariant = (evidence) => {
  const declared = allTargets(evidence);
  return engineWrites(evidence)
    .filter((event) => {
      if (event.resource === 'leases') return !declared.some((name) => event.name.includes(`-configmap-${name}-`));
      return event.resource !== 'configmaps' || !(declared.includes(event.name) || isSnapshot(event));
    })
    .map(({ verb, resource, name }) => `${verb} of ${resource} ${name}`);
};

/** Two Transactions never take turns at one target. */
export const exclusion: Invariant = (evidence) =>
  transactionsOf(evidence).length < 2
    ? []
    : allTargets(evidence).flatMap((name) => {
        const writers = writesTo(evidence, name).map(({ fieldManager }) => fieldManager.replace(/^janus-(restore-)?/, ''));
        const turns = writers.filter((writer, index) => writer !== writers[index - 1]);
        return turns.length > new Set(turns).size ? [`${name} was written in turns by ${turns.join(', ')}`] : [];
      });

/** One call of the hook changes one target at most. */
export const oneTargetACall: Invariant = ({ portCalls, hadHookFaults }) => {
  if (hadHookFaults) return [];
  const sent = portCalls.filter(
    ({ method, identity, outcome }) => method === 'send' && identity === 'serviceAccount' && outcome === 'ok',
  );
  const byCall = Object.entries(Object.groupBy(sent, ({ hookCall, engine }) => `${hookCall} of engine ${engine}`));
  return byCall.flatMap(([call, writes = []]) => {
    const names = new Set(writes.map(({ name }) => name));
    return names.size > 1 ? [`call ${call} changed ${[...names].join(' and ')}`] : [];
  });
};

/** Once faults stop it ends soon, and then nothing is written and nobody is woken. */
export const comesToRest: Invariant = ({ story, names, struckAt, hookCalls, writesAtRest }) => {
  const changes = Object.values(story.transactions(names)).flat().length;
  const after = hookCalls.filter((call) => call.portCalls > struckAt && call.resyncAfterSeconds === 0);
  const most = 2 * changes + 10 * Object.keys(story.transactions(names)).length;
  const many = after.length > most ? [`${after.length} calls after the last fault, at most ${most} expected`] : [];
  return [...many, ...writesAtRest.map((what) => `at rest: ${what}`)];
};

/** Once the Transaction is deleted nothing of ours is left. */
export const nothingLeft: Invariant = ({ leftovers }) => leftovers;

/** Targets are read and written as the ServiceAccount, our own objects as the engine, and locks follow the permissions. */
export const identities: Invariant = (evidence) => {
  const declared = allTargets(evidence);
  const wrong = evidence.events.filter(
    (event) =>
      isEngine(event) && (event.actor === 'account') !== (event.resource === 'configmaps' && declared.includes(event.name)),
  );
  const firstLock = evidence.portCalls.findIndex(({ what }) => what.startsWith('send create Lease'));
  const asked = evidence.portCalls.slice(0, Math.max(firstLock, 0)).some(({ method }) => method === 'allowed');
  return [
    ...wrong.map(({ verb, resource, name, actor }) => `${verb} of ${resource} ${name} as the ${actor}`),
    ...(firstLock >= 0 && !asked ? ['a lock was taken before permissions were looked at'] : []),
  ];
};

/** After a rollback no field manager of ours is left. */
export const noTrace: Invariant = (evidence) =>
  evidence.story.end === 'Committed'
    ? []
    : allTargets(evidence).flatMap((name) =>
        managersIn(evidence.after.get(name))
          .filter((manager) => manager.startsWith('janus-'))
          .map((manager) => `${name} still has the field manager ${manager}`),
      );

/** What an item says of its change is so. */
export const itemsAreTrue: Invariant = (evidence) =>
  [...evidence.ends].flatMap(([transaction, status]) =>
    itemsOf(status).flatMap((item, index) => {
      const name = targetsOf(evidence, transaction)[index]?.name ?? '';
      const isLeftBehind = managersIn(evidence.after.get(name)).some((manager) => manager.startsWith('janus-'));
      return item.rolledBack === true && isLeftBehind ? [`${name} is said to be rolled back, and is still ours`] : [];
    }),
  );

export const invariants: Readonly<Record<string, Invariant>> = {
  'I1 outcome': outcome,
  'I1 items': itemsAreTrue,
  'I2 snapshot first': snapshotFirst,
  'I3 preconditions': preconditions,
  'I4 one write each': oneWriteEach,
  'I5 footprint': footprint,
  'I6 exclusion': exclusion,
  'I7 versions': versionsRise,
  'I8 one target a call': oneTargetACall,
  'I9 rest': comesToRest,
  'I10 nothing left': nothingLeft,
  'I11 identities': identities,
  'I15 no trace': noTrace,
  'I16 conditions': conditionsAgree,
};

/** All violations, each named by its invariant. */
export function violations(evidence: Evidence): readonly string[] {
  return Object.entries(invariants).flatMap(([name, judge]) => judge(evidence).map((text) => `${name}: ${text}`));
}
