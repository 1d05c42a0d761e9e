// Definitions of Metacontroller's three kinds, no more than it needs to run: group, names and scope as its documentation
// of the API gives them, and no schema. Users install the ones that come with it.
import type { JsonObject } from '../../../hooks/model/json.ts';

const group = 'metacontroller.k8s.io';

function definition(kind: string, scope: 'Cluster' | 'Namespaced'): JsonObject {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      // Names under k8s.io are reserved; the API server wants to be told that this one was not reviewed.
      annotations: { 'api-approved.kubernetes.io': 'unapproved, for tests' },
    },
    spec: {
      group,
      names: { kind, plural, singular, listKind: `${kind}List` },
      scope,
      versions: [
        {
          name: 'v1alpha1',
          served: true,
          storage: true,
          subresources: { status: {} },
          schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
        },
      ],
    },
  };
}

export const controllerDefinitions: readonly JsonObject[] = [
  definition('CompositeController', 'Cluster'),
  definition('DecoratorController', 'Cluster'),
  definition('ControllerRevision', 'Namespaced'),
];
