// The objects that an object names because it does not work without them. Sources, unless a function has its own:
// k8s.io/kubernetes pkg/api/v1/pod/util.go (VisitPodSecretNames, VisitPodConfigmapNames), k8s.io/api core/v1, apps/v1, networking/v1.
import { at, isObject, type Json, listAt, textAt } from '../../objects/json.ts';
import { kindOf, kindOfReference } from '../../objects/reference.ts';

/** An object by its name. `kind` as tables of kinds name it; `namespace` is absent for cluster-scoped kinds. */
export interface Named {
  readonly kind: string;
  readonly name: string;
  readonly namespace?: string | undefined;
}

type Names = (object: Json | undefined, namespace: string | undefined) => readonly Named[];

const rbac = 'rbac.authorization.k8s.io';

const namesByKind: ReadonlyMap<string, Names> = new Map([
  ['apps/StatefulSet', (set, namespace) => one('/Service', textAt(set, 'spec', 'serviceName'), namespace)],
  ['networking.k8s.io/Ingress', ofIngress],
  [`${rbac}/RoleBinding`, ofBinding],
  [`${rbac}/ClusterRoleBinding`, ofBinding],
]);

/** Every object that it names, its Namespace and its owners included. */
export function namesIn(object: Json, namespace: string | undefined): readonly Named[] {
  const kind = kindIn(object);
  const own = namesByKind.get(kind)?.(object, namespace) ?? [];
  const home = one('/Namespace', namespace, undefined);
  return [
    ...home,
    ...ofOwners(object, namespace),
    ...ofPod(podTemplateOf(object), namespace),
    ...own,
    ...servicesCalledBy(object),
  ];
}

/** The template of the Pods that an object makes, or the Pod itself. */
export function podTemplateOf(object: Json | undefined): Json | undefined {
  const kind = kindIn(object);
  if (kind === '/Pod') return object;
  if (kind === 'batch/CronJob') return at(object, 'spec', 'jobTemplate', 'spec', 'template');
  return makers.includes(kind) ? at(object, 'spec', 'template') : undefined;
}

const makers: readonly string[] = [
  'apps/Deployment',
  'apps/ReplicaSet',
  'apps/StatefulSet',
  'apps/DaemonSet',
  'batch/Job',
  '/ReplicationController',
];

/**
 * The Services that the API server calls for it: something must answer behind them. Sources: k8s.io/api admissionregistration/v1,
 * kube-aggregator pkg/apis/apiregistration/v1, apiextensions-apiserver pkg/apis/apiextensions/v1.
 */
export function servicesCalledBy(object: Json | undefined): readonly Named[] {
  switch (kindIn(object)) {
    case 'admissionregistration.k8s.io/ValidatingWebhookConfiguration':
    case 'admissionregistration.k8s.io/MutatingWebhookConfiguration':
      return listAt(object, 'webhooks').flatMap((webhook) => service(at(webhook, 'clientConfig', 'service')));
    case 'apiregistration.k8s.io/APIService':
      return service(at(object, 'spec', 'service'));
    case 'apiextensions.k8s.io/CustomResourceDefinition':
      return service(at(object, 'spec', 'conversion', 'webhook', 'clientConfig', 'service'));
    default:
      return [];
  }
}

function service(reference: Json | undefined): readonly Named[] {
  return one('/Service', textAt(reference, 'name'), textAt(reference, 'namespace'));
}

function kindIn(object: Json | undefined): string {
  return kindOfReference({ apiVersion: textAt(object, 'apiVersion') ?? '', kind: textAt(object, 'kind') ?? '' });
}

function one(kind: string, name: string | undefined, namespace: string | undefined): readonly Named[] {
  return name === undefined || name === '' ? [] : [{ kind, name, namespace }];
}

/** What a reference names, unless Pods start without it. */
function unlessOptional(
  kind: string,
  reference: Json | undefined,
  namespace: string | undefined,
  key = 'name',
): readonly Named[] {
  return at(reference, 'optional') === true ? [] : one(kind, textAt(reference, key), namespace);
}

// An owner is in the namespace of its object, or in none: which of both is not written. Source: garbage collection,
// k8s.io/kubernetes pkg/controller/garbagecollector.
function ofOwners(object: Json, namespace: string | undefined): readonly Named[] {
  return listAt(object, 'metadata', 'ownerReferences').flatMap((owner) => {
    const reference = { apiVersion: textAt(owner, 'apiVersion') ?? '', kind: textAt(owner, 'kind') ?? '' };
    const near = one(kindOfReference(reference), textAt(owner, 'name'), namespace);
    return namespace === undefined ? near : [...near, ...near.map((named) => ({ ...named, namespace: undefined }))];
  });
}

function ofPod(template: Json | undefined, namespace: string | undefined): readonly Named[] {
  const spec = at(template, 'spec');
  const containers = ['containers', 'initContainers', 'ephemeralContainers'].flatMap((key) => listAt(spec, key));
  return [
    ...one('/ServiceAccount', textAt(spec, 'serviceAccountName') ?? textAt(spec, 'serviceAccount'), namespace),
    // Admission refuses a Pod whose class is gone. Source: k8s.io/kubernetes plugin/pkg/admission/{priority,runtimeclass}.
    ...one('scheduling.k8s.io/PriorityClass', textAt(spec, 'priorityClassName'), undefined),
    ...one('node.k8s.io/RuntimeClass', textAt(spec, 'runtimeClassName'), undefined),
    ...listAt(spec, 'imagePullSecrets').flatMap((secret) => one('/Secret', textAt(secret, 'name'), namespace)),
    ...containers.flatMap((container) => ofEnvironment(container, namespace)),
    ...listAt(spec, 'volumes').flatMap((volume) => ofVolume(volume, namespace)),
  ];
}

function ofEnvironment(container: Json, namespace: string | undefined): readonly Named[] {
  const sources = listAt(container, 'env').map((variable) => at(variable, 'valueFrom'));
  return [
    ...sources.flatMap((source) => unlessOptional('/ConfigMap', at(source, 'configMapKeyRef'), namespace)),
    ...sources.flatMap((source) => unlessOptional('/Secret', at(source, 'secretKeyRef'), namespace)),
    ...listAt(container, 'envFrom').flatMap((source) => [
      ...unlessOptional('/ConfigMap', at(source, 'configMapRef'), namespace),
      ...unlessOptional('/Secret', at(source, 'secretRef'), namespace),
    ]),
  ];
}

function ofVolume(volume: Json, namespace: string | undefined): readonly Named[] {
  const projected = listAt(volume, 'projected', 'sources');
  return [
    ...unlessOptional('/ConfigMap', at(volume, 'configMap'), namespace),
    ...one('/PersistentVolumeClaim', textAt(volume, 'persistentVolumeClaim', 'claimName'), namespace),
    ...projected.flatMap((source) => unlessOptional('/ConfigMap', at(source, 'configMap'), namespace)),
    ...projected.flatMap((source) => unlessOptional('/Secret', at(source, 'secret'), namespace)),
    // Volumes of all other sources name their Secret in one of these.
    ...(isObject(volume) ? Object.values(volume) : []).flatMap((source) => [
      ...unlessOptional('/Secret', source, namespace, 'secretName'),
      ...one('/Secret', textAt(source, 'secretRef', 'name'), namespace),
      ...one('/Secret', textAt(source, 'nodePublishSecretRef', 'name'), namespace),
    ]),
  ];
}

function ofIngress(ingress: Json | undefined, namespace: string | undefined): readonly Named[] {
  const paths = listAt(ingress, 'spec', 'rules').flatMap((rule) => listAt(rule, 'http', 'paths'));
  const backends = [at(ingress, 'spec', 'defaultBackend'), ...paths.map((path) => at(path, 'backend'))];
  return [
    ...one('networking.k8s.io/IngressClass', textAt(ingress, 'spec', 'ingressClassName'), undefined),
    ...backends.flatMap((backend) => one('/Service', textAt(backend, 'service', 'name'), namespace)),
    ...backends.flatMap((backend) => ofGroup(at(backend, 'resource'), namespace)),
    ...listAt(ingress, 'spec', 'tls').flatMap((tls) => one('/Secret', textAt(tls, 'secretName'), namespace)),
  ];
}

function ofGroup(reference: Json | undefined, namespace: string | undefined): readonly Named[] {
  const kind = kindOf({ group: textAt(reference, 'apiGroup') ?? '', kind: textAt(reference, 'kind') ?? '' });
  return one(kind, textAt(reference, 'name'), namespace);
}

// Source: k8s.io/api rbac/v1.
function ofBinding(binding: Json | undefined, namespace: string | undefined): readonly Named[] {
  const role = at(binding, 'roleRef');
  const accounts = listAt(binding, 'subjects').filter((subject) => textAt(subject, 'kind') === 'ServiceAccount');
  return [
    ...ofGroup(role, textAt(role, 'kind') === 'Role' ? namespace : undefined),
    ...accounts.flatMap((account) => one('/ServiceAccount', textAt(account, 'name'), textAt(account, 'namespace'))),
  ];
}
