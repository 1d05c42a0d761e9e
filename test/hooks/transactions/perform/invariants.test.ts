// The last check before a request leaves: a write that would break an invariant is not sent.
import t from 'tap';
import type { Answer, Resource, Write, Writer } from '../../../../hooks/objects/cluster.ts';
import type { Json } from '../../../../hooks/objects/json.ts';
import type { Writes } from '../../../../hooks/objects/mutation.ts';
import { InvariantError, type WriteContext } from '../../../../hooks/transactions/model/invariant.ts';
import type { Item } from '../../../../hooks/transactions/model/item.ts';
import { decodeTransaction } from '../../../../hooks/transactions/model/transaction.ts';
import { performChecked } from '../../../../hooks/transactions/perform/invariants.ts';
import { configMaps, engine, leases, secrets, transactions } from '../../../../hooks/transactions/writes/resources.ts';

const precondition = { uid: 'u', resourceVersion: '7' };
const account = { kind: 'serviceAccount', namespace: 'shop', name: 'deployer' } as const;
const named = (name: string, resource: Resource = configMaps) => ({ resource, namespace: 'shop', name });
const target: Write = {
  verb: 'update',
  identity: account,
  location: named('b'),
  object: {},
  precondition,
  fieldManager: 'janus-r',
};
const lock: Write = {
  verb: 'delete',
  identity: engine,
  location: { ...named('janus-lock-shop-configmap-b-0123456789', leases), namespace: 'janus-system' },
  precondition,
};

const change = (name: string, gate?: Json) => ({
  type: 'Patch',
  target: { apiVersion: 'v1', kind: 'ConfigMap', name },
  content: {},
  ...(gate === undefined ? {} : { gate }),
});

const item = (kind: 'prepared' | 'announced' | 'applied', passed = false): Item => ({
  progress: { kind },
  ...(passed ? { gate: { since: 0, passed } } : {}),
});

interface Case {
  readonly items: readonly Item[];
  readonly phase: 'Committing' | 'RollingBack';
  readonly isStored: boolean;
  readonly isGated: boolean;
  readonly about: WriteContext['about'];
}

function contextOf(given: Partial<Case> = {}): WriteContext {
  const { items = [item('applied'), item('announced')], phase = 'Committing', isStored = true, isGated = false } = given;
  const gate = { at: 'AfterChange' };
  const object = {
    metadata: { namespace: 'shop', name: 'r', uid: 'u1' },
    spec: { serviceAccountName: 'deployer', changes: [change('a', isGated ? gate : undefined), change('b')] },
  };
  const transaction = decodeTransaction(object as never);
  const stored = { phase, items, ...(isStored ? { rollbackRef: { name: 's', digest: 'd', objects: 1 } } : {}) } as never;
  const about = 'about' in given ? given.about : ({ index: 1, direction: 'change' } as const);
  return {
    ...{ transaction, stored, engineNamespace: 'janus-system', isSnapshot: (name) => name === 'r-rollback-x' },
    ...(about === undefined ? {} : { about }),
  };
}

function counting(): { readonly writer: Writer; readonly sent: Write[] } {
  const sent: Write[] = [];
  const ok: Answer = { kind: 'ok', object: {}, serverTime: 0 };
  const send = async (write: Write): Promise<Answer> => {
    sent.push(write);
    return ok;
  };
  return { sent, writer: { send } };
}

const one = (write: Write): Writes => ({ kind: 'chain', mutation: { write } });

t.test('a write that keeps all invariants is sent', async (t) => {
  const part: Write = { verb: 'delete', identity: engine, location: named('r-rollback-x'), precondition };
  const itself: Write = { verb: 'delete', identity: engine, location: named('r', transactions), precondition };
  const undo = {
    phase: 'RollingBack',
    items: [item('applied'), item('applied')],
    about: { index: 1, direction: 'undo' },
  } as const;
  const rows: readonly (readonly [string, Write, WriteContext])[] = [
    ['a change that is announced', target, contextOf()],
    [
      'a change behind a gate that has passed',
      target,
      contextOf({ isGated: true, items: [item('applied', true), item('announced')] }),
    ],
    ['an undo', target, contextOf(undo)],
    ['a lock', lock, contextOf({ about: undefined })],
    ['a part of the snapshot', part, contextOf({ about: undefined })],
    ['the Transaction that has expired', itself, contextOf({ about: undefined })],
  ];
  for (const [what, write, rules] of rows) {
    const { writer, sent } = counting();
    await performChecked(one(write), writer, rules);
    t.same(sent, [write], what);
  }
});

t.test('a write that breaks an invariant is not sent, and the error names the invariant', async (t) => {
  const versionless = { ...target, precondition: { uid: 'u', resourceVersion: '' } } as Write;
  const rows: readonly (readonly [string, string, Write, WriteContext])[] = [
    ['I2', 'no prior state is stored', target, contextOf({ isStored: false })],
    ['I3', 'no version', versionless, contextOf()],
    ['I5', 'another name', { ...target, location: named('c') }, contextOf()],
    ['I5', 'another namespace', { ...target, location: { ...named('b'), namespace: 'other' } }, contextOf()],
    ['I5', 'another kind', { ...target, location: named('b', secrets) }, contextOf()],
    ['I5', 'the target of another change', { ...target, location: named('a') }, contextOf()],
    ['I5', 'a step that writes no target', target, contextOf({ about: undefined })],
    ['I5', 'a ConfigMap that is no snapshot', { ...lock, location: named('b') }, contextOf()],
    ['I5', 'a Lease elsewhere', { ...lock, location: { ...lock.location, namespace: 'shop' } }, contextOf()],
    ['I5', 'a Lease that is no lock', { ...lock, location: { ...lock.location, name: 'leader' } }, contextOf()],
    ['I5', 'another Transaction', { ...lock, location: named('s', transactions) }, contextOf()],
    ['I8', 'a change that is not announced', target, contextOf({ items: [item('applied'), item('prepared')] })],
    ['I8', 'an undo while it commits', target, contextOf({ about: { index: 1, direction: 'undo' } })],
    ['I11', 'a target as the engine', { ...lock, location: named('b', secrets) }, contextOf()],
    ['I11', 'another ServiceAccount', { ...target, identity: { ...account, name: 'default' } }, contextOf()],
    ['I17', 'behind a gate that is open', target, contextOf({ isGated: true })],
  ];
  for (const [invariant, what, write, rules] of rows) {
    const { writer, sent } = counting();
    const thrown = await performChecked(one(write), writer, rules).catch((error: unknown) => error);
    t.ok(thrown instanceof InvariantError, what);
    t.equal((thrown as InvariantError).invariant, invariant, what);
    t.same(sent, [], what);
  }
});

t.test('no write is sent if one of several would break an invariant', async (t) => {
  const { writer, sent } = counting();
  const bad: Write = { ...lock, location: { ...lock.location, name: 'leader' } };
  const writes: Writes = { kind: 'parallel', mutations: [{ write: lock }, { write: bad }] };
  await t.rejects(performChecked(writes, writer, contextOf()), { message: /^I5: / });
  t.same(sent, []);
});

t.test('the second write of a chain is checked, too', async (t) => {
  const { writer, sent } = counting();
  const next = () => ({ write: { ...target, location: named('c') } });
  await t.rejects(performChecked({ kind: 'chain', mutation: { write: target, next } }, writer, contextOf()), {
    message: /^I5: /,
  });
  t.same(sent, [target]);
});
