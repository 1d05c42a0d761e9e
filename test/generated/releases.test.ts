// Generated releases by who may not grant rights: Roles and their bindings, a swap under a full quota, and other changes between, in any
// order that can be applied. Each is Committed, and its undo leaves all as before.
//
// JANUS_TEST_SEED=<seed of the run> makes the same again.
import fc from 'fast-check';
import t from 'tap';
import { at, type JsonObject } from '../../hooks/model/json.ts';
import { must, waitFor } from '../support/client.ts';
import { commit, undoAll } from '../support/round-trip.ts';
import { type Stage, startStage } from '../support/stage.ts';
import { change, createConfigMaps, portraits } from '../support/targets.ts';

const rbac = { apiVersion: 'rbac.authorization.k8s.io/v1' };
const seed = Number(process.env.JANUS_TEST_SEED ?? 20_261_122);
const runs = 12;

type Pair = 'both are new' | 'both go, the Role first' | 'both go, the binding first';

interface Release {
  readonly pairs: readonly Pair[];
  readonly swaps: boolean;
  readonly between: boolean;
}

const release: fc.Arbitrary<Release> = fc.record({
  pairs: fc.array(fc.constantFrom<Pair>('both are new', 'both go, the Role first', 'both go, the binding first'), {
    minLength: 1,
    maxLength: 3,
  }),
  swaps: fc.boolean(),
  between: fc.boolean(),
});

async function pairChanges({ client, path, namespace }: Stage, pair: Pair, name: string): Promise<readonly JsonObject[]> {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'Role', name };
  const bound = { roleRef, subjects: [{ kind: 'ServiceAccount', name: 'default', namespace }] };
  const [role, binding] = [
    { ...rbac, kind: 'Role' },
    { ...rbac, kind: 'RoleBinding' },
  ];
  if (pair === 'both are new') return [change('Create', name, { rules }, role), change('Create', name, bound, binding)];
  must(await client.create(path('rbac.authorization.k8s.io/v1/roles'), { metadata: { name }, rules }));
  must(await client.create(path('rbac.authorization.k8s.io/v1/rolebindings'), { metadata: { name }, ...bound }));
  const deletes = [change('Delete', name, undefined, role), change('Delete', name, undefined, binding)];
  return pair === 'both go, the Role first' ? deletes : deletes.reverse();
}

async function runRelease(stage: Stage, { pairs, swaps, between }: Release, id: string): Promise<void> {
  const { client, path } = stage;
  const names = pairs.map((_pair, index) => `${id}-${index}`);
  const changes = await Promise.all(pairs.map((pair, index) => pairChanges(stage, pair, names[index] ?? '')));
  await createConfigMaps(stage, [id]);
  const secret = { kind: 'Secret' };
  const swap = swaps ? [change('Delete', 'kept', undefined, secret), change('Create', `${id}-new`, {}, secret)] : [];
  const other = between ? [change('Patch', id, { data: { color: 'green' } })] : [];
  const paths = [
    ...names.flatMap((name) => ['roles', 'rolebindings'].map((kind) => path(`rbac.authorization.k8s.io/v1/${kind}/${name}`))),
    ...[`configmaps/${id}`, 'secrets/kept', `secrets/${id}-new`].map(path),
  ];
  const show = async (): Promise<string> => JSON.stringify(await portraits(client, paths, true), undefined, 1);
  const before = await show();
  await commit(stage, id, [...swap.slice(0, 1), ...changes.flat(), ...other, ...swap.slice(1)]);
  if ((await show()) === before) throw new Error('the release has changed nothing');
  await undoAll(stage, id);
  const after = await show();
  if (after !== before) throw new Error(`not as before: ${after} was ${before}`);
}

t.test(`releases, JANUS_TEST_SEED=${seed}`, async (t) => {
  const verbs = ['get', 'list', 'create', 'update', 'patch', 'delete'];
  const stage = await startStage(t, { withoutLoop: true, rules: [{ apiGroups: ['*'], resources: ['*'], verbs }] });
  const { client, path } = stage;
  must(await client.create(path('secrets'), { metadata: { name: 'kept' } }));
  must(await client.create(path('resourcequotas'), { metadata: { name: 'full' }, spec: { hard: { 'count/secrets': '1' } } }));
  const isFull = async (): Promise<boolean> =>
    at(must(await client.get(path('resourcequotas/full'))), 'status', 'used', 'count/secrets') === '1';
  let made = 0;
  const property = fc.asyncProperty(release, async (one) => {
    await waitFor(isFull, 'the quota to be counted');
    made += 1;
    await runRelease(stage, one, `release-${made}`);
  });
  const { failed, errorInstance, counterexample } = await fc.check(property, { seed, numRuns: runs, endOnFailure: true });
  t.notOk(failed, `${String(errorInstance ?? '')}\n${JSON.stringify(counterexample)}`);
  t.equal(made, runs);
});
