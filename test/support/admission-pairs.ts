// For each row of the table of deferred dry runs (hooks/transactions/checks/deferred.ts) that is about admission: a change that only an
// earlier one makes possible, on objects that are made here. A pair resolves once the API server refuses the later change. The API server must
// be the test's own: some pairs hold for the whole cluster.
import { at, type JsonObject } from '../../hooks/objects/json.ts';
import type { rows } from '../../hooks/transactions/checks/deferred.ts';
import { must, type Teardown, waitFor } from './client.ts';
import type { Stage } from './stage.ts';
import { change } from './targets.ts';

export interface AdmissionPair {
  readonly earlier: JsonObject;
  readonly later: JsonObject;
  /** Paths of what they change. */
  readonly paths: readonly string[];
  /** The API server cannot call a webhook: it may be there in a moment, so it does not refuse. */
  readonly isWaitedFor?: true;
}

export type AdmissionRow = Extract<
  keyof typeof rows,
  | `a validating ${string}`
  | `a mutating ${string}`
  | `a binding of ${string}`
  | `${string}Namespace${string}`
  | `a ResourceQuota ${string}`
  | `a LimitRange ${string}`
  | `the default ${string}`
>;

const group = 'admissionregistration.k8s.io';
const registration = { apiVersion: `${group}/v1` };
const api = `/apis/${group}/v1`;

/** The content of a configuration with a webhook that fails closed and that nobody serves, for ConfigMaps with the label `judged`. */
export function deadWebhook(namespace: string, judged: string): JsonObject {
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] };
  const webhook = {
    ...{ name: 'judge.example.com', admissionReviewVersions: ['v1'], sideEffects: 'None', failurePolicy: 'Fail' },
    clientConfig: { service: { name: 'judge', namespace, path: '/judge' } },
    ...{ namespaceSelector: inNamespace(namespace), objectSelector: { matchLabels: { judged } }, rules: [rule] },
  };
  return { webhooks: [{ ...webhook, timeoutSeconds: 2 }] };
}

const inNamespace = (namespace: string): JsonObject => ({ matchLabels: { 'kubernetes.io/metadata.name': namespace } });

export const judgedBy = (judged: string): JsonObject => ({ metadata: { labels: { judged } } });

/** A policy for ConfigMaps of that name; `spec`: what it wants or does. */
export function policyFor(name: string, spec: JsonObject): JsonObject {
  const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE', 'UPDATE'], resources: ['configmaps'] };
  const matchConditions = [{ name: 'of-the-test', expression: `object.metadata.name == '${name}'` }];
  return { spec: { failurePolicy: 'Fail', matchConstraints: { resourceRules: [rule] }, matchConditions, ...spec } };
}

export const wantsTeam: JsonObject = {
  validations: [{ expression: "has(object.metadata.labels) && 'team' in object.metadata.labels", message: 'it wants a team' }],
};

const givesTeam: JsonObject = {
  reinvocationPolicy: 'Never',
  mutations: [
    {
      patchType: 'ApplyConfiguration',
      applyConfiguration: { expression: "Object{metadata: Object.metadata{labels: {'team': 'ours'}}}" },
    },
  ],
};

export function bindingOf(policyName: string, namespace: string): JsonObject {
  return { spec: { policyName, validationActions: ['Deny'], matchResources: { namespaceSelector: inNamespace(namespace) } } };
}

export function mutatingBindingOf(policyName: string, namespace: string): JsonObject {
  return { spec: { policyName, matchResources: { namespaceSelector: inNamespace(namespace) } } };
}

export function admissionPairs(
  { client, path, namespace }: Stage,
  t: Teardown,
): Readonly<Record<AdmissionRow, () => Promise<AdmissionPair>>> {
  const made = async (plural: string, name: string, content: JsonObject): Promise<void> => {
    t.teardown(() => client.delete(`${api}/${plural}/${name}`));
    must(await client.create(`${api}/${plural}`, { metadata: { name }, ...content }));
  };
  const refused = async (where: string, object: JsonObject): Promise<void> => {
    const code = async (): Promise<number> => (await client.create(where, object, { dryRun: 'All' })).code;
    await waitFor(async () => (await code()) >= 400, 'the API server to refuse it');
  };
  const webhook = async (kind: string, plural: string, judged: string): Promise<AdmissionPair> => {
    const name = `${namespace}-${judged}`;
    await made(plural, name, deadWebhook(namespace, judged));
    await refused(path('configmaps'), { metadata: { name: judged, ...(judgedBy(judged).metadata as JsonObject) } });
    return {
      earlier: change('Delete', name, undefined, { ...registration, kind }),
      later: change('Create', judged, judgedBy(judged)),
      paths: [`${api}/${plural}/${name}`, path(`configmaps/${judged}`)],
      isWaitedFor: true,
    };
  };
  const policed = async (named: string): Promise<string> => {
    const name = `${namespace}-${named}`;
    await made('validatingadmissionpolicies', name, policyFor(named, wantsTeam));
    const policy = `${api}/validatingadmissionpolicies/${name}`;
    await waitFor(
      async () => at((await client.get(policy)).body, 'status', 'observedGeneration') === 1,
      'its types to be checked',
    );
    await made('validatingadmissionpolicybindings', name, bindingOf(name, namespace));
    await refused(path('configmaps'), { metadata: { name: named } });
    return name;
  };
  return {
    'a validating webhook': () => webhook('ValidatingWebhookConfiguration', 'validatingwebhookconfigurations', 'judged'),
    'a mutating webhook': () => webhook('MutatingWebhookConfiguration', 'mutatingwebhookconfigurations', 'changed'),
    'a validating policy': async () => {
      const name = await policed('policed');
      const validations = [{ expression: 'true', message: 'it wants nothing' }];
      const kind = { ...registration, kind: 'ValidatingAdmissionPolicy' };
      return {
        earlier: change('Patch', name, { spec: { validations } }, kind),
        later: change('Create', 'policed', {}),
        paths: [`${api}/validatingadmissionpolicies/${name}`, path('configmaps/policed')],
      };
    },
    'a binding of a validating policy': async () => {
      const name = await policed('bound');
      const kind = { ...registration, kind: 'ValidatingAdmissionPolicyBinding' };
      return {
        earlier: change('Delete', name, undefined, kind),
        later: change('Create', 'bound', {}),
        paths: [`${api}/validatingadmissionpolicybindings/${name}`, path('configmaps/bound')],
      };
    },
    'a mutating policy': async () => {
      const name = await policed('given');
      await made('mutatingadmissionpolicybindings', name, mutatingBindingOf(name, namespace));
      const kind = { ...registration, kind: 'MutatingAdmissionPolicy' };
      return {
        earlier: change('Create', name, policyFor('given', givesTeam), kind),
        later: change('Create', 'given', {}),
        paths: [`${api}/mutatingadmissionpolicies/${name}`, path('configmaps/given')],
      };
    },
    'a binding of a mutating policy': async () => {
      const name = await policed('given-later');
      await made('mutatingadmissionpolicies', name, policyFor('given-later', givesTeam));
      const kind = { ...registration, kind: 'MutatingAdmissionPolicyBinding' };
      return {
        earlier: change('Create', name, mutatingBindingOf(name, namespace), kind),
        later: change('Create', 'given-later', {}),
        paths: [`${api}/mutatingadmissionpolicybindings/${name}`, path('configmaps/given-later')],
      };
    },
    'labels of a Namespace and what is in it': async () => {
      const name = `${namespace}-safe`;
      const enforce = 'pod-security.kubernetes.io/enforce';
      must(await client.create('/api/v1/namespaces', { metadata: { name, labels: { [enforce]: 'restricted' } } }));
      t.teardown(() => client.delete(`/api/v1/namespaces/${name}`));
      const pods = `/api/v1/namespaces/${name}/pods`;
      await waitFor(
        async () => (await client.get(`/api/v1/namespaces/${name}/serviceaccounts/default`)).code === 200,
        'the usual ServiceAccount',
      );
      const pod = { spec: { hostNetwork: true, containers: [{ name: 'main', image: 'example.org/main' }] } };
      await refused(pods, { metadata: { name: 'open' }, ...pod });
      return {
        earlier: change('Patch', name, { metadata: { labels: { [enforce]: 'privileged' } } }, { kind: 'Namespace' }),
        later: change('Create', 'open', pod, { kind: 'Pod', namespace: name }),
        paths: [`/api/v1/namespaces/${name}`, `${pods}/open`],
      };
    },
    'a ResourceQuota and what it counts': async () => {
      const content = (amount: string): JsonObject => ({ spec: { hard: { 'count/replicationcontrollers': amount } } });
      must(await client.create(path('resourcequotas'), { metadata: { name: 'raised' }, ...content('0') }));
      t.teardown(() => client.delete(path('resourcequotas/raised')));
      await waitFor(
        async () => JSON.stringify((await client.get(path('resourcequotas/raised'))).body.status ?? {}).includes('used'),
        'the quota to be counted',
      );
      const template = { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'main', image: 'example.org/main' }] } };
      const spec = { replicas: 0, selector: { a: 'b' }, template };
      await refused(path('replicationcontrollers'), { metadata: { name: 'counted' }, spec });
      return {
        earlier: change('Patch', 'raised', content('1'), { kind: 'ResourceQuota' }),
        later: change('Create', 'counted', { spec }, { kind: 'ReplicationController' }),
        paths: [path('resourcequotas/raised'), path('replicationcontrollers/counted')],
      };
    },
    'a LimitRange and what it limits': async () => {
      const content = (storage: string): JsonObject => ({
        spec: { limits: [{ type: 'PersistentVolumeClaim', max: { storage } }] },
      });
      must(await client.create(path('limitranges'), { metadata: { name: 'wider' }, ...content('10Mi') }));
      t.teardown(() => client.delete(path('limitranges/wider')));
      const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '20Mi' } } };
      await refused(path('persistentvolumeclaims'), { metadata: { name: 'large' }, spec });
      return {
        earlier: change('Update', 'wider', content('30Mi'), { kind: 'LimitRange' }),
        later: change('Create', 'large', { spec }, { kind: 'PersistentVolumeClaim' }),
        paths: [path('limitranges/wider'), path('persistentvolumeclaims/large')],
      };
    },
    'the default PriorityClass and another one': async () => {
      const [classes, kind] = [
        '/apis/scheduling.k8s.io/v1/priorityclasses',
        { apiVersion: 'scheduling.k8s.io/v1', kind: 'PriorityClass' },
      ];
      const [had, has] = [`${namespace}-had`, `${namespace}-has`];
      must(await client.create(classes, { metadata: { name: had }, value: 7, globalDefault: true }));
      t.teardown(() => client.delete(`${classes}/${had}`));
      await refused(classes, { metadata: { name: has }, value: 7, globalDefault: true });
      return {
        earlier: change('Delete', had, undefined, kind),
        later: change('Create', has, { value: 7, globalDefault: true }, kind),
        paths: [`${classes}/${had}`, `${classes}/${has}`],
      };
    },
  };
}
