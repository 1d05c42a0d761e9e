// Every invariant can fail: the evidence of a run that keeps them all, and one change of it for each way to break one.
import t from 'tap';
import type { JsonObject } from '../../hooks/objects/json.ts';
import { engineUser } from '../support/engine-identity.ts';
import type { AuditEvent } from './audit.ts';
import { eventOf } from './audit.ts';
import { configMapKey, type Evidence } from './evidence.ts';
import { gatedCommit } from './gates.ts';
import { invariants, patchesAreTrue, violations } from './invariants.ts';
import { authority, plantedBy } from './invariants-of-authority.ts';
import { forged, forgedStatus } from './invariants-of-secrecy.ts';
import { canaryOf, namesOf } from './names.ts';
import { keyOf } from './places.ts';
import { recreateCommit } from './recreations.ts';
import { commit2, commit4, contention, rollback2 } from './stories.ts';
import { base64 } from './story.ts';

const names = namesOf(1, { namespace: 'shop', elsewhere: 'other' });
const uid = '12345678-90ab';
const at = (name: string): string => configMapKey(names, name);
const forward = 'janus-run1-12345678';
const restore = 'janus-restore-run1-12345678';

function configMap(name: string, data: JsonObject, managers: readonly string[] = ['gitops']): JsonObject {
  const managedFields = managers.map((manager) => ({ manager, operation: 'Update' }));
  return { kind: 'ConfigMap', metadata: { name, uid: `uid-${name}`, resourceVersion: '7', managedFields }, data };
}

function event(parts: Partial<AuditEvent>): AuditEvent {
  const [received, answered] = ['2026-01-01T00:00:05Z', '2026-01-01T00:00:06Z'];
  const common = { actor: 'account', verb: 'update', resource: 'configmaps', name: names.b, code: 200 } as const;
  const resource = parts.resource ?? common.resource;
  const group = resource.startsWith('transactions') ? 'tx.janus.io' : '';
  const key = keyOf({ group, resource: resource.split('/')[0] ?? '', namespace: 'shop', name: parts.name ?? common.name });
  return { ...common, key, fieldManager: '', request: {}, response: {}, received, answered, ...parts };
}

const versioned = { metadata: { uid: 'uid', resourceVersion: '7' } };
const snapshot = event({
  actor: 'engine',
  verb: 'create',
  name: 'run1-rollback',
  code: 201,
  answered: '2026-01-01T00:00:02Z',
});
const creation = event({
  verb: 'create',
  name: names.a,
  code: 201,
  fieldManager: forward,
  response: configMap(names.a, { made: 'yes' }),
});
const green = { color: 'green', size: 'large' };
const update = event({ request: versioned, fieldManager: forward, response: configMap(names.b, green) });

function statusEvent(status: JsonObject, name = names.run): AuditEvent {
  return event({ actor: 'controller', resource: 'transactions/status', name, response: { status } });
}

const committed = {
  phase: 'Committed',
  version: 5,
  items: [],
  conditions: ['Finished', 'Succeeded', 'Committed', 'Ready'].map((type) => ({ type, status: 'True' })),
};

const announcement = {
  ...statusEvent({ phase: 'Prepared', version: 4, items: [{ announced: true }, { announced: true }] }),
  answered: '2026-01-01T00:00:04Z',
};

const hookCall = {
  number: 1,
  name: names.run,
  outcome: 'status',
  resyncAfterSeconds: 0,
  portCalls: 9,
  time: 0,
  reason: '',
  items: [{ announced: true }, { announced: true }],
  phase: 'Committed',
};

const calm: Evidence = {
  story: commit2,
  names,
  events: [snapshot, announcement, creation, update, statusEvent(committed)],
  portCalls: [],
  hookCalls: [hookCall],
  reports: [],
  uids: new Map([
    [names.run, uid],
    [names.rival, 'abcdef01-2345'],
  ]),
  struckAt: 0,
  hadHookFaults: false,
  isOneByOne: false,
  before: new Map([[at(names.b), configMap(names.b, { color: 'blue' })]]),
  after: new Map([
    [at(names.a), configMap(names.a, { made: 'yes' })],
    [at(names.b), configMap(names.b, green)],
  ]),
  ends: new Map([[names.run, committed]]),
  writesAtRest: [],
  leftovers: [],
  finally: new Map(),
  bystanders: [],
};

const undone: Evidence = {
  ...calm,
  story: rollback2,
  events: [snapshot],
  before: new Map([names.b, names.c].map((name) => [at(name), configMap(name, {})])),
  after: new Map([names.b, names.c].map((name) => [at(name), configMap(name, {})])),
  ends: new Map([[names.run, { phase: 'RolledBack', version: 9, items: [{}, {}] }]]),
};

/** Of the objects of a run with gates, in this order: `a` is made, ready, its gate passed; `b` and `c` are changed, `c` is ready, it is committed. */
const inOrder = ['made', 'up', 'passed', 'behind', 'last', 'ready', 'committed'] as const;

function widget(name: string, parts: Partial<AuditEvent>, condition?: string): AuditEvent {
  const status = condition === undefined ? {} : { observedGeneration: 2, conditions: [{ type: 'Ready', status: condition }] };
  const [key] = [keyOf({ group: 'one.faults.test', resource: 'widgets', namespace: 'shop', name })];
  return event({ name, key, fieldManager: forward, response: { metadata: { generation: 2 }, status }, ...parts });
}

function gateEvent(step: (typeof inOrder)[number]): AuditEvent {
  const by = { actor: 'stranger', fieldManager: 'widgets' } as const;
  const passed = { gate: { passed: true } };
  const items = [passed, {}, step === 'committed' ? passed : {}, {}];
  switch (step) {
    case 'made':
      return widget(names.a, { verb: 'create', code: 201 });
    case 'up':
      return widget(names.a, by, 'True');
    case 'behind':
      return widget(names.b, {});
    case 'last':
      return widget(names.c, {});
    case 'ready':
      return widget(names.c, by, 'True');
    default:
      return statusEvent({ phase: step === 'committed' ? 'Committed' : 'Committing', items });
  }
}

/** A run with gates whose steps came in this order. */
function gatedRun(...steps: readonly (typeof inOrder)[number][]): Evidence {
  const events = steps.map((step, index) => {
    const time = `2026-01-01T00:00:${String(10 + index)}`;
    return { ...gateEvent(step), received: `${time}.1Z`, answered: `${time}.2Z` };
  });
  return { ...calm, story: gatedCommit, events, ends: new Map() };
}

function without(...steps: readonly string[]): readonly (typeof inOrder)[number][] {
  return inOrder.filter((step) => !steps.includes(step));
}

t.test('gates in their order', async (t) => {
  for (const name of ['I17 gates in order', 'I18 committed gates'])
    for (const steps of [inOrder, without('committed'), without('behind', 'last', 'ready', 'committed')])
      t.same(invariants[name]?.(gatedRun(...steps)), [], `${name}: ${steps.join(', ')}`);
});

t.test('a run that keeps all invariants violates none', async (t) => {
  t.same(violations(calm), []);
  t.same(violations(undone), []);
  t.same(violations({ ...calm, events: [...calm.events, letGoOf(snapshot.name)] }), [], 'its own snapshot is its own');
  const red = { ...update, request: { ...versioned, data: { color: 'red' } } };
  const foreign = { ...update, actor: 'stranger', response: configMap(names.b, { color: 'red' }) } as const;
  t.same(authority({ ...calm, events: [...calm.events, foreign, red] }), [], 'what a person wrote may be kept');
  const hostile = { ...foreign, actor: 'adversary' } as const;
  t.same(authority({ ...calm, events: [...calm.events, hostile, red] }), [], 'what the object holds is kept, whoever wrote it');
});

t.test('a Transaction that another one has overwritten, and could not undo', async (t) => {
  const rival = names.rival;
  const after = new Map(
    [names.b, names.c].map((name) => [at(name), configMap(name, { last: name === names.c ? 'rival' : 'run' })]),
  );
  const ends = (left: boolean): Evidence['ends'] =>
    new Map([
      [names.run, { phase: 'Committed' }],
      [rival, { phase: 'Failed', items: [{ left }, { left: false }] }],
    ]);
  const both = { ...calm, story: contention, after };
  t.same(patchesAreTrue({ ...both, ends: ends(true) }), []);
  t.match(patchesAreTrue({ ...both, ends: ends(false) }), [/-c does not agree with run1,/, /-c does not agree with run1-rival,/]);
});

const portCall = {
  number: 1,
  hookCall: 3,
  engine: 1,
  method: 'send',
  identity: 'serviceAccount',
  outcome: 'ok',
  what: '',
} as const;

function afterRefusal(): Pick<Evidence, 'portCalls' | 'hookCalls'> {
  const { portCalls, hookCalls } = inOneCall(names.a, names.b);
  return { hookCalls, portCalls: portCalls.map((call, index) => (index === 0 ? { ...call, outcome: '403 Forbidden' } : call)) };
}

/** The evidence of a calm run with these writes in its one call. */
function inOneCall(...written: readonly string[]): Pick<Evidence, 'portCalls' | 'hookCalls'> {
  return { portCalls: written.map((name) => ({ ...portCall, name })), hookCalls: [{ ...hookCall, number: portCall.hookCall }] };
}

const locked = { ...committed, items: [{ lockLease: 'one' }] };

function writtenBy(...managers: readonly string[]): Evidence {
  const events = managers.map((manager, index) =>
    event({
      request: versioned,
      fieldManager: `janus-${manager}-${manager === 'run1' ? '12345678' : 'abcdef01'}`,
      response: configMap(names.b, { n: `${index}` }),
    }),
  );
  return { ...calm, story: contention, events };
}

function letGoOf(name: string): AuditEvent {
  return event({ actor: 'engine', name, request: { data: { '0-0.b': 'prior' } } });
}

function sayingOf(message: string): AuditEvent {
  return { ...statusEvent(committed), request: { status: { message } } };
}

const broken: readonly (readonly [keyof typeof invariants, string, Evidence])[] = [
  ['I1 outcome', 'another phase', { ...calm, ends: new Map([[names.run, { phase: 'Failed' }]]) }],
  ['I1 outcome', 'a change is missing', { ...calm, after: new Map(calm.after).set(at(names.a), undefined as never) }],
  ['I1 outcome', 'something is left', { ...undone, after: new Map(undone.after).set(at(names.b), configMap(names.b, green)) }],
  ['I1 outcome', 'no one order', { ...writtenBy(), after: new Map([[at(names.b), configMap(names.b, { last: 'run' })]]) }],
  [
    'I1 items',
    'said to be rolled back',
    {
      ...undone,
      ends: new Map([[names.run, { phase: 'RolledBack', items: [{ rolledBack: true }] }]]),
      after: new Map(undone.after).set(at(names.b), configMap(names.b, {}, [forward])),
    },
  ],
  ['I2 snapshot first', 'no snapshot', { ...calm, events: [creation] }],
  ['I2 snapshot first', 'a late one', { ...calm, events: [creation, { ...snapshot, answered: '2026-01-01T00:00:09Z' }] }],
  ['I3 preconditions', 'none', { ...calm, events: [{ ...update, request: {} }] }],
  [
    'I3 preconditions',
    'uid only',
    { ...calm, events: [{ ...update, verb: 'delete', request: { preconditions: { uid: 'a' } } }] },
  ],
  ['I4 one write each', 'twice', { ...calm, events: [update, { ...update, response: configMap(names.b, {}) }, update] }],
  [
    'I4 one write each',
    'restored twice',
    {
      ...undone,
      events: [{}, green, {}, green].map((data) =>
        event({ fieldManager: data === green ? 'janus-run1-12345678' : restore, response: configMap(names.b, data) }),
      ),
    },
  ],
  ['I5 footprint', 'another object', { ...calm, events: [event({ name: 'run1-other' })] }],
  ['I5 footprint', 'another lock', { ...calm, events: [event({ actor: 'engine', resource: 'leases', name: 'janus-lock-x' })] }],
  ['I6 exclusion', 'in turns', writtenBy('run1', 'run1-rival', 'run1')],
  ['I7 versions', 'falls', { ...calm, events: [statusEvent(committed), statusEvent({ ...committed, version: 4 })] }],
  ['I7 versions', 'no such way', { ...calm, events: [statusEvent({ phase: 'Pending', version: 1 }), statusEvent(committed)] }],
  [
    'I7 versions',
    'an end is left',
    { ...calm, events: [statusEvent(committed), statusEvent({ phase: 'RollingBack', version: 6 })] },
  ],
  ['I8 announced, in order', 'two', { ...calm, isOneByOne: true, ...inOneCall(names.a, names.b) }],
  ['I8 announced, in order', 'there and back', { ...calm, ...inOneCall(names.a, names.b, names.a) }],
  ['I8 announced, in order', 'after a refusal', { ...calm, ...afterRefusal() }],
  ['I8 announced, in order', 'not announced', { ...calm, events: [snapshot, creation, update, statusEvent(committed)] }],
  [
    'I8 announced, in order',
    'announced too late',
    {
      ...calm,
      events: [snapshot, creation, update, { ...announcement, answered: '2026-01-01T00:00:09Z' }, statusEvent(committed)],
    },
  ],
  [
    'I8 second halves announced',
    'too early',
    {
      ...calm,
      story: recreateCommit,
      events: [announcement, { ...update, verb: 'create' }, statusEvent({ version: 5, items: [{ deleted: true }, {}, {}] })],
    },
  ],
  ['I9 rest', 'goes on', { ...calm, hookCalls: Array.from({ length: 15 }, () => hookCall) }],
  ['I9 rest', 'writes', { ...calm, writesAtRest: ['send update ConfigMap run1-b'] }],
  ['I10 nothing left', 'a Lease', { ...calm, leftovers: ['Lease one is still held'] }],
  ['I11 identities', 'a target as the engine', { ...calm, events: [{ ...update, actor: 'engine' }] }],
  ['I11 identities', 'a lock as the account', { ...calm, events: [event({ resource: 'leases' })] }],
  [
    'I11 identities',
    'a lock before its permission',
    { ...calm, portCalls: [{ ...portCall, name: '', what: 'send create Lease one' }] },
  ],
  ['I12 secrets', 'a status', { ...calm, events: [statusEvent({ ...committed, message: canaryOf(names) })] }],
  ['I12 secrets', 'a snapshot', { ...calm, events: [{ ...snapshot, request: { data: { 0: base64(canaryOf(names)) } } }] }],
  ['I13 trigger', 'a call', { ...calm, portCalls: [{ ...portCall, name: forged, what: `get Lease ${forged}` }] }],
  ['I13 trigger', 'a status', { ...calm, events: [statusEvent(forgedStatus(3))] }],
  ['I14 no trace', 'a manager', { ...undone, after: new Map(undone.after).set(at(names.b), configMap(names.b, {}, [restore])) }],
  ['I15 conditions', 'finished with locks', { ...calm, events: [statusEvent(locked)] }],
  ['I15 conditions', 'success in Failed', { ...calm, events: [statusEvent({ ...committed, phase: 'Failed' })] }],
  ['I16 authority', 'another object, refused', { ...calm, events: [event({ name: 'run1-other', code: 403 })] }],
  ['I16 authority', 'a ConfigMap of another writer', { ...calm, events: [snapshot, letGoOf('run1-rollback-beside')] }],
  [
    'I16 authority',
    'a value without a writer',
    { ...calm, events: [{ ...update, request: { ...versioned, data: { color: 'red' } } }] },
  ],
  [
    'I16 authority',
    'a value of the adversary',
    {
      ...calm,
      events: [
        { ...update, actor: 'adversary', response: configMap(names.b, { color: 'red' }) },
        { ...update, actor: 'stranger', response: configMap(names.b, green) },
        { ...update, request: { ...versioned, data: { color: 'red' } } },
      ],
    },
  ],
  [
    'I16 authority',
    'planted in a target',
    { ...calm, finally: new Map([[at(names.b), configMap(names.b, { n: plantedBy(names) })]]) },
  ],
  [
    'I16 authority',
    'planted in a Secret',
    { ...calm, finally: new Map([[at(names.b), { data: { n: base64(plantedBy(names)) } }]]) },
  ],
  ['I16 authority', 'planted in a snapshot', { ...calm, events: [{ ...snapshot, request: { data: { n: plantedBy(names) } } }] }],
  ['I16 authority', 'planted in a status', { ...calm, events: [sayingOf(plantedBy(names))] }],
  ['I16 authority', 'a bystander', { ...calm, bystanders: ['run1-bystander is gone'] }],
  ['I17 gates in order', 'before it passed', gatedRun('made', 'up', 'behind', 'passed')],
  ['I17 gates in order', 'never passed', gatedRun(...without('passed', 'committed'))],
  ['I17 gates in order', 'before it was ready', gatedRun('made', 'passed', 'behind', 'up')],
  ['I17 gates in order', 'ready before the change', gatedRun('up', 'made', 'passed', 'behind')],
  ['I18 committed gates', 'not ready', gatedRun(...without('ready'))],
  [
    'I18 committed gates',
    'at the end',
    { ...gatedRun(...without('committed')), ends: new Map([[names.run, { ...committed, items: [{ gate: {} }] }]]) },
  ],
  ['I18 committed gates', 'not passed', { ...gatedRun(...inOrder), story: { ...gatedCommit, spec: { gate: {} } } }],
];

t.test('each invariant sees a run that breaks it', async (t) => {
  for (const [name, why, evidence] of broken) t.not(invariants[name]?.(evidence).length, 0, `${name}: ${why}`);
  t.same([...new Set(broken.map(([name]) => name))], Object.keys(invariants), 'each of them can fail');
});

t.test('the reader of the audit log keeps the requests that count', async (t) => {
  const line = {
    verb: 'update',
    user: { username: engineUser },
    impersonatedUser: { username: 'system:serviceaccount:shop:deployer' },
    objectRef: { resource: 'configmaps', name: 'run1-b' },
    requestURI: '/api/v1/namespaces/shop/configmaps/run1-b?fieldManager=janus-run1',
    responseStatus: { code: 200 },
  };
  t.match(eventOf(line), { actor: 'account', verb: 'update', code: 200, fieldManager: 'janus-run1' });
  const stranger = { user: { username: 'admin' }, impersonatedUser: { username: 'faults-stranger' } };
  t.match(eventOf({ ...line, ...stranger }), { actor: 'stranger' });
  t.equal(eventOf({ ...line, requestURI: `${line.requestURI}&dryRun=All` }), undefined, 'a dry run is no effect');
  t.equal(eventOf({ ...line, requestObject: { dryRun: ['All'] } }), undefined, 'a DELETE says so in its body');
  t.equal(eventOf({ ...line, user: { username: 'system:apiserver' } }), undefined, 'others are of no interest');
  t.ok(commit4.content?.(names).has(names.d), 'the deleted object is expected to be gone');
});
