// Tables of a step with the answers of the API server -> done, decided again, waited for, or given up.
import t from 'tap';
import type { Answer, Write } from '../../../../hooks/objects/cluster.ts';
import type { FailureKind } from '../../../../hooks/objects/failure.ts';
import type { UndoVerdict } from '../../../../hooks/transactions/attribution/undo.ts';
import type { Step } from '../../../../hooks/transactions/decide/step.ts';
import { elsewhere } from '../../../../hooks/transactions/decide/window.ts';
import type { Status } from '../../../../hooks/transactions/model/status.ts';
import { emptyCarry } from '../../../../hooks/transactions/observe/carry.ts';
import type { Observation, ObservedTo } from '../../../../hooks/transactions/observe/observation.ts';
import { type PerformedStep, touchedBy } from '../../../../hooks/transactions/outcome/answer.ts';
import { resultOf } from '../../../../hooks/transactions/outcome/result.ts';
import { createSealer } from '../../../../server/kubernetes/sealer.ts';
import { entryFor, prior } from '../../../support/evaluated-objects.ts';
import { start, statusOf, transactionOf, wordsOf } from '../../../support/transactions.ts';
import { waitText } from '../../../support/waits.ts';

const transaction = transactionOf();
const packer = createSealer(() => ({ current: 'k', keys: new Map([['k', Buffer.alloc(32)]]) }));
const entry = { ...entryFor('Patch'), index: 1 };
const created = { ...entryFor('Create'), index: 1 };
const deleted = { ...entryFor('Delete'), index: 1 };
const resource = { ...entry.resource, verbs: [] };
const location = { resource, namespace: 'shop', name: 'x' };
const account = { kind: 'serviceAccount', namespace: 'shop', name: 'deployer' } as const;
const write: Write = { verb: 'delete', identity: account, location, precondition: { uid: 'u1', resourceVersion: '7' } };

function failed(kind: FailureKind, code = 0): Answer {
  return {
    kind: 'failed',
    failure: { kind, code, reason: 'Unknown', message: '', fields: [], definitive: kind !== 'transient' },
  };
}

const gone: Answer = { kind: 'ok', object: { apiVersion: 'v1', kind: 'Status' }, serverTime: start };
const there: Answer = { kind: 'ok', object: prior, serverTime: start };

function doneWith(status: Status, answer: Answer, plan: PerformedStep['plan'] = { kind: 'nothing' }): PerformedStep {
  const observation: Observation = {
    now: start,
    transaction,
    status,
    due: { kind: 'rest', seconds: 0 },
    isOvertaken: false,
    engineNamespace: 'janus-system',
    server: 'this process',
    writer: 'p/1',
    ownWrites: { isOpen: true },
    waits: 0,
    lateWindow: 30_000,
    pace: 'one',
  };
  return { observation, plan, outcome: [{ write, answer }], carry: emptyCarry, packer };
}

/** `again`, or the phase, the items and when it comes again; `done` where the Transaction may go. */
function told(step: Step, done: PerformedStep): string {
  const result = resultOf(step, done);
  if (result.kind === 'again') return 'again';
  const { phase, items } = result.status;
  return `${phase}: ${wordsOf(items)}${waitText(result.wait)}${result.finalized ? ', done' : ''}`;
}

type Row = readonly [reason: string, step: Step, answer: Answer, result: string];

function check(status: Status, rows: readonly Row[]): void {
  for (const [reason, step, answer, result] of rows) {
    t.test(`${step.kind}: ${reason}`, async (t) => t.equal(told(step, doneWith(status, answer)), result));
  }
}

const because = '';
const [change = transaction.changes[0]] = transaction.changes.slice(1);
if (change === undefined) throw new Error('the Transaction has no change');
const patch = { kind: 'apply', index: 1, change, entry, live: prior, precondition: undefined, because } as const;
const create: Step = { ...patch, entry: created, live: undefined };

check(statusOf('Committing', 'applied announced'), [
  ['it took effect', patch, there, 'Committed: applied applied'],
  ['something else was written meanwhile', patch, failed('stale'), 'again'],
  ['the object is gone', patch, failed('absent'), 'again'],
  ['an object of that name was made meanwhile', create, failed('exists'), 'again'],
  ['its answer is lost, or says that there is no time', patch, failed('transient'), 'Committing: applied announced, backing off'],
  ['it is refused, right after another change', patch, failed('refused'), 'again'],
  ['its Namespace is not there, right after another change', create, failed('absent'), 'again'],
]);

t.test('a refusal after another change is final once it was tried again for a moment', async (t) => {
  const tries = (lagging: number) => ({ ...emptyCarry, lagging });
  for (const [step, failure] of [
    [patch, 'refused'],
    [create, 'absent'],
  ] as const) {
    const done = doneWith(statusOf('Committing', 'applied announced'), failed(failure));
    for (const lagging of [0, 1, 2, 3]) {
      const result = resultOf(step, { ...done, carry: tries(lagging) });
      t.match(result, { kind: 'again', carry: tries(lagging + 1) });
      t.ok(result.kind === 'again' && (result.pause ?? 0) > 0);
    }
    t.equal(told(step, { ...done, carry: tries(4) }), 'RollingBack: applied announced');
    const first = doneWith(statusOf('Prepared', 'announced announced'), failed(failure));
    t.equal(told(step, first), 'RollingBack: announced announced', 'nothing was changed before it');
  }
});

function compensate(verdict: UndoVerdict, of = entry): Step {
  return { kind: 'compensate', index: 1, entry: of, verdict, goneOwners: [], goneManagers: [], because };
}

const restore = compensate({ kind: 'complete', live: prior });
const remove = compensate({ kind: 'delete', live: prior }, created);
const recreate = compensate({ kind: 'recreate' }, deleted);

check(statusOf('RollingBack', 'applied applied'), [
  ['it took effect', restore, there, 'RollingBack: applied restored'],
  ['what was created is gone', remove, gone, 'RollingBack: applied restored'],
  ['what was created is kept by finalizers: not gone yet', remove, there, 'RollingBack: applied applied, again at once'],
  ['something else was written meanwhile', restore, failed('stale'), 'again'],
  ['the object is gone', restore, failed('absent'), 'again'],
  ['an object of that name was made meanwhile', recreate, failed('exists'), 'again'],
  ['its Namespace is gone', recreate, failed('absent'), 'RollingBack: applied left'],
  ['its answer is lost', restore, failed('transient'), 'RollingBack: applied applied, backing off'],
  [
    'the API server cannot reach what must admit it',
    restore,
    failed('transient', 500),
    'RollingBack: applied applied, again at once',
  ],
  ['it is refused for good', restore, failed('refused'), 'RollingBack: applied left'],
]);

const store: Step = { kind: 'store', targets: [], name: 'one-rollback', because };

check(statusOf('Preparing', 'waiting waiting'), [
  ['it is stored', store, there, 'Prepared: announced prepared'],
  ['its answer is lost', store, failed('transient'), 'Preparing: waiting waiting, backing off'],
  ['something lies there', store, failed('exists'), 'again'],
  ['it is refused for good', store, failed('refused'), 'Failed: waiting waiting'],
]);

const release: Step = { kind: 'release', leases: [], because };
const settle: Step = { kind: 'cleanUp', leases: [], configMaps: [], because };

check(statusOf('Committed', 'applied applied'), [
  ['locks are given back', release, gone, 'Committed: applied applied'],
  ['they may not be', release, failed('transient'), 'Committed: applied applied, backing off'],
  ['one has moved: a successor may have it', release, failed('stale'), 'again'],
  ['all is let go', settle, gone, 'Committed: applied applied, done'],
  ['it was not there any more', settle, failed('absent'), 'Committed: applied applied, done'],
  ['its answer is lost', settle, failed('transient'), 'Committed: applied applied, backing off'],
  ['something was written meanwhile', settle, failed('stale'), 'again'],
]);

t.test('cleanUp: others hold a snapshot up for a minute at most, and no lock', async (t) => {
  const at = (age: number, plural: string, kind: FailureKind): PerformedStep => {
    const done = doneWith(statusOf('Committed', 'applied applied'), failed(kind));
    const observation = { ...done.observation, transaction: { ...transaction, deletedAt: start - age } };
    const moved = { ...write, location: { ...location, resource: { ...resource, plural } } };
    return { ...done, observation, outcome: [{ write: moved, answer: failed(kind) }] };
  };
  const [soon, late] = [60_000, 60_001];
  const end = 'Committed: applied applied, done';
  for (const [kind, before] of [
    ['stale', 'again'],
    ['transient', 'Committed: applied applied, backing off'],
  ] as const) {
    t.equal(told(settle, at(soon, 'configmaps', kind)), before);
    t.equal(told(settle, at(late, 'configmaps', kind)), end);
    t.equal(told(settle, at(late, 'leases', kind)), before);
  }
  const many = at(late, 'configmaps', 'stale');
  const due = { kind: 'cleanUp', leases: [], configMaps: [], hasMore: true } as ObservedTo<'cleanUp'>;
  t.equal(told(settle, { ...many, observation: { ...many.observation, due } }), end);
});

const lease = { resource: { ...resource, kind: 'Lease' }, namespace: 'janus-system', name: 'lock' };
const wanted: Write = { verb: 'create', identity: { kind: 'engine' }, location: lease, object: {}, fieldManager: 'janus' };
const meanwhile: Status = {
  ...statusOf('Pending', 'waiting'),
  startTime: 1_000,
  items: [{ progress: { kind: 'waiting' }, lockLease: 'lock' }],
};
const take: Step = { kind: 'acquire', create: [], replace: [], meanwhile, because };

for (const [reason, kind, result] of [
  ['somebody else has it', 'exists', 'again'],
  ['the namespace of the engine is gone', 'absent', 'Failed: waiting'],
  ['the engine may not', 'refused', 'Failed: waiting'],
  ['there is no time', 'transient', 'Pending: waiting, backing off'],
] as const) {
  t.test(`take: ${reason}`, async (t) => {
    const done = doneWith(statusOf('Pending', 'waiting'), there);
    const tried = { ...done, outcome: [{ write: wanted, answer: failed(kind) }] };
    t.equal(told(take, tried), result);
    // Since when it waits, so that spec.timeout ends it, and all Leases by name, so that those that were taken are released.
    const found = resultOf(take, tried);
    if (found.kind === 'answer') t.match(found.status, { startTime: 1_000, items: [{ lockLease: 'lock' }] });
  });
}

t.test('a call that has written to one target goes on with no other', async (t) => {
  const { observation } = doneWith(statusOf('RollingBack', 'applied applied'), there);
  const at = (index: number): Observation => ({ ...observation, due: { kind: 'restore', index } as ObservedTo<'restore'> });
  const touched = { ...emptyCarry, ...touchedBy({ ...at(1), outcome: [{ write, answer: there }] }, emptyCarry) };
  t.equal(touched.touched, 1);
  t.equal(elsewhere({ ...at(1), ...touched, isOvertaken: false }), undefined, 'the same one');
  t.match(elsewhere({ ...at(0), ...touched, isOvertaken: false }), { kind: 'setStatus', status: observation.status });
  t.equal(elsewhere({ ...observation, due: { kind: 'release', leases: [] }, ...touched }), undefined, 'what is no target');
  t.match(elsewhere({ ...at(1), isOvertaken: true }), { kind: 'setStatus' }, 'another engine has gone on meanwhile');
  t.same(touchedBy({ ...at(0), outcome: [] }, touched), { touched: 1 }, 'it stays so');
  t.same(
    touchedBy({ ...at(1), outcome: [{ write, answer: failed('stale') }] }, emptyCarry),
    {},
    'a write that was refused is none',
  );
  t.equal(elsewhere({ ...at(0), isOvertaken: false }), undefined);
  // It was deleted in the middle of a window.
  const lettingGo = { ...observation, due: { kind: 'releaseFields', index: 0 } as ObservedTo<'releaseFields'> };
  t.match(elsewhere({ ...lettingGo, after: 'apply' }), { kind: 'setStatus', status: observation.status });
  t.match(elsewhere({ ...observation, due: { kind: 'cleanUp' } as ObservedTo<'cleanUp'>, after: 'await' }), {
    kind: 'setStatus',
  });
  t.equal(elsewhere({ ...lettingGo, after: 'releaseFields' }), undefined, 'from object to object');
  t.equal(elsewhere(lettingGo), undefined);
});
