// An admission policy that stamps ConfigMaps with that suffix: every write, dry runs included, gets a new value in data.stamp. The
// field manager of the request does not own the stamp: no manager does.
import { at, type JsonObject, withPath } from '../../hooks/objects/json.ts';
import { must, type Teardown, waitFor } from './client.ts';
import type { Stage } from './stage.ts';

const admission = '/apis/admissionregistration.k8s.io/v1';
/** Kubernetes 1.36 serves them, 1.34 does not. */
export const mutatingPolicies = `${admission}/mutatingadmissionpolicies`;

interface Stamp {
  /** An expression in CEL; by default each write gets another value. */
  readonly value: string;
  /** Other namespaces than that of the stage. */
  readonly also: readonly string[];
}

const version = "(oldObject == null ? 'none' : oldObject.metadata.resourceVersion)";
const changing = { value: `(request.dryRun == true ? 'tried at ' : 'written at ') + ${version}`, also: [] };

/**
 * Stamps ConfigMaps of the stage's namespace with that suffix (the name of a snapshot never has it); resolves once the API server
 * enforces it.
 */
export async function stampWritesOf(stage: Stage, suffix: string, t: Teardown, { value, also }: Stamp = changing): Promise<void> {
  const { client, namespace, path } = stage;
  const name = `stamp-${namespace}`;
  t.teardown(async () => {
    await client.delete(`${admission}/mutatingadmissionpolicybindings/${name}`);
    await client.delete(`${mutatingPolicies}/${name}`);
  });
  must(await client.create(mutatingPolicies, { metadata: { name }, spec: policy(suffix, value) }));
  const matchResources = {
    namespaceSelector: {
      matchExpressions: [{ key: 'kubernetes.io/metadata.name', operator: 'In', values: [namespace, ...also] }],
    },
  };
  must(
    await client.create(`${admission}/mutatingadmissionpolicybindings`, {
      metadata: { name },
      spec: { policyName: name, matchResources },
    }),
  );
  const probe = { metadata: { name: `probe${suffix}` }, data: { a: 'b' } };
  const isStamped = async (): Promise<boolean> =>
    at(must(await client.create(path('configmaps'), probe, { dryRun: 'All' })), 'data', 'stamp') !== undefined;
  await waitFor(isStamped, 'the admission policy to be in force');
}

function policy(suffix: string, value: string): JsonObject {
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE', 'UPDATE'] };
  const patch = `JSONPatch{op: "add", path: "/data/stamp", value: ${value}}`;
  return {
    failurePolicy: 'Fail',
    reinvocationPolicy: 'Never',
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [{ name: 'of-the-test', expression: `object.metadata.name.endsWith('${suffix}') && has(object.data)` }],
    mutations: [{ patchType: 'JSONPatch', jsonPatch: { expression: `[${patch}]` } }],
  };
}

/** The object for comparisons, without what the policy changes at every write. */
export function withoutStamp(shown: unknown): unknown {
  return withPath(shown as JsonObject, ['data', 'stamp'], undefined);
}
