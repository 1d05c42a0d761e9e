// Requests that may still be in flight during an undo (W3, W4, W6 of hooks/transactions/in-flight/in-flight.ts).
import t from 'tap';
import { serverTimeResolution } from '../../../hooks/objects/time.ts';
import {
  fencedUntil,
  isAccountedFor,
  mayLandUntil,
  type OwnWrites,
  unsettledAtEnd,
} from '../../../hooks/transactions/in-flight/in-flight.ts';
import type { Status } from '../../../hooks/transactions/model/status.ts';
import { minute, second, start, statusOf } from '../../support/transactions.ts';

const writer = 'this process/1';
const first = { metadata: { annotations: { 'tx.janus.io/writer': writer } } };
const ownWrites: OwnWrites = { writer, isOpen: false };
const rolling = (more: Partial<Status> = {}): Status => statusOf('RollingBack', 'applied announced', more);
const window = 30 * second;
const end = start + window + serverTimeResolution;

t.test('W3: whose process sent all of it, and knows each answer, is accounted for', async (t) => {
  t.ok(isAccountedFor({ status: rolling(), first, ownWrites }));
  t.notOk(
    isAccountedFor({ status: rolling(), first, ownWrites: { ...ownWrites, sent: new Set([0, 1]) } }),
    'an answer is not stored yet',
  );
  t.notOk(isAccountedFor({ status: rolling(), first, ownWrites: { ...ownWrites, writer: 'another/1' } }));
  t.notOk(isAccountedFor({ status: rolling({ unsettledAt: start }), first, ownWrites }));
});

t.test('W6: not if another process may have a fence under way, although no change can land', async (t) => {
  const traces = { status: rolling({ rollbackObservedAt: start }), first, ownWrites };
  t.notOk(isAccountedFor(traces));
  t.equal(mayLandUntil(traces, window), 0, 'a Create is not waited for');
  t.equal(fencedUntil(traces, window), end);
});

t.test('the windows begin with the stored times, and the later one counts', async (t) => {
  const unknown = { first, ownWrites: { isOpen: false } };
  t.equal(mayLandUntil({ ...unknown, status: rolling() }, window), 'unobserved');
  t.equal(mayLandUntil({ ...unknown, status: rolling({ rollbackObservedAt: start }) }, window), end);
  const replaced = rolling({ rollbackObservedAt: start - minute, unsettledAt: start });
  t.same(
    [mayLandUntil({ ...unknown, status: replaced }, window), fencedUntil({ ...unknown, status: replaced }, window)],
    [end, end],
  );
  t.equal(fencedUntil({ ownWrites, status: rolling() }, window), 0, 'none has begun');
});

t.test('the end keeps when the last window began: marks are looked for at the deletion', async (t) => {
  const [later, stranger] = [start + minute, { first, ownWrites: { isOpen: false } }];
  t.equal(unsettledAtEnd({ status: rolling(), first, ownWrites }, later), undefined, 'none has begun');
  t.equal(unsettledAtEnd({ status: rolling({ rollbackObservedAt: start }), first, ownWrites }, later), start);
  t.equal(
    unsettledAtEnd({ ...stranger, status: rolling({ rollbackObservedAt: start }) }, later),
    later,
    'nobody knows of its own',
  );
});
