// The record of a step: one log line, one audit line for each write of a target, Events; and never content.
import t from 'tap';
import { report, request, testApp } from '../parts.ts';

t.test('the log has one line for each step and each target write, with constant messages', async (t) => {
  const app = testApp({ report });
  await app.server.inject({ method: 'POST', url: '/sync', payload: request });
  t.equal(app.lines.length, 2);
  t.match(app.lines[0], {
    msg: 'step',
    transaction: 'shop/deploy-v2',
    uid: '6f1c-01',
    step: 'apply',
    because: 'change 1 is next',
    fromPhase: 'Prepared',
    toPhase: 'Committing',
    item: 0,
    outcome: 'done',
  });
  t.match(app.lines[1], {
    msg: 'target write',
    audit: true,
    transaction: 'shop/deploy-v2',
    uid: '6f1c-01',
    item: 0,
    verb: 'update',
    resource: 'configmaps',
    target: 'ConfigMap shop/a',
    serviceAccount: 'deployer',
    outcome: 'ok',
  });
});

t.test('Events name the Transaction, the time and their position', async (t) => {
  const app = testApp({ report });
  await app.server.inject({ method: 'POST', url: '/sync', payload: request });
  const about = { namespace: 'shop', name: 'deploy-v2', uid: '6f1c-01', at: report.at, position: [4, 0] };
  t.same(app.events, [{ ...report.events[0], ...about }]);
});

t.test('an Event that cannot be recorded does not fail the call', async (t) => {
  const recordEvent = () => {
    throw new Error('hunter2');
  };
  const app = testApp({ report, recordEvent });
  const answer = await app.server.inject({ method: 'POST', url: '/sync', payload: request });
  t.equal(answer.statusCode, 200);
  t.match(app.lines.at(-1), { msg: 'recording a step failed' });
  t.notMatch(JSON.stringify(app.lines), /hunter2/);
});

t.test('the log shows what a step has thrown: the words of a broken invariant, and of nothing else', async (t) => {
  const lineOf = async (fault: object) => {
    const app = testApp({ report: { ...report, outcome: 'EngineFault', ...fault } });
    await app.server.inject({ method: 'POST', url: '/sync', payload: request });
    return app.lines.find(({ msg }) => msg === 'step failed: internal error');
  };
  const invariant = 'I3: a write names no version';
  t.match(await lineOf({ thrown: new Error(invariant), invariant }), { error: 'Error', invariant });
  t.notMatch(JSON.stringify(await lineOf({ thrown: new TypeError('hunter2') })), /hunter2|"invariant"/);
});
