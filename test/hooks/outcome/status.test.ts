// The status to store: its version grows exactly with what the CRD guards, and saying the same twice changes nothing.
import t from 'tap';
import { isPhase } from '../../../hooks/model/phase.ts';
import { decodeStatus, encodeStatus, type Status } from '../../../hooks/model/status.ts';
import { completed } from '../../../hooks/outcome/status.ts';
import { guardedFields } from '../../../schemas/transaction.ts';
import { minute, start, statusOf } from '../../support/transactions.ts';

const now = start + minute;
const ref = { name: 'r', digest: 'd', objects: 1 };
const stored = completed(
  statusOf('Prepared', 'announced', { version: 0, rollbackRef: ref, specDigest: 's' }),
  statusOf('Prepared', 'announced', { rollbackRef: ref, specDigest: 's' }),
  start,
);

const changes: readonly { reason: string; after: Partial<Status>; grows: boolean; field?: string }[] = [
  { reason: 'nothing', after: {}, grows: false },
  { reason: 'the message', after: { message: 'waiting' }, grows: false },
  { reason: 'when it ended', after: { completedAt: now }, grows: false },
  { reason: 'what decide says of the version', after: { version: 99 }, grows: false },
  { reason: 'the phase', after: { phase: 'RollingBack' }, grows: true, field: 'phase' },
  { reason: 'an item', after: { items: statusOf('Prepared', 'applied').items }, grows: true, field: 'items' },
  {
    reason: 'the error of an item',
    after: { items: [{ progress: { kind: 'announced' }, error: { reason: 'Forbidden', message: 'b' } }] },
    grows: true,
  },
  { reason: 'the lock of an item', after: { items: [{ progress: { kind: 'announced' }, lockLease: 'l' }] }, grows: true },
  { reason: 'the snapshot', after: { rollbackRef: { ...ref, digest: 'e' } }, grows: true, field: 'rollbackRef' },
  { reason: 'the digest of the spec', after: { specDigest: 't' }, grows: true, field: 'specDigest' },
  { reason: 'when it began', after: { startedAt: now }, grows: true, field: 'startedAt' },
  { reason: 'when the undo began', after: { rollbackStartedAt: now }, grows: true, field: 'rollbackStartedAt' },
  { reason: 'the writer that is settled', after: { settledWriter: 'p/2' }, grows: true, field: 'settledWriter' },
  { reason: 'a writer that is not', after: { unsettledAt: now }, grows: true, field: 'unsettledAt' },
  { reason: 'when the undo was found stored', after: { rollbackObservedAt: now }, grows: true, field: 'rollbackObservedAt' },
  { reason: 'a handled request', after: { handledAnnotations: { a: '1' } }, grows: true, field: 'handledAnnotations' },
];

for (const { reason, after, grows } of changes) {
  t.test(`changed: ${reason}`, async (t) => {
    const next = completed(stored, { ...stored, ...after }, now);
    t.equal(next.version, stored.version + (grows ? 1 : 0));
    t.same(completed(stored, { ...stored, ...after }, now), next, 'the same again');
    t.same(completed(next, next, now + minute), next, 'and once stored, nothing changes any more, later neither');
  });
}

t.test('the CRD guards the same fields', async (t) => {
  t.same(changes.flatMap(({ field }) => field ?? []).toSorted(), [...guardedFields].toSorted());
});

t.test('the first status has a version', async (t) => {
  const first = statusOf('Pending', 'waiting', { version: 0 });
  t.equal(completed(first, first, now).version, 1);
});

t.test('a message has an end', async (t) => {
  const long = completed(stored, { ...stored, message: 'x'.repeat(10_000) }, now);
  t.equal(long.message.length, 2_000);
  t.same(completed(long, { ...long, message: 'x'.repeat(10_000) }, now), long);
});

t.test('what is stored is read as it was', async (t) => {
  const after = completed(stored, { ...stored, phase: 'RollingBack', cause: { reason: 'Timeout', message: 'late' } }, now);
  t.same(decodeStatus(encodeStatus(after), 1), after);
  t.ok(isPhase(after.phase));
});
