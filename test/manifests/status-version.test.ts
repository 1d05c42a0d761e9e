// The version rule: status may only go forward. A late or duplicate answer is refused by the API server, whoever writes it.
import t from 'tap';
import { at, type JsonObject } from '../../hooks/objects/json.ts';
import { guardedFields, guardedInItems } from '../../schemas/transaction.ts';
import { freeNamespace, must } from '../support/client.ts';
import { connectToCluster, installManifests } from '../support/install.ts';
import { refusalIn, sampleSpec, transactionsIn, transactionWith, without } from './samples.ts';

const client = connectToCluster();
t.teardown(() => client.close());
await installManifests(client);
const path = transactionsIn(await freeNamespace(client, 'version', t));

const stored: JsonObject = {
  phase: 'Committing',
  version: 5,
  items: [{ prepared: true, committed: true, lockLease: 'janus-lock-a' }, { prepared: true }],
  rollbackRef: { name: 'sample-rollback', digest: 'sha256:1', objects: 1 },
  specDigest: 'sha256:2',
  startTime: '2026-11-21T10:00:00Z',
  rollbackStartedAt: '2026-11-21T10:05:00Z',
  settledWriter: 'process/1',
  unsettledAt: '2026-11-21T10:05:00Z',
  rollbackObservedAt: '2026-11-21T10:05:00Z',
  locksReturnedAt: '2026-11-21T10:05:00Z',
  handledAnnotations: { 'tx.janus.io/request-rollback': '1' },
  message: 'applying the second change',
  progress: '1/2',
};

/** Another value for each guarded field. */
const others: Readonly<Record<(typeof guardedFields)[number], JsonObject[string]>> = {
  phase: 'RollingBack',
  items: [
    { prepared: true, committed: true, lockLease: 'janus-lock-a' },
    { prepared: true, committed: true },
  ],
  rollbackRef: { name: 'sample-rollback', digest: 'sha256:3', objects: 1 },
  specDigest: 'sha256:4',
  startTime: '2026-11-21T10:00:01Z',
  rollbackStartedAt: '2026-11-21T10:05:01Z',
  settledWriter: 'process/2',
  unsettledAt: '2026-11-21T10:05:01Z',
  rollbackObservedAt: '2026-11-21T10:05:01Z',
  locksReturnedAt: '2026-11-21T10:05:01Z',
  handledAnnotations: { 'tx.janus.io/request-rollback': '2' },
};

/** All that an item may hold, and another value for each guarded member of it. */
const fullItem: JsonObject = {
  target: 'ConfigMap a',
  state: 'NotRestored',
  lockLease: 'janus-lock-a',
  prepared: true,
  announced: true,
  committed: true,
  rolledBack: true,
  left: true,
  kept: true,
  overwrite: true,
  uid: 'u',
  resourceVersion: '1',
  error: { reason: 'RollbackConflict', message: 'was changed' },
  tookFieldsFrom: ['kubectl'],
  took: { count: 1, texts: ['w'] },
  drift: 'd',
  waiting: 'w',
  disowned: true,
  deleted: true,
  note: 'n',
  gate: { since: '2026-11-21T10:00:00Z', found: 'f' },
  undone: true,
  unchanged: true,
  warnings: { count: 1, texts: ['w'] },
};
const otherMembers: JsonObject = {
  lockLease: 'janus-lock-b',
  prepared: false,
  announced: false,
  committed: false,
  rolledBack: false,
  left: false,
  kept: false,
  overwrite: false,
  uid: 'v',
  resourceVersion: '2',
  error: { reason: 'RollbackConflict', message: 'was deleted' },
  tookFieldsFrom: ['helm'],
  took: { count: 2, texts: ['w'] },
  drift: 'e',
  waiting: 'x',
  disowned: false,
  deleted: false,
  note: 'o',
  gate: { since: '2026-11-21T10:00:00Z', found: 'f', passed: true },
  undone: false,
  unchanged: false,
  warnings: { count: 2, texts: ['w'] },
};
const bareItem = without(fullItem, 'target', 'state');
const holding = (...items: readonly JsonObject[]): JsonObject => ({ ...stored, items: [...items] });

const fell = /status\.version must not fall or vanish/;
const changed = /needs a higher status\.version/;
const apart = /phase and version come together/;

interface Row {
  readonly reason: string;
  /** Absent: no status was ever stored. */
  readonly before?: JsonObject;
  readonly after: JsonObject | undefined;
  readonly refused?: RegExp;
}

const rows: readonly Row[] = [
  { reason: 'the very first status may be any', after: stored },
  { reason: 'the very first status may be version 1', after: { phase: 'Preparing', version: 1, items: [] } },
  { reason: 'the very first status may hold nothing but what Metacontroller adds', after: { observedGeneration: 1 } },
  { reason: 'a version may follow a status without one', before: { observedGeneration: 1 }, after: stored },
  { reason: 'a first phase needs a version', after: { phase: 'Preparing' }, refused: apart },
  { reason: 'a first version needs a phase', after: { version: 1 }, refused: apart },
  { reason: 'an unchanged status is admitted', before: stored, after: stored },
  { reason: 'an unguarded member may change', before: stored, after: { ...stored, message: 'waiting', progress: '0/2' } },
  { reason: 'an unguarded member may be removed', before: stored, after: without(stored, 'message', 'progress') },
  { reason: 'observedGeneration may come', before: stored, after: { ...stored, observedGeneration: 1 } },
  { reason: 'a higher version may change all', before: stored, after: { ...others, version: 6 } },
  { reason: 'a higher version may leave fields out', before: stored, after: { phase: 'Committed', version: 7 } },
  { reason: 'a lower version is refused', before: stored, after: { ...stored, version: 4 }, refused: fell },
  { reason: 'an absent version is refused', before: stored, after: without(stored, 'version', 'phase'), refused: fell },
  { reason: 'an empty status is refused', before: stored, after: {}, refused: fell },
  { reason: 'an absent status is refused', before: stored, after: undefined, refused: fell },
  ...guardedFields.flatMap((field): readonly Row[] => [
    { reason: `another ${field} is refused`, before: stored, after: { ...stored, [field]: others[field] }, refused: changed },
    {
      reason: `an absent ${field} is refused`,
      before: stored,
      after: without(stored, field),
      refused: field === 'phase' ? apart : changed,
    },
    ...(field === 'phase'
      ? []
      : [{ reason: `a new ${field} is refused`, before: without(stored, field), after: stored, refused: changed }]),
    {
      reason: `another ${field} is fine with a higher version`,
      before: stored,
      after: { ...stored, [field]: others[field], version: 6 },
    },
  ]),
  {
    reason: 'a version without target and state may drop them',
    before: holding(fullItem, fullItem),
    after: holding(bareItem, bareItem),
  },
  { reason: 'a version with them may add them', before: holding(bareItem, bareItem), after: holding(fullItem, fullItem) },
  { reason: 'an item more is refused', before: holding(fullItem), after: holding(bareItem, bareItem), refused: changed },
  { reason: 'an item less is refused', before: holding(fullItem, fullItem), after: holding(bareItem), refused: changed },
  {
    reason: 'two items in another order are refused',
    before: holding(fullItem, { prepared: true }),
    after: holding({ prepared: true }, bareItem),
    refused: changed,
  },
  ...guardedInItems.flatMap((member): readonly Row[] => [
    {
      reason: `without target and state, another ${member} of an item is refused`,
      before: holding(bareItem, fullItem),
      after: holding(bareItem, { ...bareItem, [member]: otherMembers[member] ?? null }),
      refused: changed,
    },
    {
      reason: `without target and state, an absent ${member} of an item is refused`,
      before: holding(bareItem, fullItem),
      after: holding(bareItem, without(bareItem, member)),
      refused: changed,
    },
  ]),
];

t.test('each guarded member of an item has its own rows', async (t) => {
  t.same(Object.keys(otherMembers).sort(), [...guardedInItems].sort());
});

for (const [index, { reason, before, after, refused }] of rows.entries()) {
  t.test(reason, async (t) => {
    const name = `row-${index}`;
    const created = must(await client.create(path, transactionWith(sampleSpec, name)));
    const current = before ? must(await store(name, created, before)) : created;
    const answer = await store(name, current, after);
    if (refused) t.match(refusalIn(answer), refused);
    else t.same(at(must(answer), 'status'), after);
  });
}

/** As Metacontroller does it: a PUT of the whole object through the status subresource. */
function store(name: string, current: JsonObject, status: JsonObject | undefined) {
  return client.update(`${path}/${name}/status`, { ...without(current, 'status'), ...(status && { status }) });
}

t.test('a stored status survives edits of metadata', async (t) => {
  const created = must(await client.create(path, transactionWith(sampleSpec, 'metadata')));
  must(await store('metadata', created, stored));
  const edited = must(await client.patch(`${path}/metadata`, { metadata: { labels: { edited: 'yes' } }, status: null }));
  t.same(edited.status, stored);
});
