// Who else thinks that the object is theirs, and will act against a change of it. Signs that these programs leave on objects:
// argo-cd.readthedocs.io, user-guide/resource_tracking; fluxcd.io/flux/components/kustomize/kustomizations, "Controlling the apply
// behavior"; helm.sh/docs/topics/charts, and kubernetes.io, horizontal-pod-autoscale.
import { managersOf } from '../../objects/content/fields.ts';
import { at, type JsonObject, listAt, textAt } from '../../objects/json.ts';
import { foreign } from '../../objects/words.ts';
import type { Owner, OwnerCode } from '../inspection.ts';

const longestName = 253;

const sentences: Readonly<Record<OwnerCode, (name: string) => string>> = {
  ArgoCD: (name) =>
    `Argo CD tracks it (${name}) and, with self-heal, sets it back at once: change its source, or disable auto-sync`,
  Flux: (name) => `${name} applies its source again at each interval: suspend it first`,
  Helm: (name) => `release ${name} manages it: Helm 4's next upgrade fails with a conflict`,
  HPA: (name) => `HorizontalPodAutoscaler ${name} scales it again: change the HorizontalPodAutoscaler`,
  Controller: (name) => `${name} owns it and writes it again: change the owner`,
};

/** `prior`: the live object. `autoscalers`: the autoscalers that scale it, if the change changes its replicas. */
export function ownersOf(prior: JsonObject, autoscalers: readonly string[]): readonly Owner[] {
  const found: readonly (readonly [OwnerCode, string | undefined])[] = [
    ['ArgoCD', argo(prior)],
    ['Flux', flux(prior)],
    ['Helm', helm(prior)],
    ...autoscalers.map((name) => ['HPA', name] as const),
    ['Controller', controller(prior)],
  ];
  return found.flatMap(([code, name]) => (name === undefined ? [] : [ownerOf(code, foreign(name, longestName))]));
}

function ownerOf(code: OwnerCode, name: string): Owner {
  return { code, name, sentence: sentences[code](name) };
}

function annotation(object: JsonObject, name: string): string | undefined {
  return textAt(object, 'metadata', 'annotations', name);
}

function label(object: JsonObject, name: string): string | undefined {
  return textAt(object, 'metadata', 'labels', name);
}

// The tracking id is `application:group/kind:namespace/name`.
function argo(object: JsonObject): string | undefined {
  const [application] = (annotation(object, 'argocd.argoproj.io/tracking-id') ?? '').split(':');
  if (application !== undefined && application !== '') return `Application ${application}`;
  return managersOf(object).some(({ name }) => name === 'argocd-controller') ? 'argocd-controller' : undefined;
}

const fluxKinds = [
  ['kustomize.toolkit.fluxcd.io', 'Kustomization'],
  ['helm.toolkit.fluxcd.io', 'HelmRelease'],
] as const;

function flux(object: JsonObject): string | undefined {
  const isLeft = (annotation(object, 'kustomize.toolkit.fluxcd.io/reconcile') ?? '').toLowerCase() === 'disabled';
  const [found] = fluxKinds.flatMap(([group, kind]) => {
    const name = label(object, `${group}/name`);
    const namespace = label(object, `${group}/namespace`);
    return name === undefined ? [] : [`${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`];
  });
  return isLeft ? undefined : found;
}

function helm(object: JsonObject): string | undefined {
  const name = annotation(object, 'meta.helm.sh/release-name');
  if (label(object, 'app.kubernetes.io/managed-by') !== 'Helm' || name === undefined) return undefined;
  const namespace = annotation(object, 'meta.helm.sh/release-namespace');
  return namespace === undefined ? name : `${namespace}/${name}`;
}

function controller(object: JsonObject): string | undefined {
  const found = listAt(object, 'metadata', 'ownerReferences').find((owner) => at(owner, 'controller') === true);
  return found === undefined ? undefined : `${textAt(found, 'kind')} ${textAt(found, 'name')}`;
}
