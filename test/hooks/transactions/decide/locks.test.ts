// Tables of locks: the holder of a Lease, and the result of taking several locks.
import t from 'tap';
import { type JsonObject, withPath } from '../../../../hooks/objects/json.ts';
import { formatMicroTime } from '../../../../hooks/objects/time.ts';
import { lockTrouble, planAcquisition } from '../../../../hooks/transactions/decide/locks.ts';
import type { HolderMap } from '../../../../hooks/transactions/locks/holder.ts';
import { leaseState } from '../../../../hooks/transactions/locks/state.ts';
import type { LockState, LockView } from '../../../../hooks/transactions/observe/observation.ts';
import { table } from '../../../support/table.ts';
import { second, start } from '../../../support/transactions.ts';

const us = 'shop/one/u1';
const acquirer = { holder: us, server: 'this-process', lateWindow: 30 * second };

function lease(holder: string, age: number, name = 'a'): JsonObject {
  const renewTime = formatMicroTime(start - age * second);
  return {
    metadata: { name, uid: 'l', resourceVersion: '1' },
    spec: { holderIdentity: holder, leaseDurationSeconds: 60, renewTime },
  };
}

/** Of a Lease that lives 60 s; the clock of the API server has a resolution of one second, and so has renewTime. */
const states = table<'reason' | 'holder' | 'age' | 'state'>(`
reason                                     | holder      | age  | state
ours, just renewed                         | shop/one/u1 | 0    | ours
ours, half of its life                     | shop/one/u1 | 30   | ours
ours, less than half is left               | shop/one/u1 | 31   | fading
ours, expired: an outage must not undo all | shop/one/u1 | 6000 | fading
ours, written by a clock that is ahead     | shop/one/u1 | -600 | ours
another's                                  | shop/two/u2 | 0    | heldByOther
another's, at the end of its life          | shop/two/u2 | 60   | heldByOther
another's, within the resolution           | shop/two/u2 | 62   | heldByOther
another's, expired                         | shop/two/u2 | 63   | expired
another's, by a clock that is ahead        | shop/two/u2 | -600 | heldByOther
same name, another uid                     | shop/one/u9 | 0    | heldByOther
same name, another namespace               | pub/one/u1  | 0    | heldByOther
nobody's                                   |             | 0    | expired
`);

for (const { reason, holder, age, state } of states) {
  t.test(`a Lease is ${reason}: ${state}`, async (t) => t.equal(leaseState(lease(holder, Number(age)), us, start), state));
}

t.test('no Lease is free; one without times is not held for ever', async (t) => {
  t.equal(leaseState(undefined, us, start), 'free');
  t.equal(leaseState({ spec: { holderIdentity: 'shop/two/u2' } }, us, start), 'expired');
  t.equal(leaseState({ spec: {} }, us, start), 'expired');
  t.equal(leaseState({}, us, start), 'expired');
});

function signed(by: string, object: JsonObject): JsonObject {
  return withPath(object, ['metadata', 'annotations', 'tx.janus.io/writer'], `${by}/1`);
}

const found: Readonly<Record<string, (name: string) => LockState>> = {
  unknown: () => ({ kind: 'unknown' }),
  absent: () => ({ kind: 'absent' }),
  ours: (name) => ({ kind: 'present', object: signed('another-process', lease(us, 0, name)) }),
  mine: (name) => ({ kind: 'present', object: signed('this-process', lease(us, 0, name)) }),
  fading: (name) => ({ kind: 'present', object: lease(us, 40, name) }),
  held: (name) => ({ kind: 'present', object: lease('shop/two/u2', 0, name) }),
  expired: (name) => ({ kind: 'present', object: lease('shop/idle/u3', 100, name) }),
  nameless: (name) => ({ kind: 'present', object: lease('somebody', 100, name) }),
  kept: (name) => ({ kind: 'present', object: lease('shop/kept/u4', 100, name) }),
  leaving: (name) => ({ kind: 'present', object: lease('shop/leaving/u5', 100, name) }),
  hidden: (name) => ({ kind: 'present', object: lease('shop/hidden/u6', 100, name) }),
  unread: (name) => ({ kind: 'present', object: lease('shop/unread/u7', 100, name) }),
};

const holders: HolderMap = new Map([
  ['shop/idle/u3', 'idle'],
  ['shop/kept/u4', 'unfinished'],
  ['shop/leaving/u5', 'terminating'],
  ['shop/hidden/u6', 'unreadable'],
]);

/** `ours*` was taken by this very call. */
function viewOf(text: string): LockView {
  const words = text.split(' ');
  const named = words.map((word, index) => [String.fromCharCode(97 + index), word] as const);
  return {
    locks: named.map(([name]) => ({ name, target: { apiVersion: 'v1', kind: 'ConfigMap', name } })),
    states: new Map(named.map(([name, word]) => [name, found[word.replace('*', '')]?.(name) ?? { kind: 'absent' }])),
    acquired: new Set(named.filter(([, word]) => word.endsWith('*')).map(([name]) => name)),
    holders,
  };
}

function told(view: LockView): string {
  const acquisition = planAcquisition(view, acquirer, start);
  const names = (leases: readonly JsonObject[]): string => leases.map((one) => (one.metadata as JsonObject).name).join('');
  switch (acquisition.kind) {
    case 'acquired':
      return 'acquired';
    case 'acquire':
      return `create ${acquisition.create.map(({ name }) => name).join('')} replace ${acquisition.replace.map(({ lock }) => lock.name).join('')}`;
    case 'blocked':
      return `blocked at ${acquisition.lock.name} by ${acquisition.holder}, release ${names(acquisition.release)}`;
  }
}

const takings = table<'reason' | 'found' | 'verdict'>(`
reason                                               | found               | verdict
nothing is known: all are tried at once              | unknown unknown     | create ab replace
none is there                                        | absent absent       | create ab replace
all are ours                                         | ours ours ours      | acquired
one is missing                                       | ours absent ours    | create b replace
one has expired, its holder is idle: taken over      | ours expired absent | create c replace b
one has expired, and names no holder: taken over     | nameless            | create  replace a
one has expired, its holder has not ended            | ours* kept ours*    | blocked at b by shop/kept/u4, release c
one has expired, its holder is being deleted         | leaving             | blocked at a by shop/leaving/u5, release
one has expired, its holder cannot be read           | hidden              | blocked at a by shop/hidden/u6, release
one has expired, its holder was not read             | unread              | blocked at a by shop/unread/u7, release
none of several is taken if one holder has not ended | expired kept        | blocked at b by shop/kept/u4, release
one of ours fades: renewed                           | fading ours         | create  replace a
the first is another's                               | held ours* ours*    | blocked at a by shop/two/u2, release bc
one in the middle is another's: the prefix is kept   | ours* held ours*    | blocked at b by shop/two/u2, release c
what another process may be taking stays             | ours held ours      | blocked at b by shop/two/u2, release
what an earlier call of ours has left goes back      | mine held mine      | blocked at b by shop/two/u2, release c
what another process has left long ago goes back     | ours held fading    | blocked at b by shop/two/u2, release c
the last is another's: all before it are kept        | ours* ours* held    | blocked at c by shop/two/u2, release
several are others': the first one counts            | ours* held held     | blocked at b by shop/two/u2, release
nothing is taken while one is another's              | absent held absent  | blocked at b by shop/two/u2, release
`);

for (const { reason, found: words, verdict } of takings) {
  t.test(`taking: ${reason}`, async (t) => t.equal(told(viewOf(words)).trim(), verdict));
}

t.test('no locks at all are held', async (t) =>
  t.equal(planAcquisition({ locks: [], states: new Map(), acquired: new Set(), holders }, acquirer, start).kind, 'acquired'),
);

t.test('a lock that could not be read is trouble', async (t) => {
  const failure = {
    kind: 'transient',
    code: 503,
    reason: 'ServiceUnavailable',
    message: '',
    fields: [],
    definitive: true,
  } as const;
  const view = viewOf('ours unknown');
  t.equal(lockTrouble(view), undefined);
  t.match(lockTrouble({ ...view, states: new Map([...view.states, ['b', { kind: 'trouble', failure }]]) }), { failure });
});
