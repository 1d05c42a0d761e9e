// Turns in the thread of expressions, and answers that need no turn.
import t from 'tap';
import type { ExpressionResult } from '../../../hooks/objects/cluster.ts';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { rememberAnswers } from '../../../server/expressions/answers.ts';
import { createExpressions } from '../../../server/expressions/expressions.ts';
import { loops, megabyte } from './opened.ts';

const requester = (namespace: string, uid = 'one') => ({ namespace, uid });

t.test('no call waits for a long expression of another namespace', async (t) => {
  const expressions = createExpressions({ limit: 60_000, wait: 20 });
  t.teardown(() => expressions.close());
  t.same(await expressions.compile('false', requester('many'), 60_000), {});
  const long = t.rejects(expressions.evaluate(loops, megabyte, requester('many')), /has ended/);
  t.equal(await expressions.evaluate('true', {}, requester('few')), 'late');
  t.equal(await expressions.compile('true', requester('few'), 20), 'late');
  t.same(await expressions.compile('false', requester('few'), 0), {}, 'an expression that is known needs no turn');
  await expressions.close();
  await long;
});

t.test('the cache does not evaluate an unchanged expression and object again; slow ones rest longer', (t) => {
  let now = 0;
  const answers = rememberAnswers(2, () => now);
  const object = (uid: string, resourceVersion: string) => ({ apiVersion: 'v1', metadata: { uid, resourceVersion } });
  const question = (text: string, own: JsonObject, by = 'one') => ({ requester: requester('shop', by), text, object: own });
  const yes: ExpressionResult = { kind: 'value', value: true };
  answers.keep(question('true', object('a', '1')), yes, 100);
  t.same(answers.find(question('true', object('a', '1'))), yes);
  t.equal(answers.find(question('1 == 1', object('a', '1'))), undefined);
  t.equal(answers.find(question('true', object('b', '1'))), undefined);
  t.equal(answers.find(question('true', object('a', '1'), 'two')), undefined, 'of another Transaction');
  const converted = { ...object('a', '1'), apiVersion: 'v2' };
  t.equal(answers.find(question('true', converted)), undefined, 'in another version of the API');
  now = 1_999;
  t.equal(answers.find(question('true', object('a', '2'))), 'late');
  now = 2_000;
  t.equal(answers.find(question('true', object('a', '2'))), undefined);
  for (const uid of ['b', 'c']) answers.keep(question('true', object(uid, '1')), yes, 0);
  t.equal(answers.find(question('true', object('a', '1'))), undefined, 'the oldest one is forgotten');
  answers.keep(question('true', {}), yes, 0);
  t.equal(answers.find(question('true', {})), undefined);
  t.end();
});
