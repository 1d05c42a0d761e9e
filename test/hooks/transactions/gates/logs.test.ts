// Which container's log is read after a gate has failed, and how much of it may be repeated.
import t from 'tap';
import type { JsonObject } from '../../../../hooks/objects/json.ts';
import { lastLines, logSourceOf } from '../../../../hooks/transactions/gates/logs.ts';
import { longestLogs } from '../../../../hooks/transactions/model/gate.ts';
import { json, table } from '../../../support/table.ts';

const rows = table<'what' | 'status' | 'source'>(`
what                                  | status                                                                                                                       | source
its image is missing                  | {containerStatuses: [{name: a, state: {waiting: {reason: ErrImagePull}}}]}                                                   |
it waits for its next start           | {containerStatuses: [{name: a, state: {waiting: {reason: CrashLoopBackOff}}, lastState: {terminated: {exitCode: 0}}}]}        | {container: a, previous: false}
it runs once more                     | {containerStatuses: [{name: a, ready: false, state: {running: {}}, lastState: {terminated: {exitCode: 2}}}]}                 | {container: a, previous: true}
it has ended                          | {containerStatuses: [{name: a, state: {terminated: {exitCode: 2}}}]}                                                         | {container: a, previous: false}
it runs, and is not ready             | {conditions: [], containerStatuses: [{name: a, ready: false, state: {running: {}}}]}                                         | {container: a, previous: false}
an init container has ended           | {initContainerStatuses: [{name: i, state: {terminated: {exitCode: 2}}}], containerStatuses: [{name: a, state: {waiting: {}}}]} | {container: i, previous: false}
no container is at fault              | {phase: Failed, reason: Evicted}                                                                                             |
`);
for (const { what, status, source } of rows) {
  t.test(what, async (t) => {
    const pod = { metadata: { name: 'p', namespace: 'shop', uid: 'u' }, status: json(status) ?? {} };
    const expected = source === '' ? undefined : { namespace: 'shop', pod: 'p', ...(json(source) as JsonObject) };
    t.same(logSourceOf([pod]), expected);
  });
}

t.test('the last 20 lines, at most 4 kB, each without colours and invisible characters', async (t) => {
  t.equal(lastLines('one\r\n\u001b[31mtwo\u001b[0m\n\n\u202ethree\n'), 'one\ntwo\n\\u{202e}three');
  const many = Array.from({ length: 30 }, (_, index) => `line ${index}`);
  t.equal(lastLines(many.join('\n')), many.slice(10).join('\n'));
  const long = lastLines(Array.from({ length: 20 }, (_, index) => `${index} ${'x'.repeat(10_000)}`).join('\n'));
  t.ok(long.length <= longestLogs && long.length > longestLogs - 500, `${long.length}`);
  t.match(long, /^1\d x/, 'the first ones are left out');
  t.match(long, /\n19 x+…$/);
  for (const text of [long, lastLines('a\u001b]0;title\u0007\tb')]) t.equal(lastLines(text), text, 'it stays as it is');
  t.equal(lastLines(long, 1), '…', 'however little room there is');
  t.equal(lastLines(''), '');
});
