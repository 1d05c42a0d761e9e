// Pairs of changes of which the second is only possible after the first: what generated releases are made of.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { must, type Teardown, waitFor } from '../support/client.ts';
import type { Stage } from '../support/stage.ts';
import { change } from '../support/targets.ts';

/** The kinds of pairs. */
export const pairs = [
  'a Role and its binding are new',
  'the Role goes, then the binding',
  'the binding goes, then the Role',
  'a CRD gets a field, a new instance has it',
  'a CRD gets a field, an instance is replaced with it',
  'a CRD gets a field, an instance gets it',
  'a CRD admits more values, an instance has one of them',
  'a CRD gets a version, a new instance is of it',
] as const;

export type Pair = (typeof pairs)[number];

interface Made {
  readonly changes: readonly [JsonObject, JsonObject];
  /** Paths of what they change. */
  readonly paths: readonly string[];
}

const rbac = 'rbac.authorization.k8s.io';
const crds = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

/** Makes what the pair finds there, under that name. */
export function makePair(t: Teardown, stage: Stage, pair: Pair, name: string): Promise<Made> {
  return pair.includes('Role') ? roleAndBinding(stage, pair, name) : definitionAndInstance(t, stage, pair, name);
}

async function roleAndBinding({ client, path, namespace }: Stage, pair: Pair, name: string): Promise<Made> {
  const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
  const bound = {
    roleRef: { apiGroup: rbac, kind: 'Role', name },
    subjects: [{ kind: 'ServiceAccount', name: 'default', namespace }],
  };
  const [role, binding] = ['Role', 'RoleBinding'].map((kind) => ({ apiVersion: `${rbac}/v1`, kind }));
  const [roles, bindings] = [path(`${rbac}/v1/roles`), path(`${rbac}/v1/rolebindings`)];
  const paths = [`${roles}/${name}`, `${bindings}/${name}`];
  if (pair === 'a Role and its binding are new')
    return { changes: [change('Create', name, { rules }, role), change('Create', name, bound, binding)], paths };
  must(await client.create(roles, { metadata: { name }, rules }));
  must(await client.create(bindings, { metadata: { name }, ...bound }));
  const [first, second] = pair === 'the Role goes, then the binding' ? [role, binding] : [binding, role];
  return { changes: [change('Delete', name, undefined, first), change('Delete', name, undefined, second)], paths };
}

type Definition = readonly [version: string, ...more: readonly string[]];

async function definitionAndInstance(t: Teardown, { client, path, namespace }: Stage, pair: Pair, name: string): Promise<Made> {
  const [group, kind] = [`${namespace}.example.org`, `K${name.replaceAll('-', '')}`];
  const [definition, one] = [`${crds}/${name}.${group}`, path(`${group}/v1/${name}/one`)];
  const versions = (properties: JsonObject, served: Definition): readonly JsonObject[] =>
    served.map((version, index) => {
      const schema = { openAPIV3Schema: { type: 'object', properties: { spec: { type: 'object', properties } } } };
      return { name: version, served: true, storage: index === 0, schema };
    });
  const crd = (properties: JsonObject, served: Definition = ['v1']): JsonObject => ({
    spec: { group, scope: 'Namespaced', names: { kind, plural: name }, versions: versions(properties, served) },
  });
  const [text, old] = [{ type: 'string' }, { size: { type: 'string', enum: ['small'] } }];
  const parts = { apiVersion: `${group}/v1`, kind };
  must(await client.create(crds, { metadata: { name: `${name}.${group}` }, ...crd(old) }));
  t.teardown(() => client.delete(definition));
  const isMade = async (): Promise<boolean> =>
    (await client.create(path(`${group}/v1/${name}`), { ...parts, metadata: { name: 'one' }, spec: { size: 'small' } })).code ===
    201;
  await waitFor(isMade, `${kind} to be served`);
  const updates = (content: JsonObject): JsonObject =>
    change('Patch', `${name}.${group}`, content, { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' });
  const wider = crd({ ...old, color: { ...text, default: 'none' } });
  const green = { spec: { color: 'green' } };
  const gains: Readonly<Partial<Record<Pair, readonly [JsonObject, JsonObject]>>> = {
    'a CRD gets a field, a new instance has it': [updates(wider), change('Create', 'two', green, parts)],
    'a CRD gets a field, an instance is replaced with it': [updates(wider), change('Update', 'one', green, parts)],
    'a CRD gets a field, an instance gets it': [updates(wider), change('Patch', 'one', green, parts)],
    'a CRD admits more values, an instance has one of them': [
      updates(crd({ size: { type: 'string', enum: ['small', 'large'] } })),
      change('Patch', 'one', { spec: { size: 'large' } }, parts),
    ],
    'a CRD gets a version, a new instance is of it': [
      updates(crd({ ...old, color: text }, ['v1', 'v2'])),
      change('Create', 'two', green, { ...parts, apiVersion: `${group}/v2` }),
    ],
  };
  const changes = gains[pair];
  if (changes === undefined) throw new Error(`no pair is called "${pair}"`);
  return { changes, paths: [definition, one, path(`${group}/v1/${name}/two`)] };
}
