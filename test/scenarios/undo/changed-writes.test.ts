// A release brings, changes or deletes what changes the writes of others: mutating policies and LimitRanges. Its undo and its rollback
// write its other objects exactly as they were, whatever the order of the spec (hooks/transactions/checks/changed-writes.ts).
import t from 'tap';
import { at, type JsonObject } from '../../../hooks/objects/json.ts';
import { mutatingBindingOf, policyFor } from '../../support/admission-pairs.ts';
import { must, waitFor } from '../../support/client.ts';
import { commit, undoAll } from '../../support/round-trip.ts';
import { type Stage, startStage } from '../../support/stage.ts';
import { mutatingPolicies } from '../../support/stamping.ts';
import { stepToEnd, stepUntil } from '../../support/stepping.ts';
import { change, portraits } from '../../support/targets.ts';

const registration = 'admissionregistration.k8s.io/v1';
const policyKind = { apiVersion: registration, kind: 'MutatingAdmissionPolicy' };
const bindingKind = { apiVersion: registration, kind: 'MutatingAdmissionPolicyBinding' };

const stamps = (name: string): JsonObject =>
  policyFor(name, {
    reinvocationPolicy: 'Never',
    mutations: [
      {
        patchType: 'ApplyConfiguration',
        applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'stamp': 'yes'}}}" },
      },
    ],
  });

const withoutIdentity = async (stage: Stage, paths: readonly string[]): Promise<string> =>
  JSON.stringify(await portraits(stage.client, paths)).replaceAll(/"(uid|creationTimestamp)":"[^"]*",?/g, '');

t.test('a mutating policy of the release', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path, namespace } = stage;
  if ((await client.get(mutatingPolicies)).code !== 200) return;
  const isStamped = async (name: string): Promise<boolean> => {
    const object = { metadata: { name, annotations: { probe: 'yes' } } };
    const tried = await client.patch(path(`configmaps/${name}`), object, 'merge', { dryRun: 'All' });
    const made = tried.code === 404 ? await client.create(path('configmaps'), object, { dryRun: 'All' }) : tried;
    return at(made.body, 'metadata', 'labels', 'stamp') === 'yes';
  };
  const bindings = mutatingPolicies.replace('policies', 'policybindings');

  const inForce = (name: string): Promise<unknown> => waitFor(() => isStamped(name), 'the policy to be in force');

  /** Creates the object; the release brings a policy for it, and makes that change. */
  const releaseBeside = async (name: string, changed: JsonObject) => {
    const policy = `${namespace}-${name}`;
    must(await client.create(path('configmaps'), { metadata: { name }, data: { level: '1' } }));
    const paths = [path(`configmaps/${name}`), `${mutatingPolicies}/${policy}`, `${bindings}/${policy}`];
    const changes = [
      change('Create', policy, stamps(name), policyKind),
      change('Create', policy, mutatingBindingOf(policy, namespace), bindingKind),
      changed,
    ];
    return { changes, paths, before: await withoutIdentity(stage, paths) };
  };

  for (const type of ['Patch', 'Delete'] as const)
    await t.test(`the undo of a ${type} beside it`, async (t) => {
      const name = `undone-${type.toLowerCase()}`;
      const changed = change(type, name, type === 'Patch' ? { data: { level: '2' } } : undefined);
      const { changes, paths, before } = await releaseBeside(name, changed);
      await commit(stage, name, changes);
      await inForce(name);
      await undoAll(stage, name);
      t.equal(await withoutIdentity(stage, paths), before);
    });

  await t.test('the rollback of a Delete beside it', async (t) => {
    const name = 'rolled-back';
    const { changes, paths, before } = await releaseBeside(name, change('Delete', name));
    await stage.transaction(name, [...changes, change('Create', 'taken', {})]);
    await stepUntil(stage, name, 'Prepared');
    must(await client.create(path('configmaps'), { metadata: { name: 'taken' } }));
    t.equal((await stepToEnd(stage, name)).phase, 'RolledBack');
    t.equal(await withoutIdentity(stage, paths), before);
  });

  await t.test('a policy that the release deletes comes back after what it would change', async (t) => {
    const [name, policy] = ['late', `${namespace}-late`];
    must(await client.create(path('configmaps'), { metadata: { name }, data: { level: '1' } }));
    must(await client.create(mutatingPolicies, { metadata: { name: policy }, ...stamps(name) }));
    t.teardown(() => client.delete(`${mutatingPolicies}/${policy}`));
    must(await client.create(bindings, { metadata: { name: policy }, ...mutatingBindingOf(policy, namespace) }));
    t.teardown(() => client.delete(`${bindings}/${policy}`));
    await inForce(name);
    const paths = [path(`configmaps/${name}`), `${bindings}/${policy}`];
    const before = await withoutIdentity(stage, paths);
    await commit(stage, 'late', [change('Delete', name), change('Delete', policy, undefined, bindingKind)]);
    await waitFor(async () => !(await isStamped(name)), 'the policy to be over');
    await undoAll(stage, 'late');
    t.equal(await withoutIdentity(stage, paths), before);
  });
});

t.test('a LimitRange of the release gives no defaults to a Pod that comes back', async (t) => {
  const stage = await startStage(t, { withoutLoop: true });
  const { client, path } = stage;
  const pods = path('pods');
  must(
    await client.create(pods, {
      metadata: { name: 'plain' },
      spec: { containers: [{ name: 'main', image: 'example.org/main' }] },
    }),
  );
  const before = await withoutIdentity(stage, [`${pods}/plain`]);
  const limits = [{ type: 'Container', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }];
  const changes = [
    change('Create', 'limits', { spec: { limits } }, { kind: 'LimitRange' }),
    change('Delete', 'plain', undefined, { kind: 'Pod' }),
  ];
  await commit(stage, 'limits', changes);
  const probe = { metadata: { name: 'probe' }, spec: { containers: [{ name: 'main', image: 'example.org/main' }] } };
  const isLimited = async (): Promise<boolean> =>
    JSON.stringify((await client.create(pods, probe, { dryRun: 'All' })).body).includes('cpu');
  await waitFor(isLimited, 'the LimitRange to be in force');
  await undoAll(stage, 'limits');
  t.equal(await withoutIdentity(stage, [`${pods}/plain`]), before);
});
