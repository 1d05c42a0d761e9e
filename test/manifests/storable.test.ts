// No status leaves the hook that the CRD refuses, whatever others have written into what it quotes: it would be refused at every try.
// Generated words go through the real transitions, and what comes out is held against the schema, against the size that each
// change is promised, and some of it against the API server, which evaluates the rules too.
import { Ajv } from 'ajv';
import fc from 'fast-check';
import t, { type Test } from 'tap';
import { apiReasons } from '../../hooks/objects/failure.ts';
import { equalJson, type JsonObject } from '../../hooks/objects/json.ts';
import { clean, storedSize } from '../../hooks/objects/words.ts';
import { describeRefusal } from '../../hooks/transactions/checks/refusal.ts';
import { driftRoom } from '../../hooks/transactions/checks/room.ts';
import { statusSize } from '../../hooks/transactions/checks/validity.ts';
import { untilAllowed } from '../../hooks/transactions/decide/refusals.ts';
import * as transitions from '../../hooks/transactions/decide/transitions.ts';
import * as undo from '../../hooks/transactions/decide/undo-transitions.ts';
import { dueOf } from '../../hooks/transactions/due.ts';
import type { ChangeType } from '../../hooks/transactions/model/change.ts';
import type { ItemError } from '../../hooks/transactions/model/item.ts';
import { labelOf, reasonOfFailure } from '../../hooks/transactions/model/reason.ts';
import { decodeStatus, encodeStatus, type Status, type TruncatedStatus } from '../../hooks/transactions/model/status.ts';
import { annotations, decodeTransaction, type Transaction } from '../../hooks/transactions/model/transaction.ts';
import { factsOf } from '../../hooks/transactions/outcome/facts.ts';
import { completed } from '../../hooks/transactions/outcome/status.ts';
import { eventsOf } from '../../hooks/transactions/report/events.ts';
import { conflictReasons } from '../../hooks/transactions/report/transition-metrics.ts';
import { encodeDrift } from '../../hooks/transactions/snapshots/drift.ts';
import { dialect } from '../../schemas/schema.ts';
import { reportedStatus } from '../../schemas/sync-response.ts';
import { failureOfAnswer, failureOfError } from '../../server/kubernetes/failures.ts';
import { createSealer } from '../../server/kubernetes/sealer.ts';
import { managedBy, refusals, words } from '../generated/nasty.ts';
import { type Client, freeNamespace, must } from '../support/client.ts';
import { entryFor } from '../support/evaluated-objects.ts';
import { connectToCluster, installManifests } from '../support/install.ts';
import { change, start, statusOf, transactionOf } from '../support/transactions.ts';
import { sampleSpec, transactionsIn, transactionWith } from './samples.ts';

/** A connection of its own: generating takes long, and the API server closes an idle connection. */
async function connected(t: Test): Promise<Client> {
  const client = connectToCluster();
  t.teardown(() => client.close());
  await installManifests(client);
  return client;
}

const conforms = new Ajv(dialect).compile(reportedStatus);
const ref = { name: 'one-rollback', digest: 'd', objects: 1 };
const packer = createSealer(() => ({ current: 'k', keys: new Map([['k', Buffer.alloc(32)]]) }));

interface Story {
  readonly transaction: Transaction;
  readonly statuses: readonly TruncatedStatus[];
}

const types: readonly ChangeType[] = ['Patch', 'Create', 'Update', 'Delete'];
const story: fc.Arbitrary<Story> = fc
  .record({
    names: fc.array(words, { minLength: 1, maxLength: 4 }),
    request: words,
    managers: fc.array(words, { maxLength: 60 }),
    uid: words,
    drift: fc.array(fc.record({ path: fc.array(words, { maxLength: 3 }), value: words }), { maxLength: 3 }),
    note: words,
    refusal: refusals,
    now: fc.integer({ min: start, max: 253402300799000 }),
    isFar: fc.boolean(),
  })
  .map(({ names, request, managers, uid, drift, note, refusal, now, isFar }): Story => {
    const transaction = transactionOf({
      namespace: isFar ? 'other' : 'shop',
      annotations: { [annotations.requestRollback]: request, [annotations.retryRollback]: request },
      changes: names.map((name, index) => change(types[index] ?? 'Patch', name)),
    });
    const failure = failureOfAnswer(refusal);
    const target = { apiVersion: 'v1', kind: 'ConfigMap', name: names[0] ?? '', namespace: 'shop' };
    const error: ItemError = {
      reason: reasonOfFailure(failure),
      message: `it was refused: ${describeRefusal(failure, { index: 0, target }, transaction)} ${note}`,
    };
    const entry = { ...entryFor('Patch'), index: 0 };
    const before: JsonObject = { metadata: { uid: 'u1', managedFields: managedBy(managers) } };
    const context = { transaction, packer, driftRoom: 10_000 };
    const facts = { ...factsOf(entry, before, { metadata: { uid, managedFields: [] }, data: {} }, context), uid };
    const text = encodeDrift(drift, 10_000);
    const steps: readonly ((status: Status) => Status)[] = [
      (status) => transitions.waitingForLocks(status, transaction, now, `waiting: ${note}`),
      (status) =>
        transitions.locked(status, transaction, now, { leases: names.map((_, index) => `janus-lock-${index}`), writer: 'w' }),
      (status) => ({ ...status, message: stepMessage(untilAllowed({ status, what: note, failure })) }),
      (status) => transitions.prepared(status, ref, names.length),
      (status) => transitions.applied(status, { index: 0, facts, gating: transaction, end: 1 }, now),
      (status) => (text === undefined ? status : transitions.withRecordedDrift(status, 0, text)),
      (status) =>
        status.phase === 'Committed'
          ? undo.undoingAgain(status, requested(transaction, status, now), now, { leases: [], writer: undefined })
          : status,
      (status) => (status.phase === 'Committing' ? undo.undoing(status, error, now, 1) : status),
      (status) => undo.passedOver(status, 0, `waiting: ${note}`),
      (status) => undo.restored(status, names.length - 1, now, { note }),
      (status) => (status.phase === 'RollingBack' ? undo.notRestored(status, 0, now, error) : status),
      (status) => (status.phase === 'RollingBack' ? undo.concluded(status, now, error) : status),
      (status) => transitions.answered(status, requested(transaction, status, now), `no effect: ${note}`),
    ];
    let stored = statusOf('Pending', names.map(() => 'waiting').join(' '), { version: 0 }) as TruncatedStatus;
    const statuses = steps.map((step) => (stored = completed(stored, step(stored), now, transaction)));
    return { transaction, statuses };
  });

function stepMessage(step: ReturnType<typeof untilAllowed>): string {
  return step.kind === 'setStatus' ? step.status.message : '';
}

function requested(transaction: Transaction, status: Status, now: number) {
  const due = dueOf({ transaction, status, now, lateWindow: 0, waits: 0 });
  return 'request' in due ? due.request : { annotation: annotations.requestRollback, value: 'again' };
}

function texts(status: JsonObject): readonly string[] {
  return [...JSON.stringify(status, (key, value) => (key === 'drift' ? undefined : value)).matchAll(/"((?:[^"\\]|\\.)*)"/g)].map(
    ([whole]) => JSON.parse(whole) as string,
  );
}

/** What is wrong with one status of a story, in words. */
function faultsOf({ transaction, statuses }: Story, index: number): readonly string[] {
  const [before, status] = [statuses[index - 1] ?? statuses[index], statuses[index]];
  if (before === undefined || status === undefined) return ['a status is missing'];
  const wire = encodeStatus(status);
  const read = decodeStatus(JSON.parse(JSON.stringify(wire)), status.items.length);
  const again = read === undefined ? {} : encodeStatus(completed(read, read, start, transaction));
  const events = eventsOf(before, status, transaction).flatMap(({ reason, message }) => [reason, message]);
  const unclean = [...texts(wire), ...events].filter((text) => clean(text) !== text || !text.isWellFormed());
  return [
    ...(conforms(wire) ? [] : [JSON.stringify(conforms.errors)]),
    ...unclean.map((text) => `not clean: ${JSON.stringify(text)}`),
    ...(equalJson(again, wire) ? [] : ['stored, it would be changed again']),
  ];
}

t.test('every status conforms, is clean, and is equal when the engine computes it again', async () => {
  const holds = fc.property(story, (played) => {
    const faults = played.statuses.flatMap((_, index) => faultsOf(played, index));
    if (faults.length > 0) throw new Error(faults[0]);
  });
  fc.assert(holds, { numRuns: 200 });
});

t.test('the engine takes no refusal for the work of another writer, nor for its own judgement', async (t) => {
  const own = [
    'AlreadyExists',
    'NotFound',
    'Terminating',
    'Timeout',
    'LockHeld',
    'LockLost',
    'RollbackTimeout',
    'SnapshotBroken',
  ];
  const holds = fc.property(refusals, (answer) => {
    const reason = reasonOfFailure(failureOfAnswer(answer));
    if (conflictReasons.has(reason) || own.includes(reason) || labelOf(reason) !== reason) throw new Error(reason);
  });
  fc.assert(holds, { numRuns: 200 });
  const late = failureOfError(new DOMException('no answer in time', 'TimeoutError'));
  t.equal(reasonOfFailure(late), 'ServerTimeout', 'a request without an answer is not refused');
  for (const reason of apiReasons) {
    const refusal = { code: 403, headers: {}, body: { kind: 'Status', reason, message: 'no' } };
    t.equal(reasonOfFailure(failureOfAnswer(refusal)), 'Forbidden', `403 with ${reason}`);
  }
});

const worst = ['\u{1f600}', '<', '語', '\u0000', 'x'];

for (const text of worst)
  for (const count of [1, 40, 500])
    t.test(`${count} changes with the longest texts of ${JSON.stringify(text)} take what they are promised`, async (t) => {
      const error: ItemError = { reason: 'RollbackConflict', message: text.repeat(5_000) };
      const begun = statusOf('RollingBack', Array.from({ length: count }, () => 'applied').join(' '), {
        version: 1,
        rollbackRef: ref,
      });
      let full: Status = {
        ...begun,
        cause: error,
        handledAnnotations: { [annotations.requestRollback]: text.repeat(60_000) },
      };
      const facts = { note: text.repeat(5_000), tookFieldsFrom: Array.from({ length: 30 }, (_, n) => `${n}${text.repeat(200)}`) };
      for (const index of begun.items.keys()) {
        const drift = encodeDrift([{ path: ['f:data'], value: text.repeat(200) }], driftRoom(full, Number.POSITIVE_INFINITY));
        const more = { ...facts, lockLease: 'l'.repeat(253), uid: 'u'.repeat(36), ...(drift && { drift }) };
        full = { ...full, items: full.items.map((item, at) => (at === index ? { ...item, ...more } : item)) };
      }
      const left = full.items.map((item) => ({ ...item, error, progress: { kind: 'notRestored', applied: true } as const }));
      const status = completed(
        begun,
        { ...full, items: left, phase: 'Failed', completionTime: start, message: text.repeat(9_000) },
        start,
        {
          ...transactionOf({ changes: full.items.map((_, index) => change('Patch', `${index}${text.repeat(250)}`)) }),
          size: Number.POSITIVE_INFINITY,
        },
      );
      const size = storedSize(encodeStatus(status));
      t.ok(size <= statusSize.own + statusSize.change * count, `${size} bytes`);
      t.ok(conforms(encodeStatus(status)), JSON.stringify(conforms.errors));
      t.ok(
        status.items.every((item) => (item.error?.message.length ?? 0) > 0),
        'the status says something about each change',
      );
    });

t.test('the API server stores these statuses under all rules', async (t) => {
  const samples = fc.sample(story, { numRuns: 12, seed: 11 });
  const client = await connected(t);
  const path = transactionsIn(await freeNamespace(client, 'storable', t));
  for (const [index, { statuses }] of samples.entries()) {
    const name = `sample-${index}`;
    const changes = statuses[0]?.items.map((_, at) => ({
      type: 'Delete',
      target: { apiVersion: 'v1', kind: 'ConfigMap', name: `c${at}` },
    }));
    let live = must(await client.create(path, transactionWith({ ...sampleSpec, changes: changes ?? [] }, name)));
    for (const status of statuses) {
      live = must(await client.update(`${path}/${name}/status`, { ...live, status: encodeStatus(status) }));
      t.same(live.status, encodeStatus(status), 'and stores it as it was sent');
    }
  }
});

for (const [letter, bytes] of [
  ['x', 1],
  ['<', 6],
] as const)
  t.test(`the fullest status of the largest Transaction is stored, made of ${letter}`, async (t) => {
    const client = await connected(t);
    const path = transactionsIn(await freeNamespace(client, 'fullest', t));
    const count = 500;
    const most = 1_500_000 - statusSize.own - statusSize.change * count;
    const large = (size: number): JsonObject => {
      const filler = letter.repeat(Math.floor((size / count - 120) / bytes));
      const changes = Array.from({ length: count }, (_, index) =>
        change('Patch', `c${index}`, { content: { data: { filler } } }),
      );
      return transactionWith({ ...sampleSpec, changes }, 'large');
    };
    const tooLarge = await client.create(path, large(1_650_000));
    t.match(tooLarge.text, /too large|limit is/, 'so many bytes they take where they are stored');
    const live = must(await client.create(path, large(most)));
    const transaction = decodeTransaction(live);
    const { size } = transaction;
    t.ok(size <= most && size > 0.9 * most, `${size} of ${most} bytes`);
    const error: ItemError = { reason: 'RollbackConflict', message: '<'.repeat(5_000) };
    const progress = { kind: 'notRestored', applied: true } as const;
    const items = Array.from({ length: count }, () => ({ error, lockLease: 'l'.repeat(253), progress }));
    const before = statusOf('RollingBack', 'applied', { version: 1 });
    const status = completed(before, { ...before, phase: 'Failed', items, message: '<'.repeat(9_000) }, start, transaction);
    must(await client.update(`${path}/large/status`, { ...live, status: encodeStatus(status) }));
  });
