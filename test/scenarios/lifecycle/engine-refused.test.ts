// A refusal of the engine itself ends a Transaction at once, in the words of the API server, before spec.timeout. On an API
// server of its own, as the engine has one role for all.
import t from 'tap';
import { at, isList, isObject, type Json, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { ownControlPlane } from '../../support/own-control-plane.ts';
import { isThere } from '../../support/owned.ts';
import { type Stage, startStage, statusOf } from '../../support/stage.ts';
import { change } from '../../support/targets.ts';

const role = '/apis/rbac.authorization.k8s.io/v1/clusterroles/janus';
const asked = /cannot impersonate.*grant the engine that right/;
const patience = { timeoutMs: 30_000 };

/** Takes a verb on ServiceAccounts from the engine, until the returned function gives it back. */
async function without({ client }: Stage, verb: string): Promise<() => Promise<unknown>> {
  const { rules } = must(await client.get(role)) as { readonly rules: readonly JsonObject[] };
  const isAbout = (rule: Json): boolean => {
    const resources = at(rule, 'resources');
    return isList(resources) && resources.includes('serviceaccounts');
  };
  const verbsOf = (rule: JsonObject): Json => {
    const verbs = at(rule, 'verbs');
    return isList(verbs) ? verbs.filter((one) => one !== verb) : [];
  };
  const fewer = rules.map((rule) => (isObject(rule) && isAbout(rule) ? { ...rule, verbs: verbsOf(rule) } : rule));
  must(await client.patch(role, { rules: fewer }));
  return async () => must(await client.patch(role, { rules }));
}

t.test('the engine lacks a right', async (t) => {
  await ownControlPlane(t);
  const stage = await startStage(t);
  const made = change('Create', 'made', {});
  const gate = { ready: { field: { path: '.data.ready', value: 'yes' } }, timeout: '300s' };

  await t.test('a refusal before the first change ends the Transaction as Failed', async (t) => {
    const giveBack = await without(stage, 'impersonate');
    await stage.transaction('unable', [made]);
    const status = await stage.finished('unable', patience);
    t.match(status, { phase: 'Failed', message: asked });
    t.notOk(await isThere(stage, stage.path('configmaps/made')));
    await giveBack();
  });

  await t.test('a refusal after applied changes ends the rollback as Failed and names all changes that are left', async (t) => {
    await stage.transaction('stuck', [{ ...made, gate }, change('Create', 'next', {})]);
    await stage.phase('stuck', 'Committing');
    const giveBack = await without(stage, 'get');
    must(await stage.client.patch(stage.path('configmaps/made'), { data: { ready: 'yes' } }));
    const status = await stage.finished('stuck', patience);
    t.match(status, { phase: 'Failed', items: [{ state: 'NotRestored', error: { reason: 'Forbidden' } }, {}] });
    t.match(textAt(status, 'message'), /cannot get resource "serviceaccounts"/);
    await giveBack();
    await stage.annotate('stuck', { 'tx.janus.io/retry-rollback': '1', 'tx.janus.io/undo-overwrite': 'ConfigMap/made' });
    await stage.phase('stuck', 'RolledBack');
    t.notOk(await isThere(stage, stage.path('configmaps/made')));
  });

  await t.test('a refusal in a rollback ends it as Failed and names the changes that are left', async (t) => {
    const held = { metadata: { finalizers: ['example.org/held'] } };
    await stage.transaction('late', [change('Create', 'held', held), { ...change('Create', 'waits', {}), gate }]);
    await stage.phase('late', 'Committing');
    await stage.annotate('late', { 'tx.janus.io/request-rollback': '1' });
    const isHeld = async (): Promise<boolean> =>
      textAt((await stage.client.get(stage.path('configmaps/held'))).body, 'metadata', 'deletionTimestamp') !== undefined;
    await waitFor(isHeld, 'the rollback to wait for a finalizer');
    const giveBack = await without(stage, 'impersonate');
    const status = await stage.finished('late', patience);
    t.match(status, { phase: 'Failed', items: [{ state: 'NotRestored', error: { reason: 'Forbidden', message: asked } }, {}] });
    must(await stage.client.patch(stage.path('configmaps/held'), { metadata: { finalizers: null } }));
    await giveBack();
  });

  for (const [verb, sentence] of [
    ['impersonate', asked],
    ['get', /cannot get resource "serviceaccounts".*grant the engine that right/],
  ] as const)
    await t.test(`the engine refuses a requested undo without the right to ${verb}, and writes nothing`, async (t) => {
      const name = `done-${verb}`;
      await stage.transaction(name, [change('Create', name, {})]);
      await stage.phase(name, 'Committed');
      const giveBack = await without(stage, verb);
      await stage.annotate(name, { 'tx.janus.io/request-rollback': '1', 'tx.janus.io/undo-partial': 'true' });
      const isAnswered = async (): Promise<boolean> => at(statusOf(await stage.read(name)), 'undo') !== undefined;
      await waitFor(isAnswered, 'an answer to the request');
      const status = statusOf(await stage.read(name));
      t.match(status, {
        phase: 'Committed',
        undo: { reason: 'UndoRefused', items: [{ verdict: 'Blocked', message: sentence }] },
      });
      t.ok(await isThere(stage, stage.path(`configmaps/${name}`)));
      await giveBack();
      await stage.annotate(name, { 'tx.janus.io/request-rollback': '2' });
      await stage.phase(name, 'RolledBack');
    });
});
