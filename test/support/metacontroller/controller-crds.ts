// CRDs for Metacontroller's three kinds, with the least that it needs to run: group, names and scope from its API documentation,
// and no schema. Users install the CRDs that Metacontroller ships.
import type { JsonObject } from '../../../hooks/objects/json.ts';

const group = 'metacontroller.k8s.io';

function definition(kind: string, scope: 'Cluster' | 'Namespaced'): JsonObject {
  const singular = kind.toLowerCase();
  const plural = `${singular}s`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      // Group names under k8s.io are reserved; the API server requires a note that this CRD was not reviewed.
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
