// Open gates after their reads -> the next status: times, and which earlier reads still count.
import t from 'tap';
import type { Failure } from '../../../../hooks/objects/failure.ts';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { formatMicroTime } from '../../../../hooks/objects/time.ts';
import { decide } from '../../../../hooks/transactions/decide/decide.ts';
import type { Step } from '../../../../hooks/transactions/decide/step.ts';
import { findingOf } from '../../../../hooks/transactions/gates/readiness.ts';
import { leaseLocation } from '../../../../hooks/transactions/locks/lease.ts';
import type { GateState } from '../../../../hooks/transactions/model/gate.ts';
import { openGates } from '../../../../hooks/transactions/model/gated.ts';
import type { Status } from '../../../../hooks/transactions/model/status.ts';
import { holderOf, type Transaction } from '../../../../hooks/transactions/model/transaction.ts';
import type { AwaitView, GateView, PodsView } from '../../../../hooks/transactions/observe/awaited.ts';
import type { Observation, Observed } from '../../../../hooks/transactions/observe/observation.ts';
import { created, entryFor, with_ } from '../../../support/evaluated-objects.ts';
import { change, minute, second, start, statusOf, transactionOf } from '../../../support/transactions.ts';

const ready = with_(created, 'status', { observedGeneration: 1, conditions: [{ type: 'Ready', status: 'True' }] });
const unready = with_(created, 'status', { observedGeneration: 1, conditions: [{ type: 'Ready', status: 'False' }] });
const job = { group: 'batch', version: 'v1', plural: 'jobs', kind: 'Job', namespaced: true, statusSubresource: true };

interface Scene {
  readonly transaction: Transaction;
  readonly states: readonly GateState[];
  readonly lives: readonly (JsonObject | undefined)[];
  readonly now: number;
  readonly resource?: typeof job;
  readonly sealed?: boolean;
  readonly diagnosis?: AwaitView['diagnosis'];
  readonly pods?: PodsView;
  /** No object can be read. */
  readonly failure?: Failure;
}

const transientFailure = { kind: 'transient', code: 0, message: '', fields: [], definitive: false } as const;

/** Created objects of these gates, all at the end. */
function stepOf({ transaction, states, lives, now, resource, diagnosis, failure, pods, sealed = false }: Scene): Step {
  const { name } = leaseLocation('l', 'janus-system');
  const items = states.map((gate) => ({ progress: { kind: 'applied' as const }, lockLease: name, uid: 'u1', gate }));
  const status: Status = { ...statusOf('Committing', 'applied'), items };
  const open = openGates(transaction, items);
  if (open === undefined) throw new Error('no gate is open');
  const views = open.gates.map(({ index, gate }): GateView => {
    const entry = { ...entryFor('Create'), index, ...(resource === undefined ? {} : { resource }) };
    const { type, prior } = entry;
    const [live, age] = [lives[index], now - (states[index]?.since ?? now)];
    const look = { type, resource: entry.resource, sealed, prior, uid: 'u1', evaluated: {}, live, age };
    const found = findingOf({ ...look, gate }, states[index] ?? { since: now });
    const finding = failure === undefined ? found : ({ kind: 'trouble', failure } as const);
    return { index, entry, evidence: { gate, sealed }, finding, ...(pods === undefined ? {} : { pods }) };
  });
  const lease = {
    metadata: { name },
    spec: { holderIdentity: holderOf(transaction), leaseDurationSeconds: 3_600, renewTime: formatMicroTime(now) },
  };
  const due = {
    ...{ kind: 'await', ...open, views, leases: [lease], awaitLeft: 0 },
    snapshot: { kind: 'stored', ref: { name: 'r', digest: 'd', objects: 1 }, entries: views.map(({ entry }) => entry) },
    ...(diagnosis === undefined ? {} : { diagnosis }),
  } as Observed;
  const rest = { engineNamespace: 'janus-system', server: 'us', writer: 'us/1', ownWrites: { writer: 'us/1', isOpen: true } };
  const observation: Observation = {
    ...{ now, transaction, status, due, isOvertaken: false, waits: 0, lateWindow: 0, pace: 'one' as const },
    ...rest,
  };
  return decide(observation);
}

const gated = (gate: JsonObject, count = 1): Transaction =>
  transactionOf({ changes: Array.from({ length: count }, (_, index) => change('Create', `${index}`, { gate })) });

const phaseOf = (step: Step): string => (step.kind === 'setStatus' ? step.status.phase : step.kind);

t.test('stableFor lasts as long as it says, whatever part of a second the look began in', async (t) => {
  const transaction = gated({ at: 'AtEnd', stableFor: '2s' });
  const at = (state: GateState, now: number) => stepOf({ transaction, states: [state], lives: [ready], now });
  // By a clock of whole seconds this may have been anywhere before the next one.
  const first = at({ since: start }, start + 10 * second);
  const gate = first.kind === 'setStatus' ? first.status.items[0]?.gate : undefined;
  if (gate === undefined) throw new Error('the gate is not waited for');
  t.equal(phaseOf(at(gate, start + 12 * second)), 'Committing', 'ready for a second and a moment, it may be');
  t.equal(phaseOf(at(gate, start + 13 * second)), 'Committed');
});

t.test('a Job that has completed may go while others are waited for', async (t) => {
  const transaction = gated({ at: 'AtEnd' }, 2);
  const seen = { since: start, readySince: start + second };
  const scene = { lives: [undefined, unready], now: start + minute, resource: job };
  t.equal(phaseOf(stepOf({ ...scene, transaction, states: [seen, { since: start }] })), 'Committing');
  t.equal(phaseOf(stepOf({ ...scene, transaction, states: [{ since: start }, { since: start }] })), 'RollingBack', 'not seen');
  const explicit = gated({ at: 'AtEnd', ready: { field: { path: '.status.active' } } }, 2);
  const states = [seen, { since: start }];
  t.equal(
    phaseOf(stepOf({ ...scene, transaction: explicit, states })),
    'RollingBack',
    'what it was ready by says nothing of its end',
  );
});

t.test('a Job that has completed may be on its way out as well', async (t) => {
  const transaction = gated({ at: 'AtEnd' }, 2);
  const leaving = with_(created, 'metadata', { ...(created.metadata as JsonObject), deletionTimestamp: '2026-01-01T00:00:00Z' });
  const states = [{ since: start, passed: true as const }, { since: start }];
  const scene = { transaction, states, lives: [leaving, unready], now: start + minute };
  t.equal(phaseOf(stepOf({ ...scene, resource: job })), 'Committing');
  t.equal(phaseOf(stepOf(scene)), 'RollingBack', 'another kind is not');
});

t.test('values of a gate of a sealed object are in no message', async (t) => {
  const transaction = gated({ ready: { field: { path: '.data.password', value: 'c2VjcmV0' } } });
  const scene = { transaction, states: [{ since: start }], lives: [created], now: start + second };
  t.match(stepOf(scene), { status: { message: /c2VjcmV0/ } });
  t.match(stepOf({ ...scene, sealed: true }), { status: { message: /expected .data.password to have the value that it names/ } });
});

t.test('an object that is too large to be read is not ready, and the message says so', async (t) => {
  const transaction = gated({ at: 'AtEnd', timeout: '10s' });
  const failure = { ...transientFailure, reason: 'AnswerTooLarge' as const, said: 'it is larger than 16 bytes' };
  const at = (now: number) =>
    stepOf({ transaction, states: [{ since: start }], lives: [], now, failure, diagnosis: { index: 0, words: '' } });
  t.match(at(start + second), {
    status: { phase: 'Committing', message: /it cannot be read now \(it is larger than 16 bytes\)/ },
  });
  t.match(at(start + minute), {
    status: { phase: 'RollingBack', cause: { reason: 'GateTimeout', message: /found it is larger than 16 bytes/ } },
  });
});

t.test('a reason is stored only of the object that has failed', async (t) => {
  const transaction = gated({ at: 'AtEnd', timeout: '10s' }, 2);
  const states = [{ since: start }, { since: start }];
  const scene = { transaction, states, lives: [unready, unready], now: start + minute };
  t.match(stepOf(scene), { kind: 'readMore', diagnose: 0 });
  t.match(stepOf({ ...scene, diagnosis: { index: 1, words: 'of another' } }), { kind: 'readMore', diagnose: 0 });
  const step = stepOf({ ...scene, diagnosis: { index: 0, words: 'its own' } });
  t.match(step, { status: { phase: 'RollingBack', items: [{ error: { reason: 'GateTimeout', message: /; its own$/ } }] } });
});

const failing = (uid: string, failure: 'Image' | 'Container' = 'Image', found = `Pod ${uid}`) => ({ uid, failure, found });
const listed = (...pods: ReturnType<typeof failing>[]): PodsView => ({
  left: 10 * second,
  seen: { kind: 'listed', failing: pods },
});

/** The state of a gate after polls that list these Pods, so many seconds after its start each; or the end that they led to. */
function afterLists(gate: JsonObject, lists: readonly (readonly [seconds: number, pods: PodsView])[]) {
  const transaction = gated({ at: 'AtEnd', ...gate });
  let state: GateState = { since: start };
  for (const [seconds, pods] of lists) {
    const step = stepOf({ transaction, states: [state], lives: [unready], now: start + seconds * second, pods });
    if (step.kind === 'readMore') return `fails after ${seconds} s`;
    if (step.kind !== 'setStatus') throw new Error(step.kind);
    state = step.status.items[0]?.gate ?? state;
  }
  return state.pod;
}

t.test('a gate fails when the same Pod has failed to start for long enough', async (t) => {
  t.same(afterLists({}, [[5, listed(failing('a'))]]), {
    found: 'Pod a',
    uid: 'a',
    failing: { failure: 'Image', since: start + 5 * second },
  });
  const again = failing('a', 'Image', 'Pod a in other words');
  t.match(
    afterLists({}, [
      [5, listed(failing('a'))],
      [15, listed(again)],
    ]),
    { found: 'Pod a', failing: { since: start + 5 * second } },
  );
  t.equal(
    afterLists({}, [
      [5, listed(failing('a'))],
      [15, { left: second }],
      [25, listed(again)],
    ]),
    'fails after 25 s',
  );
  t.match(
    afterLists({}, [
      [5, listed(failing('a'))],
      [26, { left: second }],
    ]),
    { uid: 'a' },
    'only by a list of this poll',
  );
  t.match(
    afterLists({}, [
      [5, listed(failing('a'))],
      [15, listed()],
      [25, listed(again)],
    ]),
    { failing: { since: start + 25 * second } },
  );
  t.match(
    afterLists({}, [
      [5, listed(failing('a'))],
      [25, listed(failing('b'))],
    ]),
    { uid: 'b' },
    'another Pod begins anew',
  );
  const container = listed(failing('a', 'Container'));
  t.match(
    afterLists({}, [
      [5, container],
      [55, container],
    ]),
    { failing: { failure: 'Container' } },
  );
  t.equal(
    afterLists({}, [
      [5, container],
      [65, container],
    ]),
    'fails after 65 s',
  );
  t.match(
    afterLists({}, [
      [5, container],
      [15, listed(failing('a', 'Container'), failing('b'))],
    ]),
    { uid: 'b' },
    'the nearer end',
  );
  t.equal(
    afterLists({ failFast: { imageAfter: '5s' } }, [
      [5, listed(failing('a'))],
      [15, listed(failing('a'))],
    ]),
    'fails after 15 s',
  );
  t.equal(
    afterLists({ failFast: { enabled: false } }, [
      [5, listed(failing('a'))],
      [45, listed(failing('a'))],
    ]),
    undefined,
  );
});

t.test('a gate says what it waits for: the Pod, or why Pods are not known', async (t) => {
  const scene = { transaction: gated({ at: 'AtEnd' }), states: [{ since: start }], lives: [unready], now: start + 5 * second };
  t.match(stepOf({ ...scene, pods: listed(failing('a')) }), { status: { message: /condition Ready is False; Pod a$/ } });
  const unread: PodsView = { left: 7 * second, seen: { kind: 'unread', found: 'Pods could not be read (Forbidden)' } };
  t.match(stepOf({ ...scene, pods: unread }), { status: { message: /; Pods could not be read \(Forbidden\)$/ } });
  t.match(
    stepOf({ ...scene, now: start + 200 * second, pods: { left: second } }),
    { wait: { seconds: 1 } },
    'the next list is not missed',
  );
});

t.test('the rollback keeps the Pod and the logs that the diagnosis has read', async (t) => {
  const scene = { transaction: gated({ at: 'AtEnd' }), lives: [unready], now: start + 30 * second, pods: listed(failing('a')) };
  const states = [
    { since: start, pod: { found: 'Pod a', uid: 'a', failing: { failure: 'Image', since: start + 5 * second } as const } },
  ];
  const diagnosis = { index: 0, words: 'why.', pod: { found: 'Pod a on node n', uid: 'a' }, logs: 'last\nlines' };
  const message =
    / and a container that has not started for 25s .*; why\. Its last lines are in status\.items\[0\]\.gate\.logs\.$/;
  t.match(stepOf({ ...scene, states, diagnosis }), {
    status: {
      phase: 'RollingBack',
      cause: { reason: 'GateFailed', message },
      items: [{ gate: { pod: { found: 'Pod a on node n' }, logs: 'last\nlines' } }],
    },
  });
});
