// Usages of Crossplane, which protect objects from deletion: the kind that the API server serves without Crossplane.
import { at, type JsonObject } from '../../hooks/objects/json.ts';
import { type Client, must, waitFor } from './client.ts';
import { isEstablished } from './install.ts';
import { definitionPath } from './package-paths.ts';
import { definitionOf } from './registry/builder.ts';

export const usagesPath = '/apis/protection.crossplane.io/v1beta1/clusterusages';

export async function serveUsages(client: Client): Promise<void> {
  const definition = definitionOf('clusterusages', 'protection.crossplane.io') as JsonObject;
  const names = { kind: 'ClusterUsage', plural: 'clusterusages' };
  const open = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
  const versions = [{ name: 'v1beta1', served: true, storage: true, schema: open }];
  must(
    await client.create(definitionPath(), {
      ...definition,
      spec: { ...(at(definition, 'spec') as JsonObject), names, versions },
    }),
  );
  const path = definitionPath('clusterusages.protection.crossplane.io');
  await waitFor(async () => isEstablished(must(await client.get(path))), 'usages to be served');
}

/** A ClusterUsage `name` of the object. */
export async function createUsage(
  client: Client,
  name: string,
  of: { readonly apiVersion: string; readonly kind: string; readonly name: string },
): Promise<void> {
  const { apiVersion, kind } = of;
  const spec = { of: { apiVersion, kind, resourceRef: { name: of.name } } };
  const object = { apiVersion: 'protection.crossplane.io/v1beta1', kind: 'ClusterUsage', metadata: { name }, spec };
  must(await client.create(usagesPath, object));
}

export const definitionKind = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
