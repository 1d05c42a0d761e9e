// Dry runs that admission refuses until an earlier change of the same Transaction, or of the same undo, has changed what admits: webhooks,
// policies with their bindings, quotas, limits, Namespaces, classes (hooks/transactions/checks/deferred.ts). On an API server of its own: some
// of these hold for the whole cluster.
import t from 'tap';
import { at, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { admissionPairs, bindingOf, deadWebhook, judgedBy, policyFor, wantsTeam } from '../../support/admission-pairs.ts';
import { bothWays } from '../../support/both-ways.ts';
import { must, waitFor } from '../../support/client.ts';
import { ownControlPlane } from '../../support/own-control-plane.ts';
import { commit, itemsOf, undoAll } from '../../support/round-trip.ts';
import { everyNth } from '../../support/selection.ts';
import { startStage } from '../../support/stage.ts';
import { mutatingPolicies } from '../../support/stamping.ts';
import { stepTo, stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, createConfigMaps, portraits } from '../../support/targets.ts';

await ownControlPlane(t);

const group = 'admissionregistration.k8s.io';
const registration = { apiVersion: `${group}/v1` };
const hooks = `/apis/${group}/v1/validatingwebhookconfigurations`;
const named = /failed calling webhook "judge\.example\.com": .*service "judge" not found/;

t.test('with the earlier change it is admitted, and undone exactly; without it, it is refused', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const hasMutating = (await stage.client.get(mutatingPolicies)).code === 200;
  const cases = Object.entries(admissionPairs(stage, t)).filter(([row]) => hasMutating || !/policy that changes/.test(row));
  for (const [index, [row, pair]] of cases.entries())
    await t.test(row, async (t) => {
      const { isWaitedFor, ...made } = await pair();
      const note = /^its dry run was refused \(\d+ \w+\) and is made again in its turn, after spec\.changes\[0\]/;
      await bothWays(t, stage, { name: `pair-${index}`, ...made, note, isAloneTried: isWaitedFor !== true });
    });
});

t.test('a release brings what the undo of its other objects must pass', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const settings = (level: string): JsonObject => ({ ...judgedBy('yes'), data: { level } });
  const name = `${namespace}-judge`;
  const webhook = change('Create', name, deadWebhook(namespace, 'yes'), {
    ...registration,
    kind: 'ValidatingWebhookConfiguration',
  });
  const policy = change('Create', name, policyFor('teamed', wantsTeam), { ...registration, kind: 'ValidatingAdmissionPolicy' });
  const binding = change('Create', name, bindingOf(name, namespace), {
    ...registration,
    kind: 'ValidatingAdmissionPolicyBinding',
  });
  const isRefused = async (where: string): Promise<boolean> =>
    (
      await client.patch(where, { metadata: { labels: { team: null }, annotations: { probe: 'yes' } } }, 'merge', {
        dryRun: 'All',
      })
    ).code >= 400;

  for (const place of everyNth(2, ['first', 'last'] as const))
    await t.test(`a webhook without endpoints, ${place}`, async (t) => {
      const object = `settings-${place}`;
      must(
        await client.create(path('configmaps'), { metadata: { name: object, labels: { judged: 'yes' } }, data: { level: '1' } }),
      );
      const paths = [path(`configmaps/${object}`), `${hooks}/${name}`];
      const before = await portraits(client, paths);
      // After it, nobody could write the object: a release that has the webhook first writes others.
      const changed = place === 'last' ? [change('Patch', object, settings('2')), webhook] : [webhook, change('Delete', object)];
      await commit(stage, `webhook-${place}`, changed);
      if (place === 'last') await waitFor(() => isRefused(path(`configmaps/${object}`)), 'the webhook to be called');
      await undoAll(stage, `webhook-${place}`);
      const uid = /"uid":"[^"]*"|"creationTimestamp":"[^"]*"/g;
      t.equal(JSON.stringify(await portraits(client, paths)).replaceAll(uid, ''), JSON.stringify(before).replaceAll(uid, ''));
    });

  await t.test('a policy and the label that it wants', async (t) => {
    must(await client.create(path('configmaps'), { metadata: { name: 'teamed' } }));
    const before = await portraits(client, [path('configmaps/teamed')]);
    const labelled = change('Patch', 'teamed', { metadata: { labels: { team: 'ours' } } });
    await commit(stage, 'teamed', [policy, binding, labelled]);
    await waitFor(() => isRefused(path('configmaps/teamed')), 'the policy to be in force');
    await stage.annotate('teamed', { 'tx.janus.io/plan-undo': 'yes' });
    const planned = await stepTo(stage, 'teamed', 'the plan', ({ status }) => textAt(status, 'undo', 'reason') === 'Planned');
    t.match(at(planned.status, 'undo', 'counts'), { delete: 2, restore: 1 });
    t.match(at(planned.status, 'undo', 'items'), [
      Object,
      Object,
      {
        verdict: 'Restore',
        message: /refused \(422 Invalid\) and is made again in its turn, after the undo of spec\.changes\[[01]\]/,
      },
    ]);
    await undoAll(stage, 'teamed');
    t.same(await portraits(client, [path('configmaps/teamed')]), before);
  });

  await t.test('what the undo keeps refuses as before', async (t) => {
    await commit(stage, 'kept', [policy, binding, change('Patch', 'teamed', { metadata: { labels: { team: 'ours' } } })]);
    await waitFor(() => isRefused(path('configmaps/teamed')), 'the policy to be in force');
    const kinds = ['ValidatingAdmissionPolicy', 'ValidatingAdmissionPolicyBinding'];
    await stage.annotate('kept', {
      'tx.janus.io/undo-keep': kinds.map((kind) => `${kind}/${name}`).join(','),
      'tx.janus.io/request-rollback': 'yes',
    });
    const { status } = await stepToEnd(stage, 'kept');
    t.match(status, { phase: 'Committed', undo: { reason: 'UndoRefused', counts: { keep: 2, blocked: 1 } } });
    await stage.annotate('kept', { 'tx.janus.io/undo-keep': '', 'tx.janus.io/request-rollback': 'again' });
    t.match((await stepToEnd(stage, 'kept')).status, { phase: 'RolledBack' });
  });
});

t.test("a stranger's webhook that nobody serves", async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  const name = `${namespace}-stranger`;
  const isThere = async (): Promise<boolean> =>
    (await client.create(path('configmaps'), { metadata: { name: 'probe', labels: { judged: 'yes' } } }, { dryRun: 'All' }))
      .code === 500;
  const bring = async (): Promise<void> => {
    must(await client.create(hooks, { metadata: { name }, ...deadWebhook(namespace, 'yes') }));
    await waitFor(isThere, 'the webhook to be called');
  };
  const away = async (): Promise<void> => {
    await client.delete(`${hooks}/${name}`);
    await waitFor(async () => !(await isThere()), 'the webhook to be gone');
  };
  t.teardown(away);
  const settings = (level: string): JsonObject => ({ ...judgedBy('yes'), data: { level } });

  await t.test('before the first write: a wait names it, and ends within a minute', async (t) => {
    await bring();
    const began = performance.now();
    await stage.transaction('new', [change('Create', 'judged', settings('1'))], { spec: { timeout: '30m' } });
    await stepTo(stage, 'new', 'the wait', ({ status }) => named.test(textAt(status, 'message') ?? ''));
    const { status } = await stepToEnd(stage, 'new');
    t.match(status, { phase: 'Failed', message: named });
    t.match(status, { message: /^nothing was applied: .*failed \(InternalError\) for a minute: .*repair or delete the webhook/ });
    t.ok(performance.now() - began > 40_000, 'it is waited for');
    t.equal((await client.get(path('configmaps/judged'))).code, 404);
    await away();
  });

  await t.test('a requested undo is refused with its name, and holds no lock', async (t) => {
    await createConfigMaps(stage, ['undone']);
    await commit(stage, 'old', [change('Patch', 'undone', settings('2'))]);
    await bring();
    await stage.annotate('old', { 'tx.janus.io/request-rollback': 'yes' });
    await stepTo(stage, 'old', 'the wait', ({ status }) => named.test(textAt(status, 'message') ?? ''));
    const { status } = await stepToEnd(stage, 'old');
    t.match(status, { phase: 'Committed', undo: { reason: 'UndoRefused', message: named, counts: { undecided: 1 } } });
    t.equal(at(itemsOf(status)[0], 'lockLease'), undefined);
    await away();
    await stage.annotate('old', { 'tx.janus.io/request-rollback': 'again' });
    t.match((await stepToEnd(stage, 'old')).status, { phase: 'RolledBack' });
  });

  await t.test('after the first write: spec.timeout holds, and the change goes on once it is gone', async (t) => {
    await stage.transaction('later', [change('Create', 'first', {}), change('Create', 'second', settings('1'))]);
    await stepUntil(stage, 'later', 'Prepared');
    await bring();
    await stepTo(stage, 'later', 'the wait', ({ status }) => named.test(textAt(status, 'message') ?? ''));
    await away();
    t.match((await stepToEnd(stage, 'later')).status, { phase: 'Committed' });
    await undoAll(stage, 'later');
  });
});
