// The ServiceAccount goes, or loses its rights, while its Transaction runs: that ends, says so, and can be deleted; and what it
// could not undo, it undoes later when asked.
import t from 'tap';
import { textAt } from '../../../hooks/objects/json.ts';
import { type Answer, must, waitFor } from '../../support/client.ts';
import { account, type Stage, startStage } from '../../support/stage.ts';
import { stepToEnd, stepUntil, stepUntilGone } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

const green = { data: { color: 'green' } };
const retry = { 'tx.janus.io/retry-rollback': 'yes' };

async function setUp(stage: Stage, name: string): Promise<() => Promise<readonly unknown[]>> {
  const names = ['a', 'b', 'c'].map((suffix) => `${name}-${suffix}`);
  const [patched = '', updated = '', deleted = ''] = names;
  await createConfigMaps(stage, names);
  await stage.transaction(name, [change('Patch', patched, green), change('Update', updated, green), change('Delete', deleted)]);
  return () =>
    portraits(
      stage.client,
      names.map((one) => stage.path(`configmaps/${one}`)),
    );
}

t.test('a user deletes the ServiceAccount of a Transaction', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client } = stage;
  const path = stage.path(`serviceaccounts/${account}`);
  const restore = async (): Promise<unknown> =>
    must(await client.create(stage.path('serviceaccounts'), { metadata: { name: account } }));

  for (const phase of ['Preparing', 'Prepared', 'Committing'])
    await t.test(`in ${phase}: the Transaction ends, and a retry undoes the rest when the account is back`, async (t) => {
      const name = `gone-in-${phase}`.toLowerCase();
      const show = await setUp(stage, name);
      const before = await show();
      await stepUntil(stage, name, phase);
      must(await client.delete(path));
      const { status } = await stepToEnd(stage, name);
      // Where nothing was sent yet there is nothing to take back.
      const isApplied = phase === 'Committing';
      t.match(status, {
        phase: isApplied ? 'Failed' : 'RolledBack',
        message: new RegExp(`ServiceAccount ${stage.namespace}/${account} (does not exist|no longer exists)`),
      });
      await restore();
      if (isApplied) {
        await stage.annotate(name, retry);
        await stepUntil(stage, name, 'RolledBack');
        await stepToEnd(stage, name);
      }
      t.same(await show(), before);
    });

  await t.test('a user can delete a Transaction whose ServiceAccount is missing', async (t) => {
    await setUp(stage, 'doomed');
    await stepUntil(stage, 'doomed', 'Committing');
    must(await client.delete(path));
    await stepToEnd(stage, 'doomed');
    must(await client.delete(`/apis/tx.janus.io/v1alpha1/namespaces/${stage.namespace}/transactions/doomed`));
    t.ok((await stepUntilGone(stage, 'doomed')).gone);
    await restore();
  });
  t.same(await stage.leases(), []);
});

t.test('the engine undoes all changes if a right is removed before the write', async (t) => {
  const configMaps = { apiGroups: [''], resources: ['configmaps'] };
  const rules = [{ ...configMaps, verbs: ['get', 'create', 'update', 'patch', 'delete'] }];
  const stage = await startStage(t, { rules, withoutLoop: true });
  const show = await setUp(stage, 'restricted');
  const before = await show();
  await stepUntil(stage, 'restricted', 'Committing');
  const role = `/apis/rbac.authorization.k8s.io/v1/clusterroles/${stage.namespace}`;
  must(await stage.client.patch(role, { rules: [{ ...configMaps, verbs: ['get', 'create', 'update', 'patch'] }] }));
  const asAccount = stage.client.asServiceAccount(stage.namespace, account);
  const tryDelete = (): Promise<Answer> => asAccount.delete(stage.path('configmaps/restricted-c'), { dryRun: ['All'] });
  await waitFor(async () => (await tryDelete()).code === 403, 'the right to be gone');
  const { status } = await stepToEnd(stage, 'restricted');
  t.equal(textAt(status, 'phase'), 'RolledBack');
  t.match(textAt(status, 'message'), /Delete of ConfigMap \S+\/restricted-c was refused: .*forbidden/);
  t.same(await show(), before);
  t.same(await stage.leases(), []);
});
