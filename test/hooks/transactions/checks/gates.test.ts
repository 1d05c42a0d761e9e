// Tables of bad input for gates: the message has every fault at once, its place, and the correct form.
import t from 'tap';
import { gateFaults, gateTimeoutBounds, leastJobLife, longestExpression } from '../../../../hooks/transactions/checks/gates.ts';
import type { Change, ChangeType } from '../../../../hooks/transactions/model/change.ts';
import { json, table } from '../../../support/table.ts';

const change = (type = 'Patch', kind = 'ConfigMap', content = '{}'): Change => ({
  type: type as ChangeType,
  target: { apiVersion: kind === 'Job' ? 'batch/v1' : 'v1', kind, name: 'a' },
  content: json(content),
});

const [least, most] = gateTimeoutBounds;
const duration = `must be a duration from ${least} to ${most}, such as 5m`;
const oneOf = 'exactly one of condition, field, expression';
const path = 'write a path such as .status.phase or .status.loadBalancer.ingress[0].ip';

// Of the third change, a Patch; several messages are between semicolons.
const gates = table<'gate' | 'messages'>(`
gate                                                         | messages
{}                                                           |
{at: AfterChange, timeout: "24h", stableFor: "1h30m"}        |
{at: AtEnd, timeout: "1s", stableFor: "0s"}                  |
{at: Never}                                                  |
{ready: {condition: {type: Ready}}, failed: {expression: "a > 5"}} |
{ready: {condition: {type: "example.org/In-sync.a", status: "False"}}} |
{ready: {field: {path: ".status.a[0].b"}}}                   |
{ready: {field: {path: ".status['a']", value: 0}}}           |
{ready: {field: {path: ".status.a", value: 9007199254740993}}} |
null                                                         | : must be an object, such as {}
[]                                                           | : must be an object, such as {}
AtEnd                                                        | : must be an object, such as {}
{at: Later}                                                  | .at: "Later" is none of AfterChange, AtEnd, Never
{at: {}}                                                     | .at: this is none of AfterChange, AtEnd, Never
{timeout: "0s"}                                              | .timeout: ${duration}
{timeout: "999ms"}                                           | .timeout: ${duration}
{timeout: "24h1s"}                                           | .timeout: ${duration}
{timeout: soon}                                              | .timeout: ${duration}
{timeout: "300"}                                             | .timeout: ${duration}
{stableFor: "-1s"}                                           | .stableFor: must be a duration from 0s, such as 30s
{stableFor: "30"}                                            | .stableFor: must be a duration from 0s, such as 30s
{stableFor: "5m"}                                            | .stableFor: must be shorter than timeout, which is 5m: shorten it, or write a longer timeout
{stableFor: "4m59s"}                                         |
{stableFor: "10s", timeout: "10s"}                           | .stableFor: must be shorter than timeout, which is 10s: shorten it, or write a longer timeout
{stableFor: "48h", timeout: "48h"}                           | .timeout: ${duration}
{ready: {}}                                                  | .ready: has no check: write ${oneOf}
{ready: {conditions: []}}                                    | .ready: has no check: write ${oneOf}
{failed: {condition: {type: A}, expression: a}}              | .failed: has condition and expression: write ${oneOf}
{failed: Ready}                                              | .failed: must be an object with ${oneOf}
{ready: {condition: {}}}                                     | .ready.condition.type: must be the type of a condition, such as Ready
{ready: {condition: {type: ""}}}                             | .ready.condition.type: must be the type of a condition, such as Ready
{ready: {condition: {type: "a b"}}}                          | .ready.condition.type: must be the type of a condition, such as Ready
{ready: {condition: Ready}}                                  | .ready.condition.type: must be the type of a condition, such as Ready
{ready: {condition: {type: A, status: true}}}                | .ready.condition.status: true is none of "True", "False", "Unknown"
{ready: {condition: {type: A, status: "true"}}}              | .ready.condition.status: "true" is none of "True", "False", "Unknown"
{ready: {field: {}}}                                         | .ready.field.path: it is empty: ${path}
{ready: {field: {path: "status.phase"}}}                       | .ready.field.path: it does not begin with ".": ${path}
{ready: {field: {path: ".items[*]"}}}                        | .ready.field.path: character 7: it must lead to one field by names and indexes: ${path}
{ready: {field: {path: ".a", value: {}}}}                    | .ready.field.value: must be a text, a number, true or false: leave it out where the field must only not be empty
{ready: {field: {path: ".a", value: null}}}                  | .ready.field.value: must be a text, a number, true or false: leave it out where the field must only not be empty
{ready: {expression: " "}}                                   | .ready.expression: must be a CEL expression, such as object.status.phase == "Active"
{ready: {expression: 1}}                                     | .ready.expression: must be a CEL expression, such as object.status.phase == "Active"
{failFast: {}, keepLogs: true}                               |
{failFast: {enabled: false, imageAfter: "1s", containerAfter: "24h"}} |
{failFast: no}                                               | .failFast: must be an object, such as {enabled: false}
{failFast: {enabled: maybe, imageAfter: "0s", containerAfter: 60}} | .failFast.enabled: must be true or false; .failFast.imageAfter: must be a duration from 1s to 24h, such as 20s; .failFast.containerAfter: must be a duration from 1s to 24h, such as 1m
{keepLogs: "yes"}                                            | .keepLogs: must be true or false
{at: Now, timeout: 1, stableFor: 2, ready: {}, failed: {expression: ""}} | .at: "Now" is none of AfterChange, AtEnd, Never; .ready: has no check: write ${oneOf}; .failed.expression: must be a CEL expression, such as object.status.phase == "Active"; .timeout: ${duration}; .stableFor: must be a duration from 0s, such as 30s
`);
for (const { gate, messages } of gates) {
  t.test(`gate ${gate}: ${messages || 'good'}`, async (t) => {
    const found = gateFaults(undefined, [
      { change: change(), gate: undefined },
      { change: change('Delete'), gate: {} },
      { change: change(), gate: json(gate) },
    ]);
    const expected = messages === '' ? [] : messages.split('; ').map((one) => `spec.changes[2].gate${one}`);
    t.same(
      found,
      expected.map((message) => ({ reason: 'Invalid', message, item: 2 })),
    );
  });
}

const specs = table<'gate' | 'messages'>(`
gate                               | messages
                                   |
{}                                 |
{timeout: "10m", stableFor: "30s"} |
null                               | spec.gate: must be an object, such as {}
{timeout: "25h"}                   | spec.gate.timeout: ${duration}
{stableFor: "1h"}                  | spec.gate.stableFor: must be shorter than timeout, which is 5m: shorten it, or write a longer timeout
{failFast: {imageAfter: "25h"}, keepLogs: 1} | spec.gate.failFast.imageAfter: must be a duration from 1s to 24h, such as 20s; spec.gate.keepLogs: must be true or false
{at: AtEnd, ready: {}}             | spec.gate.at: is for one change: write it in the gate of a change; spec.gate.ready: is for one change: write it in the gate of a change
`);
for (const { gate, messages } of specs) {
  t.test(`spec.gate ${gate}: ${messages || 'good'}`, async (t) => {
    const found = gateFaults(json(gate), [{ change: change(), gate: undefined }]);
    t.same(found, messages === '' ? [] : messages.split('; ').map((message) => ({ reason: 'Invalid', message })));
  });
}

t.test('lengths', async (t) => {
  const faults = (check: string, length: number) => {
    const text = `.${'a'.repeat(length - 1)}`;
    const ready = check === 'path' ? { field: { path: text } } : { expression: text };
    return gateFaults(undefined, [{ change: change(), gate: { ready } }]).map(({ message }) => message);
  };
  t.same([faults('path', longestExpression), faults('expression', longestExpression)], [[], []]);
  const words = `has ${longestExpression + 1} characters, at most ${longestExpression} are allowed`;
  t.same(faults('path', longestExpression + 1), [`spec.changes[0].gate.ready.field.path: ${words}`]);
  t.same(faults('expression', longestExpression + 1), [`spec.changes[0].gate.ready.expression: ${words}`]);
  const flood = gateFaults(undefined, [{ change: change(), gate: { at: 'x\u0000'.repeat(1_000_000) } }]);
  t.match(flood, [{ message: /^[\x20-\x7e…]{1,200}$/ }]);
});

t.test('the gate of a Delete', async (t) => {
  const faults = (gate: string) =>
    gateFaults(undefined, [{ change: change('Delete'), gate: json(gate) }]).map(({ message }) => message);
  t.same(faults('{failed: {expression: a}, timeout: "1m"}'), []);
  const leaveOut = 'spec.changes[0].gate.ready: a Delete is ready when the object is gone: leave it out';
  t.same(faults('{ready: {expression: a}}'), [leaveOut]);
  t.same(faults('{ready: {}}'), [leaveOut], 'no matter what is wrong with it otherwise');
});

const lives = table<'change' | 'life' | 'gate' | 'spec.gate' | 'is'>(`
change                 | life | gate        | spec.gate | is
a Job with a gate      | 59   | {}          |           | bad
at once                | 0    | {at: AtEnd} |           | bad
by the spec            | 59   |             | {}        | bad
long enough            | 60   | {}          | {}        | good
without a life         |      | {}          | {}        | good
without a gate         | 0    |             |           | good
that is not waited for | 0    | {at: Never} | {}        | good
`);
for (const row of lives) {
  t.test(`ttlSecondsAfterFinished, ${row.change}: ${row.is}`, async (t) => {
    const content = row.life === '' ? '{spec: {}}' : `{spec: {ttlSecondsAfterFinished: ${row.life}}}`;
    const faults = (type: string, kind: string) =>
      gateFaults(json(row['spec.gate']), [{ change: change(type, kind, content), gate: json(row.gate) }]).map(
        ({ message }) => message,
      );
    const words = `spec.changes[0].content.spec.ttlSecondsAfterFinished: is ${row.life}, and a Job with a gate must stay ${leastJobLife} s after its end: write ${leastJobLife} or more, or gate.at: Never`;
    t.same(faults('Create', 'Job'), row.is === 'bad' ? [words] : []);
    t.same(faults('Delete', 'Job'), []);
    t.same(faults('Create', 'ConfigMap'), []);
  });
}
