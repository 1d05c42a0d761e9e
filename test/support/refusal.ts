// An admission policy that refuses writes but not dry runs: the only way to make a write fail after its dry run passed. It applies
// to the stage's namespace and to the ServiceAccount of its Transactions, so it affects no other test.
import type { JsonObject } from '../../hooks/objects/json.ts';
import { must, type Teardown, waitFor } from './client.ts';
import { account, type Stage } from './stage.ts';

const admission = '/apis/admissionregistration.k8s.io/v1';

/** Refuses creates, updates and deletes of ConfigMaps with that prefix; resolves once the API server enforces it. */
export async function refuseWritesOf(stage: Stage, prefix: string, t: Teardown): Promise<void> {
  const { client, namespace } = stage;
  const name = `refuse-${namespace}-${prefix}`.replace(/-+$/, '');
  t.teardown(async () => {
    await client.delete(`${admission}/validatingadmissionpolicybindings/${name}`);
    await client.delete(`${admission}/validatingadmissionpolicies/${name}`);
  });
  must(await client.create(`${admission}/validatingadmissionpolicies`, { metadata: { name }, spec: policy(stage, prefix) }));
  const matchResources = { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } };
  const binding = { policyName: name, validationActions: ['Deny'], matchResources };
  must(await client.create(`${admission}/validatingadmissionpolicybindings`, { metadata: { name }, spec: binding }));
  await waitFor(() => isInForce(stage, `${prefix}probe`), 'the admission policy to be in force');
}

function policy({ namespace }: Stage, prefix: string): JsonObject {
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE', 'UPDATE', 'DELETE'] };
  const user = `system:serviceaccount:${namespace}:${account}`;
  return {
    failurePolicy: 'Fail',
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [{ name: 'of-the-transactions', expression: `request.userInfo.username == '${user}'` }],
    validations: [
      { expression: `request.dryRun == true || !request.name.startsWith('${prefix}')`, message: 'not while it is tested' },
    ],
  };
}

async function isInForce({ client, namespace, path }: Stage, probe: string): Promise<boolean> {
  const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: probe } };
  const answer = await client.asServiceAccount(namespace, account).create(path('configmaps'), object);
  if (answer.code === 201) must(await client.delete(path(`configmaps/${probe}`)));
  return answer.code === 422;
}
