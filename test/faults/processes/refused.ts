// A Transaction whose last change passes its dry run but is refused when it is sent, whatever else happens.
import type { JsonObject } from '../../../hooks/objects/json.ts';
import { must, waitFor } from '../../support/client.ts';
import { change } from '../../support/targets.ts';
import { fourChanges, single } from '../stories.ts';
import type { Story } from '../story.ts';
import type { World } from '../world.ts';

const refused = { 'faults.janus.io/refused': 'yes' };

export const refusedLast: Story = {
  id: 'refused-last',
  transactions: single((names) => [
    ...fourChanges(names).slice(1),
    change('Create', names.a, { metadata: { labels: refused }, data: { made: 'yes' } }),
  ]),
  events: [],
  end: 'RolledBack',
};

const policies = '/apis/admissionregistration.k8s.io/v1';
const policy = 'faults-refused-when-sent';

/** Makes the API server refuse objects with that mark. */
export async function refuseWhenSent({ controller, namespace }: World): Promise<void> {
  const rule = { apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'], operations: ['CREATE'] };
  const isSent = '!(has(request.dryRun) && request.dryRun == true)';
  const isMarked = `has(object.metadata.labels) && 'faults.janus.io/refused' in object.metadata.labels`;
  const spec: JsonObject = {
    matchConstraints: { resourceRules: [rule] },
    matchConditions: [{ name: 'marked-and-sent', expression: `${isSent} && ${isMarked}` }],
    validations: [{ expression: 'false', message: 'refused when it is sent' }],
  };
  const made = await controller.create(`${policies}/validatingadmissionpolicies`, { metadata: { name: policy }, spec });
  if (made.code !== 409) must(made);
  const binding = { metadata: { name: policy }, spec: { policyName: policy, validationActions: ['Deny'] } };
  const bound = await controller.create(`${policies}/validatingadmissionpolicybindings`, binding);
  if (bound.code !== 409) must(bound);
  const probe = { metadata: { name: 'refused-probe', labels: refused } };
  await waitFor(async () => {
    const { code } = await controller.create(`/api/v1/namespaces/${namespace}/configmaps`, probe);
    if (code === 201) await controller.delete(`/api/v1/namespaces/${namespace}/configmaps/refused-probe`);
    return code === 422;
  }, 'the policy to refuse');
}
