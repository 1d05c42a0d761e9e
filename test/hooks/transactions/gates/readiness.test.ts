// The answer of a gate: whether the live object is the changed one, the checks of the gate, and whether a controller has seen the change.
import t from 'tap';
import type { ExpressionResult } from '../../../../hooks/objects/cluster.ts';
import type { Json, JsonObject } from '../../../../hooks/objects/json.ts';
import { evaluateGate } from '../../../../hooks/transactions/gates/readiness.ts';
import { type GateEvidence, withoutEvidence } from '../../../../hooks/transactions/gates/verdict.ts';
import { canary, gateEvidence, objectOf } from '../../../support/gate-evidence.ts';
import { json, table } from '../../../support/table.ts';

const widget = 'example.org/Widget';

const ends = table<'case' | 'type' | 'object' | 'kind' | 'found'>(`
case                    | type   | object                                                       | kind   | found
there                   | Patch  | {}                                                           | ready  | condition Ready is True
gone                    | Patch  |                                                              | failed | Gone it is gone
replaced                | Patch  | {metadata: {uid: u2}}                                        | failed | Replaced it was replaced by another object of the same name
being deleted           | Patch  | {metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}}      | failed | Terminating it is being deleted
replaced, being deleted | Update | {metadata: {uid: u2, deletionTimestamp: "2026-01-01T00:00:00Z"}} | failed | Replaced it was replaced by another object of the same name
a Delete is done        | Delete |                                                              | ready  | it is gone
a Delete, another one   | Delete | {metadata: {uid: u2}}                                        | ready  | it was replaced by another object of the same name
a Delete, still there   | Delete | {}                                                           | notYet | it is still there
a Delete under way      | Delete | {metadata: {deletionTimestamp: "2026-01-01T00:00:00Z"}}      | notYet | it is being deleted
a Delete, finalizers    | Delete | {metadata: {deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: ["example.org/a", b]}} | notYet | it is being deleted and waits for finalizers: example.org/a, b
`);
for (const row of ends) {
  t.test(row.case, async (t) => {
    const live = row.object === '' ? undefined : objectOf(widget, row.object);
    const { kind, found, ...more } = evaluateGate(gateEvidence(widget, live, { type: row.type as GateEvidence['type'] }));
    t.same([kind, [...Object.values(more), found].join(' ')], [row.kind, row.found]);
  });
}

t.test('of an object whose uid is not known, any is it', async (t) => {
  const more = { uid: undefined };
  t.match(evaluateGate(gateEvidence(widget, objectOf(widget), more)), { kind: 'ready' });
  t.match(evaluateGate(gateEvidence(widget, objectOf(widget), { ...more, type: 'Delete' })), { kind: 'notYet' });
});

t.test('the finalizers of a sealed object are not repeated', async (t) => {
  const live = objectOf(widget, '{metadata: {deletionTimestamp: "2026-01-01T00:00:00Z", finalizers: [secret]}}');
  t.equal(evaluateGate(gateEvidence(widget, live, { type: 'Delete', sealed: true })).found, 'it is being deleted');
});

// Of an object that its controller has seen. `gate` as it is written, `value` what its expressions have come to.
const checks = table<'gate' | 'object' | 'value' | 'kind' | 'found' | 'sealed'>(`
gate                                                         | object                                                  | value  | kind   | found                                                   | sealed
{ready: {condition: {type: Synced}}}                         | {c: {Synced: [True]}}                                   |        | ready  | condition Synced is True                                | same
{ready: {condition: {type: Synced, status: "True"}}}         | {c: {Synced: [False, Late]}}                            |        | notYet | condition Synced is False: Late: ${canary} says         | condition Synced is False: Late
{ready: {condition: {type: Synced, status: "False"}}}        | {c: {Synced: [False, Late]}}                            |        | ready  | condition Synced is False: Late: ${canary} says         | condition Synced is False: Late
{ready: {condition: {type: Lost}}}                           | {}                                                      |        | notYet | condition Lost is not set                               | same
{ready: {condition: {type: Odd}}}                            | {c: {Odd: ["${canary}"]}}                               |        | notYet | condition Odd is neither True nor False: ${canary} says | condition Odd is neither True nor False
{ready: {field: {path: ".status.ip"}}}                       | {status: {ip: "10.0.0.1"}}                              |        | ready  | .status.ip is set                                       | same
{ready: {field: {path: ".status.zero"}}}                     | {status: {zero: 0, no: false}}                          |        | ready  | .status.zero is set                                     | same
{ready: {field: {path: ".status.a"}}}                        | {}                                                      |        | notYet | .status.a is not set                                    | same
{ready: {field: {path: ".status.b"}}}                        | {status: {b: ""}}                                       |        | notYet | .status.b is empty                                      | same
{ready: {field: {path: ".status.c"}}}                        | {status: {c: []}}                                       |        | notYet | .status.c is empty                                      | same
{ready: {field: {path: ".status.d"}}}                        | {status: {d: {}}}                                       |        | notYet | .status.d is empty                                      | same
{ready: {field: {path: ".status.e", value: Up}}}             | {status: {e: Up}}                                       |        | ready  | .status.e is "Up"                                       | .status.e is as required
{ready: {field: {path: ".status.f", value: Up}}}             | {status: {f: "${canary}"}}                              |        | notYet | .status.f is "${canary}", not "Up"                      | .status.f is not as required
{ready: {field: {path: ".status.g", value: Up}}}             | {}                                                      |        | notYet | .status.g is not set                                    | same
{ready: {field: {path: ".status.h", value: 3}}}              | {status: {h: 3}}                                        |        | ready  | .status.h is 3                                          | .status.h is as required
{ready: {field: {path: ".status.i", value: 3}}}              | {status: {i: "3"}}                                      |        | notYet | .status.i is "3", not 3                                 | .status.i is not as required
{ready: {field: {path: ".status.j", value: 9007199254740993}}} | {status: {j: 9007199254740992}}                         |        | notYet | .status.j is 9007199254740992, not 9007199254740993     | .status.j is not as required
{ready: {field: {path: ".status.k", value: a}}}              | {status: {k: [a]}}                                      |        | notYet | .status.k is a list, not "a"                            | .status.k is not as required
{ready: {field: {path: status}}}                             | {}                                                      |        | failed | field status: it does not begin with "."                | same
{ready: {expression: a}}                                     | {}                                                      | true   | ready  | expression a is true                                    | its expression is true
{ready: {expression: b}}                                     | {}                                                      | false  | notYet | expression b is false                                   | its expression is false
{ready: {expression: c}}                                     | {}                                                      | unset  | notYet | expression c reads a field that is not set              | its expression reads a field that is not set
{ready: {expression: d}}                                     | {}                                                      |        | notYet | expression d reads a field that is not set              | its expression reads a field that is not set
{ready: {expression: e}}                                     | {}                                                      | broken | failed | expression e cannot be evaluated: no bool, ${canary}    | its expression cannot be evaluated
{failed: {expression: a}}                                    | {}                                                      | true   | failed | expression a is true                                    | its expression is true
{failed: {expression: b}}                                    | {}                                                      | false  | ready  | condition Ready is True                                 | same
{failed: {expression: c}}                                    | {}                                                      | unset  | ready  | condition Ready is True                                 | same
{failed: {expression: e}}                                    | {}                                                      | broken | failed | expression e cannot be evaluated: no bool, ${canary}    | its expression cannot be evaluated
{failed: {condition: {type: Bad}}}                           | {c: {Bad: [True, Disk]}}                                |        | failed | condition Bad is True: Disk: ${canary} says             | condition Bad is True: Disk
{failed: {condition: {type: Bad2}}}                          | {c: {Ready: [False]}}                                   |        | notYet | condition Ready is False: ${canary} says                | condition Ready is False
{failed: {expression: f}, ready: {condition: {type: Synced}}} | {c: {Synced: [True]}}                                   | true   | failed | expression f is true                                    | its expression is true
{ready: {condition: {type: Synced2}}}                        | {c: {Stalled: [True], Ready: [False], Synced2: [True]}} |        | ready  | condition Synced2 is True                               | same
`);
const values: Readonly<Record<string, ExpressionResult>> = {
  true: { kind: 'value', value: true },
  false: { kind: 'value', value: false },
  unset: { kind: 'unset' },
  broken: { kind: 'broken', message: `no bool, ${canary}` },
};
for (const row of checks) {
  t.test(`gate ${row.gate} of ${row.object} ${row.value}: ${row.kind}`, async (t) => {
    const value = values[row.value];
    const more = {
      written: json(row.gate) as Json,
      ...(value === undefined ? {} : { evaluated: { ready: value, failed: value } }),
    };
    const look = gateEvidence(widget, objectOf(widget, row.object), more);
    t.same(evaluateGate(look), { kind: row.kind, found: row.found });
    t.equal(evaluateGate({ ...look, sealed: true }).found, row.sealed === 'same' ? row.found : row.sealed);
  });
}

t.test('the failed check of a Delete', async (t) => {
  const evaluated: GateEvidence['evaluated'] = { failed: { kind: 'value', value: true } };
  const more = { type: 'Delete', written: { failed: { expression: 'a' } }, evaluated } as const;
  t.match(evaluateGate(gateEvidence(widget, objectOf(widget), more)), { kind: 'failed' });
  t.match(evaluateGate(gateEvidence(widget, undefined, more)), { kind: 'ready' });
});

// `prior` is patched: its generation was 1 and is 2 now; a controller that shows nothing leaves the status as it was. What each
// answer rests on: the condition Ready, or another one, is True since 2026-01-01T00:00:00Z.
const evidence = table<'case' | 'live' | 'prior' | 'counts'>(`
case                                   | live                                                         | prior                                                        | counts
nothing shown                          | {}                                                           | same                                                         | later
observedGeneration                     | {status: {observedGeneration: 2}}                            | same                                                         | at once
observedGeneration before              | {status: {observedGeneration: 1}}                            | same                                                         | never
of the condition                       | {c: {X: [True, A, {observedGeneration: 2}]}}                 | same                                                         | at once
of the condition, before               | {c: {X: [True, A, {observedGeneration: 1}]}}                 | same                                                         | never
of the condition before, of the status | {status: {observedGeneration: 2}, c: {X: [True, A, {observedGeneration: 1}]}} | same                                                         | at once
of another condition                   | {c: {X: [True], Y: [True, A, {observedGeneration: 2}]}}      | same                                                         | later
generation not moved                   | {metadata: {generation: 1}}                                  | same                                                         | at once
no generation                          | {metadata: {generation: null}}                               | {metadata: {generation: null}}                               | later
turned                                 | {}                                                           | {c: {X: [True, A, {lastTransitionTime: "2025-01-01T00:00:00Z"}]}} | at once
turned back in time                    | {}                                                           | {c: {X: [True, A, {lastTransitionTime: "2027-01-01T00:00:00Z"}]}} | at once
the condition is new                   | {}                                                           | {c: {X: null}}                                               | at once
no time of it                          | {c: {X: [True, A, {lastTransitionTime: null}]}}              | {c: {X: null}}                                               | later
made by the change                     | {}                                                           |                                                              | at once
`);
const restingOn: readonly (readonly [name: string, kind: string, written: JsonObject, condition: string])[] = [
  ['the rule', widget, {}, 'Ready'],
  ['a check', 'apps/Deployment', { ready: { condition: { type: 'Ok' } } }, 'Ok'],
  ['a failed check', widget, { failed: { condition: { type: 'Bad' } } }, 'Bad'],
  ['Stalled', widget, {}, 'Stalled'],
];
for (const row of evidence) {
  for (const [name, kind, written, condition] of restingOn) {
    t.test(`evidence, of ${name}: ${row.case} counts ${row.counts}`, async (t) => {
      const objectAt = (generation: number, cell: string): JsonObject => {
        const silent = `{metadata: {generation: ${generation}}, status: {observedGeneration: null}, c: {${condition}: [True, A]}}`;
        return objectOf(kind, silent, cell === 'same' ? '' : cell.replaceAll('X:', `${condition}:`));
      };
      const prior = row.prior === '' ? undefined : objectAt(1, row.prior);
      const at = (age: number) => evaluateGate(gateEvidence(kind, objectAt(2, row.live), { written, prior, age }));
      const [early, late] = [at(withoutEvidence - 1), at(withoutEvidence)];
      const final = written.failed !== undefined || condition === 'Stalled' ? 'failed' : 'ready';
      t.equal(early.kind, row.counts === 'at once' ? final : 'notYet');
      t.equal(late.kind, row.counts === 'never' ? 'notYet' : final);
      if (row.counts === 'later') t.match(early.found, /, but nothing shows yet that a controller has seen the change$/);
      if (row.counts === 'never') t.match(late.found, /observedGeneration is 1, metadata.generation is 2$/);
    });
  }
}

t.test('a status from before the change is no evidence', async (t) => {
  const stored = (generation: number, day: number): JsonObject => ({
    metadata: { uid: 'u1', generation, resourceVersion: '8' },
    status: { conditions: [{ type: 'Ready', status: 'True', lastTransitionTime: `2026-01-0${day}T00:00:00Z` }] },
  });
  const [live, prior] = [stored(2, 2), stored(1, 1)];
  for (const before of [prior, undefined]) {
    const at = (version: string) => evaluateGate(gateEvidence(widget, live, { prior: before, age: 0, version })).kind;
    t.same([at('8'), at('7')], ['notYet', 'ready'], before === undefined ? 'a status by default' : 'turned before the change');
  }
});

const unwritten = table<'case' | 'more' | 'counts'>(`
case                                | more                                                     | counts
made by the change, no status       | {status: null, c: null}                                  | later
made by the change, an empty status | {status: {observedGeneration: null}, c: null}            | later
made by the change, a status        | {status: {observedGeneration: null, phase: Up}, c: null} | at once
`);
for (const row of unwritten) {
  t.test(`a custom resource without Ready, ${row.case}: counts ${row.counts}`, async (t) => {
    const at = (age: number) => evaluateGate(gateEvidence(widget, objectOf(widget, row.more), { prior: undefined, age })).kind;
    t.same([at(0), at(withoutEvidence)], [row.counts === 'later' ? 'notYet' : 'ready', 'ready']);
  });
}

t.test('fields and expressions rest on no condition', async (t) => {
  for (const check of [{ field: { path: '.status.phase' } }, { expression: 'true' }]) {
    const more = { written: { ready: check }, evaluated: { ready: { kind: 'value', value: true } }, age: 0 } as const;
    const live = objectOf('/Service', '{status: {phase: Up}}');
    t.match(evaluateGate(gateEvidence('/Service', live, more)), { kind: 'notYet' });
    t.match(evaluateGate(gateEvidence('/Service', live, { ...more, age: withoutEvidence })), { kind: 'ready' });
    t.match(evaluateGate(gateEvidence('/Service', live, { ...more, prior: undefined })), { kind: 'ready' });
  }
});

t.test('the answer of a rule of a kind counts at once, and an expression without an answer too', async (t) => {
  const early = { age: 0 };
  t.match(evaluateGate(gateEvidence('/Namespace', objectOf('/Namespace'), early)), { kind: 'ready' });
  const written = { ready: { expression: 'x' } };
  const evaluated = { ready: { kind: 'broken', message: 'no bool' } } as const;
  t.match(evaluateGate(gateEvidence(widget, objectOf(widget), { ...early, written, evaluated })), { kind: 'failed' });
});
