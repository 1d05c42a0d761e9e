// A Transaction that is nested as deep as the API server stores: the engine answers with a status that says why it refuses it.
import t from 'tap';
import { must } from '../support/client.ts';
import { callHeaders } from '../support/hook-token.ts';
import { startStage } from '../support/stage.ts';
import { change } from '../support/targets.ts';

const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;

t.test('a Transaction of thousands of levels gets a status that says why it is refused', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, namespace, hookUrl } = stage;
  const transactions = `/apis/tx.janus.io/v1alpha1/namespaces/${namespace}/transactions`;
  for (const levels of [600, 6_000, 9_000])
    await t.test(`${levels} levels`, async (t) => {
      const name = `deep-${levels}`;
      const whole = JSON.stringify({
        apiVersion: 'tx.janus.io/v1alpha1',
        kind: 'Transaction',
        metadata: { name },
        spec: { serviceAccountName: 'deployer', changes: [change('Create', name, { data: 'DEEP' })] },
      });
      must(await client.request('POST', transactions, { text: whole.replace('"DEEP"', nested(levels)) }));
      const { text } = await client.get(`${transactions}/${name}`);
      const call = `{"controller":{},"parent":${text},"children":{},"related":{},"finalizing":false}`;
      const answer = await fetch(`${hookUrl}/sync`, { method: 'POST', headers: callHeaders, body: call });
      t.equal(answer.status, 200);
      t.match(await answer.text(), /"phase":"Failed".*nested deeper than \d+ levels/);
    });
});
