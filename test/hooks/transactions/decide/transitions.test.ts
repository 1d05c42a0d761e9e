// The table of transitions: phase, event, next phase.
import t from 'tap';
import * as forward from '../../../../hooks/transactions/decide/transitions.ts';
import * as backward from '../../../../hooks/transactions/decide/undo-transitions.ts';
import { mayFollow, type Phase, phases } from '../../../../hooks/transactions/model/phase.ts';
import type { Status } from '../../../../hooks/transactions/model/status.ts';
import { table } from '../../../support/table.ts';
import { start, statusOf, transactionOf, wordsOf } from '../../../support/transactions.ts';

const now = start + 5_000;
const cause = { reason: 'Forbidden', message: 'it was refused' } as const;
const request = { annotation: 'tx.janus.io/request-rollback', value: '7' };
const ref = { name: 'one-rollback', digest: 'd', objects: 1 };

const transitions = { ...forward, ...backward };

type Act = (status: Status, index: number) => Status;

const acts: Readonly<Record<string, Act>> = {
  'waits for locks': (status) => transitions.waitingForLocks(status, transactionOf(), now, 'waiting'),
  'has all locks': (status) => transitions.locked(status, transactionOf(), now, { leases: ['l0', 'l1'], writer: 'p/1' }),
  'stores the snapshot': (status) => transitions.prepared(status, ref, 1),
  applied: (status, index) => transitions.applied(status, { index, facts: {}, gating: { changes: [] }, end: index + 2 }, now),
  'is stopped': (status) => transitions.stopped(status, cause, now, new Map([[1, cause]])),
  'is undone': (status) => transitions.undoing(status, cause, now),
  failed: (status, index) => transitions.undoing(status, cause, now, index),
  'is known never to be sent': (status) => transitions.withdrawn(status),
  waits: (status, index) => transitions.passedOver(status, index, 'w'),
  'is undone again': (status) => transitions.undoingAgain(status, request, now, { leases: ['l0', 'l1'], writer: 'p/1' }),
  restored: (status, index) => transitions.restored(status, index, now),
  'is put back': (status, index) => transitions.restored(status, index, now, { undone: true }),
  left: (status, index) => transitions.notRestored(status, index, now, cause),
  ends: (status) => transitions.concluded(status, now),
  'runs out of time': (status) => transitions.concluded(status, now, { reason: 'RollbackTimeout', message: 'too long' }),
};

const rows = table<'reason' | 'from' | 'items' | 'act' | 'to' | 'then' | 'message'>(`
reason                                         | from        | items                     | act                 | to          | then                       | message
a lock is held by another                      | Pending     | waiting waiting           | waits for locks     | Pending     | waiting waiting            | waiting
all locks are held                             | Pending     | waiting waiting           | has all locks       | Preparing   | waiting waiting            | locks
a check failed                                 | Pending     | waiting waiting           | is stopped          | Failed      | waiting waiting            | nothing was applied
a dry run failed                               | Preparing   | waiting waiting           | is stopped          | Failed      | waiting waiting            | nothing was applied
snapshots are stored, the first is announced   | Preparing   | waiting waiting           | stores the snapshot | Prepared    | announced prepared         | 2 changes checked
one change                                     | Preparing   | waiting                   | stores the snapshot | Prepared    | announced                  | 1 change checked
the first of two                               | Prepared    | announced prepared        | applied 0           | Committing  | applied announced          | 1 of 2 changes applied
the last of two                                | Committing  | applied announced         | applied 1           | Committed   | applied applied            | all 2 changes are applied
the only one                                   | Prepared    | announced                 | applied 0           | Committed   | applied                    | the change is applied
the first has failed                           | Prepared    | announced prepared        | failed 0            | RollingBack | announced prepared         | rolling back: it was refused
the second has failed                          | Committing  | applied announced         | failed 1            | RollingBack | applied announced          | rolling back
what is announced was never sent               | RollingBack | applied announced         | is known never to be sent | RollingBack | applied untouched    |
its undo waits                                 | RollingBack | applied announced         | waits 0             | RollingBack | applied announced          |
a rollback is requested while it runs          | Committing  | applied announced         | is undone           | RollingBack | applied announced          | rolling back
a rollback is requested of a committed one     | Committed   | applied applied           | is undone again     | RollingBack | applied applied            | rolling back: a rollback was requested
the item in flight had no effect               | RollingBack | applied announced         | restored 1          | RollingBack | applied untouched          |
the last item is restored                      | RollingBack | applied untouched         | is put back 0       | RolledBack  | restored untouched         | rolled back 1 change
all are restored                               | RollingBack | applied restored          | is put back 0       | RolledBack  | restored restored          | rolled back 2 changes
others have put it back                        | RollingBack | applied prepared          | restored 0          | RolledBack  | restored prepared          | rolled back 0 changes
an announced item is put back                  | RollingBack | announced prepared        | is put back 0       | RolledBack  | untouched prepared         | rolled back 1 change
the only item never had an effect              | RollingBack | announced prepared        | restored 0          | RolledBack  | untouched prepared         | rolled back 0 changes
one is left, the rest goes on                  | RollingBack | applied applied           | left 1              | RollingBack | applied left               |
one is left, the other restored                | RollingBack | applied left              | is put back 0       | Failed      | restored left              | rolled back 1 change, 1 not restored
both are left                                  | RollingBack | applied left              | left 0              | Failed      | left left                  | rolled back 0 changes, 2 not restored
what is announced is left: perhaps no effect   | RollingBack | announced prepared        | left 0              | Failed      | stuck prepared             | 1 not restored
no time is left                                | RollingBack | applied announced         | runs out of time    | Failed      | left stuck                 | 2 not restored: too long
no time is left, but nothing to judge either   | RollingBack | restored untouched        | ends                | RolledBack  | restored untouched         | rolled back 1 change
a failed undo is tried again                   | Failed      | restored left             | is undone again     | RollingBack | restored applied           | rolling back
a failed undo is tried again, fate unknown     | Failed      | stuck prepared            | is undone again     | RollingBack | announced prepared         | rolling back
`);

for (const { reason, from, items, act, to, then, message } of rows) {
  t.test(reason, async (t) => {
    const [, name = '', index] = /^(.*?)(?: (\d))?$/.exec(act) ?? [];
    const before = statusOf(from as Phase, items, { cause: { reason: 'LockLost', message: 'earlier' } });
    const after = acts[name]?.(before, Number(index));
    t.equal(after?.phase, to);
    t.equal(wordsOf(after?.items ?? []), then);
    t.ok(after?.message.includes(message), `the message is "${after?.message}"`);
    const isEnd = ['Committed', 'RolledBack', 'Failed'].includes(to);
    t.equal(after?.completionTime, isEnd ? now : undefined, 'completionTime is that of the end');
  });
}

t.test('no act makes a way that the phases do not have', async (t) => {
  const all = ['waiting waiting', 'announced prepared', 'applied announced', 'applied applied', 'restored left'];
  for (const from of phases) {
    for (const items of all) {
      for (const [name, act] of Object.entries(acts)) {
        const reached = attempt(() => act(statusOf(from, items), 1).phase);
        t.ok(reached === undefined || reached === from || mayFollow(from, reached), `${from} ${name} ${reached}`);
      }
    }
  }
});

function attempt(act: () => Phase): Phase | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

t.test('a request is handled in the same status that acts on it', async (t) => {
  const handled = { [request.annotation]: request.value };
  const stopped = transitions.stopped(statusOf('Pending', 'waiting'), { ...cause, request }, now, new Map());
  t.same(stopped.handledAnnotations, handled);
  t.same(transitions.undoing(statusOf('Prepared', 'announced'), { ...cause, request }, now).handledAnnotations, handled);
  const earlier = statusOf('Committed', 'applied', { handledAnnotations: { other: '1' } });
  t.same(transitions.undoingAgain(earlier, request, now, { leases: [], writer: undefined }).handledAnnotations, {
    other: '1',
    ...handled,
  });
  t.same(transitions.answered(earlier, request, 'no').handledAnnotations, { other: '1', ...handled });
});

t.test('the reason of the end is kept through the undo, and for the next try', async (t) => {
  const undoing = transitions.undoing(statusOf('Committing', 'applied announced'), cause, now, 1);
  t.same(undoing.cause, cause);
  t.same(undoing.items[1]?.error, cause);
  const failed = transitions.notRestored(transitions.withdrawn(undoing), 0, now, {
    reason: 'RollbackConflict',
    message: 'somebody wrote',
  });
  t.match(failed, { phase: 'Failed', cause, message: /somebody wrote.*retry-rollback.*it was refused/ });
  const again = transitions.undoingAgain(failed, request, now, { leases: ['l0', 'l1'], writer: 'p/1' });
  t.same(again.cause, cause);
  t.equal(again.items[0]?.error, undefined, 'the error of the failed try is gone');
});

t.test('locks are told in the items, and gone when released', async (t) => {
  const locked = transitions.locked(statusOf('Pending', 'waiting waiting'), transactionOf(), now, {
    leases: ['l0', 'l1'],
    writer: 'p/1',
  });
  t.same(
    locked.items.map(({ lockLease }) => lockLease),
    ['l0', 'l1'],
  );
  t.ok(transitions.released(locked, undefined).items.every((item) => !('lockLease' in item)));
});

t.test('facts of a change are kept with it, long texts are cut', async (t) => {
  const facts = { uid: 'u', tookFieldsFrom: ['hpa'], drift: '[]' };
  t.match(
    transitions.applied(statusOf('Prepared', 'announced'), { index: 0, facts, gating: { changes: [] }, end: 1 }, now).items[0],
    facts,
  );
  const long = { reason: 'RollbackConflict', message: 'x'.repeat(5_000) } as const;
  const left = transitions.notRestored(statusOf('RollingBack', 'applied'), 0, now, long);
  t.ok((left.items[0]?.error?.message.length ?? 0) <= 1_000);
  t.match(transitions.restored(statusOf('RollingBack', 'applied'), 0, now, { note: 'noted' }).items[0], { note: 'noted' });
  t.match(transitions.fieldsReleased(statusOf('Committed', 'applied'), 0).items[0], { disowned: true });
});

t.test('waiting keeps the time since which is waited', async (t) => {
  const begun = transitions.waitingForLocks(statusOf('Pending', 'waiting'), transactionOf(), now, 'a');
  t.equal(begun.startTime, start);
  const waiting = transitions.waitingToUndo(statusOf('Committed', 'applied'), now, 'a');
  t.equal(transitions.waitingToUndo(waiting, now + 9, 'b').rollbackStartedAt, now);
  t.equal(transitions.answered(waiting, request, 'no').rollbackStartedAt, undefined, 'and is not waited for any more');
});
