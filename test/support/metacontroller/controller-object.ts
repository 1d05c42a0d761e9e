// The controller for both loops: the double sends it in every call, the real one finds it in the cluster.
import { randomUUID } from 'node:crypto';
import type { JsonObject } from '../../../hooks/objects/json.ts';
import type { ParentResource } from './parents.ts';

interface ControllerParts {
  readonly name: string;
  readonly resource: ParentResource;
  readonly hookUrl: string;
  readonly matchLabels: Readonly<Record<string, string>>;
  /** Whether the hook names related objects. */
  readonly customize?: boolean;
  /** A DecoratorController for objects with these annotations. */
  readonly decorates?: Readonly<Record<string, string>>;
}

/** The settings of a webhook other than its URL: its timeout, its credentials. */
type WebhookSettings = JsonObject;

export function controllerSpec(parts: ControllerParts, webhook: WebhookSettings = { timeout: '30s' }): JsonObject {
  const hook = (path: string): JsonObject => ({
    version: 'v2',
    webhook: { url: `${parts.hookUrl.replace(/\/$/, '')}/${path}`, ...webhook },
  });
  const selector = Object.keys(parts.matchLabels).length === 0 ? {} : { labelSelector: { matchLabels: parts.matchLabels } };
  const hooks = {
    sync: hook('sync'),
    finalize: hook('finalize'),
    ...(parts.customize === true ? { customize: hook('customize') } : {}),
  };
  if (parts.decorates === undefined) return { parentResource: { ...parts.resource, ...selector }, hooks, generateSelector: true };
  return { resources: [{ ...parts.resource, ...selector, annotationSelector: { matchAnnotations: parts.decorates } }], hooks };
}

/** The object as the API server would return it. */
export function controllerObject(parts: ControllerParts): JsonObject {
  return {
    kind: parts.decorates === undefined ? 'CompositeController' : 'DecoratorController',
    apiVersion: 'metacontroller.k8s.io/v1alpha1',
    metadata: {
      name: parts.name,
      uid: randomUUID(),
      resourceVersion: '1',
      generation: 1,
      creationTimestamp: new Date().toISOString().replace(/\.\d+Z$/, 'Z'),
    },
    spec: controllerSpec(parts),
    status: {},
  };
}
