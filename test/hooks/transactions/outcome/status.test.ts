// The status to store: its version grows exactly if a member changes that the CRD guards, and an equal step changes nothing.
import t from 'tap';
import { storedSize } from '../../../../hooks/objects/words.ts';
import { isPhase } from '../../../../hooks/transactions/model/phase.ts';
import { decodeStatus, encodeStatus, type Status } from '../../../../hooks/transactions/model/status.ts';
import { completed } from '../../../../hooks/transactions/outcome/status.ts';
import { guardedFields } from '../../../../schemas/transaction.ts';
import { change, minute, start, statusOf, transactionOf } from '../../../support/transactions.ts';

const now = start + minute;
const transaction = transactionOf({ changes: [change('Patch', 'a')] });
const ref = { name: 'r', digest: 'd', objects: 1 };
const stored = completed(
  statusOf('Prepared', 'announced', { version: 0, rollbackRef: ref, specDigest: 's' }),
  statusOf('Prepared', 'announced', { rollbackRef: ref, specDigest: 's' }),
  start,
  transaction,
);

const changes: readonly { reason: string; after: Partial<Status>; grows: boolean; field?: string }[] = [
  { reason: 'nothing', after: {}, grows: false },
  { reason: 'the message', after: { message: 'waiting' }, grows: false },
  { reason: 'when it ended', after: { completionTime: now }, grows: false },
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
  { reason: 'when it began', after: { startTime: now }, grows: true, field: 'startTime' },
  { reason: 'when the undo began', after: { rollbackStartedAt: now }, grows: true, field: 'rollbackStartedAt' },
  { reason: 'the writer that is settled', after: { settledWriter: 'p/2' }, grows: true, field: 'settledWriter' },
  { reason: 'a writer that is not', after: { unsettledAt: now }, grows: true, field: 'unsettledAt' },
  { reason: 'when locks were given back', after: { locksReturnedAt: now }, grows: true, field: 'locksReturnedAt' },
  { reason: 'when the undo was found stored', after: { rollbackObservedAt: now }, grows: true, field: 'rollbackObservedAt' },
  { reason: 'a handled request', after: { handledAnnotations: { a: '1' } }, grows: true, field: 'handledAnnotations' },
];

for (const { reason, after, grows } of changes) {
  t.test(`changed: ${reason}`, async (t) => {
    const next = completed(stored, { ...stored, ...after }, now, transaction);
    t.equal(next.version, stored.version + (grows ? 1 : 0));
    t.same(completed(stored, { ...stored, ...after }, now, transaction), next, 'the same again');
    t.same(completed(next, next, now + minute, transaction), next, 'and once stored, nothing changes any more, later neither');
  });
}

t.test('the CRD guards the same fields', async (t) => {
  t.same(changes.flatMap(({ field }) => field ?? []).toSorted(), [...guardedFields].toSorted());
});

t.test('the first status has a version', async (t) => {
  const first = statusOf('Pending', 'waiting', { version: 0 });
  t.equal(completed(first, first, now, transaction).version, 1);
});

t.test('a message has an end', async (t) => {
  const long = completed(stored, { ...stored, message: 'x'.repeat(10_000) }, now, transaction);
  t.equal(long.message.length, 2_000);
  t.same(completed(long, { ...long, message: 'x'.repeat(10_000) }, now, transaction), long);
});

t.test('the reader returns the stored status', async (t) => {
  const after = completed(
    stored,
    { ...stored, phase: 'RollingBack', cause: { reason: 'Timeout', message: 'late' } },
    now,
    transaction,
  );
  t.same(decodeStatus(encodeStatus(after), 1), after);
  t.ok(isPhase(after.phase));
});

t.test('the engine derives the members for people when the version grows, and keeps them otherwise', async (t) => {
  const { display: _, ...bare } = stored;
  const byOther = bare as typeof stored;
  t.match(stored.display, { current: 'ConfigMap a', items: [{ target: 'ConfigMap a', state: 'Applying' }] });
  t.same(completed(byOther, byOther, now, transaction), byOther, 'stored by a version without it, it stays without');
  const waiting = completed(byOther, { ...byOther, message: 'waiting' }, now, transaction);
  t.notOk('display' in waiting, 'a message alone adds nothing');
  const moved = completed(
    byOther,
    { ...byOther, phase: 'Committed', items: statusOf('Committed', 'applied').items },
    now,
    transaction,
  );
  t.match(moved.display, { items: [{ target: 'ConfigMap a', state: 'Applied' }] });
  const odd = { ...stored, display: { items: [{ state: 'Applied' }], current: 'of a later version' } };
  t.same(completed(odd, { ...odd, message: 'waiting' }, now, transaction).display, odd.display);
});

t.test('logs in the status are the last lines, and get shorter with the room', async (t) => {
  const logs = Array.from({ length: 20 }, (_, index) => `line ${index} ${'x'.repeat(190)}`).join('\n');
  const item = { progress: { kind: 'applied' as const }, gate: { since: start, logs } };
  const of = (size: number) => {
    const items = Array.from({ length: 500 }, () => item);
    return completed(stored, { ...stored, items }, now, { ...transaction, size }).items[0]?.gate?.logs ?? '';
  };
  t.equal(completed(stored, { ...stored, items: [item] }, now, transaction).items[0]?.gate?.logs, logs);
  const short = of(900_000);
  t.ok(short.length < 1_000 && logs.endsWith(short), `${short.length}`);
});

for (const member of ['warnings', 'took'] as const)
  t.test(`${member} in the status get shorter with the room, and at last only their number is left`, async (t) => {
    const warnings = { count: 4, texts: ['a', 'b', 'c'].map((text) => text.repeat(200)) };
    const of = (count: number, size: number, note = '') => {
      const items = Array.from({ length: count }, () => ({ progress: { kind: 'applied' as const }, [member]: warnings, note }));
      const next = completed(stored, { ...stored, items }, now, { ...transaction, size });
      t.same(completed(next, next, now, { ...transaction, size }), next, 'once stored, nothing changes any more');
      t.ok(storedSize(encodeStatus(next).items) < Math.max(800 * count, 1_500_000 - size), 'it fits');
      return next.items[0]?.[member];
    };
    t.same(of(1, 1_000), warnings);
    t.match(of(500, 1_000_000), { count: 4, texts: [/^a{10,199}…$/, /^b/, /^c/] });
    t.match(of(500, 1_000_000_000), { texts: [/^a{10,}…$/] }, 'what each change is promised');
    t.same(of(500, 1_000_000_000, 'n'.repeat(900)), { count: 4 }, 'other texts keep more');
    const many = { count: 9, texts: Array.from({ length: 9 }, (_, index) => `${index}`.repeat(300)) };
    const items = [{ progress: { kind: 'applied' as const }, [member]: many }];
    const cut = completed(stored, { ...stored, items }, now, transaction).items[0]?.[member];
    t.match(cut, { count: 9, texts: [/^0{199}…$/, /^1{199}…$/, /^2{199}…$/] });
    t.equal(cut?.texts?.length, 3);
  });

t.test('until when open gates are waited for', async (t) => {
  const gate = (index: number, more: object) => change('Patch', `g${index}`, { gate: { timeout: '10m', ...more } });
  const gated = transactionOf({
    changes: [gate(0, { at: 'AtEnd' }), gate(1, { at: 'AtEnd', timeout: '20m' })],
    spec: { timeout: '25m' },
  });
  const before = statusOf('Committing', 'applied applied');
  const opened = (since: number, phase: Status['phase'] = 'Committing'): Status => ({
    ...statusOf(phase, 'applied applied'),
    items: before.items.map((item) => ({ ...item, gate: { since } })),
  });
  const untilOf = (status: Status): string | undefined => completed(before, status, now, gated).display?.waitingUntil;
  t.equal(untilOf(opened(start)), '2026-01-01T00:20:00Z', 'the longest of them');
  t.equal(untilOf(opened(start + 15 * minute)), '2026-01-01T00:25:00Z', 'spec.timeout is the end of all');
  t.equal(untilOf(opened(start, 'RollingBack')), undefined);
  t.equal(completed(stored, { ...stored, phase: 'Committing' }, now, transaction).display?.waitingUntil, undefined, 'no gate');
  const last = Date.parse('9999-12-31T23:59:59Z');
  t.equal(untilOf({ ...opened(last), startTime: last }), '9999-12-31T23:59:59Z', 'a time that the CRD accepts');
});
