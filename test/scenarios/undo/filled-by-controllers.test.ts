// What Kubernetes' own controllers write into an object of a Transaction, and the CA bundle that somebody fills in: neither stops an undo.
// What else an installed program fills in goes with its object if the Transaction says so.
import t from 'tap';
import { at, equalJson, isList, type Json, type JsonObject, textAt } from '../../../hooks/objects/json.ts';
import { makeCertificate } from '../../support/certificate.ts';
import { must, waitFor } from '../../support/client.ts';
import { allowIrreversible, commit, itemsOf, partial, undo, undoAll } from '../../support/round-trip.ts';
import { startStage } from '../../support/stage.ts';
import { stepToEnd } from '../../support/stepping.ts';
import { change } from '../../support/targets.ts';

const stage = await startStage(t, { withoutLoop: true });
const { client, namespace } = stage;
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const role = { apiVersion: 'rbac.authorization.k8s.io/v1', kind: 'ClusterRole' };

const pemOf = (): string => Buffer.from(makeCertificate().certificate).toString('base64');
const isGone = async (where: string): Promise<boolean> => (await client.get(where)).code === 404;

t.test('a CA bundle that somebody fills in', async (t) => {
  const kind = { apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration' };
  const where = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const service = { name: 'hook', namespace, path: '/v' };
  const rules = [{ apiGroups: ['none.example.com'], apiVersions: ['*'], operations: ['CREATE'], resources: ['things'] }];
  const hook = (name: string, more: JsonObject = {}): JsonObject => ({
    ...{ name, admissionReviewVersions: ['v1'], sideEffects: 'None', clientConfig: { service }, rules },
    ...more,
  });
  const one = hook('one.example.com');
  const two = hook('two.example.com');
  const bundle = pemOf();
  const bundles = async (name: string): Promise<readonly unknown[]> => {
    const found = at(must(await client.get(`${where}/${name}`)), 'webhooks');
    return (isList(found) ? found : []).map((one) => [textAt(one, 'name'), textAt(one, 'clientConfig', 'caBundle')]);
  };

  const injectors: Readonly<Record<string, (name: string, hooks: readonly JsonObject[]) => Promise<unknown>>> = {
    'a JSON patch': async (name, hooks) =>
      must(
        await client.patch(
          `${where}/${name}`,
          hooks.map((_, index) => ({ op: 'add', path: `/webhooks/${index}/clientConfig/caBundle`, value: bundle })),
          'json',
          { fieldManager: 'operator' },
        ),
      ),
    'server-side apply': async (name, hooks) => {
      const webhooks = hooks.map((one) => ({ name: at(one, 'name') ?? '', clientConfig: { caBundle: bundle } }));
      must(await client.apply(`${where}/${name}`, { ...kind, metadata: { name }, webhooks }, { fieldManager: 'injector' }));
    },
  };

  for (const [injector, by] of Object.keys(injectors).entries()) {
    const inject = injectors[by] ?? (async () => undefined);
    const name = `${namespace}-${injector}`;
    t.teardown(() => client.delete(`${where}/${name}`));

    await t.test(`by ${by}: it goes with the object`, async () => {
      for (const type of ['Create', 'Apply']) {
        await commit(stage, `makes-${injector}-${type.toLowerCase()}`, [change(type, name, { webhooks: [one] }, kind)]);
        await inject(name, [one]);
        await undoAll(stage, `makes-${injector}-${type.toLowerCase()}`);
        t.ok(await isGone(`${where}/${name}`), type);
      }
    });

    await t.test(`by ${by}: it stays in the undo of an update, and goes with a webhook that the update added`, async (t) => {
      must(await client.create(where, { ...kind, metadata: { name }, webhooks: [one] }, { fieldManager: 'kubectl-create' }));
      for (const type of ['Update', 'Apply', 'Patch']) {
        const tx = `adds-${injector}-${type.toLowerCase()}`;
        const failing = { ...one, failurePolicy: 'Ignore' };
        await commit(stage, tx, [change(type, name, { webhooks: [failing, two] }, kind)]);
        await inject(name, [failing, two]);
        t.same(
          await bundles(name),
          [
            ['one.example.com', bundle],
            ['two.example.com', bundle],
          ],
          type,
        );
        await undoAll(stage, tx);
        t.same(await bundles(name), [['one.example.com', bundle]], type);
        const object = must(await client.get(`${where}/${name}`));
        t.match(at(object, 'webhooks'), [{ failurePolicy: 'Fail' }]);
        t.notMatch(JSON.stringify(object), /two\.example\.com|janus/, 'no manager owns a removed field');
      }
    });

    await t.test(`by ${by}, over one that the content sets: a conflict`, async (t) => {
      const set = { ...one, clientConfig: { service, caBundle: pemOf() } };
      await commit(stage, `sets-${injector}`, [change('Update', name, { webhooks: [set] }, kind)]);
      must(
        await client.patch(
          `${where}/${name}`,
          [{ op: 'replace', path: '/webhooks/0/clientConfig/caBundle', value: pemOf() }],
          'json',
          { fieldManager: 'operator' },
        ),
      );
      t.match(await undo(stage, `sets-${injector}`, partial), { phase: 'Failed' });
    });
  }
});

t.test('an aggregated ClusterRole', async (t) => {
  const [whole, part] = [`${namespace}-whole`, `${namespace}-part`];
  for (const name of [whole, part]) t.teardown(() => client.delete(`${roles}/${name}`));
  const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { [namespace]: 'true' } }] };
  const rules = [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }];
  const labels = { [namespace]: 'true' };
  const rulesOf = async (name: string): Promise<Json | undefined> => at(must(await client.get(`${roles}/${name}`)), 'rules');
  const isFilled = (): Promise<boolean> => rulesOf(whole).then((found) => equalJson(found, rules));

  for (const type of ['Create', 'Apply'] as const) {
    for (const own of [{}, { rules: [] }]) {
      const what = `${type} ${JSON.stringify(own)}`;
      await t.test(`${what}: its rules go with it`, async (t) => {
        const name = `aggregated-${type.toLowerCase()}-${Object.keys(own).length}`;
        const content = { aggregationRule, ...own };
        await commit(stage, name, [
          change(type, whole, content, role),
          change(type, part, { metadata: { labels }, rules }, role),
        ]);
        await waitFor(isFilled, 'the controller to fill in the rules');
        await undoAll(stage, name);
        t.ok((await isGone(`${roles}/${whole}`)) && (await isGone(`${roles}/${part}`)));
      });
    }
  }

  await t.test('that was none before gets its own rules back', async (t) => {
    const before = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
    must(await client.create(roles, { ...role, metadata: { name: part, labels }, rules }));
    must(await client.create(roles, { ...role, metadata: { name: whole }, rules: before }, { fieldManager: 'kubectl-create' }));
    await commit(stage, 'aggregates', [change('Patch', whole, { aggregationRule }, role)], allowIrreversible);
    await waitFor(isFilled, 'the controller to overwrite the rules');
    await undoAll(stage, 'aggregates');
    t.same(await rulesOf(whole), before);
  });

  await t.test('whose rules the controller moves on is no conflict, neither for an apply nor for its undo', async (t) => {
    must(await client.patch(`${roles}/${whole}`, { aggregationRule }));
    await waitFor(isFilled, 'the controller to fill in the rules');
    await commit(stage, 'labels', [change('Update', whole, { metadata: { labels: { a: 'b' } }, aggregationRule }, role)]);
    await waitFor(isFilled, 'the controller to fill in the rules again');
    const more = [...rules, { apiGroups: [''], resources: ['services'], verbs: ['get'] }];
    must(await client.patch(`${roles}/${part}`, { rules: more }));
    await waitFor(async () => equalJson(await rulesOf(whole), more), 'the controller to move on');
    await undoAll(stage, 'labels');
    t.same(await rulesOf(whole), more);
    t.not(textAt(must(await client.get(`${roles}/${whole}`)), 'metadata', 'labels', 'a'), 'b');
  });
});

t.test('values that the installed program fills in', async (t) => {
  const { path } = stage;
  const hooks = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const name = `${namespace}-filled`;
  t.teardown(() => client.delete(`${hooks}/${name}`));
  const container = { name: 'c', image: 'reg.example/app:1' };
  const template = { metadata: { labels: { app: 'app' } }, spec: { containers: [container] } };
  const clientConfig = { service: { name: 'hook', namespace, path: '/v' } };
  const rules = [{ apiGroups: ['none.example.com'], apiVersions: ['*'], operations: ['CREATE'], resources: ['things'] }];
  const webhook = { name: 'v.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None', clientConfig, rules };
  const manifests: readonly JsonObject[] = [
    { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'app-secret' }, type: 'Opaque' },
    { apiVersion: 'v1', kind: 'Service', metadata: { name: 'hook' }, spec: { selector: { app: 'app' }, ports: [{ port: 443 }] } },
    {
      ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'app' } },
      spec: { selector: { matchLabels: { app: 'app' } }, template },
    },
    {
      ...{ apiVersion: 'admissionregistration.k8s.io/v1', kind: 'ValidatingWebhookConfiguration', metadata: { name } },
      webhooks: [{ ...webhook, failurePolicy: 'Fail' }],
    },
  ];
  const changes = manifests.map((content) => ({ type: 'Apply', content }));
  const secret = path('secrets/app-secret');
  const paths = [secret, path('services/hook'), path('apps/v1/deployments/app'), `${hooks}/${name}`];
  const there = async (): Promise<readonly string[]> => {
    const gone = await Promise.all(paths.map(isGone));
    return paths.filter((_, index) => !gone[index]);
  };

  const fill = async (): Promise<void> => {
    const by = { fieldManager: 'operator' };
    must(await client.patch(secret, { data: { 'tls.key': pemOf() } }, 'merge', by));
    const bundle = [{ op: 'add', path: '/webhooks/0/clientConfig/caBundle', value: pemOf() }];
    must(await client.patch(`${hooks}/${name}`, bundle, 'json', by));
  };

  async function release(tx: string, spec: JsonObject, own: JsonObject = {}): Promise<JsonObject> {
    const [first, ...rest] = changes;
    const fieldManager = tx.includes('shared') ? { fieldManager: 'shop' } : {};
    await stage.transaction(tx, [{ ...first, ...own }, ...rest], { spec: { ...spec, ...fieldManager } });
    await stepToEnd(stage, tx);
    await fill();
    return undo(stage, tx, partial);
  }

  await t.test('is left by default', async (t) => {
    const status = await release('keeps', {});
    t.match(status, { phase: 'Failed' });
    t.match(itemsOf(status)[0], { left: true, error: { reason: 'ForeignContent', message: /data.*\(by operator\)/ } });
    t.same(await there(), [secret]);
    must(await client.delete(secret));
  });

  const deletes = { undo: { foreignContent: 'Delete' } };
  const listed = { undo: { foreignContent: 'Delete', foreignContentManagers: ['operator'] } };
  const rows: Readonly<Record<string, readonly [spec: JsonObject, change: JsonObject]>> = {
    spec: [deletes, {}],
    'spec-shared': [deletes, {}],
    change: [{}, deletes],
    listed: [listed, {}],
    'listed-in-change': [{ undo: { foreignContent: 'Keep' } }, listed],
  };
  for (const [tx, [spec, own]] of Object.entries(rows))
    await t.test(`goes with its object, ${tx}`, async (t) => {
      const status = await release(tx, spec, own);
      t.match(status, { phase: 'RolledBack' });
      t.match(itemsOf(status)[0], { rolledBack: true, note: /^deleted with what others wrote into it: data.*\(by operator\)/ });
      t.notMatch(JSON.stringify(status), /BEGIN|LS0t/, 'no value is shown');
      t.same(await there(), []);
    });

  const kept: typeof rows = {
    'another-manager': [{ undo: { foreignContent: 'Delete', foreignContentManagers: ['cert-manager'] } }, {}],
    'kept-in-change': [deletes, { undo: { foreignContent: 'Keep' } }],
  };
  for (const [tx, [spec, own]] of Object.entries(kept))
    await t.test(`stays, ${tx}`, async (t) => {
      t.match(itemsOf(await release(tx, spec, own))[0], { left: true, error: { reason: 'ForeignContent' } });
      t.same(await there(), [secret]);
      must(await client.delete(secret));
    });
});
